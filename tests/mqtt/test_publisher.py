"""A table on a real Mosquitto: what is there, when it changes, and what a stranger can do to it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from companion.engine import DieColour
from companion.errors import StoreError
from companion.mqtt import client
from companion.mqtt.broker import Received
from companion.mqtt.client import Link
from companion.mqtt.mosquitto import Mosquitto
from companion.mqtt.payloads import Board, Diagnostics, GameEvent, Result, decode
from companion.mqtt.publisher import Identity, Publisher
from companion.mqtt.results import Ledger
from companion.mqtt.topics import Kind, TableTopics, all_tables, parse
from companion.tray import DieView
from tests.mqtt.conftest import Listener
from tests.session.fakes import Stage, dice_seen, tilted
from tests.waiting import until
from tests.web.stand_in import a_roll, dice_in_tray

Listen = Callable[..., Listener]

JPEG = b"\xff\xd8 a roll \xff\xd9"


class House:
    """A table that publishes, and somebody who listens."""

    def __init__(self, stage: Stage, mosquitto: Mosquitto, listen: Listen) -> None:
        self.stage, self.mosquitto, self._listen = stage, mosquitto, listen
        self.ledger = Ledger(stage.directory)
        self.topics = TableTopics("house", self.ledger.table)
        self.publisher: Publisher | None = None

    def open(self, *, is_found: bool = True) -> Publisher:
        self.publisher = Publisher(
            self.stage.session,
            self.topics,
            self.ledger,
            Identity("Table 1", "0.1.0", lambda: "http://t1.local:8000", is_found=is_found),
            link=partial(Link, self.mosquitto.broker, client_id="table"),
            now_text=lambda: self.stage.now,
            diagnostics=lambda: Diagnostics("0.1.0"),
            picture=lambda roll: JPEG,
        )
        self.publisher.start()
        until(lambda: self.publisher is not None and self.publisher.link.is_connected)
        return self.publisher

    def ears(self, *topics: str) -> Listener:
        return self._listen(self.mosquitto.broker, *topics)

    def board(self, ears: Listener, fits: Callable[[Board], bool] = lambda _: True) -> Board:
        def is_it(got: Received) -> bool:
            return fits(decode(got.payload, Board))

        return decode(ears.next(self.topics.of(Kind.STATE), is_it).payload, Board)

    @property
    def device(self) -> str:
        return f"homeassistant/device/dice_companion_{self.ledger.table}/config"


@pytest.fixture
def house(
    stage: Stage, mosquitto: Mosquitto, listen: Listen, monkeypatch: pytest.MonkeyPatch
) -> Iterator[House]:
    monkeypatch.setattr(client, "PAUSES_S", (0.02, 0.05))
    made = House(stage, mosquitto, listen)
    yield made
    if made.publisher is not None:
        made.publisher.close()


def document(got: Received) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(got.payload)
    return parsed


def test_a_table_is_there_and_found_and_says_when_it_is_gone(house: House) -> None:
    publisher = house.open()
    until(lambda: publisher.link.waiting == 0)
    late = house.ears("#")
    status = house.topics.of(Kind.STATUS)
    assert late.next(status).payload == b"online"
    found = document(house.ears(house.device).next(house.device))
    assert found["device"]["name"] == "Table 1"
    assert found["availability_topic"] == status
    publisher.close()
    assert late.next(status).payload == b"offline"


def test_the_board_follows_every_step_of_the_table(house: House) -> None:
    house.open()
    ears = house.ears()
    house.stage.seat("Ada", "Ben")
    assert house.stage.session.start() is None
    first = house.board(ears, lambda board: board.game is not None)
    assert first.game is not None
    assert first.game.game == "1-20261120191500"
    assert first.url == "http://t1.local:8000"
    house.stage.roll(3, 4)
    event = decode(ears.next(house.topics.of(Kind.EVENT)).payload, GameEvent)
    assert event.event_type == "roll"
    assert event.text.startswith("White 7.")
    house.stage.answer(1, "R7")
    house.board(ears, lambda board: board.game is not None and board.game.players[1].answered)
    assert late_board(house) == house.stage.session.view().table.revision


def late_board(house: House) -> int:
    """The revision of the board that somebody who comes late finds."""
    return house.board(house.ears(all_tables("house"))).revision


def test_a_log_that_cannot_be_read_for_a_moment_costs_nothing(
    house: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("companion.mqtt.publisher.AFTER_FAILURE_S", 0.05)
    past = house.stage.session.past
    results, failures = past.results, [StoreError("the disk is busy")] * 2

    def results_or_not() -> Any:
        if failures:
            raise failures.pop()
        return results()

    monkeypatch.setattr(past, "results", results_or_not)
    house.stage.seat("Ada", "Ben")
    house.stage.session.start()
    house.open()
    late = house.ears("#")
    assert late.next(house.topics.of(Kind.STATUS)).payload == b"online"
    assert house.board(late, lambda board: board.game is not None).revision
    assert not failures
    assert caplog.messages == ["mqtt: the table's state could not be published"]


def test_home_assistants_start_brings_the_document_again(house: House) -> None:
    house.open()
    ears = house.ears()
    first = ears.next(house.device)
    ears.say("homeassistant/status", b"online")
    assert ears.next(house.device, lambda got: not got.retained).payload == first.payload


def test_switched_off_the_table_removes_itself(house: House) -> None:
    found = house.ears(house.device)
    table = house.open()
    assert found.next(house.device).payload != b""
    table.close()
    house.open(is_found=False)
    assert found.next(house.device, lambda got: got.payload == b"")


@pytest.mark.parametrize(
    "payload", [b"", b"\xff" * 5000, b"ONLINE", b'{"command":"roll"}', b"[" * 100_000]
)
def test_hostile_payloads_are_ignored_with_one_line(
    payload: bytes, house: House, caplog: pytest.LogCaptureFixture
) -> None:
    publisher = house.open()
    ears = house.ears()
    before = house.stage.session.view().table
    for _ in range(5):
        ears.say("homeassistant/status", payload)
        ears.say(house.topics.of(Kind.STATE), payload)
    ears.say("homeassistant/status", b"online")
    ears.next(house.device, lambda got: not got.retained)
    assert house.stage.session.view().table == before
    assert publisher.link.is_connected

    def lines() -> list[str]:
        return [each for each in caplog.messages if each.startswith("mqtt: ignored")]

    until(lambda: bool(lines()))
    assert lines() == [f"mqtt: ignored {len(payload)} bytes on 'homeassistant/status'"]


def test_a_result_survives_a_night_without_the_network(house: House) -> None:
    publisher = house.open()
    house.stage.seat("Ada", "Ben")
    assert house.stage.session.start() is None
    house.mosquitto.stop()
    until(lambda: not publisher.link.is_connected)
    house.stage.play_out()
    publisher.close()
    house.ledger = Ledger(house.stage.directory)  # the table is started again
    house.mosquitto.start()
    ears = house.ears(all_tables("house"))
    house.open()
    topic = house.topics.result("1-20261120191500")
    result = decode(ears.next(topic).payload, Result)
    assert (result.end, result.counts, result.players[0].name) == ("misses", True, "")
    until(lambda: "1-20261120191500" in Ledger(house.stage.directory)._file.clubs["house"].sent)
    parsed = parse(topic)
    assert parsed is not None
    assert parsed.game == result.game


def test_a_result_has_the_time_of_a_clock_that_was_set_before_it_was_sent(house: House) -> None:
    publisher = house.open()
    house.stage.seat("Ada", "Ben")
    assert house.stage.session.start() is None
    house.mosquitto.stop()
    until(lambda: not publisher.link.is_connected)
    until(lambda: publisher._view is not None and publisher._view.table.game is not None)
    house.stage.play_out()
    until(lambda: publisher._view == house.stage.session.view())
    house.stage.now = "2026-12-11T20:15:00+01:00"  # three weeks later, though no time has passed
    house.mosquitto.start()
    ears = house.ears(all_tables("house"))
    topic = house.topics.result("1-20261120191500")
    ended = ears.next(topic, lambda got: b'"2026-12-11T' in got.payload)
    assert decode(ended.payload, Result).ended.startswith("2026-12-11T20:1")


def test_a_result_follows_a_player_who_is_renamed(house: House) -> None:
    house.open()
    ears = house.ears()
    session = house.stage.session
    session.change_settings({"share_names": True})
    for pair in (("Ada", "Bebn"), ("Cleo", "Dora")):
        house.stage.seat(*pair)
        session.start("base", 0)
        house.stage.play_out()
        for seat in [seat.number for seat in session.view().table.seats]:
            session.leave(seat)
    topic = house.topics.result("1-20261120191500")
    assert "Bebn" in repr(ears.next(topic).payload)
    assert session.rename_player("Bebn", "Ben") is None
    # what the broker had not acknowledged yet may come twice
    again = ears.next(topic, lambda got: b"Bebn" not in got.payload)
    renamed = decode(again.payload, Result)
    assert {each.name for each in renamed.players} == {"Ada", "Ben"}


def test_names_and_pictures_leave_only_when_the_host_agrees(house: House) -> None:
    session = house.stage.session
    house.open()
    ears = house.ears()
    house.stage.seat("Ada", "Ben")
    session.start()
    die = DieView(DieColour.RED, 3, 0.9, (1, 1), ((0, 0), (2, 0), (2, 2), (0, 2)))
    session.see(replace(dice_seen(3, 4), dice=(die,)))
    session.press()
    hidden = house.board(ears, lambda board: board.game is not None and board.game.roll is not None)
    assert "Ada" not in repr(hidden)
    session.change_settings({"share_names": True, "share_pictures": True})
    named = house.board(ears, lambda board: "Ada" in repr(board))
    assert named.game is not None
    assert named.game.players[1].name == "Ben"
    picture = house.topics.of(Kind.PICTURE)
    assert ears.next(picture, lambda got: got.payload != b"").payload == JPEG
    session.change_settings({"share_names": False, "share_pictures": False})
    house.board(ears, lambda board: "Ada" not in repr(board))
    assert ears.next(picture).payload == b""
    late = house.ears(all_tables("house"))
    assert "Ada" not in repr(house.board(late))


def test_an_earlier_club_keeps_no_name_and_no_picture(house: House) -> None:
    left = TableTopics("tuesday", house.ledger.table)
    house.ledger.join("tuesday", [])
    kinds = (Kind.STATUS, Kind.STATE, Kind.PICTURE, Kind.DIAGNOSTICS)
    stranger = house.ears("none")
    for kind in kinds:
        stranger.say(left.of(kind), b"Ada", retain=True)
    until(lambda: not stranger.link.waiting)
    ears = house.ears(all_tables("tuesday"))
    house.open()
    for kind in kinds:
        assert ears.next(left.of(kind)).payload == b"Ada"
        assert ears.next(left.of(kind)).payload == b""


def test_rolls_for_which_people_had_to_help_are_counted(house: House) -> None:
    house.open()
    ears = house.ears()
    house.stage.seat("Ada", "Ben")
    house.stage.session.start()
    house.stage.session.see(tilted("red"))
    until(lambda: house.publisher is not None and house.publisher._is_asking)
    for asked in (100.0, 50.0):
        house.stage.roll(3, 4)
        assert house.board(ears, lambda board: board.asked == asked).asked == asked  # noqa: B023
        while house.stage.state.action:
            house.stage.session.close_action()


def test_a_roll_that_people_put_right_counts_once_as_help(house: House) -> None:
    house.open()
    ears, stage = house.ears(), house.stage

    def taken(step: object) -> None:
        assert step is None
        version = stage.session.view().version
        seen = house.publisher
        until(lambda: seen is not None and seen._view is not None and seen._view.version >= version)

    stage.seat("Ada", "Ben")
    taken(stage.session.start())
    taken(stage.roll(3, 4))
    taken(stage.session.pause())
    taken(stage.session.resume(1))  # the same roll
    taken(stage.correct(3, 5))
    assert house.board(ears, lambda board: bool(board.asked)).asked == 100.0
    while stage.state.action:
        taken(stage.session.close_action())
    stage.session.see(dice_in_tray(a_roll(1, 2), frame=50))
    at = stage.session.view().tray.dice[0].centre_xy
    taken(stage.session.fix_die(50, at, 6))
    taken(stage.session.press())
    stage.session.see(dice_in_tray(a_roll(1, 2), frame=51, status="old"))
    taken(stage.correct(1, 5))
    while stage.state.action:
        taken(stage.session.close_action())
    taken(stage.roll(4, 4))
    assert house.board(ears, lambda board: board.asked != 100.0).asked == 66.7


def test_a_broker_that_lost_everything_is_filled_again(house: House) -> None:
    publisher = house.open()
    house.stage.seat("Ada", "Ben")
    house.stage.session.start()
    house.stage.play_out()
    until(lambda: publisher.link.waiting == 0)
    house.mosquitto.stop()
    until(lambda: not publisher.link.is_connected)
    house.mosquitto.start()  # it keeps nothing
    ears = house.ears()
    for topic in (
        house.topics.of(Kind.STATUS),
        house.topics.of(Kind.STATE),
        house.device,
        house.topics.of(Kind.DIAGNOSTICS),
        house.topics.result("1-20261120191500"),
    ):
        assert ears.next(topic).payload != b""


@pytest.mark.parametrize(("every_s", "comes_again"), [(0.0, True), (600.0, False)])
def test_the_table_measures_itself_as_often_as_it_should(
    house: House, monkeypatch: pytest.MonkeyPatch, every_s: float, comes_again: bool
) -> None:
    monkeypatch.setattr("companion.mqtt.publisher.DIAGNOSTICS_EVERY_S", every_s)
    publisher, ears = house.open(), house.ears()
    ears.next(house.topics.of(Kind.STATUS))
    measured: list[int] = []

    def measure() -> Diagnostics:
        measured.append(1)
        return Diagnostics("0.1.0")

    for name in ("Ada", "Ben", "Cleo"):
        house.stage.seat(name)
        until(lambda: publisher._view == house.stage.session.view())
        publisher._diagnostics = measure  # the measurement at the connection is over
    assert bool(measured) is comes_again


def test_events_of_long_ago_are_not_sent_late(house: House) -> None:
    publisher = house.open()
    house.stage.seat("Ada", "Ben")
    house.stage.session.start()
    house.mosquitto.stop()
    until(lambda: not publisher.link.is_connected)
    house.stage.roll(3, 4)
    until(lambda: publisher._view is not None and publisher._view.table.game is not None)
    until(lambda: publisher._view == house.stage.session.view())
    house.mosquitto.start()
    ears = house.ears()
    until(lambda: publisher.link.is_connected)
    house.stage.session.close_action()
    house.stage.session.close_action()
    event = ears.next(house.topics.of(Kind.EVENT))
    assert decode(event.payload, GameEvent).event_type == "penalty"


def test_the_table_keeps_its_id(stage: Stage, tmp_path: Path) -> None:
    assert Ledger(tmp_path).table == Ledger(tmp_path).table
