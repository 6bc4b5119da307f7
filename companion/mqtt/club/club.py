"""One club night: what tables publish and organisers change, stored, and seen as one value.

Messages come on the thread of the broker's connection, changes from any thread. The newest
document of an evening is published with a retained topic, so that a second club process shows the
same rounds; of two documents the one with more changes counts.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from companion.errors import StoreError
from companion.mqtt import payloads, topics
from companion.mqtt.broker import Message, Received
from companion.mqtt.club import evening as changes
from companion.mqtt.club.evening import Evening
from companion.mqtt.club.evening_clock import EveningClock
from companion.mqtt.club.results import (
    Result,
    end_of,
    evening_id,
    evening_of,
    is_older,
    played,
    was_set_since,
)
from companion.mqtt.club.standings import standings
from companion.mqtt.club.store import ClubStore
from companion.mqtt.club.view import (
    Ratings,
    Summary,
    TableView,
    View,
    by_name,
    by_time,
    known_names,
    ratings_after,
    summary_of,
)
from companion.mqtt.results import KEEP_S
from companion.mqtt.topics import Kind
from companion.session.notifier import Notifier
from companion.wire.structs import WireError, decoded, encode

LOGGER = logging.getLogger(__name__)

KINDS = (Kind.STATUS, Kind.STATE, Kind.RESULT, Kind.DIAGNOSTICS)
"""Kinds of topics that a club reads."""

SILENT_S = 2.5 * payloads.DIAGNOSTICS_EVERY_S
"""Seconds without a word after which a table is offline, whatever the broker keeps of it: one that
lost its power together with the broker never said so."""

MOST_TABLES = 500
MOST_RESULTS = 100_000
"""Bounds against a stranger who publishes tables and results without end."""

LARGEST_EVENING_BYTES = 512 * 1024
"""500 players in 30 rounds have 350 kB."""

EVENING_KEEP_S = 2 * 24 * 3600
"""Seconds after which the broker drops an evening: nobody reads its names once it is over."""

MOST_COMPLAINTS = 200
"""Topics whose wrong payloads are logged, one line each until a right one comes."""


class Club:
    """A club process's state; every public method may be called from any thread."""

    def __init__(
        self,
        store: ClubStore,
        level: str,
        *,
        now: Callable[[], datetime],
        clock: Callable[[], float],
    ) -> None:
        """Continue from the store.

        Args:
            level: The club's level in topics, from `topics.club_level`.
            now: The time with its zone.
            clock: Monotonic seconds, those of a suspended machine included.
        """
        self._store, self._now, self._clock = store, EveningClock(now, clock), clock
        self._notifier = Notifier()
        self._evening_topic = topics.evening(level)
        self._level = level
        self._publish: Callable[[Message], None] = lambda _: None
        self._evenings = {each.id: each for each in store.evenings()}
        self._results = {(each.table, each.game.game): each for each in store.results()}
        self._tables: dict[str, TableView] = {}
        self._heard_s: dict[str, float] = {}  # by table, when it said something last
        self._behind: dict[str, timedelta] = {}  # by table, how far its clock is behind
        self._unkept: dict[tuple[str, str], Result] = {}
        self._is_failing = False
        self._complained: set[str] = set()
        self._made: View | None = None  # the last one; tables change without the rest
        self._rated: tuple[Sequence[Result], Ratings] | None = None

    @property
    def subscriptions(self) -> list[str]:
        """The topics to subscribe to: the evening first, because its rounds await results."""
        return [self._evening_topic, *(topics.of_kind(self._level, kind) for kind in KINDS)]

    def connect(self, publish: Callable[[Message], None]) -> None:
        """Publish the evening from now on by this function, and now; called at each connection.

        All tables are offline until the broker says otherwise: after a crash it may know nothing of
        a table that was lost with it.
        """
        self._publish = publish
        with self._notifier.transaction():
            for each in tuple(self._tables.values()):
                self._show(replace(each, is_online=False))
            self._heard_s.clear()
            known = self._evenings.get(self.today)
        if known is not None:
            self._tell(known)

    # -- reading -----------------------------------------------------------------------------

    @property
    def today(self) -> str:
        """The id of the evening now."""
        return evening_id(self._now().isoformat())

    def view(self) -> View:
        """The club night now."""
        with self._notifier.transaction():
            evening, version = self._tonight(), self._notifier.version
            tables = tuple(sorted(self._tables.values(), key=by_name))
            made = self._made
            if made is None or made.evening != evening:
                results = self._in_order()
                earlier = [each for each in results if each.evening < evening.id]
                tonight = summary_of(evening, results, self._rated_before(earlier))
                made = self._made = View(
                    tonight.evening,
                    tonight.done,
                    tonight.places,
                    tonight.rated,
                    version,
                    tables,
                    known=tuple(known_names(evening, self._evenings.values(), results)),
                    earlier=tuple(sorted({each.evening for each in earlier} - {""}, reverse=True)),
                )
            return replace(made, version=version, tables=tables)

    def summary(self, evening: str) -> Summary | None:
        """An evening by its id; None if nothing is known of it."""
        with self._notifier.transaction():
            results = self._in_order()
            known = self._tonight() if evening == self.today else self._evenings.get(evening)
        if known is None and not any(each.evening == evening for each in results):
            return None
        before = ratings_after(each for each in results if each.evening < evening)
        return summary_of(known or Evening(evening), results, before)

    def touch(self) -> None:
        """Count a change that is not the club's own, such as a lost broker."""
        with self._notifier.transaction():
            self._notifier.touch()

    def wait(self, version: int, timeout_s: float) -> int:
        """Block until there is a newer version or time is up; return the version now."""
        return self._notifier.wait(version, timeout_s)

    def wake(self) -> None:
        """Wake every waiting thread."""
        self._notifier.wake()

    # -- the organiser -----------------------------------------------------------------------

    def add(self, name: str) -> None:
        """Add a player, or let one come back. Raises Declined, StoreError."""
        self._change(lambda evening: changes.with_member(evening, name))

    def remove(self, name: str) -> None:
        """Let a player leave. Raises StoreError."""
        self._change(lambda evening: changes.without_member(evening, name))

    def choose(self, system: str, size: int) -> None:
        """Choose how the next rounds are paired. Raises StoreError."""
        self._change(lambda evening: changes.with_form(evening, system, size))

    def draw(self, number: int) -> None:
        """Draw a round. Raises Declined, StoreError.

        Args:
            number: The round's number, so that a double tap draws one.
        """

        def drawn(evening: Evening) -> Evening:
            if number <= len(evening.rounds):
                raise changes.Declined("ROUND_DRAWN")
            if number != len(evening.rounds) + 1:
                raise changes.Declined("ROUNDS_CHANGED")
            places = standings(evening, played(evening, self._in_order()))
            tables = [each.id for each in self.view().tables if each.is_online]
            ranking = [place.name for place in places]
            return changes.with_round(evening, ranking, tables, self._now_text())

        self._change(drawn)

    def take_back(self, number: int) -> None:
        """Take the last round back. Raises Declined, StoreError.

        Args:
            number: The round's number, so that a double tap takes one back.
        """

        def without(evening: Evening) -> Evening:
            if number > len(evening.rounds):
                raise changes.Declined("NO_ROUND")
            if number != len(evening.rounds):
                raise changes.Declined("ROUNDS_CHANGED")
            return changes.without_round(evening)

        self._change(without)

    def _change(self, change: Callable[[Evening], Evening]) -> None:
        with self._notifier.transaction():
            evening = change(self._tonight())
            self._adopt(evening)
            self._now.under_way = evening.id
        self._tell(evening)

    def _adopt(self, evening: Evening) -> None:
        self._store.keep_evening(evening)
        self._evenings[evening.id] = evening
        self._made = None
        self._notifier.touch()

    def _tell(self, evening: Evening) -> None:
        payload = encode(evening).encode()
        self._publish(Message(self._evening_topic, payload, retain=True, keep_s=EVENING_KEEP_S))

    # -- the broker --------------------------------------------------------------------------

    def receive(self, got: Received) -> None:
        """Take a message of the broker; one that does not fit is ignored with a line in the log."""
        try:
            if got.topic == self._evening_topic:
                self._take_evening(got.payload)
                return
            found = topics.parse(got.topic)
            if found is None or found.club != self._level or found.kind not in KINDS:
                raise WireError("", "a topic of a table", got.topic[:100], "text")
            if found.kind is Kind.RESULT:
                self._take_result(found, got)
            else:
                self._take_table(found, got)
        except WireError as error:
            self._complain(got.topic, error)
        else:
            self._complained.discard(got.topic)

    def _take_table(self, found: topics.Parsed, got: Received) -> None:
        payload = got.payload
        with self._notifier.transaction():
            known = self._tables.get(found.table) or TableView(found.table)
            if found.table not in self._tables and len(self._tables) >= MOST_TABLES:
                raise WireError("", f"{MOST_TABLES} tables at most", found.table, "range")
            if found.kind is Kind.DIAGNOSTICS:
                if found.table not in self._tables:
                    return
                if not got.retained:
                    known = replace(known, is_online=True)  # it may have been silent for long
            elif found.kind is Kind.STATE:
                board = payloads.decode(payload, payloads.Board) if payload else None
                known = replace(known, board=board)
                if board is not None and not got.retained:
                    self._compare_clocks(found.table, board.at)
            elif payload in (topics.ONLINE, topics.OFFLINE, b""):
                known = replace(known, is_online=payload == topics.ONLINE)
            else:
                raise WireError("", "online or offline", payload[:40], "text")
            now_s = self._clock()
            self._heard_s.setdefault(found.table, now_s)
            if not got.retained:
                self._heard_s[found.table] = now_s
            if known != self._tables.get(found.table):
                self._show(known)

    def _take_result(self, found: topics.Parsed, got: Received) -> None:
        if not got.payload:
            return  # the broker no longer keeps it; the club does
        game = payloads.decode(got.payload, payloads.Result)
        if game.game != found.game:
            raise WireError("game", found.game, game.game, "text")
        with self._notifier.transaction():
            key = found.table, found.game
            known = self._results.get(key)
            if known is not None and known.game == game:
                return
            if known is not None and got.retained and is_older(game, known.game):
                return  # live ones are what the table knows now, also after a restored backup
            if known is None and len(self._results) >= MOST_RESULTS:
                raise WireError("", f"{MOST_RESULTS} results at most", found.game, "range")
            if known is not None:
                result = replace(known, game=game)
            else:
                at = self._arrived_at(got)
                result = self._placed(
                    Result(found.table, game, at, "", at), is_live=not got.retained
                )
            self._results[key] = self._unkept[key] = result
            self._made = None
            self._notifier.touch()

    def flush(self) -> bool:
        """Write the results that are not on the disk yet; return whether all are.

        A slow disk delays nobody: results are shown at once, and until they are written the broker
        keeps them.
        """
        with self._notifier.transaction():
            waiting = dict(self._unkept)
        try:
            self._store.keep_results(waiting.values())
        except StoreError as error:
            if not self._is_failing:
                LOGGER.error("results are kept in memory and by the broker only: %s", error)
            self._is_failing = True
            return False
        self._is_failing = False
        with self._notifier.transaction():
            for key, result in waiting.items():
                if self._unkept.get(key) is result:
                    del self._unkept[key]
            return not self._unkept

    def look_for_silent_tables(self) -> None:
        """Show tables as offline that have said nothing for long, while the broker was there."""
        with self._notifier.transaction():
            since_s = self._clock() - SILENT_S
            for each in tuple(self._tables.values()):
                if each.is_online and self._heard_s.get(each.id, 0.0) < since_s:
                    self._show(replace(each, is_online=False))

    def _take_evening(self, payload: bytes) -> None:
        if not payload:
            return
        if len(payload) > LARGEST_EVENING_BYTES:
            raise WireError("", "a shorter evening", len(payload), "range")
        evening: Evening = decoded(payload, Evening)
        with self._notifier.transaction():
            if evening.id != self.today:
                return
            known = self._evenings.get(evening.id)
            changes.check_received(evening, known)
            if known is None or changes.weight(evening) > changes.weight(known):
                self._adopt(evening)
                return
        if known != evening:
            self._tell(known)

    def _complain(self, topic: str, error: WireError) -> None:
        if topic in self._complained:
            return
        if len(self._complained) >= MOST_COMPLAINTS:
            self._complained.clear()
        self._complained.add(topic)
        LOGGER.warning("mqtt: %r is ignored: %s", topic[:200], error)

    # -- helpers, under the lock -------------------------------------------------------------

    def _compare_clocks(self, table: str, at: str) -> None:
        """Note how far a table's clock is behind, by a time that it has just sent."""
        with suppress(ValueError, OverflowError, TypeError):  # not a time, or none with an offset
            self._behind[table] = self._now() - datetime.fromisoformat(at)

    def _show(self, table: TableView) -> None:
        if table.board is None and not table.is_online:
            self._tables.pop(table.id, None)  # it was removed from the broker
            self._heard_s.pop(table.id, None)
        else:
            self._tables[table.id] = table
        self._notifier.touch()

    def _arrived_at(self, got: Received) -> str:
        """When a result came to the broker, by the club's clock, in UTC."""
        drawn = [each.drawn_at for each in self._tonight().rounds]
        last = max([self._now_text(), *drawn])
        if last in drawn:  # the clock was set back after that draw
            return last
        kept_s = KEEP_S - (got.keeps_s or KEEP_S)
        return self._now_text(max(0, kept_s - 1))  # whole seconds: one may be too many

    def _now_text(self, ago_s: int = 0) -> str:
        at = self._now() - timedelta(seconds=ago_s)
        return at.astimezone(UTC).isoformat(timespec="milliseconds")

    def _tonight(self) -> Evening:
        today = self.today
        known = self._evenings.get(today)
        if known is not None:
            return known
        before = max(self._evenings.values(), key=lambda each: each.id, default=None)
        return changes.next_evening(today, before)

    def _placed(self, result: Result, *, is_live: bool) -> Result:
        """A new result with its evening and its end."""
        now = self._now()
        behind, zone = self._behind.get(result.table), now.tzinfo
        if behind is not None and was_set_since(result.game.ended, behind, now):
            behind = timedelta()
        evening = evening_of(
            result,
            [self._evenings[each] for each in sorted(self._evenings)],
            self._in_order(),
            today=self.today,
            is_live=is_live,
            behind=behind,
            zone=zone,
        )
        result = replace(result, evening=evening)
        ended_at = end_of(result, is_live=is_live, behind=behind, zone=zone)
        return replace(result, ended_at=ended_at)

    def _rated_before(self, earlier: Sequence[Result]) -> Ratings:
        """Ratings after earlier evenings; only a late result changes them."""
        if self._rated is None or self._rated[0] != earlier:
            self._rated = earlier, ratings_after(earlier)
        return self._rated[1]

    def _in_order(self) -> list[Result]:
        return sorted(self._results.values(), key=by_time)
