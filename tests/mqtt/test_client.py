"""The connection: against Mosquitto, and against brokers that refuse, hang or flood."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from companion.mqtt import client
from companion.mqtt.broker import Broker, Message, Received
from companion.mqtt.client import Link
from companion.mqtt.mosquitto import Mosquitto
from companion.mqtt.outbox import MOST_WAITING
from tests.mqtt.conftest import Listener
from tests.waiting import until

Listen = Callable[..., Listener]

CONNACK = b"\x20\x03\x00\x00\x00"
"""MQTT 5: accepted, without properties."""


@pytest.fixture
def link() -> Iterator[Callable[..., Link]]:
    made: list[Link] = []

    def make(broker: Broker, **settings: object) -> Link:
        made.append(Link(broker, client_id="table", **settings))  # type: ignore[arg-type]
        made[-1].start()
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short pauses between attempts."""
    monkeypatch.setattr(client, "PAUSES_S", (0.02, 0.05))


class Impostor:
    """A TCP server on a free port that greets each connection with some bytes and never reads."""

    def __init__(self, greet: Callable[[socket.socket], None] = lambda _: None) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self.broker = Broker("127.0.0.1", self._server.getsockname()[1])
        self.accepted = 0
        self._greet = greet
        self._open: list[socket.socket] = []
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            self.accepted += 1
            self._open.append(connection)
            with suppress(OSError):  # the table hung up
                self._greet(connection)

    def close(self) -> None:
        for each in (self._server, *self._open):
            each.close()


@pytest.fixture
def impostor() -> Iterator[Callable[..., Impostor]]:
    made: list[Impostor] = []

    def make(greet: Callable[[socket.socket], None] = lambda _: None) -> Impostor:
        made.append(Impostor(greet))
        return made[-1]

    yield make
    for each in made:
        each.close()


def test_messages_arrive_and_are_acknowledged(
    mosquitto: Mosquitto, link: Callable[..., Link], listen: Listen
) -> None:
    ears = listen(mosquitto.broker)
    table = link(mosquitto.broker)
    acknowledged = threading.Event()
    table.publish(Message("a/result", b"won", True, on_acknowledged=acknowledged.set))
    assert ears.next("a/result").payload == b"won"
    assert acknowledged.wait(5.0)
    assert table.waiting == 0
    late = listen(mosquitto.broker, "a/#")
    assert late.next("a/result") == Received("a/result", b"won", True)


def test_the_broker_says_for_how_long_it_still_keeps_a_message(
    mosquitto: Mosquitto, link: Callable[..., Link], listen: Listen
) -> None:
    table = link(mosquitto.broker)
    table.publish(Message("a/result", b"won", True, keep_s=1000))
    until(lambda: not table.waiting)
    time.sleep(2.0)
    keeps_s = listen(mosquitto.broker, "a/#").next("a/result").keeps_s
    assert keeps_s is not None
    assert 900 < keeps_s < 1000


def test_the_last_will_tells_of_a_table_that_is_gone(
    mosquitto: Mosquitto, link: Callable[..., Link], listen: Listen
) -> None:
    ears = listen(mosquitto.broker)
    table = link(mosquitto.broker, will=Message("a/status", b"offline", True))
    until(lambda: table.is_connected)
    usurper = link(mosquitto.broker)  # the broker ends the older connection of one id
    assert ears.next("a/status").payload == b"offline"
    usurper.close()


def test_closing_sends_the_last_message_first(
    mosquitto: Mosquitto, link: Callable[..., Link], listen: Listen
) -> None:
    ears = listen(mosquitto.broker)
    table = link(mosquitto.broker)
    until(lambda: table.is_connected)
    table.close([Message("a/status", b"offline", True)])
    assert ears.next("a/status").payload == b"offline"


@pytest.mark.usefixtures("quick")
def test_what_was_said_without_a_broker_arrives_later_in_order(
    mosquitto: Mosquitto, link: Callable[..., Link], listen: Listen
) -> None:
    table = link(mosquitto.broker)
    until(lambda: table.is_connected)
    mosquitto.stop()
    until(lambda: not table.is_connected)
    for number in range(MOST_WAITING + 10):
        table.publish(Message("a/event", f"{number}".encode()))
        table.publish(Message("a/state", f"{number}".encode(), True))
    mosquitto.start()
    until(lambda: table.is_connected)
    until(lambda: table.waiting == 0)
    ears = listen(mosquitto.broker, "a/state")
    assert ears.next("a/state").payload == b"209", "only the newest state is kept"
    assert table.trouble is None


def test_a_table_that_was_cut_off_says_how_it_is_now_not_how_it_was(
    mosquitto: Mosquitto, listen: Listen
) -> None:
    ears = listen(mosquitto.broker)
    table = Link(mosquitto.broker, client_id="table", on_connected=lambda: None)
    table.publish(Message("a/state", b"a week ago", True))
    table.publish(Message("a/event", b"thrown"))
    table.start()
    assert ears.next("a/event").payload == b"thrown"
    table.publish(Message("a/state", b"now", True))
    assert ears.next("a/state").payload == b"now"
    table.close()


@pytest.mark.usefixtures("quick")
def test_events_wait_in_order_and_the_oldest_give_way(
    mosquitto: Mosquitto, link: Callable[..., Link], listen: Listen
) -> None:
    table = Link(mosquitto.broker, client_id="table")
    for number in range(MOST_WAITING + 10):
        table.publish(Message("a/event", f"{number}".encode()))
    ears = listen(mosquitto.broker)
    table.start()
    heard = [ears.next("a/event").payload for _ in range(MOST_WAITING)]
    assert heard == [f"{number}".encode() for number in range(10, MOST_WAITING + 10)]
    table.close()


def test_a_refused_password_is_named_and_never_logged(
    start_mosquitto: Callable[..., Mosquitto],
    link: Callable[..., Link],
    caplog: pytest.LogCaptureFixture,
) -> None:
    closed = start_mosquitto("allow_anonymous false")
    broker = Broker("127.0.0.1", closed.broker.port, "table", "s3cret")
    with caplog.at_level(logging.DEBUG):
        table = link(broker)
        until(lambda: table.trouble == "it refused: Not authorized")
    assert f"mqtt: broker {broker}: it refused: Not authorized" in caplog.messages
    assert "s3cret" not in caplog.text + repr(broker) + str(broker)


def test_a_topic_that_may_not_be_read_is_named(
    impostor: Callable[..., Impostor], link: Callable[..., Link], caplog: pytest.LogCaptureFixture
) -> None:
    suback = b"\x90\x05\x00\x01\x00\x01\x87"  # MQTT 5: one granted, one not authorized
    broker = impostor(lambda table: table.sendall(CONNACK + suback)).broker
    link(broker, subscriptions=["a/b", "c/#"])
    said = f"mqtt: broker {broker}: it does not let this client read c/#"
    until(lambda: said in caplog.messages)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("limit", ["max_packet_size", "message_size_limit"])
def test_a_broker_that_takes_no_pictures_gets_all_else(
    start_mosquitto: Callable[..., Mosquitto],
    link: Callable[..., Link],
    listen: Listen,
    limit: str,
) -> None:
    small = start_mosquitto(f"allow_anonymous true\n{limit} 20000")
    table = link(small.broker, name=limit)
    table.publish(Message("a/picture", b"x" * 100_000, True))
    table.publish(Message("a/state", b"there", True))
    until(lambda: table.waiting == 0)
    table.publish(Message("a/result", b"as well", True))
    until(lambda: table.waiting == 0)
    assert table.is_connected
    ears = listen(small.broker)
    assert ears.next("a/state").payload == b"there"
    assert ears.next("a/result").payload == b"as well"


def test_a_line_that_breaks_while_publishing_is_no_nonsense(
    impostor: Callable[..., Impostor], link: Callable[..., Link], monkeypatch: pytest.MonkeyPatch
) -> None:
    publish = client.paho.Client.publish

    def publish_on_a_broken_line(self: client.paho.Client, *message: Any) -> Any:
        sent = publish(self, *message)
        self._sock_close()
        self._do_on_disconnect(False, False)
        return sent

    monkeypatch.setattr(client.paho.Client, "publish", publish_on_a_broken_line)
    table = link(impostor(lambda connection: connection.sendall(CONNACK)).broker)
    until(lambda: table.is_connected)
    table.publish(Message("a/state", b"1", True))
    until(lambda: not table.is_connected)
    until(lambda: table.trouble is not None)
    assert "not MQTT" not in (table.trouble or "")
    assert table.waiting == 1


def test_a_connection_that_breaks_has_no_reason(
    impostor: Callable[..., Impostor], link: Callable[..., Link]
) -> None:
    known = threading.Event()

    def greet(connection: socket.socket) -> None:
        connection.sendall(CONNACK)
        known.wait()
        connection.close()

    table = link(impostor(greet).broker)
    until(lambda: table.is_connected)
    known.set()
    until(lambda: table.trouble == "the connection was lost")


@pytest.mark.usefixtures("quick")
def test_a_broker_that_is_away_is_logged_once(
    link: Callable[..., Link], caplog: pytest.LogCaptureFixture
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # without a server, and nobody else gets it meanwhile
        port = taken.getsockname()[1]
        table = link(Broker("127.0.0.1", port))
        until(lambda: table.trouble == "Connection refused")
        time.sleep(0.3)  # some more attempts
    assert [each for each in caplog.messages if "mqtt" in each] == [
        f"mqtt: broker 127.0.0.1:{port}: Connection refused"
    ]


@pytest.mark.usefixtures("quick")
def test_a_silent_broker_is_left_and_publishing_never_waits(
    impostor: Callable[..., Impostor], link: Callable[..., Link], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "CONNECT_S", 0.1)
    silent = impostor()
    table = link(silent.broker)
    took_s = []
    while silent.accepted < 3:
        began_s = time.perf_counter()
        table.publish(Message("a/state", b"x" * 10_000, True))
        took_s.append(time.perf_counter() - began_s)
        time.sleep(0.001)
    assert table.trouble == "it does not answer"
    assert table.waiting == 1
    assert sorted(took_s)[int(0.9 * len(took_s))] < 0.05, "a busy machine may delay some"


def test_a_flooding_broker_is_read_at_a_bounded_pace(
    impostor: Callable[..., Impostor], link: Callable[..., Link]
) -> None:
    packet = b"\x30\x08\x00\x03a/b\x00xy"

    def flood(connection: socket.socket) -> None:
        connection.sendall(CONNACK)
        while True:
            connection.sendall(packet * 1000)

    heard: list[Received] = []
    began_s = time.monotonic()
    table = link(impostor(flood).broker, on_message=heard.append, packets_per_s=50)
    until(lambda: len(heard) >= 40)
    time.sleep(0.5)
    assert len(heard) <= 50 * (time.monotonic() - began_s + 1)
    assert table.is_connected
    assert heard[0] == Received("a/b", b"xy", False)


@pytest.mark.usefixtures("quick")
def test_a_huge_packet_ends_the_connection(
    impostor: Callable[..., Impostor], link: Callable[..., Link]
) -> None:
    huge = b"\x30\xff\xff\xff\x7f" + b"x" * 1000
    liar = impostor(lambda connection: connection.sendall(CONNACK + huge))
    link(liar.broker)
    until(lambda: liar.accepted >= 2)


@pytest.mark.usefixtures("quick")
def test_rubbish_ends_the_connection_and_nothing_else(
    impostor: Callable[..., Impostor], link: Callable[..., Link], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "CONNECT_S", 0.1)
    for rubbish in (b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\x00" * 64, b"\xff" * 64):
        liar = impostor(lambda connection, rubbish=rubbish: connection.sendall(rubbish))
        table = link(liar.broker)
        until(lambda liar=liar: liar.accepted >= 2)
        assert table.waiting == 0


class Waits(threading.Event):
    """Notes the pauses between attempts, takes none, and ends after a number of them."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most
        self.seconds: list[float] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.seconds.append(timeout or 0.0)
        return len(self.seconds) >= self._most


def test_after_a_long_outage_a_table_is_back_within_15_s(
    impostor: Callable[..., Impostor], monkeypatch: pytest.MonkeyPatch
) -> None:
    away = impostor()
    away.close()
    table = Link(away.broker, client_id="table")
    waits = Waits(20)
    monkeypatch.setattr(table, "_closing", waits)
    table._run()
    assert max(waits.seconds) <= 15.0
    assert sum(waits.seconds) > 100.0  # it does not hurry either
