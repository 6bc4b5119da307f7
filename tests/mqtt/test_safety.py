"""Encryption, passwords and certificates on a real Mosquitto, and a broker that talks nonsense."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from companion.doctor.broker import check_broker
from companion.mqtt import client
from companion.mqtt.broker import Broker
from companion.mqtt.client import Link
from companion.mqtt.mosquitto import Mosquitto
from tests.mqtt.test_client import CONNACK, Impostor
from tests.waiting import until


def openssl(folder: Path, *command: str) -> None:
    subprocess.run(["openssl", *command], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An authority, and the certificates of a broker and of a table."""
    folder = tmp_path_factory.mktemp("papers")
    new_key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc"]
    openssl(
        folder,
        *("req", "-x509", *new_key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=club"),
    )
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1\n")
    for name in ("broker", "table"):
        request = ("-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
        openssl(folder, "req", *new_key, *request)
        openssl(
            folder,
            *("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key"),
            *("-CAcreateserial", "-days", "2", "-extfile", "names", "-out", f"{name}.pem"),
        )
    openssl(
        folder,
        *("ec", "-aes256", "-passout", "pass:x", "-in", "table.key", "-out", "locked.key"),
    )
    return folder


def outcome(broker: Broker) -> str:
    """What a connection comes to: "connected", or the trouble."""
    link = Link(broker, client_id="table")
    before = link.trouble
    link.start()
    until(lambda: link.trouble != before)
    trouble = link.trouble or "connected"
    link.close()
    return trouble


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_certificates_of_both_sides_are_checked(
    papers: Path, start_mosquitto: Callable[..., Mosquitto]
) -> None:
    # the filter: paho leaves the socket of a failed handshake to the garbage collector
    broker = start_mosquitto(
        f"cafile {papers}/ca.pem\ncertfile {papers}/broker.pem\nkeyfile {papers}/broker.key\n"
        "require_certificate true\nallow_anonymous true"
    ).broker
    trusting = replace(broker, tls=True, ca_file=papers / "ca.pem")
    named = replace(trusting, cert_file=papers / "table.pem", key_file=papers / "table.key")
    assert outcome(named) == "connected"
    assert outcome(trusting) == "it closed the connection"
    assert outcome(replace(named, ca_file=None)).startswith("its certificate is not valid: ")
    assert outcome(broker) == "it closed the connection"
    assert outcome(replace(named, key_file=papers / "locked.key")) == "the key has a passphrase"
    wrong = replace(named, ca_file=papers / "names")
    assert outcome(wrong) == "mqtt.ca_file: expected certificates (PEM)"
    not_its_key = replace(named, key_file=papers / "broker.key")
    assert outcome(not_its_key).startswith("mqtt.cert_file, mqtt.key_file: expected a certificate")
    assert "mqtt.pi" in check_broker(replace(broker, host="mqtt.pi.invalid")).text
    assert "right file" not in check_broker(replace(broker, host="mqtt.pi.invalid")).cure
    said = check_broker(not_its_key)
    assert said.cure is not None
    assert said.cure.startswith("name the right file there")
    missing = replace(named, cert_file=papers / "gone.pem")
    assert outcome(missing).startswith("a file of the certificate is missing")


def test_a_password_opens_and_a_wrong_one_does_not(
    tmp_path: Path, start_mosquitto: Callable[..., Mosquitto]
) -> None:
    words = tmp_path / "words"
    subprocess.run(["mosquitto_passwd", "-b", "-c", words, "table", "s3cret"], check=True)
    broker = start_mosquitto(f"allow_anonymous false\npassword_file {words}").broker
    right = replace(broker, username="table", password="s3cret")
    assert outcome(right) == "connected"
    assert outcome(replace(right, password="wrong")) == "it refused: Not authorized"


def test_nonsense_never_ends_the_thread(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Packets of every kind with random contents, after a connection that was accepted."""
    monkeypatch.setattr(client, "PAUSES_S", (0.001, 0.002))
    monkeypatch.setattr(client, "CONNECT_S", 0.05)
    dice = random.Random(39)

    def talk(connection: object) -> None:
        body = dice.randbytes(dice.randrange(40))
        packet = bytes([dice.randrange(256), len(body)]) + body
        start = CONNACK if dice.random() < 0.8 else b""
        connection.sendall(start + packet * 3)  # type: ignore[attr-defined]
        connection.close()  # type: ignore[attr-defined]

    liar = Impostor(talk)
    link = Link(liar.broker, client_id="table", on_message=lambda _: None)
    link.start()
    until(lambda: liar.accepted >= 150)
    assert link._thread.is_alive()
    link.close()
    liar.close()
    assert [each for each in caplog.records if each.levelname == "ERROR"] == []
