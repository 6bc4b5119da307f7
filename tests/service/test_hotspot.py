"""The table's own Wi-Fi, switched through a scripted NetworkManager."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import ClassVar

import pytest
from click.testing import CliRunner

from companion.app import _wifi
from companion.cli import dice_companion
from companion.config import Config, WebConfig
from companion.errors import ServiceError
from companion.service.hotspot import (
    PROFILE,
    run_nmcli,
    running,
    switch_off,
    switch_on,
    switch_on_when_alone,
)
from companion.service.network import Wifi
from tests.session.fakes import Stage
from tests.waiting import until


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


def test_another_access_point_is_not_the_tables() -> None:
    machine = NetworkManager()
    machine.profiles["Guest"] = {
        "802-11-wireless.ssid": "Guest",
        "802-11-wireless.mode": "ap",
        "802-11-wireless-security.key-mgmt": "wpa-psk",
        "802-11-wireless-security.psk": "guestguest",
    }
    machine.active.add("Guest")
    assert running(machine).name == ""
    opened = switch_on("Dice", machine)
    assert opened.name == "Dice"
    assert opened.password != "guestguest"
    switch_off(machine)
    assert running(machine).name == ""
    assert machine.active == {"Guest"}


def test_an_open_wifi_is_on_for_those_who_may_not_read_its_password() -> None:
    machine = NetworkManager()
    switch_on("Dice", machine)
    del machine.profiles[PROFILE]["802-11-wireless-security.psk"]
    assert running(machine) == Wifi("Dice")


def test_a_password_is_in_no_complaint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = tmp_path / "nmcli"
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setattr("companion.service.programs.WITHIN_S", 0.05)
    with pytest.raises(ServiceError, match=r"does not answer within 0\.05 s") as refused:
        run_nmcli([str(slow), "connection", "add", "psk", "secret"])
    assert "secret" not in str(refused.value)


class StandInPortal:
    """Binds no port of this machine."""

    followed: ClassVar[list[bool]] = []

    def __init__(self, table_url: str) -> None:
        self.followed.clear()

    def follow(self, is_on: bool) -> None:
        self.followed.append(is_on)

    def close(self) -> None:
        pass


@pytest.mark.parametrize("configured", ["secret of the file", ""])
def test_the_code_on_the_table_view_opens_the_wifi_that_is_there(
    monkeypatch: pytest.MonkeyPatch, stage: Stage, configured: str
) -> None:
    machine = NetworkManager()
    monkeypatch.setattr("companion.app.shutil.which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr("companion.app.run_quietly", machine)
    monkeypatch.setattr("companion.app.ASK_EVERY_S", 0.02)
    monkeypatch.setattr("companion.app.Portal", StandInPortal)
    web = WebConfig(wifi_name="Table Wi-Fi", wifi_password=configured)
    with ExitStack() as stack:
        shown = _wifi(Config(web=web), stage.session, stack)
        assert shown() == Wifi("Table Wi-Fi", configured)
        opened = switch_on("Table Wi-Fi", machine)
        until(lambda: shown() == opened)
        assert opened.password not in ("", configured)
        until(lambda: StandInPortal.followed.count(True) > 2)  # its address may come late
        machine.profiles[PROFILE]["802-11-wireless.ssid"] = "Another"
        until(lambda: shown() == Wifi("Table Wi-Fi", configured))


@pytest.mark.parametrize("name", ["", "x" * 33, "ü" * 17])
def test_a_name_no_wifi_can_have_is_refused(name: str) -> None:
    with pytest.raises(ServiceError, match="1 to 32 bytes"):
        switch_on(name, NetworkManager())


def test_without_networkmanager_the_command_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    result = CliRunner().invoke(dice_companion, ["hotspot", "on"])
    assert isinstance(result.exception, ServiceError)
    assert "network-manager" in str(result.exception)


@pytest.mark.parametrize(
    ("complaint", "cure"),
    [
        ("Failed to add 'dice-companion-hotspot' connection: Insufficient privileges", True),
        ("Connection activation failed: Not authorized to control networking.", True),
        ("Connection activation failed: No suitable device found", False),
    ],
)
def test_over_ssh_the_complaint_names_sudo(
    complaint: str, cure: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nmcli = tmp_path / "nmcli"
    nmcli.write_text(
        f"""#!/bin/sh
        case "$*" in *show*) exit 0 ;; esac
        [ "$LC_ALL" = C.UTF-8 ] || {{ echo "Fehler: Keine Berechtigung" >&2; exit 1; }}
        echo "Error: {complaint}" >&2
        exit 1
        """
    )
    nmcli.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    monkeypatch.setattr("companion.commands.hotspot.os.geteuid", lambda: 1000)
    refused = CliRunner().invoke(dice_companion, ["hotspot", "on"]).exception
    assert complaint.rstrip(".") in str(refused)
    assert str(refused).endswith("; run this with sudo") == cure


class Lonely:
    """A machine whose devices change while its clock is moved by waiting."""

    def __init__(self, *seen: str) -> None:
        self.now_s, self.seen, self.machine = 0.0, list(seen), NetworkManager()

    def ask(self, command: Sequence[str]) -> str:
        assert command[-1] == "device"
        return self.seen.pop(0) if len(self.seen) > 1 else self.seen[0]

    def wait(self, seconds: float) -> bool:
        self.now_s += seconds
        return False

    def opens(self) -> bool:
        return switch_on_when_alone(
            "Cabin", self.wait, ask=self.ask, run=self.machine, clock=lambda: self.now_s
        )


ALONE = "wifi:disconnected\nethernet:unavailable\nloopback:connected (externally)\n"


def test_a_machine_without_a_network_opens_its_own_after_a_minute() -> None:
    lonely = Lonely(ALONE)
    assert lonely.opens()
    assert lonely.now_s == 60.0
    assert running(lonely.machine).name == "Cabin"


@pytest.mark.parametrize(
    "later", ["wifi:connected\n", "wifi:disconnected\nethernet:connected (site only)\n"]
)
def test_a_network_that_comes_within_the_minute_is_taken(later: str) -> None:
    lonely = Lonely(*[ALONE] * 20, "wifi:connecting (getting IP configuration)\n", later)
    assert not lonely.opens()
    assert lonely.now_s < 60.0
    assert lonely.machine.profiles == {}


def test_a_table_that_ends_meanwhile_opens_nothing() -> None:
    lonely = Lonely(ALONE)
    assert not switch_on_when_alone("Cabin", lambda _: True, ask=lonely.ask, run=lonely.machine)
    assert lonely.machine.profiles == {}


def test_without_a_wifi_of_its_own_the_table_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    def refuse(_command: Sequence[str]) -> str:
        raise ServiceError("hotspot: No suitable device found")

    lonely = Lonely(ALONE)
    assert not switch_on_when_alone(
        "Cabin", lonely.wait, ask=lonely.ask, run=refuse, clock=lambda: lonely.now_s
    )
    assert "No suitable device" in caplog.text
