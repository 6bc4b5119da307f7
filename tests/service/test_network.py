"""The address phones can open, and the machine's own Wi-Fi."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from companion.service.network import (
    NONE,
    Address,
    Watch,
    Wifi,
    active_hotspot,
    mdns_name,
    own_address,
    own_addresses,
    reachable_host,
    url,
)
from companion.service.programs import run_quietly


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """No route to anywhere, as on a Pi that is its own Wi-Fi."""

    class NoRoute(socket.socket):
        def connect(self, address: Any) -> None:
            raise OSError(101, "Network is unreachable")

    monkeypatch.setattr("companion.service.network.socket.socket", NoRoute)


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


def test_an_ipv6_address_that_no_browser_opens_is_not_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class LinkLocal(socket.socket):
        def connect(self, address: Any) -> None:
            if self.family == socket.AF_INET:
                raise OSError(101, "Network is unreachable")

        def getsockname(self) -> Any:
            return ("fe80::40c0:c5ff:fe0c:12ea", 9, 0, 2)

    monkeypatch.setattr("companion.service.network.socket.socket", LinkLocal)
    assert reachable_host("::", lambda: ["127.0.0.1"]) == "127.0.0.1"


def test_linux_lists_at_least_the_loopback() -> None:
    assert "127.0.0.1" in own_addresses()


def test_a_link_has_ipv6_in_brackets() -> None:
    assert url("fe80::1", 8000) == "http://[fe80::1]:8000/"
    assert url("10.42.0.1", 80) == "http://10.42.0.1:80/"


def test_without_ipv4_only_a_server_on_ipv6_shows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """0.0.0.0 listens on IPv4 alone."""

    class OnlySix(socket.socket):
        def connect(self, address: Any) -> None:
            if self.family == socket.AF_INET:
                raise OSError(101, "Network is unreachable")

        def getsockname(self) -> Any:
            return "2001:db8::7", 9, 0, 0

    monkeypatch.setattr("companion.service.network.socket.socket", OnlySix)
    assert reachable_host("::") == "2001:db8::7"
    assert reachable_host("0.0.0.0", list) == "127.0.0.1"


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        (b"+ 2 0 dice-2.local\n", "dice-2.local"),
        (b"-15 Timeout reached\n", ""),
        (b"+ 2 0 router.example\n", ""),
        (b"", ""),
    ],
)
def test_avahi_is_asked_for_the_name(tmp_path: Path, answer: bytes, name: str) -> None:
    asked: list[bytes] = []
    path = tmp_path / "avahi"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as avahi:
        avahi.bind(str(path))
        avahi.listen()

        def reply() -> None:
            with avahi.accept()[0] as caller:
                asked.append(caller.recv(200))
                caller.sendall(answer)

        thread = threading.Thread(target=reply)
        thread.start()
        assert mdns_name("192.168.1.5", path) == name
        thread.join(5.0)
    assert asked == [b"RESOLVE-ADDRESS 192.168.1.5\n"]
    assert mdns_name("192.168.1.5", tmp_path / "none") == ""


def test_only_an_address_for_phones_has_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("companion.service.network.mdns_name", lambda _: "dice.local")
    assert own_address("192.168.1.5") == Address("192.168.1.5", "dice.local")
    assert own_address("127.0.0.1") == Address("127.0.0.1")
    assert own_address("table.example") == Address("table.example")


ACTIVE = "5d0c:802-3-ethernet\nab12:802-11-wireless\nlo-1:loopback\n"


def network_manager(
    mode: str = "ap", ssid: str = "Dice: night", keys: str = "wpa-psk", psk: str = "sesame: 12"
) -> Script:
    told = {
        "802-11-wireless.ssid": ssid,
        "802-11-wireless.mode": mode,
        "802-11-wireless-security.key-mgmt": keys,
        "802-11-wireless-security.psk": psk,
    }
    return Script(ACTIVE, "".join(f"{key}:{value}\n" for key, value in told.items()))


class Script:
    """Answers as nmcli does, and remembers what it was asked."""

    def __init__(self, active: str, shown: str) -> None:
        self.active, self.shown = active, shown
        self.asked: list[list[str]] = []

    def __call__(self, command: Sequence[str]) -> str:
        self.asked.append(list(command))
        return self.active if "--active" in command else self.shown


@pytest.mark.parametrize(
    ("script", "wifi"),
    [
        pytest.param(network_manager(), Wifi("Dice: night", "sesame: 12"), id="a hotspot"),
        pytest.param(network_manager(keys="", psk=""), Wifi("Dice: night"), id="an open one"),
        pytest.param(network_manager(psk=""), NONE, id="a password nobody may read"),
        pytest.param(network_manager(mode="infrastructure"), NONE, id="a guest of a Wi-Fi"),
        pytest.param(network_manager(ssid=""), NONE, id="no name"),
        pytest.param(Script("", ""), NONE, id="NetworkManager is not running"),
        pytest.param(Script("nonsense", "more\nof it"), NONE, id="an answer of another kind"),
        pytest.param(Script("ab12:802-11-wireless", ""), NONE, id="gone meanwhile"),
    ],
)
def test_command_output_is_parsed(script: Script, wifi: Wifi) -> None:
    assert active_hotspot(script) == wifi


def test_it_is_only_asked_never_changed() -> None:
    script = network_manager()
    active_hotspot(script)
    assert {command[0] for command in script.asked} == {"nmcli"}
    changing = {"add", "modify", "up", "down", "delete", "hotspot", "connect"}
    assert not any(changing & set(command) for command in script.asked)


def test_the_password_is_in_no_log() -> None:
    assert "sesame" not in repr(Wifi("Dice", "sesame"))


def test_one_that_is_switched_on_later_is_found_and_one_switched_off_goes() -> None:
    script = Script("", "")
    changes: list[Wifi] = []
    watch: Watch[Wifi] = Watch(
        lambda: active_hotspot(script),
        NONE,
        name="hotspot",
        every_s=0.01,
        on_change=lambda: changes.append(watch.seen),
    )
    watch.start()
    try:
        script.shown = network_manager().shown
        for active, wifi in ((ACTIVE, Wifi("Dice: night", "sesame: 12")), ("", NONE)):
            script.active = active
            until_s = time.monotonic() + 10
            while watch.seen != wifi:
                assert time.monotonic() < until_s
        while len(changes) < 2:
            assert time.monotonic() < until_s
        assert changes == [Wifi("Dice: night", "sesame: 12"), NONE]
    finally:
        watch.close()
    watch.close()


def test_an_answer_that_does_not_come_keeps_nobody_from_ending() -> None:
    asked, answer = threading.Event(), threading.Event()

    def hang() -> str:
        asked.set()
        answer.wait(60.0)
        return ""

    watch = Watch(hang, "", name="hotspot", every_s=10.0)
    watch.start()
    assert asked.wait(10.0)
    began_s = time.monotonic()
    watch.close()
    assert time.monotonic() - began_s < 3.0, "of the five seconds in which the table has to end"
    answer.set()


@pytest.mark.parametrize("command", [["/nowhere/nmcli"], ["sh", "-c", "echo half; exit 8"]])
def test_a_failing_command_yields_nothing(command: list[str]) -> None:
    assert run_quietly(command) == ""


def test_command_output_is_returned() -> None:
    assert run_quietly(["sh", "-c", "printf 'a\\nb'"]) == "a\nb"
