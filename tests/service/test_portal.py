"""What a phone hears on the table's own Wi-Fi, asked over a real socket."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress

import pytest

from companion.service.portal import PATIENCE_S, Portal
from companion.service.unit import HOTSPOT_ADDRESS, PROBED_HOSTS, dnsmasq_text
from tests.waiting import until

TABLE = "http://10.42.0.1:8000/"


@pytest.fixture
def portal() -> Iterator[Portal]:
    portal = Portal(TABLE, ("127.0.0.1", 0))
    yield portal
    portal.close()
    portal.close()


def port_of(portal: Portal) -> int:
    assert portal._server is not None
    return portal._server.server_port


def asked(
    portal: Portal, host: str, path: str, method: str = "GET"
) -> tuple[int, str | None, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port_of(portal), timeout=10)
    connection.request(method, path, headers={"Host": host})
    answer = connection.getresponse()
    found = answer.status, answer.headers["Location"] or answer.headers["Content-Type"]
    body = answer.read()
    connection.close()
    return *found, body


@pytest.mark.parametrize(
    ("host", "path", "expected"),
    [
        pytest.param(
            "connectivitycheck.gstatic.com", "/generate_204", (204, None, b""), id="Android"
        ),
        pytest.param(
            "captive.apple.com",
            "/hotspot-detect.html",
            (
                200,
                "text/html",
                b"<HTML><HEAD><TITLE>Success</TITLE></HEAD><BODY>Success</BODY></HTML>",
            ),
            id="Apple",
        ),
        pytest.param(
            "www.msftconnecttest.com",
            "/connecttest.txt",
            (200, "text/plain", b"Microsoft Connect Test"),
            id="Windows",
        ),
        pytest.param(
            "detectportal.firefox.com",
            "/success.txt?ipv4",
            (200, "text/plain", b"success\n"),
            id="Firefox",
        ),
        pytest.param("dice.local", "/", (302, TABLE, b""), id="somebody who types the name"),
    ],
)
def test_each_system_gets_the_answer_it_takes_for_a_good_network(
    portal: Portal, host: str, path: str, expected: tuple[int, str | None, bytes]
) -> None:
    portal.follow(True)
    portal.follow(True)
    assert asked(portal, host, path) == expected
    assert asked(portal, host, path, "HEAD") == (*expected[:2], b"")


def test_phones_that_say_nothing_keep_no_other_waiting(portal: Portal) -> None:
    portal.follow(True)
    with ExitStack() as stack:
        for number in range(100):
            phone = stack.enter_context(socket.socket())
            phone.bind((f"127.0.1.{1 + number // 50}", 0))
            phone.connect(("127.0.0.1", port_of(portal)))
        began_s = time.monotonic()
        for _ in range(5):
            assert asked(portal, "captive.apple.com", "/hotspot-detect.html")[0] == 200
        assert time.monotonic() - began_s < PATIENCE_S

        def answering() -> int:
            return sum("process_request" in each.name for each in threading.enumerate())

        # those that were answered may be ending still, long before the silent ones are hung up on
        until(lambda: answering() <= 2 * 8, "eight of each phone", within_s=PATIENCE_S / 4)


def test_a_phone_that_trickles_is_hung_up_on(portal: Portal) -> None:
    portal.follow(True)
    ended = threading.Event()
    with socket.create_connection(("127.0.0.1", port_of(portal))) as trickling:
        trickling.settimeout(5 * PATIENCE_S)

        def trickle() -> None:
            with suppress(OSError):
                while not ended.wait(0.2):
                    trickling.sendall(b"G")

        thread = threading.Thread(target=trickle)
        thread.start()
        try:
            with suppress(ConnectionError):
                assert trickling.recv(100) == b""
        finally:
            ended.set()
            thread.join()


def test_a_hotspot_whose_address_comes_late_is_answered() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        portal = Portal(TABLE, ("127.0.0.1", taken.getsockname()[1]))
        portal.follow(True)
        assert portal._server is None
    portal.follow(True)
    assert asked(portal, "captive.apple.com", "/hotspot-detect.html")[0] == 200
    portal.close()


def test_nothing_is_answered_without_a_hotspot(portal: Portal) -> None:
    portal.follow(True)
    port = port_of(portal)
    portal.follow(False)
    assert portal._server is None
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))


def test_a_port_that_may_not_be_bound_costs_nothing_else() -> None:
    portal = Portal(TABLE, ("192.0.2.1", 80))
    portal.follow(True)
    assert portal._server is None


def test_the_names_that_systems_ask_for_lead_to_the_table() -> None:
    text = dnsmasq_text()
    for host in PROBED_HOSTS:
        assert f"address=/{host}/{HOTSPOT_ADDRESS}\n" in text
