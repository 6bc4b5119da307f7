"""A session on stage: a clock that is moved by hand, timers that run when it passes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from companion.engine import DieColour, Phase, Roll
from companion.engine.dice import COLOURED
from companion.eventlog.store import SqliteStore
from companion.messages.announcements import Announcement
from companion.messages.catalogue import load_phrases
from companion.session.ports import Store, Topic
from companion.session.session import Joined, Rejected, Session
from companion.tray import Problem, ProblemCode, TrayStatus, TrayView


class Time:
    """Seconds that pass only when told to."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self._timers: list[tuple[float, Callable[[], None], list[bool]]] = []

    def clock(self) -> float:
        return self.now_s

    def call_later(self, seconds: float, call: Callable[[], None]) -> Callable[[], None]:
        alive = [True]
        self._timers.append((self.now_s + seconds, call, alive))
        return lambda: alive.__setitem__(0, False)

    def pass_s(self, seconds: float) -> None:
        until = self.now_s + seconds
        while due := sorted((t for t in self._timers if t[0] <= until), key=lambda t: t[0]):
            timer = due[0]
            self._timers.remove(timer)
            self.now_s = max(self.now_s, timer[0])
            if timer[2][0]:
                timer[1]()
        self.now_s = until


@dataclass
class Port:
    """The state of a camera loop, set by a test."""

    is_reading: bool = False
    is_unwatched: bool = False


@dataclass(frozen=True)
class Announced:
    """An announcement as the table hears it."""

    kind: str
    headline: str
    text: str


class Stage:
    """A session with its store on disk, its time and all it announced."""

    def __init__(
        self,
        directory: Path,
        *,
        store: Store | None = None,
        language: str = "en",
        take_back_s: float = 3.0,
    ) -> None:
        self.directory = directory
        self.time = Time()
        self.now = "2026-11-20T20:15:00+01:00"
        self.store = store or SqliteStore(directory)
        self.port = Port()
        self.session = Session(
            self.store,
            load_phrases(language),
            clock=self.time.clock,
            now_text=lambda: self.now,
            call_later=self.time.call_later,
            draw=lambda n: 0,
            tray=self.port,
            take_back_s=take_back_s,
        )
        self.told: list[Announced] = []
        self.confirmed = 0
        self.session.subscribe(Topic.ANNOUNCEMENT, self._hear)
        self.session.subscribe(Topic.CONFIRMED, self._count)

    def _hear(self, said: Announcement) -> None:
        tell = self.session.phrases.tell
        self.told.append(Announced(said.kind, tell(said.headline), tell(*said.lines)))

    def message(self, rejected: Rejected) -> str:
        """What a rejected step tells, in the table's language."""
        return self.session.phrases.tell(*rejected.lines)

    def _count(self, _: Roll) -> None:
        self.confirmed += 1

    def again(self) -> Stage:
        """The same table after the plug was pulled."""
        self.store.close()
        return Stage(self.directory)

    def seat(self, *names: str) -> list[str]:
        """Give people seats; their tokens."""
        tokens = []
        for name in names:
            joined = self.session.join(name)
            assert isinstance(joined, Joined), joined
            tokens.append(joined.token)
        return tokens

    def roll(self, low: int, high: int, **colour: int) -> Rejected | None:
        """Dice come to rest and the button is pressed."""
        self.session.see(dice_seen(low, high, **colour))
        return self.session.press()

    def type_roll(self, low: int, high: int, **colour: int) -> Rejected | None:
        """Dice are entered by hand."""
        roll = dice_seen(low, high, **colour).roll
        assert roll is not None
        return self.session.typed_roll(roll)

    def correct(self, low: int, high: int, **colour: int) -> Rejected | None:
        """The dice were misread."""
        values = {"red": 3, "yellow": 3, "green": 3, "blue": 3} | colour
        roll = Roll.of((low, high), {DieColour(c): v for c, v in values.items() if v})
        return self.session.correct_roll(roll)

    def answer(
        self,
        seat: int,
        box: str | None,
        *,
        done: bool = True,
        revocable: bool = False,
        key: str = "",
    ) -> str:
        """Answer in the open action; the code it was rejected with, or ""."""
        turn, action = self.state.turn, self.state.action
        rejected = self.session.answer(
            seat, turn, action, box, done=done, revocable=revocable, key=key
        )
        return rejected.code if rejected else ""

    def close_red(self) -> None:
        """Bring the first seat to the answer that closes red, with the second's still missing."""
        for total in (2, 3, 4, 5, 6):
            self.roll(total // 2, total - total // 2)
            assert self.answer(0, f"R{total}") == ""
            self.answer(1, None)
            self.answer(self.state.active, None)
        self.roll(6, 6)
        assert self.answer(0, "R12") == ""

    def play_out(self) -> None:
        """Play on without a cross until somebody's fourth penalty ends the game."""
        while self.state.phase is not Phase.OVER:
            if not self.state.action:
                out = {each.value: 0 for each in COLOURED if each not in self.state.dice}
                assert self.roll(1, 1, **out) is None
            assert self.session.close_action() is None

    @property
    def game(self):  # type: ignore[no-untyped-def]
        game = self.session.view().table.game
        assert game is not None
        return game

    @property
    def state(self):  # type: ignore[no-untyped-def]
        return self.game.state


def begin(stage: Stage, *names: str) -> None:
    """Seat people and start a base game; the first of them begins."""
    stage.seat(*names)
    assert stage.session.start("base", 0) is None


def a_turn(stage: Stage, *boxes: str | None) -> None:
    """A turn in which everybody crosses the white 7 as told, and nobody a colour."""
    assert stage.roll(3, 4) is None
    for seat, box in zip(stage.game.seats, boxes, strict=True):
        assert stage.answer(seat, box) == ""
    if stage.state.action:
        assert stage.answer(stage.game.seats[stage.state.active], None) == ""


def dice_seen(low: int, high: int, **colour: int) -> TrayView:
    """A tray whose dice may be confirmed; a colour of 0 is out."""
    values = {"red": 3, "yellow": 3, "green": 3, "blue": 3} | colour
    return TrayView(
        TrayStatus.OK, Roll.of((low, high), {DieColour(c): v for c, v in values.items() if v})
    )


def tilted(colour: str) -> TrayView:
    """A tray whose one die is tilted."""
    return TrayView(TrayStatus.COCKED, problems=(Problem(ProblemCode.COCKED, DieColour(colour)),))
