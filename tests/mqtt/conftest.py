"""A real Mosquitto for each test that asks for one, and a listener of everything on it."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from companion.mqtt.broker import Broker, Message, Received
from companion.mqtt.client import Link
from companion.mqtt.mosquitto import Mosquitto, installed
from tests.waiting import until

PATIENCE_S = 20.0
"""On a machine that has much else to do; a wait ends as soon as what it waits for is there."""


@pytest.fixture
def start_mosquitto(tmp_path: Path) -> Iterator[Callable[..., Mosquitto]]:
    """start_mosquitto(settings=...): a broker that is stopped after the test."""
    if installed() is None:
        pytest.skip("Mosquitto is not installed: apt-get install mosquitto")
    with ExitStack() as running:

        def start(settings: str = "") -> Mosquitto:
            folder = tmp_path / "mosquitto"
            folder.mkdir()
            broker = Mosquitto(folder, settings=settings)
            running.callback(broker.stop)
            return broker

        yield start


@pytest.fixture
def mosquitto(start_mosquitto: Callable[..., Mosquitto]) -> Mosquitto:
    return start_mosquitto()


class Listener:
    """Receives all messages of some topics, as another program in the house would."""

    def __init__(self, broker: Broker, *topics: str) -> None:
        self._heard: dict[str, queue.Queue[Received]] = {}
        self.link = Link(
            broker,
            client_id=f"listener-{id(self)}",
            subscriptions=topics or ("#",),
            on_message=lambda got: self._of(got.topic).put(got),
            packets_per_s=100_000,
        )
        self.link.start()
        until(lambda: self.link.is_connected)

    def next(self, topic: str, where: Callable[[Received], bool] = lambda _: True) -> Received:
        """The next message of a topic that fits; those of the topic before it are dropped."""
        by_s = time.monotonic() + PATIENCE_S
        while True:
            got = self._of(topic).get(timeout=max(0.01, by_s - time.monotonic()))
            if where(got):
                return got

    def _of(self, topic: str) -> queue.Queue[Received]:
        # a defaultdict might give the link's thread and the test's one a queue each
        return self._heard.setdefault(topic, queue.Queue())

    def say(self, topic: str, payload: bytes, *, retain: bool = False) -> None:
        self.link.publish(Message(topic, payload, retain))


@pytest.fixture
def listen() -> Iterator[Callable[..., Listener]]:
    made: list[Listener] = []

    def make(broker: Broker, *topics: str) -> Listener:
        made.append(Listener(broker, *topics))
        return made[-1]

    yield make
    for each in made:
        each.link.close()
