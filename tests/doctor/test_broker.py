"""The check of the broker, against Mosquitto and against what is none."""

from __future__ import annotations

import socket
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from companion.doctor.broker import check_broker
from companion.doctor.finding import Verdict
from companion.errors import ServiceError
from companion.mqtt.broker import Broker
from companion.mqtt.mosquitto import Mosquitto, installed

needs_mosquitto = pytest.mark.skipif(
    installed() is None, reason="Mosquitto is not installed: apt-get install mosquitto"
)


@needs_mosquitto
def test_a_broker_accepts_the_table_or_refuses_its_password(tmp_path: Path) -> None:
    running = Mosquitto(tmp_path)
    found = check_broker(running.broker)
    assert (found.verdict, found.text) == (
        Verdict.OK,
        f"{running.broker} accepts this table, without TLS",
    )
    running.stop()
    closed = Mosquitto(tmp_path, settings="allow_anonymous false")
    found = check_broker(replace(closed.broker, username="table", password="s3cret"))
    closed.stop()
    assert found.verdict is Verdict.NOTE
    assert "it refused: Not authorized" in found.text
    assert "mqtt.password_file" in found.cure
    assert "s3cret" not in found.text + found.cure


@needs_mosquitto
def test_a_broker_that_cannot_start_says_where_to_look(tmp_path: Path) -> None:
    with pytest.raises(ServiceError, match="says why"):
        Mosquitto(tmp_path, settings="no_such_setting 1")


def test_a_broker_that_is_not_there_has_a_cure() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    found = check_broker(Broker("127.0.0.1", port))
    assert (found.verdict, found.text) == (Verdict.NOTE, f"127.0.0.1:{port}: Connection refused")
    assert "listener 1883" in found.cure
    found = check_broker(Broker("broker.invalid"))
    assert found.verdict is Verdict.NOTE
    assert "mqtt.host" in found.cure


def test_a_broker_of_mqtt_3_is_told_from_a_wrong_password() -> None:
    def refuse() -> None:
        with server.accept()[0] as connection:
            connection.recv(4096)
            connection.sendall(b"\x20\x02\x00\x01")

    with socket.create_server(("127.0.0.1", 0)) as server:
        refusal = threading.Thread(target=refuse)
        refusal.start()
        found = check_broker(Broker("127.0.0.1", server.getsockname()[1]))
        refusal.join()
    assert "it refused: Unsupported protocol version" in found.text
    assert "MQTT 5" in found.cure


def test_a_silent_broker_has_a_cure() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        broker = Broker("127.0.0.1", server.getsockname()[1])
        found = check_broker(broker, patience_s=0.2)
    assert found.verdict is Verdict.NOTE
    assert found.cure
