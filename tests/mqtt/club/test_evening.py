"""Evenings on a real broker: a table is cut off, one is killed, and every result counts once."""

from __future__ import annotations

import json
import re
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from companion.commands.simulated_table import SimulatedTable
from companion.config import Config
from companion.mqtt.broker import Broker, Message
from companion.mqtt.client import Link
from companion.mqtt.club.app import ClubApp, build_club
from companion.mqtt.club.results import evening_id
from companion.mqtt.club.view import View
from companion.mqtt.mosquitto import Mosquitto
from companion.mqtt.payloads import encoded
from companion.mqtt.topics import TableTopics
from tests.conftest import ROOT
from tests.mqtt.club.build import EIGHT, result, table_id
from tests.waiting import until

CLUB = "dienstag"
TABLES = 6
PLAYERS = [f"P{n:02}" for n in range(4 * TABLES)]
CUT, KILLED = 1, 2
"""Tables to which something happens."""


class Cable:
    """A connection to the broker that can be cut: a forwarder of one table's bytes."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._server = socket.create_server(("127.0.0.1", 0))
        self.broker = Broker("127.0.0.1", self._server.getsockname()[1])
        self._is_cut = False
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._server.accept()
                if self._is_cut:
                    near.close()
                    continue
                far = socket.create_connection(("127.0.0.1", self._to))
                self._open += [near, far]
                threading.Thread(target=self._forward, args=(near, far), daemon=True).start()

    def _forward(self, near: socket.socket, far: socket.socket) -> None:
        with suppress(OSError, ValueError), near, far:
            while not self._is_cut:
                for one in select.select([near, far], [], [], 0.1)[0]:
                    data = one.recv(65536)
                    if not data:
                        return
                    (far if one is near else near).sendall(data)

    def cut(self) -> None:
        self._is_cut = True
        for each in self._open:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        self._is_cut = False

    def close(self) -> None:
        self.cut()
        self._server.close()


def a_club(directory: Path, broker: Broker) -> ClubApp:
    config = Config(data_dir=directory)
    mqtt = replace(config.mqtt, host=broker.host, port=broker.port, club=CLUB)
    web = replace(config.web, host="127.0.0.1", port=0)
    return build_club(replace(config, mqtt=mqtt, web=web))


class Hall:
    """Six tables, their broker, and the club's process."""

    def __init__(self, directory: Path, mosquitto: Mosquitto) -> None:
        self.directory, self.mosquitto = directory, mosquitto
        self.cable = Cable(mosquitto.broker.port)
        self.club = self.opened("club")
        self.killed = self._lone()
        self.tables: dict[int, SimulatedTable] = {}
        for number in range(TABLES):
            if number != KILLED:
                at = self.cable.broker if number == CUT else mosquitto.broker
                self.tables[number] = self.table(number, at)

    def opened(self, name: str) -> ClubApp:
        """A club process with a directory of its own."""
        return a_club(self.directory / name, self.mosquitto.broker)

    def folder(self, number: int) -> Path:
        folder = self.directory / f"table-{number}"
        folder.mkdir(exist_ok=True)
        return folder

    def table(self, number: int, at: Broker) -> SimulatedTable:
        table = SimulatedTable(self.folder(number), at, CLUB, f"Table {number}", seed=number)
        table.start()
        return table

    def _lone(self) -> subprocess.Popen[str]:
        asked = {
            "directory": str(self.folder(KILLED)),
            "port": self.mosquitto.broker.port,
            "club": CLUB,
            "name": f"Table {KILLED}",
        }
        return subprocess.Popen(
            [sys.executable, "-m", "tests.mqtt.club.lone_table", json.dumps(asked)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    @property
    def view(self) -> View:
        return self.club.club.view()

    def online(self) -> set[str]:
        """The names of the tables that are online and have told their names."""
        tables = [table for table in self.view.tables if table.is_online]
        return {table.name for table in tables if table.name != table.id}

    def groups(self) -> dict[int, tuple[str, ...]]:
        """The players of the newest round by the number of their table."""
        names = {table.id: table.name for table in self.view.tables}
        return {
            int(names[group.table].removeprefix("Table ")): group.players
            for group in self.view.evening.rounds[-1].groups
        }

    def is_complete(self) -> bool:
        return all(None not in row for row in self.view.done.rounds)

    def truth(self) -> list[tuple[tuple[str, int], ...]]:
        """Names and totals of every game, as the tables have them."""
        return sorted(
            tuple(sorted((name, game.state.total(n)) for n, name in enumerate(game.names)))
            for table in self.tables.values()
            for game in table.session.past.games()
        )

    def close(self) -> None:
        self.killed.kill()
        self.killed.communicate()
        for table in self.tables.values():
            table.close()
        self.cable.close()
        self.club.close()


def known(view: View) -> list[tuple[tuple[str, int], ...]]:
    """Names and totals of every game, as the club counts them."""
    return sorted(
        tuple(sorted((each.name, each.total) for each in game.players))
        for game in (*view.done.of_rounds, *view.done.free)
    )


@pytest.fixture
def hall(tmp_path: Path, mosquitto: Mosquitto) -> Iterator[Hall]:
    hall = Hall(tmp_path, mosquitto)
    yield hall
    hall.close()


@pytest.mark.parametrize(
    ("rounds", "crosses"), [(2, 0.1), pytest.param(6, 0.6, marks=pytest.mark.slow)]
)
def test_an_evening_loses_no_result_and_counts_none_twice(
    hall: Hall, rounds: int, crosses: float
) -> None:
    until(lambda: len(hall.online()) == TABLES)
    for name in PLAYERS:
        hall.club.club.add(name)
    hall.club.club.draw(1)
    groups = hall.groups()

    killed = hall.killed
    assert killed.stdin is not None
    assert killed.stdout is not None
    killed.stdin.write(json.dumps(groups[KILLED]) + "\n")
    killed.stdin.flush()
    for number, table in hall.tables.items():
        table.begin(groups[number])
        if number != CUT:
            table.play(crosses)
    hall.tables[CUT].play(turns=3)
    assert killed.stdout.readline() == "in the middle\n"
    hall.cable.cut()
    killed.kill()
    until(lambda: hall.online() == {f"Table {n}" for n in hall.tables if n != CUT})
    hall.tables[CUT].play(crosses)  # goes on alone
    until(lambda: [row.count(None) for row in hall.view.done.rounds] == [2])

    hall.club.close()  # the club is started again while both are away
    hall.club = hall.opened("club")
    hall.cable.mend()
    hall.tables[KILLED] = hall.table(KILLED, hall.mosquitto.broker)
    assert hall.tables[KILLED].game is not None
    assert not hall.tables[KILLED].is_over
    hall.tables[KILLED].play(crosses)
    until(hall.is_complete)

    for number in range(2, rounds + 1):
        until(lambda: len(hall.online()) == TABLES)
        hall.club.club.draw(number)
        for table, players in hall.groups().items():
            hall.tables[table].begin(players)
            hall.tables[table].play(crosses)
        until(hall.is_complete)
    assert known(hall.view) == hall.truth()
    assert [each.games for each in hall.view.places] == [rounds] * len(PLAYERS)

    second = hall.opened("second")  # another process catches up from what the broker keeps
    try:
        until(lambda: known(second.club.view()) == hall.truth())
        until(lambda: second.club.view().evening == hall.view.evening)
        assert second.club.view().places == hall.view.places
    finally:
        second.close()


def test_another_machine_finds_the_result_of_a_table_without_a_clock(
    tmp_path: Path, mosquitto: Mosquitto
) -> None:
    first = a_club(tmp_path / "first", mosquitto.broker)
    for name in ("Ada", "Ben"):
        first.club.add(name)
    first.club.draw(1)
    table = Link(mosquitto.broker, client_id="table")
    table.start()
    game = result({"Ada": 90, "Ben": 50}, ended="2024-01-01T20:30:00+01:00")
    topic = TableTopics(CLUB, table_id(1)).result(game.game)
    table.publish(Message(topic, encoded(game), retain=True))
    until(lambda: first.club.view().done.of_rounds)
    table.close()
    first.close()
    second = a_club(tmp_path / "second", mosquitto.broker)
    until(lambda: second.club.view().done.of_rounds)
    second.close()


@pytest.mark.slow
def test_a_broker_as_documented_hands_over_all_it_keeps(
    tmp_path: Path, start_mosquitto: Callable[..., Mosquitto], request: pytest.FixtureRequest
) -> None:
    """Mosquitto drops all but 1,020 of what it keeps for a new reader unless it is told not to."""
    page = (ROOT / "docs" / "club.md").read_text(encoding="utf-8")
    (written,) = re.findall(r"printf '(.*)'", page)
    lines = [line for line in written.split(r"\n") if not line.startswith(("listener", "password"))]
    broker = start_mosquitto("\n".join(["allow_anonymous true", *lines]))
    table = Link(broker.broker, client_id="table", packets_per_s=10_000)
    table.start()
    for number in range(1, 1101):
        game = result({"Ada": 90, "Ben": 50}, game=number)
        topic = TableTopics(CLUB, table_id(1)).result(game.game)
        table.publish(Message(topic, encoded(game), retain=True))
    until(lambda: not table.waiting)
    table.close()
    late = a_club(tmp_path / "late", broker.broker)
    request.addfinalizer(late.close)

    def games() -> int:
        found = late.club.summary(evening_id(EIGHT, datetime.now().astimezone().tzinfo))
        return 0 if found is None else len(found.done.free)

    until(lambda: games() == 1100)


def test_strangers_on_the_broker_change_nothing(
    hall: Hall, caplog: pytest.LogCaptureFixture
) -> None:
    """A flood of wrong payloads on all topics, and a right one in the middle."""
    until(lambda: len(hall.online()) == TABLES)
    before = hall.view
    stranger = Link(hall.mosquitto.broker, client_id="stranger")
    stranger.start()
    table = before.tables[0].id
    topics = [f"tables/{table}/{each}" for each in ("status", "state", "results/9", "picture", "x")]
    payloads = [b"", b"{", b"\x00" * 70_000, b'{"v":1}', b"[" * 5_000]
    for topic in (*topics, "evening", "tables/none/state"):
        for payload in payloads:
            if payload or topic.endswith("evening"):
                stranger.publish(Message(f"dice/1/{CLUB}/{topic}", payload))
    hall.tables[0].begin(PLAYERS[:4])
    hall.tables[0].play(0.1)
    until(lambda: stranger.waiting == 0 and len(hall.view.done.free) == 1)
    stranger.close()
    assert known(hall.view) == hall.truth()
    assert [each.name for each in hall.view.tables] == [each.name for each in before.tables]
    assert hall.view.evening == before.evening
    assert "is ignored" in caplog.text
    assert not [each for each in caplog.records if each.levelname == "ERROR"]
