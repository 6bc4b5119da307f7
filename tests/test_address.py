"""The address for phones, also where this machine is the whole network."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from companion.address import own_addresses, reachable_host, url


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """No route to anywhere, as on a Pi that is its own Wi-Fi."""

    class NoRoute(socket.socket):
        def connect(self, address: Any) -> None:
            raise OSError(101, "Network is unreachable")

    monkeypatch.setattr("companion.address.socket.socket", NoRoute)


def test_an_address_that_was_chosen_stays() -> None:
    assert reachable_host("192.168.1.5") == "192.168.1.5"
    assert reachable_host("dice.local") == "dice.local"


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize(
    ("addresses", "host"),
    [
        (["127.0.0.1", "169.254.3.4", "10.42.0.1"], "10.42.0.1"),
        (["127.0.0.1"], "127.0.0.1"),
        ([], "127.0.0.1"),
    ],
)
def test_without_a_route_it_is_an_interfaces(addresses: list[str], host: str) -> None:
    assert reachable_host("0.0.0.0", lambda: addresses) == host


def test_linux_lists_at_least_the_loopback() -> None:
    assert "127.0.0.1" in own_addresses()


def test_a_link_has_ipv6_in_brackets() -> None:
    assert url("fe80::1", 8000) == "http://[fe80::1]:8000/"
    assert url("10.42.0.1", 80) == "http://10.42.0.1:80/"
