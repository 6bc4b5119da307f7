"""Publishes a table: a thread that follows the session and hands messages to the connection.

Nobody waits for it. The session's callbacks only append to a queue; the thread reads views, and
the connection has a thread of its own. It publishes and never takes a command.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from companion.engine import Phase
from companion.eventlog.state import Game
from companion.history.archive import SavedGame
from companion.messages.announcements import Announcement
from companion.mqtt import discovery
from companion.mqtt.board import board_of
from companion.mqtt.broker import Message, Received
from companion.mqtt.client import Link
from companion.mqtt.clock import LARGEST_STEP, elapsed_s
from companion.mqtt.happenings import happenings
from companion.mqtt.payloads import (
    DIAGNOSTICS_EVERY_S,
    LARGEST_PICTURE_BYTES,
    Board,
    Diagnostics,
    encoded,
)
from companion.mqtt.results import KEEP_S, Ledger, result_of
from companion.mqtt.topics import OFFLINE, ONLINE, Kind, TableTopics
from companion.session.ports import RollKept
from companion.session.session import Session, Topic
from companion.session.view import View
from companion.tray import CameraState, TrayStatus

LOGGER = logging.getLogger(__name__)

WAKE_S = 0.5
"""Seconds after which the waiting thread checks whether something else is due."""

AFTER_FAILURE_S = 5.0
"""Seconds after which what could not be published is tried again."""

EVENT_KEEP_S = 5
"""Seconds after which an event is not worth sending: a lamp should not flash for an old row."""

COMPLAIN_EVERY_S = 60.0
"""Seconds between two lines of the log about messages that were ignored."""

AGAIN = 20
"""Newest results that are published again at each connection: the broker may have lost them."""

_ASKING = (TrayStatus.UNCERTAIN, TrayStatus.COCKED, TrayStatus.MISSING, TrayStatus.EXTRA)
"""Statuses of the tray in which a throw needs more than a press of the button."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Name, version and addresses of a table, as others see it.

    Attributes:
        name: As people call it.
        version: Of the program.
        url: Returns the address of its page.
        prefix: Of Home Assistant's topics.
        is_found: Whether Home Assistant shall find the table; if not, it is removed there.
    """

    name: str
    version: str
    url: Callable[[], str]
    prefix: str = discovery.PREFIX
    is_found: bool = True


class Publisher:
    """Publishes one table to one broker."""

    def __init__(
        self,
        session: Session,
        topics: TableTopics,
        ledger: Ledger,
        identity: Identity,
        *,
        link: Callable[..., Link],
        now_text: Callable[[], str],
        diagnostics: Callable[[], Diagnostics],
        picture: Callable[[RollKept], bytes | None],
    ) -> None:
        """Set up; `start` connects.

        Args:
            link: Makes the connection, from the other arguments of `Link`.
            now_text: The time of day, ISO 8601.
            diagnostics: Measures the table.
            picture: Returns the picture of a roll as JPEG, if there is one.
        """
        self._session, self._topics, self._ledger = session, topics, ledger
        self._identity, self._now_text = identity, now_text
        self._diagnostics, self._picture = diagnostics, picture
        self._said: deque[Announcement] = deque(maxlen=50)
        self._due: deque[str] = deque(maxlen=50)
        self._kept: RollKept | None = None
        self._view: View | None = None
        self._board: Board | None = None
        self._document: bytes | None = None
        self._shares_pictures = False
        self._began: dict[int, str] = {}
        self._results_of: object = None
        self._running = 0  # number of the game that goes on
        self._ended_s: dict[int, float] = {}  # by game that ended since, by `elapsed_s`
        self._measured_s: float | None = None
        self._asked = self._rolls = 0
        self._is_asking = False
        self._counted = 0  # revision of the last roll that was counted, or of the start
        self._did_ask = False  # whether people had to help with that roll
        self._complained_s: float | None = None
        self._is_closed = False
        birth = discovery.birth_topic(identity.prefix)
        self.link = link(
            will=Message(topics.of(Kind.STATUS), OFFLINE, retain=True),
            subscriptions=[birth] if identity.is_found else [],
            on_message=self._received,
            on_connected=lambda: self._wake("connection"),
        )
        self._thread = threading.Thread(target=self._run, name="mqtt-table", daemon=True)

    def start(self) -> None:
        """Connect, and publish from now on."""
        self._session.subscribe(Topic.ANNOUNCEMENT, self._said.append)
        self._session.subscribe(Topic.SEEN_ROLL, self._picture_came)
        self.link.start()
        self._thread.start()

    def close(self) -> None:
        """Say that the table is gone, and disconnect."""
        self._is_closed = True
        self._session.wake()
        self._thread.join(2.0)
        self.link.close([Message(self._topics.of(Kind.STATUS), OFFLINE, retain=True)])

    # -- on other threads --------------------------------------------------------------------

    def _wake(self, what: str) -> None:
        self._due.append(what)
        self._session.wake()

    def _picture_came(self, kept: RollKept) -> None:
        self._kept = kept
        self._due.append("picture")

    def _received(self, got: Received) -> None:
        """Home Assistant has started or ended; anything else is nothing that we asked for."""
        if got.topic == discovery.birth_topic(self._identity.prefix):
            if got.payload == ONLINE:
                return self._wake("birth")
            if got.payload == OFFLINE:
                return None
        now_s = time.monotonic()
        if self._complained_s is None or now_s - self._complained_s >= COMPLAIN_EVERY_S:
            self._complained_s = now_s
            LOGGER.warning("mqtt: ignored %d bytes on %.100r", len(got.payload), got.topic)
        return None

    # -- the thread --------------------------------------------------------------------------

    def _run(self) -> None:
        version, is_failing = -1, False
        while not self._is_closed:
            self._session.wait(version, AFTER_FAILURE_S if is_failing else WAKE_S)
            due = {self._due.popleft() for _ in range(len(self._due))}
            view = self._session.view()
            try:
                if due or view.version != version:
                    self._follow(view, due)
                self._measure(is_new="connection" in due)
                is_failing = False
            except Exception:
                self._due.extend(due or {"again"})
                if not is_failing:
                    LOGGER.exception("mqtt: the table's state could not be published")
                is_failing = True
            version = view.version

    def _follow(self, view: View, due: set[str]) -> None:
        is_new = "connection" in due
        before, self._view = self._view, view
        settings, did_share = view.table.settings, self._shares_pictures
        self._shares_pictures = settings.share_pictures
        self._learn_began(before, view)
        if before is None:
            self._counted = view.table.revision
        if is_new:
            self._clear_earlier_clubs()
            self._publish(Kind.STATUS, ONLINE)
            self._board = self._results_of = None
        if before is not None:
            self._count(before, view)
            self._tell(before, view)
        self._publish_board(view)
        self._publish_device(is_due=bool(due & {"connection", "birth"}))
        if is_new or did_share != settings.share_pictures or "picture" in due:
            self._publish_picture(did_share=did_share or is_new)
        self._publish_results(view, is_new=is_new)

    def _publish(self, kind: Kind, payload: bytes) -> None:
        self.link.publish(Message(self._topics.of(kind), payload, retain=True))

    def _clear_earlier_clubs(self) -> None:
        """Remove the names and the photo that the broker may keep of an earlier `mqtt.club`."""
        for club in self._ledger.clubs - {self._topics.club}:
            topics = TableTopics(club, self._topics.table)
            for kind in (Kind.STATUS, Kind.STATE, Kind.PICTURE, Kind.DIAGNOSTICS):
                self.link.publish(Message(topics.of(kind), b"", retain=True))

    def _publish_board(self, view: View) -> None:
        make: Callable[..., Board] = partial(
            board_of,
            view,
            self._session.phrases,
            name=self._identity.name,
            url=self._identity.url(),
            began=self._began_of(view),
            asked=self._asked_percent(view),
        )
        if self._board is None or make(at=self._board.at) != self._board:
            self._board = make(at=self._now_text())
            self._publish(Kind.STATE, encoded(self._board))

    def _publish_device(self, *, is_due: bool) -> None:
        document = b""
        if self._identity.is_found:
            document = discovery.device(
                self._topics,
                self._session.phrases,
                name=self._identity.name,
                version=self._identity.version,
                url=self._identity.url(),
                shows_pictures=self._shares_pictures,
            )
        if is_due or document != self._document:
            self._document = document
            topic = discovery.device_topic(self._identity.prefix, self._topics.table)
            self.link.publish(Message(topic, document, retain=True))

    def _publish_picture(self, *, did_share: bool) -> None:
        if not self._shares_pictures:
            if did_share:
                self._publish(Kind.PICTURE, b"")  # removes the one the broker may keep
            return
        jpeg = self._picture(self._kept) if self._kept is not None else None
        if jpeg is not None and len(jpeg) <= LARGEST_PICTURE_BYTES:
            self._publish(Kind.PICTURE, jpeg)

    def _measure(self, *, is_new: bool) -> None:
        now_s = time.monotonic()
        last_s = self._measured_s
        if is_new or last_s is None or now_s - last_s >= DIAGNOSTICS_EVERY_S:
            self._measured_s = now_s
            self._publish(Kind.DIAGNOSTICS, encoded(self._diagnostics()))

    # -- games -------------------------------------------------------------------------------

    def _learn_began(self, before: View | None, view: View) -> None:
        """Look up when the game began; a latecomer begins it anew until its first roll."""
        game = view.table.game
        if game is None:
            return
        was = before.table.game if before is not None else None
        is_unplayed = game.state.turn == 1 and game.state.roll is None
        if game.number not in self._began or (is_unplayed and was is not game):
            self._began = {each.number: each.at for each in self._session.past.results()}

    def _began_of(self, view: View) -> str:
        game = view.table.game
        return self._began.get(game.number, "") if game is not None else ""

    def _count(self, before: View, view: View) -> None:
        """Count rolls, and those for which people had to do more than throw and press."""
        was, game = before.table.game, view.table.game
        if game is None or view.tray.camera is CameraState.NONE:
            return
        is_corrected = any(die.by_hand for die in view.tray.dice)
        if game.state.phase is Phase.ROLL and (view.tray.status in _ASKING or is_corrected):
            self._is_asking = True
        if game.state.roll is not None and game.rolled > self._counted:
            self._counted = game.rolled
            self._rolls += 1
            self._did_ask = self._is_asking or game.typed
            self._asked += self._did_ask
            self._is_asking = False
        elif not self._did_ask and _is_corrected(was, game) and game.rolled == self._counted:
            self._did_ask = True
            self._asked += 1

    def _asked_percent(self, view: View) -> float | None:
        if view.tray.camera is CameraState.NONE or not self._rolls:
            return None
        return round(100 * self._asked / self._rolls, 1)

    def _tell(self, before: View, view: View) -> None:
        """Publish what happened; while there is no connection it is not worth keeping."""
        said = [self._said.popleft() for _ in range(len(self._said))]
        if view.announcement is not None:
            said.append(view.announcement)  # the callback for it may still be to come
        events = happenings(
            before,
            view,
            said,
            self._session.phrases,
            began=self._began_of(view),
            at=self._now_text(),
        )
        topic = self._topics.of(Kind.EVENT)
        for event in events if self.link.is_connected else ():
            self.link.publish(Message(topic, encoded(event), keep_s=EVENT_KEEP_S))

    def _publish_results(self, view: View, *, is_new: bool) -> None:
        """Publish finished games that the broker does not have as they are."""
        game, club, shows = view.table.game, self._topics.club, view.table.settings.share_names
        is_over = game is not None and game.state.phase is Phase.OVER
        past = self._session.past
        key = (game.number if game is not None else 0, is_over, shows, past.rewritten)
        if game is not None and not is_over:
            self._running = game.number
            self._ended_s.pop(game.number, None)
        elif game is not None and game.number == self._running:
            self._ended_s.setdefault(game.number, elapsed_s())
        if key == self._results_of:
            return
        games = past.results()
        self._ledger.join(club, games)
        if is_new:
            self._ledger.forget(club, AGAIN)
        for due in self._ledger.due(club, games, name=self._identity.name, shows_names=shows):
            saved = past.game(due.number)
            if saved is None:
                continue
            result = result_of(
                saved,
                name=self._identity.name,
                shows_names=shows,
                revision=view.table.revision,
                ended=self._end_of(saved),
            )
            self.link.publish(
                Message(
                    self._topics.result(due.game),
                    encoded(result),
                    retain=True,
                    keep_s=KEEP_S,
                    on_acknowledged=partial(self._ledger.acknowledge, club, due),
                )
            )
        self._results_of = key

    def _end_of(self, game: SavedGame) -> str:
        """When a game ended; by the clock of now, if that was set since."""
        ended_s, now = self._ended_s.get(game.number), self._now_text()
        if ended_s is None:
            return game.ended
        ended = datetime.fromisoformat(now) - timedelta(seconds=elapsed_s() - ended_s)
        is_right = abs(ended - datetime.fromisoformat(game.ended)) < LARGEST_STEP
        return game.ended if is_right else ended.isoformat(timespec="milliseconds")


def _is_corrected(was: Game | None, game: Game) -> bool:
    """Whether the values of a confirmed roll have changed."""
    old = was.state.roll if was is not None and was.rolled == game.rolled else None
    return old is not None and game.state.roll not in (None, old)
