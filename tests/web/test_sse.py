"""Live updates: the newest state only, signs of life, and an end to everything."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from flask import Flask

from tests.session.fakes import Stage
from tests.web.stand_in import seat
from tests.web.test_people import phone
from web.client import Client
from web.sse import MOST_OUTSIDE, Stream, Streams


class Hand:
    """A session whose versions and a clock whose seconds pass by hand."""

    def __init__(self) -> None:
        self.version = 1
        self.now_s = 0.0
        self.here: list[int] = []

    def clock(self) -> float:
        return self.now_s

    def wait(self, version: int, timeout_s: float) -> int:
        if self.version <= version:
            self.now_s += timeout_s
        return self.version

    def wake(self) -> None:
        """Nobody waits."""

    def connected(self, seat: int) -> None:
        self.here.append(seat)

    def disconnected(self, seat: int) -> None:
        self.here.remove(seat)

    def seats_of(self, tokens: tuple[str, ...]) -> tuple[int, ...]:
        return tuple(int(token) for token in tokens)

    def render(self, client: Client) -> tuple[int, str]:
        return self.version, json.dumps({"seats": list(self.seats_of(client.tokens))})


@pytest.fixture
def hand() -> Hand:
    return Hand()


@pytest.fixture
def streams(hand: Hand) -> Streams:
    return Streams(
        hand, hand.render, clock=hand.clock, most_inside=3, most_outside=5, most_per_browser=2
    )  # type: ignore[arg-type]


def device(name: str | None = None, *tokens: str, address: str = "") -> Client:
    return Client(name, tokens, True, address)


def opened(streams: Streams, browser: str | None = None, *tokens: str) -> Stream:
    stream = streams.open(device(browser, *tokens))
    assert stream is not None
    return stream


def test_it_begins_with_the_whole_state(streams: Streams) -> None:
    first = opened(streams, None, "2").message().decode()
    assert first == 'retry: 1000\nid: 1\nevent: state\ndata: {"seats": [2]}\n\n'


def test_only_the_newest_state_is_sent(streams: Streams, hand: Hand) -> None:
    stream = opened(streams)
    stream.message()
    assert not stream.is_due(1)
    hand.version, hand.now_s = 7, 1.0
    assert stream.is_due(7)
    assert stream.message().startswith(b"id: 7\n")


def test_spectators_receive_a_state_four_times_a_second(streams: Streams, hand: Hand) -> None:
    outside = opened(streams)
    inside = streams.open(device(), is_inside=True)
    assert inside is not None
    for stream in (outside, inside):
        stream.message()
    hand.version = 2
    assert (outside.is_due(2), inside.is_due(2)) == (False, True)
    hand.now_s = 0.25
    assert outside.is_due(2)


def test_a_quiet_table_still_gives_signs_of_life(streams: Streams, hand: Hand) -> None:
    stream = opened(streams)
    stream.message()
    hand.now_s = 9.9
    assert not stream.is_due(1)
    hand.now_s = 10.0
    assert stream.is_due(1)
    assert stream.message().startswith(b": beat\n")
    assert not stream.is_due(1)


def test_a_stream_ends_after_ten_minutes(streams: Streams, hand: Hand) -> None:
    stream = opened(streams)
    hand.now_s = 599.0
    assert stream.message().startswith(b"retry")
    hand.now_s = 600.0
    assert stream.is_due(1)
    assert stream.message() == b""
    assert stream.is_closed
    assert len(streams) == 0


def test_a_browser_keeps_its_newest_streams(streams: Streams) -> None:
    oldest, *others = [opened(streams, "a") for _ in range(3)]
    other = opened(streams, "b")
    assert oldest.is_due(1)
    assert oldest.message() == b"event: replaced\ndata: {}\n\n"
    assert oldest.is_closed
    for stream in (*others, other):
        assert stream.message().startswith(b"retry")
    assert len(streams) == 3


def test_programs_without_cookies_are_not_one_browser(streams: Streams) -> None:
    for stream in [opened(streams) for _ in range(5)]:
        assert stream.message().startswith(b"retry")


def test_there_are_places_for_so_many_and_a_closed_one_is_free_again(streams: Streams) -> None:
    first, *_ = [opened(streams) for _ in range(5)]
    assert streams.open(device()) is None
    first.close()
    first.close()
    assert streams.open(device()) is not None


def test_a_seat_is_online_while_its_stream_is_open(streams: Streams, hand: Hand) -> None:
    one, two = opened(streams, None, "1", "3"), opened(streams, None, "1")
    assert hand.here == [1, 3, 1]
    one.close()
    one.close()
    two.close()
    assert hand.here == []


def test_closing_ends_all(streams: Streams) -> None:
    stream = opened(streams)
    stream.message()
    streams.close()
    assert stream.is_due(1)
    assert stream.message() == b""
    assert stream.is_closed
    assert streams.open(device()) is None


def test_places_of_players_are_not_for_spectators(streams: Streams) -> None:
    for n in range(5):
        assert streams.open(device(address=f"192.168.1.{n}")) is not None
    assert streams.open(device(address="192.168.1.9")) is None
    inside = [streams.open(device(address="192.168.1.9"), is_inside=True) for _ in range(3)]
    assert None not in inside
    assert streams.open(device(address="192.168.1.9"), is_inside=True) is None
    assert len(streams) == 8


def test_with_all_streams_taken_the_page_gets_a_retry_time(app: Flask) -> None:
    streams: Streams = app.extensions["streams"]
    taken = [streams.open(device(address=f"192.168.1.{n}")) for n in range(MOST_OUTSIDE)]
    assert None not in taken
    got = phone(app, "192.168.2.1").get("/api/events")
    assert got.status_code == 503
    assert got.headers["Retry-After"] == "5"
    assert got.get_json()["error"] == "TOO_MANY_STREAMS"


def test_a_head_request_takes_no_stream(app: Flask) -> None:
    assert app.test_client().head("/api/events").status_code == 200
    assert len(app.extensions["streams"]) == 0


def test_a_change_is_due_and_shows_who_is_seated(app: Flask, stage: Stage) -> None:
    ada = seat(stage, "Ada")
    streams: Streams = app.extensions["streams"]
    stream = streams.open(device(None, ada.token), is_inside=True)
    assert stream is not None
    first = data_of(stream.message())
    assert (first["me"]["seat"], first["seats"][0]["online"]) == (0, True)
    before = stage.session.view().version
    assert not stream.is_due(before)
    stage.session.join("Ben")
    assert stream.is_due(stage.session.view().version)
    assert [s["name"] for s in data_of(stream.message())["seats"]] == ["Ada", "Ben"]


def data_of(message: bytes) -> dict:  # type: ignore[type-arg]
    lines: Iterator[str] = iter(message.decode().splitlines())
    return json.loads(next(line for line in lines if line.startswith("data: "))[6:])


def test_a_device_that_took_every_place_gives_one_to_another(streams: Streams) -> None:
    for _ in range(5):
        assert streams.open(device(address="192.168.1.77")) is not None
    assert streams.open(device(address="192.168.1.77")) is None
    others = [streams.open(device(address=f"192.168.1.{n}")) for n in (10, 11)]
    assert None not in others
    assert len(streams) == 7, "the two that were replaced hear of it at their next look"
    for stream in list(streams._open):
        if stream.is_replaced:
            assert b"replaced" in stream.message()
    assert len(streams) == 5
    assert {stream.address for stream in streams._open} == {
        "192.168.1.77",
        "192.168.1.10",
        "192.168.1.11",
    }


def test_with_all_shares_used_a_newcomer_is_refused(streams: Streams) -> None:
    for n in range(5):
        assert streams.open(device(address=f"192.168.1.{n}")) is not None
    assert streams.open(device(address="192.168.1.9")) is None
