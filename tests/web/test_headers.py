"""The headers of every answer."""

from __future__ import annotations

import socket
from urllib.request import urlopen

import pytest
from flask.testing import FlaskClient

from tests.web.browsing import MODULES
from tests.web.test_access import EVERYTHING
from web.security import HEADERS
from web.server import Server


@pytest.mark.parametrize("path", EVERYTHING)
def test_every_answer_has_them(client: FlaskClient, path: str) -> None:
    answer = client.get(path)
    assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS
    assert len(HEADERS) == 6


@pytest.mark.parametrize("path", ["/rules", f"{MODULES}/lib/dom.js"])
def test_every_answer_has_one_date(address: str, path: str) -> None:
    with urlopen(address + path, timeout=10) as answer:
        assert len(answer.headers.get_all("Date")) == 1


def test_nothing_may_be_framed_or_loaded_from_elsewhere() -> None:
    policy = HEADERS["Content-Security-Policy"]
    assert policy.startswith("default-src 'none';")
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert HEADERS["X-Frame-Options"] == "DENY"


@pytest.mark.parametrize(
    "sent",
    [
        b"nonsense\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999999\r\n\r\n",
    ],
)
def test_the_servers_own_errors_have_them(served: Server, sent: bytes) -> None:
    with socket.create_connection(("127.0.0.1", served.port), timeout=10) as connection:
        connection.sendall(sent)
        answer = b""
        while chunk := connection.recv(65536):
            answer += chunk
    head = answer.partition(b"\r\n\r\n")[0].decode().casefold()
    assert head.startswith("http/1")
    assert all(f"{name}: {value}".casefold() in head for name, value in HEADERS.items())
