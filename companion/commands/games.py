"""`dice-companion games`: saved games, out of the log and into it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

import click

from companion.commands.console import ENDS, complain, local_time, print_table
from companion.commands.params import A_DIRECTORY, A_TEXT
from companion.commands.replay import LARGEST_FILE, record_lines
from companion.config import Config, load
from companion.engine import PLANS
from companion.engine.notation import GameRecord, from_lines
from companion.errors import NotationError, StoreError
from companion.eventlog.derived import RESULTS
from companion.eventlog.names import LONGEST_NAME, clean_name
from companion.eventlog.projection import project
from companion.eventlog.record import Record
from companion.eventlog.repair import without_old_moves
from companion.eventlog.rewriting import with_name
from companion.eventlog.store import FILE_NAME, SqliteStore
from companion.history.accuracy import accuracy_of
from companion.history.archive import Archive, SavedGame, saved_games
from companion.history.decided import Verdicts
from companion.history.export import records_in, written
from companion.history.people import games_of, why_not
from companion.history.pictures import Pictures
from companion.history.results import Result
from companion.history.risk import at_least, at_most, compared
from companion.history.statistics import as_csv, as_json, statistics
from companion.messages.catalogue import LANGUAGES, load_phrases
from companion.service.install import give_to_owner, is_installed, is_root, service_environ

_DATA_DIR = click.option("--data-dir", type=A_DIRECTORY, help="Where games are kept.")


@click.group()
def games() -> None:
    """List, export and import saved games.

    Example: dice-companion games list
    """


@contextmanager
def _opened(
    data_dir: Path | None,
    *,
    language: str | None = None,
    is_writer: bool = False,
    makes_new: bool = False,
) -> Iterator[tuple[SqliteStore, Config]]:
    """Open saved games: with sudo the service's, where the table is one and none are named.

    Args:
        makes_new: Begin saved games where there are none.

    Raises:
        StoreError: There are none, or they cannot be opened.
    """
    flags = {"data_dir": data_dir, "table.language": language}
    config = load(None, service_environ(data_dir), flags)
    has_own = (config.data_dir / FILE_NAME).is_file()
    if data_dir is None and is_installed() and not is_root() and not has_own:
        raise StoreError("games: the table is a service; run this with sudo")
    if not makes_new and not _holds_games(config.data_dir):
        raise StoreError(f"{config.data_dir}: expected saved games, there are none")
    store = SqliteStore(config.data_dir, is_writer=is_writer)
    try:
        yield store, config
    finally:
        store.close()
        if is_root():
            give_to_owner(config.data_dir)


def _holds_games(folder: Path) -> bool:
    """Whether there are saved games; raises OSError if the folder may not be listed."""
    try:
        return any(name.startswith("games.") for name in os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return False


@games.command("list")
@_DATA_DIR
def list_games(data_dir: Path | None) -> None:
    """List every saved game: number, date, how it ended, players and points.

    Example: dice-companion games list
    """
    with _opened(data_dir) as (store, _):
        found = _results(store)
    rows = [(game.number, local_time(game.at), ENDS[game.end], _totals(game)) for game in found]
    if not rows:
        click.echo("no game is saved yet")
        return
    print_table(("game", "began", "end", "points"), rows, right={0})


def _results(store: SqliteStore) -> list[Result]:
    return Archive(store.derived(RESULTS)).results(store.load)


def _games(store: SqliteStore, number: int | None) -> Iterator[SavedGame]:
    """Every game, or the one with a number, each read when it is asked for."""
    archive = Archive(store.derived(RESULTS))
    numbers = [each.number for each in archive.results(store.load)]
    read = (archive.game(each, store.load) for each in numbers if number in (None, each))
    yield from (game for game in read if game is not None)


def _totals(game: Result) -> str:
    return ", ".join(f"{name} {total}" for name, total in zip(game.names, game.totals, strict=True))


@games.command("export")
@click.argument("number", type=int, required=False)
@click.option("--text", "form", flag_value="text", help="For people, instead of JSON Lines.")
@click.option("--json", "form", flag_value="json", help="Results and records as one object.")
@click.option("--csv", "form", flag_value="csv", help="One line per player, for spreadsheets.")
@click.option("--language", type=click.Choice(LANGUAGES), help="Language of the text.")
@_DATA_DIR
def export_game(
    number: int | None, form: str | None, language: str | None, data_dir: Path | None
) -> None:
    """Write game NUMBER, or all games, to standard output.

    Example: dice-companion games export 3 --text
    """
    with _opened(data_dir, language=language) as (store, config):
        found: Iterable[SavedGame] = _games(store, number)
        if number is not None and not (found := list(found)):
            raise StoreError(f"games export: there is no game {number}")
        if form is not None:
            text = written(found, form, load_phrases(config.table.language))
            click.echo(text if form == "text" else text.encode(), nl=False)
            return
        for game in found:
            click.echo("\n".join(game.lines()).encode())


@games.command("show")
@click.argument("number", type=int)
@click.option("--pictures", type=A_DIRECTORY, metavar="DIR", help="Write the SVG pictures there.")
@click.option("--language", type=click.Choice(LANGUAGES), help="Of the sentences.")
@_DATA_DIR
def show_game(
    number: int, pictures: Path | None, language: str | None, data_dir: Path | None
) -> None:
    """Luck, choices and mistakes of game NUMBER. Example: dice-companion games show 12"""
    from companion.coach.report import told
    from companion.coach.review import review

    with _opened(data_dir, language=language) as (store, config):
        game = next(_games(store, number), None)
        if game is None:
            raise StoreError(f"games show: there is no game {number}")
        phrases = load_phrases(config.table.language)
        report = told(game, review(game.start, game.events), phrases)
        if report.decided is not None:
            Verdicts(config.data_dir).add(game.result.played, report.decided)
    drawn = {"scores": report.scores} | ({"luck": report.luck} if report.luck else {})
    parts = [picture.text for picture in drawn.values()]
    for key, sentences in (("turning", report.turning), ("better", report.mistakes)):
        if sentences:
            parts.append("\n".join((phrases.say(f"page.games.coach_{key}"), *sentences)))
    click.echo("\n\n".join(parts))
    if pictures is not None:
        try:
            pictures.mkdir(parents=True, exist_ok=True)
            for name, picture in drawn.items():
                (pictures / f"game-{number}-{name}.svg").write_text(picture.svg, encoding="utf-8")
        except OSError as error:
            raise StoreError(f"{pictures}: cannot be written: {error.strerror}") from error


@games.command("dice")
@click.option("--language", type=click.Choice(LANGUAGES), help="Of the sentences.")
@_DATA_DIR
def show_dice(language: str | None, data_dir: Path | None) -> None:
    """Show how often each face of each die came over all evenings, and whether that is unusual.

    Example: dice-companion games dice --language de
    """
    from companion.coach.charts import dice_chart
    from companion.coach.fairness import FACES, fairness_of

    with _opened(data_dir, language=language) as (store, config):
        found = fairness_of(game for game in _results(store) if not game.is_imported)
    phrases = load_phrases(config.table.language)
    drawn = dice_chart(found, phrases)
    click.echo(drawn.title)
    headings = ("", *map(str, range(1, FACES + 1)))
    rows = [(phrases.colour(each.colour.value), *each.counts) for each in found.dice]
    print_table(headings, rows, right=range(1, len(headings)))
    verdict, *others = drawn.lines
    for sentence in (verdict, *others[len(rows) :]):  # the counts are in the table
        click.echo(sentence)


@games.command("standings")
@click.option("--variant", type=click.Choice(sorted(PLANS)), help="Only games on this sheet.")
@click.option("--with", "together", multiple=True, help="Only games with this player; repeatable.")
@click.option("--bots", is_flag=True, help="Also games with bots and practice games.")
@click.option("--json", "form", flag_value="json", help="One JSON object, records and pairs too.")
@click.option("--csv", "form", flag_value="csv", help="One line per player, for spreadsheets.")
@_DATA_DIR
def show_standings(
    variant: str | None,
    together: tuple[str, ...],
    bots: bool,
    form: str | None,
    data_dir: Path | None,
) -> None:
    """Show rating, averages, records and wins of every player, and how often luck decided.

    A rating is given with twice its standard deviation. What decided a game is known once it was
    shown by `games show` or opened on the games page.

    Example: dice-companion games standings --with Ada --with Ben
    """
    with _opened(data_dir) as (store, config):
        results = _results(store)
        decided = Verdicts(config.data_dir).known
    found = statistics(results, variant=variant, together=together, bots=bots, decided=decided)
    if form is not None:
        click.echo((as_json(found) if form == "json" else as_csv(found)).encode(), nl=False)
        return
    rows = [
        (
            each.name,
            f"{each.rating.mean:.0f} ± {2 * each.rating.deviation:.0f}" if each.rating else "",
            f"{each.average:.1f}",
            *(each.best, each.games, each.wins, each.streak),
            f"{each.misses:.2f}",
            f"{each.closings:.2f}",
        )
        for each in found.players
    ]
    counts = ("best", "games", "wins", "in a row", "penalties", "rows closed")
    headings = ("name", "rating", "average", *counts)
    print_table(headings, rows, right=range(1, len(headings)))
    share = found.decided
    click.echo(
        f"luck decided {share.luck} of {_counted(share.reviewed, 'reviewed game')}, choices"
        f" {share.choices}, {share.close} cannot be told;"
        f" {_counted(share.games, 'game')} with two or more players"
    )


@games.command("rename")
@click.argument("old", type=A_TEXT)
@click.argument("new", type=A_TEXT)
@_DATA_DIR
def rename_player(old: str, new: str, data_dir: Path | None) -> None:
    """Rename player OLD in every game; if there is a player NEW, the two become one.

    Example: dice-companion games rename Bebn Ben
    """
    _rename(old, new, data_dir)


@games.command("forget")
@click.argument("name", type=A_TEXT)
@_DATA_DIR
def forget_player(name: str, data_dir: Path | None) -> None:
    """Delete player NAME from every game for good, with the pictures of their games.

    The games stay for the others; the player is shown as a number. Backups made before keep the
    name.

    Example: dice-companion games forget Ben
    """
    _rename(name, None, data_dir)


def _rename(old: str, new: str | None, data_dir: Path | None) -> None:
    with _opened(data_dir, is_writer=True) as (store, config):
        results = _results(store)
        code = why_not(results, project(without_old_moves(store.load)).table, old, new)
        if code is not None:
            sentence = load_phrases("en").say(f"declined.{code}", name=old, longest=LONGEST_NAME)
            raise StoreError(f"games: {sentence}")
        other = None if new is None else clean_name(new)
        numbers = {game.number for game in games_of(results, old)}
        if new is None:
            Pictures(config.data_dir, 0).delete_games(numbers)
        store.rewrite(lambda record: with_name(record, old, other), erase=new is None)
    click.echo(f"{len(numbers)} {'game' if len(numbers) == 1 else 'games'} changed")


@games.command("accuracy")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@_DATA_DIR
def accuracy(as_json: bool, data_dir: Path | None) -> None:
    """Reading accuracy at this table, judged by players' corrections.

    Example: dice-companion games accuracy
    """
    with _opened(data_dir) as (store, _):
        found = accuracy_of(store.load())
    if as_json:
        offered = found.right + found.wrong
        bounds = {
            "wrong_at_least": round(at_least(found.wrong, offered), 6),
            "wrong_at_most": round(at_most(found.wrong, offered), 6),
        }
        click.echo(json.dumps(asdict(found) | bounds))
        return
    click.echo(
        f"{found.rolls} rolls: {found.right} read right, {found.wrong} read wrong and corrected,"
        f" {found.unsure} sent back as unsure"
    )
    click.echo(f"{found.dice_seen} dice read: {found.dice_right} right")
    click.echo(compared(found.wrong, found.right + found.wrong))


@games.command("import")
@click.argument("file")
@_DATA_DIR
def import_game(file: str, data_dir: Path | None) -> None:
    """Import the games recorded in FILE. A damaged game is imported up to its first bad line.

    FILE is an export: JSON Lines, or JSON as the games page offers it, too. Exits with 1 if a game
    could not be imported as a whole; the others are.

    A game keeps the date of its record; without one it gets the present time. A game that is here
    already is not imported again.

    Example: dice-companion games import friday.jsonl
    """
    with record_lines(file, LARGEST_FILE) as lines:
        games = records_in(lines)
    if not games:
        raise NotationError(f"{file}: the record is empty")
    read: list[tuple[int, list[str], GameRecord]] = []
    faults = []
    for i, game in enumerate(games, 1):
        try:
            read.append((i, game, from_lines(game)))
        except NotationError as error:
            faults.append(f"{file}: game {i}: {error}")
    if not read:
        raise NotationError(faults[0])
    with _opened(data_dir, is_writer=True, makes_new=True) as (store, _):
        saved = _results(store)
        number = max((game.number for game in saved), default=0)
        revision = store.mark.revision
        at = datetime.now().astimezone().isoformat(timespec="seconds")
        here = {game.course: game.number for game in saved}
        new: list[Record] = []
        told = []
        for i, game, record in read:
            data = {"number": number + len(new) + 1, "lines": game}
            entry = Record(revision + len(new) + 1, "imported", data, at)
            (made,) = saved_games([entry])
            course = made.result.course
            if made.events and course in here:
                told.append(f"game {here[course]}: already here")
                continue
            here[course] = made.number
            new.append(entry)
            told.append(f"game {made.number}: {_counted(len(record.events), 'event')} imported")
            if record.fault:
                faults.append(f"{file}: game {i} imported up to here: {record.fault}")
        if new:
            store.append(tuple(new))
    for line in told:
        click.echo(line)
    for fault in faults:
        complain(fault)
    if faults:
        sys.exit(1)


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
