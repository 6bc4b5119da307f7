"""Players are renamed, merged and deleted with all that is kept of them."""

from __future__ import annotations

import errno
import json
import os
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from companion.commands.games import games as command
from companion.eventlog import checkpoint
from companion.eventlog.derived import Derived, write_derived
from companion.eventlog.opening import open_to_read
from companion.eventlog.store import FILE_NAME
from companion.history.decided import Decided, Verdicts
from companion.history.pictures import Pictures
from companion.history.results import Result
from companion.history.standings import standings
from companion.history.statistics import statistics
from tests.rights import run_bound
from tests.session.fakes import Stage
from tests.waiting import until
from web import create_app


@pytest.fixture
def played(tmp_path: Path) -> Path:
    """Ada with Bebn, Ada with Ben, Ben with Cleo, and a game taken in; everybody has left."""
    stage = Stage(tmp_path)
    for pair in (("Ada", "Bebn"), ("Ada", "Ben"), ("Ben", "Cleo"), ("Dora", "Emil")):
        stage.seat(*pair)
        assert stage.session.start("base", 0) is None
        stage.play_out()
        for seat in [seat.number for seat in stage.session.view().table.seats]:
            assert stage.session.leave(seat) is None
    lines = "\n".join(stage.session.past.games()[1].lines()).replace("[1, 1]", "[1, 2]")
    stage.store.close()
    (tmp_path / "other.jsonl").write_text(lines.replace('"Ada", "Ben"', '"Fritz", "Ben "'))
    run(tmp_path, "import", str(tmp_path / "other.jsonl"))
    (tmp_path / "other.jsonl").unlink()
    return tmp_path


def run(directory: Path, *arguments: str) -> str:
    done = CliRunner().invoke(command, [*arguments, "--data-dir", str(directory)])
    return done.stdout + (str(done.exception) if done.exception else "")


def names(stage: Stage) -> list[tuple[str, ...]]:
    return [game.names for game in stage.session.past.results()]


def test_a_new_name_merges_two_players_in_every_game(played: Path) -> None:
    stage = Stage(played)
    before = stage.session.past.games()
    assert stage.session.rename_player("bebn", "Ben") is None
    expected = [("Ada", "Ben"), ("Ada", "Ben"), ("Ben", "Cleo"), ("Dora", "Emil"), ("Fritz", "Ben")]
    assert names(stage) == expected
    assert (
        next(p.games for p in statistics(stage.session.past.results()).players if p.name == "Ben")
        == 4
    )
    assert [game.events for game in stage.session.past.games()] == [game.events for game in before]
    stage.seat("Gina", "Hans")
    assert stage.session.start("base", 0) is None
    again = stage.again()
    assert again.store.notice is None
    assert again.store.lost == 0
    assert names(again)[:5] == expected
    again.store.close()


def test_a_name_changed_during_an_export_takes_no_games_out_of_it(played: Path) -> None:
    stage = Stage(played)
    exported = stage.session.past.one_by_one()
    first = next(exported)
    assert stage.session.rename_player("bebn", "Ben") is None
    assert [first.number, *(game.number for game in exported)] == [1, 2, 3, 4, 5]
    stage.store.close()


def test_a_merged_player_who_once_sat_there_takes_nobodys_seat(tmp_path: Path) -> None:
    """Ben sits at the table, where he joined again by his nickname and left at once."""
    stage = Stage(tmp_path)
    stage.seat("Benji", "Cleo")
    assert stage.session.start("base", 0) is None
    stage.play_out()
    assert stage.session.leave(0) is None
    stage.seat("Ben")
    assert stage.session.start("base", 0) is None
    stage.play_out()
    stage.seat("Benji")
    assert stage.session.leave(2) is None
    assert stage.session.rename_player("Benji", "Ben") is None
    before = stage.session.view().table
    again = stage.again()
    assert again.session.view().table.seats == before.seats
    assert again.session.start("base", 0) is None
    assert again.session.view().table.game.names == ("Cleo", "Ben")
    again.store.close()


def test_what_decided_a_game_stays_known_when_its_player_is_renamed(played: Path) -> None:
    stage = Stage(played)
    *_, imported = stage.session.past.results()
    stage.store.close()
    Verdicts(played).add(imported.played, Decided.LUCK)
    for name in ("Fritz", "Ben"):
        assert "changed" in run(played, "rename", name, f"{name} M.")
        assert "luck decided 1 of 1 reviewed game," in run(played, "standings")


def test_a_rename_is_answered_before_old_games_are_read_again(
    played: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Stage(played)
    past, host = stage.session.past, create_app(stage.session).test_client()
    results = past.results
    before = [game.played for game in results()]

    def not_read_again() -> list[Result]:
        assert past.rewritten == 0
        return results()

    monkeypatch.setattr(past, "results", not_read_again)
    assert host.post("/api/player", json={"name": "Ada", "to": "Adele"}).status_code == 200
    assert [game.played for game in results()] == before  # nothing kept with them has to follow
    stage.store.close()


def test_an_export_from_before_a_rename_or_deletion_counts_no_game_twice(
    played: Path, tmp_path: Path
) -> None:
    export = tmp_path / "before.jsonl"
    export.write_text(run(played, "export"))
    before = run(played, "standings", "--json")
    assert run(played, "rename", "Bebn", "Bert") == "1 game changed\n"
    assert run(played, "forget", "Cleo") == "1 game changed\n"
    run(played, "import", str(export))
    run(played, "import", str(export))
    after = run(played, "standings", "--json")
    assert [json.loads(text)["games"] for text in (before, after)] == [5, 5]


def cannot(path: Path, **_how: bool) -> None:
    raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))


@pytest.mark.logs_errors
def test_a_player_whose_pictures_cannot_be_deleted_can_be_deleted_later(
    played: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Stage(played)
    pictures = Pictures(played, 9)
    pictures.keep(2, 2, 1, b"Ben")
    host = create_app(stage.session, pictures=pictures).test_client()
    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", cannot)
        answer = host.post("/api/player", json={"name": "Ben", "to": None})
        assert answer.status_code == 503
    assert host.post("/api/player", json={"name": "Ben", "to": None}).status_code == 200
    assert pictures.all() == []
    stage.store.close()


def test_a_deleted_player_is_in_no_file_any_more(played: Path) -> None:
    for name in ("games.journal-damaged-1", "games.results-part", "games.sqlite3-part"):
        (played / name).write_bytes(b"Ben")
    pictures = Pictures(played, 9)
    for game in (2, 4):
        pictures.keep(game, game, 1, b"Ben" if game == 2 else b"Emil")
    assert run(played, "forget", "Ben") == "3 games changed\n"
    assert [picture.game for picture in pictures.all()] == [4]
    for path in played.rglob("*"):
        assert path.is_dir() or b"Ben" not in path.read_bytes(), path
    stage = Stage(played)
    assert names(stage)[1:3] == [("Ada", "#2"), ("#1", "Cleo")]
    found = statistics(stage.session.past.results())
    assert "#1" not in found.names
    assert {"Ada", "Cleo"} <= set(found.names)
    ranked = {each.name for each in standings(stage.session.past.results())}
    assert "Cleo" in ranked
    assert not ranked & {"#1", "#2"}, "nobody is counted together with another deleted player"
    stage.store.close()


def test_results_kept_at_that_moment_bring_no_deleted_player_back(
    played: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Stage(played)
    about_to, go_on = threading.Event(), threading.Event()

    def write_late(path: Path, derived: Derived) -> None:
        about_to.set()
        go_on.wait(0.5)
        write_derived(path, derived)

    monkeypatch.setattr("companion.eventlog.store.write_derived", write_late)
    reading = threading.Thread(target=stage.session.past.results)
    reading.start()
    assert about_to.wait(9)
    assert stage.session.rename_player("Ben", None) is None
    go_on.set()
    reading.join()
    assert not [path for path in played.glob("games.*") if b"Ben" in path.read_bytes()]
    stage.store.close()


def test_a_deleted_name_is_soon_in_no_file_though_another_program_reads(
    played: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "QUIET_S", 0.05)
    stage = Stage(played)
    stage.session.change_settings({"hints": False})
    with closing(open_to_read(played / FILE_NAME)) as other:
        reading = other.execute("SELECT * FROM log")  # such as an export
        assert reading.fetchone()
        began_s = time.monotonic()
        assert stage.session.rename_player("Ben", None) is None
        assert time.monotonic() - began_s < 4.0, "the table is not kept waiting"
        reading.close()
    until(lambda: not [p for p in played.glob("games.*") if b"Ben" in p.read_bytes()])
    stage.store.close()


def test_copies_are_gone_from_the_disk_before_a_name_is_changed(
    played: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a pulled plug brings one back, and there is no player of that name to delete again."""
    on_disk: list[set[str]] = []

    def sync(folder: Path) -> None:
        on_disk.append({path.name for path in folder.iterdir() if b"Ben" in path.read_bytes()})

    monkeypatch.setattr("companion.eventlog.store.sync", sync)
    run(played, "forget", "Ben")
    assert on_disk == [{"games.sqlite3"}]


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from threading import Event
from tests.rights import run_bound
from tests.session.fakes import Stage
stage = Stage(Path(sys.argv[1]))
for number in range(400):
    stage.session.change_settings({"hints": bool(number % 2)})
stage.session.past.results()
stage.store._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (45_000, resource.RLIM_INFINITY))
print(stage.session.rename_player("Ada", "Adele"))
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
stage.session.past.results()
stage.store.close()
"""


def test_a_full_disk_leaves_no_name_half_changed(played: Path) -> None:
    assert run_bound(FULL_DISK, played) == "None\n"
    stage = Stage(played)
    assert ("Adele", "Ben") in names(stage)
    assert not any("Ada" in each for each in names(stage))
    stage.store.close()


def test_a_mistyped_folder_is_left_as_it_is(tmp_path: Path) -> None:
    for words in (("forget", "Ada"), ("rename", "Ada", "Ben"), ("list",)):
        assert "expected saved games" in run(tmp_path / "mistyped", *words)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("Nobody", "Ben", "NO_SUCH_PLAYER"),
        ("Ada", "Ben", "PLAYED_TOGETHER"),
        (" Ada", "Ben ", "PLAYED_TOGETHER"),
        ("Ada", "x" * 21, "NAME_TOO_LONG"),
        ("Ada", " ", "NAME_EMPTY"),
        ("Ada", "#1", "NAME_EMPTY"),
        ("Dora", None, "PLAYER_AT_TABLE"),  # the latest game is still shown
    ],
)
def test_what_cannot_be_done_says_why(played: Path, old: str, new: str | None, code: str) -> None:
    stage = Stage(played)
    before = names(stage)
    answer = stage.session.rename_player(old, new)
    assert answer is not None
    assert answer.code == code
    assert stage.message(answer)
    assert names(stage) == before
    stage.store.close()


def test_names_stay_while_a_game_runs(played: Path) -> None:
    stage = Stage(played)
    stage.seat("Gina", "Hans")
    stage.session.start("base", 0)
    answer = stage.session.rename_player("Ada", None)
    assert answer is not None
    assert answer.code == "GAME_RUNS"
    stage.store.close()


def test_the_command_says_why_not(played: Path) -> None:
    assert run(played, "rename", "Ada", "Ben") == (
        "games: They played in the same game, so they are two people."
    )
    assert run(played, "rename", "Bebn", "Ben") == "1 game changed\n"
