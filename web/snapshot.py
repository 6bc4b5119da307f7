"""Make the snapshot of a table for pages and programs; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from companion.audio.settings import VoiceSettings
from companion.engine import Choice, DieColour, End, GameState, HouseRule, Phase, Plan, Roll
from companion.engine.offers import dice_for, offer_of
from companion.engine.state import shut_bits
from companion.eventlog.state import Game, Table
from companion.history.notices import Notice
from companion.messages.announcements import (
    Announcement,
    colour_choices,
    end_lines,
    row_term,
    winner_line,
)
from companion.messages.catalogue import Phrases
from companion.messages.equipment import fault_line, loss_line, note_line, tray_lines
from companion.messages.spoken import spoken_lines
from companion.session.corrections import asked_colour, doubtful_dice
from companion.session.play import in_play
from companion.session.session import View
from companion.tray import TrayView
from web.ports import Equipment
from web.wire import snapshot as wire


@dataclass(frozen=True, slots=True)
class SnapshotContext:
    """The values of a snapshot that are not in the session's view.

    Attributes:
        epoch: Names this run of the program: versions count from 1 again after a restart.
        name: Name of the table.
        join_url: The address that phones can open.
        join_name: The same with the machine's name, where mDNS answers; else "".
        speaking: Language and voice of the table's screen and loudspeaker.
        mishaps, troubles: Names that the simulated tray accepts.
        keeps_pictures: Whether pictures of confirmed rolls are kept.
        can_power: Whether the host may switch the machine off.
        take_back_s: Seconds in which a page's last answer may be taken back.
        chances: By player of the running game, the chance to win and its standard error.
        advice: Player and what the coach would cross, in a practice game.
        has_broker: Whether the table publishes to an MQTT broker.
    """

    epoch: str
    name: str
    join_url: str
    equipment: Equipment
    can_throw: bool
    speaking: VoiceSettings
    mishaps: tuple[str, ...] = ()
    troubles: tuple[str, ...] = ()
    keeps_pictures: bool = False
    can_power: bool = False
    take_back_s: float = 0.0
    join_name: str = ""
    chances: tuple[tuple[float, float], ...] = ()
    advice: tuple[tuple[int, Choice], ...] = ()
    has_broker: bool = False


def snapshot(
    view: View, context: SnapshotContext, phrases: Phrases, *, now_s: float
) -> wire.Shared:
    """Make the part of a snapshot that is the same for every device."""
    return wire.Shared(
        revision=view.table.revision,
        version=view.version,
        epoch=context.epoch,
        language=phrases.language,
        table=_table(context, view.table, view.tray),
        seats=[
            wire.SeatState(
                seat=seat.number,
                name=seat.name,
                online=seat.number in view.online or bool(seat.bot),
                offered=seat.number in view.offered,
                waits=seat.waits,
                bot=seat.bot or None,
            )
            for seat in view.table.seats
        ],
        game=_game(view, phrases, now_s, context) if view.table.game else None,
        tray=_tray(view.tray, view.table, phrases),
        faults=_faults(view, phrases),
        announcement=_announcement(view.announcement, view, phrases),
        heard=[
            wire.Heard(number, said.kind, phrases.tell(*spoken_lines(said, context.speaking.say)))
            for number, said in view.heard
        ],
    )


def _faults(view: View, phrases: Phrases) -> list[wire.Fault]:
    faults = [
        wire.Fault(part, code, phrases.tell(fault_line(part, code))) for part, code in view.faults
    ]
    if view.lost:
        faults.append(wire.Fault("games", "lost", phrases.tell(loss_line(view.lost))))
    if not view.has_copy:
        faults.append(wire.Fault("copy", "missing", phrases.tell(fault_line("copy", "missing"))))
    return faults


def _table(context: SnapshotContext, table: Table, tray: TrayView) -> wire.Table:
    equipment = context.equipment
    return wire.Table(
        name=context.name,
        join_url=context.join_url,
        join_name=context.join_name,
        language=context.speaking.language,
        camera=equipment.camera.value,
        button=equipment.button,
        on_screen_button=equipment.on_screen_button,
        can_throw=context.can_throw,
        mishaps=list(context.mishaps),
        troubles=list(context.troubles),
        keeps_pictures=context.keeps_pictures,
        can_power=context.can_power,
        typed_rolls=equipment.typed_rolls or tray.status.is_blind,
        hints=table.settings.hints,
        sound=table.settings.sound,
        take_back=table.settings.take_back,
        take_back_s=context.take_back_s,
        chances=table.settings.chances,
        has_broker=context.has_broker,
        share_names=table.settings.share_names,
        share_pictures=table.settings.share_pictures,
        say=context.speaking.say,
        volume=context.speaking.volume,
        words_per_minute=context.speaking.words_per_minute,
        hosted=bool(table.hosts),
    )


def _game(view: View, phrases: Phrases, now_s: float, context: SnapshotContext) -> wire.Game:
    game = view.table.game
    assert game is not None
    state, names = game.state, view.table.names
    # those of a game that has just begun again with a newcomer are of fewer players
    chances = _chances(context.chances) if len(context.chances) == state.players else []
    is_over = state.phase is Phase.OVER
    ranking = state.ranking if is_over else ()
    counts = state.end is not End.ENDED_EARLY
    closes_in_s = None
    if view.closes_at_s is not None:
        closes_in_s = round(max(0.0, view.closes_at_s - now_s), 2)
    return wire.Game(
        number=game.number,
        variant=state.plan.name,
        phase=state.phase.value,
        turn=state.turn,
        action=state.action,
        active=game.seats[state.active],
        first=game.seats[state.first],
        roll=_roll(state.roll),
        typed=game.typed and state.roll is not None,
        rolled=game.dice_since if state.roll is not None else None,
        house=[
            wire.HouseRuleState(rule.value, list(rule.replaces))
            for rule in HouseRule
            if rule in state.setup.house
        ],
        sums=_sums(state),
        rows=_rows(state.plan, phrases),
        dice=[colour.value for colour in state.dice],
        closed=[
            wire.ClosedRow(
                row=state.plan.rows[closing.row].key,
                colour=_value(state.plan.rows[closing.row].lock),
                by=[game.seats[player] for player in closing.players],
            )
            for closing in state.closed
        ],
        waiting_for=[game.seats[player] for player in state.waiting_for],
        closing=_closing(game),
        closes_in_s=closes_in_s,
        miss_due=state.phase is Phase.ACTION2 and not state.marked,
        practice=game.practice,
        advice=[wire.Advice(game.seats[player], box) for player, box in context.advice],
        players=[
            _player(game, player, chances[player] if chances else None)
            for player in range(state.players)
        ],
        notices=[_notice(game, notice) for notice in view.notices if notice.game == game.number],
        over=is_over,
        end=state.end.value if state.end else None,
        end_ruling=state.end_ruling,
        end_text=phrases.tell(*end_lines(state, names)) if is_over else "",
        winner_text=phrases.tell(winner_line(state, names)) if is_over else "",
        ranking=[wire.Ranked(rank, game.seats[p], state.total(p)) for rank, p in ranking],
        winners=[game.seats[p] for rank, p in ranking if rank == 1 and counts],
    )


def _notice(game: Game, notice: Notice) -> wire.Notice:
    return wire.Notice(
        revision=notice.revision,
        seat=game.seats[notice.player],
        kind=notice.kind,
        lost=list(notice.lost),
        crossed=notice.crossed,
        misses=notice.misses,
    )


def _roll(roll: Roll | None) -> wire.Roll | None:
    if roll is None:
        return None
    return wire.Roll(roll.white, {colour.value: value for colour, value in roll.coloured})


def _sums(state: GameState) -> wire.Sums | None:
    offer = offer_of(state)
    if offer is None:
        return None
    return wire.Sums(offer.white, {c.value: list(sums) for c, sums in offer.coloured})


def _rows(plan: Plan, phrases: Phrases) -> list[wire.Row]:
    return [
        wire.Row(
            key=row.key,
            name=phrases.row(row.name),
            word=row_term(row.name).key,
            bonus=row.is_bonus,
            beside=list(row.beside),
            lock=_value(row.lock),
            boxes=[
                wire.Box(
                    token=f"{row.key}{box.number}",
                    number=box.number,
                    colour=_value(box.colour),
                )
                for box in row.boxes
            ],
        )
        for row in plan.rows
    ]


def _closing(game: Game) -> list[wire.ClosingRow]:
    """Answers that would close a row if they stand (E46)."""
    plan = game.state.plan
    return [
        wire.ClosingRow(plan.rows[plan.row_of(box)].key, game.seats[player])
        for player, box in game.state.closings
    ]


def _chances(chances: Sequence[tuple[float, float]]) -> list[wire.Chance]:
    """Chances in whole percent with two standard errors; rounding changes no sum."""
    shares = [100 * share for share, _ in chances]
    percents = [int(share) for share in shares]
    short = round(sum(shares)) - sum(percents)
    for player in sorted(range(len(shares)), key=lambda p: percents[p] - shares[p])[:short]:
        percents[player] += 1
    return [
        wire.Chance(percent, round(200 * error))
        for percent, (_, error) in zip(percents, chances, strict=True)
    ]


def _player(game: Game, player: int, chance: wire.Chance | None) -> wire.Player:
    state = game.state
    plan, crosses = state.plan, state.crosses[player]
    rows = state.points(player)
    return wire.Player(
        seat=game.seats[player],
        name=game.names[player],
        gone=player in state.gone,
        bot=bool(game.bots[player]),
        sheet={
            key: [f"{key}{number}" for number in numbers]
            for key, numbers in plan.marks_of(crosses).items()
        },
        locks=plan.locks_of(crosses),
        misses=state.misses[player],
        misses_most=plan.misses,
        points=wire.Points(
            rows=rows,
            minus=plan.miss_points * state.misses[player],
            total=state.total(player),
        ),
        answer=_answer(game, player),
        legal=plan.name_of(state.legal[player]),
        made_by={
            token: [wire.DieValue(colour.value, value) for colour, value in pair]
            for token, pair in dice_for(state, player).items()
        },
        lost=plan.name_of(plan.lost_boxes(crosses, shut_bits(plan, state.closed))),
        chance=chance,
    )


def _answer(game: Game, player: int) -> wire.Answered | None:
    answer = game.state.answers[player]
    if game.state.action == 0 or answer is None:
        return None
    box = game.state.plan.tokens[answer] if answer else None
    return wire.Answered(box, player in game.done)


def _tray(tray: TrayView, table: Table, phrases: Phrases) -> wire.Tray:
    game = table.game
    is_due = game is not None and game.state.phase is Phase.ROLL
    is_outdated = game is not None and tray.is_outdated(game.state.dice)
    # without a game the text must not ask for a throw or for the button
    is_idle = (game is None or game.state.phase is Phase.OVER) and tray.status.is_prompt
    is_confirmable = tray.roll is not None and is_due and not is_outdated
    doubtful = doubtful_dice(tray)
    return wire.Tray(
        status=tray.status.value,
        roll=_roll(tray.roll) if is_confirmable else None,
        confirmable=is_confirmable,
        asked=_value(asked_colour(tray, in_play(table))) if is_due else None,
        text="" if is_idle else phrases.tell(*tray_lines(tray.status, tray.problems)),
        note=phrases.tell(*map(note_line, tray.notes)) or None,
        frame=tray.frame,
        size=tray.size_wh,
        dice=[
            wire.Die(
                colour=_value(die.colour),
                value=die.value,
                confidence=round(die.confidence, 3),
                centre=_point(die.centre_xy),
                corners=[_point(corner) for corner in die.corners_xy],
                cocked=die.cocked,
                in_tray=die.in_tray,
                by_hand=die.by_hand,
                doubtful=die in doubtful,
            )
            for die in tray.dice
        ],
        problems=[
            wire.TrayProblem(problem.code.value, _value(problem.colour))
            for problem in tray.problems
        ],
    )


def _point(xy: tuple[float, float]) -> tuple[float, float]:
    return round(float(xy[0]), 1), round(float(xy[1]), 1)


def _announcement(said: Announcement | None, view: View, phrases: Phrases) -> wire.Announced | None:
    if said is None:
        return None
    game = view.table.game
    lines: list[str] = []
    if said.kind in ("roll", "corrected") and game is not None and game.state.roll is not None:
        lines = colour_choices(game.state, phrases)
    return wire.Announced(
        number=view.announced,
        kind=said.kind,
        headline=phrases.tell(said.headline),
        text=phrases.tell(*said.lines),
        lines=lines,
    )


def _value(colour: DieColour | None) -> str | None:
    return None if colour is None else colour.value
