"""The table's own Wi-Fi, switched through a scripted NetworkManager."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from click.testing import CliRunner

from companion.cli import dice_companion
from companion.errors import ServiceError
from companion.service.hotspot import PROFILE, running, switch_off, switch_on


class NetworkManager:
    """Keeps profiles and brings them up, as nmcli would."""

    def __init__(self) -> None:
        self.profiles: dict[str, dict[str, str]] = {}
        self.active: set[str] = set()

    def __call__(self, command: Sequence[str]) -> str:
        match list(command)[1:]:
            case ["connection", "add", "type", "wifi", *rest]:
                fields = dict(zip(rest[::2], rest[1::2], strict=True))
                self.profiles[fields["con-name"]] = fields | {
                    "802-11-wireless.ssid": fields["ssid"]
                }
            case ["connection", "modify", name, key, value]:
                self.profiles[name][key] = value
            case ["connection", "up", name]:
                self.active.add(name)
            case ["connection", "down", name]:
                self.active.remove(name)
            case ["-t", "-f", "NAME", "connection", "show", *active]:
                return "".join(f"{n}\n" for n in (self.active if active else self.profiles))
            case ["-t", "-f", "UUID,TYPE", *_]:
                return "".join(f"{n}:802-11-wireless\n" for n in self.active)
            case ["-s", *_, "show", name]:
                return "".join(f"{k}:{v}\n" for k, v in self.profiles[name].items())
            case other:
                raise AssertionError(other)
        return ""


def test_it_opens_a_protected_wifi_and_closes_it_again() -> None:
    machine = NetworkManager()
    opened = switch_on("Dice at the cabin", machine)
    assert opened.name == "Dice at the cabin"
    assert len(opened.password) >= 8
    assert running(machine) == opened
    switch_off(machine)
    switch_off(machine)
    assert running(machine).name == ""


def test_a_second_evening_has_the_same_password() -> None:
    machine = NetworkManager()
    first = switch_on("Dice", machine)
    switch_off(machine)
    again = switch_on("Dice night", machine)
    assert (again.name, again.password) == ("Dice night", first.password)
    assert list(machine.profiles) == [PROFILE]


@pytest.mark.parametrize("name", ["", "x" * 33, "ü" * 17])
def test_a_name_no_wifi_can_have_is_refused(name: str) -> None:
    with pytest.raises(ServiceError, match="1 to 32 bytes"):
        switch_on(name, NetworkManager())


def test_without_networkmanager_the_command_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    result = CliRunner().invoke(dice_companion, ["hotspot", "on"])
    assert isinstance(result.exception, ServiceError)
    assert "network-manager" in str(result.exception)
