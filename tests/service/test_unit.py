"""The system service's files: what systemd and the installer make of them."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from companion.cli import dice_companion
from companion.errors import ServiceError
from companion.service.install import (
    Command,
    Delete,
    Machine,
    Program,
    Step,
    Write,
    copies_of,
    plan_install,
    plan_remove,
    this_machine,
    this_program,
)
from companion.service.unit import (
    CONFIG_PATH,
    DATA_DIR,
    LAUNCHER_PATH,
    MODULES_PATH,
    POLKIT_PATH,
    PROFILE,
    UNIT_PATH,
    avahi_text,
    launcher_text,
    polkit_text,
    unit_text,
)
from tests.conftest import ROOT
from web.access import open_access

BARE = Machine(
    groups=frozenset({"audio", "video", "users"}),
    has_user=False,
    systemd_version=257,
    has_polkit=True,
    has_avahi=True,
    has_networkmanager=True,
    content=lambda path: None,
)
PROGRAM = Program(("/usr/bin/true", "play"), (Path("/home", "pi", "dice"),))

needs_systemd = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed here"
)


def after(steps: list[Step]) -> Machine:
    """The machine once the steps have run."""
    files = {step.path: step.text for step in steps if isinstance(step, Write)}
    return replace(BARE, has_user=True, content=files.get)


@needs_systemd
def test_systemd_accepts_the_unit_and_calls_it_well_locked(tmp_path: Path) -> None:
    version = subprocess.run(["systemd-analyze", "--version"], capture_output=True, text=True)
    number = int(version.stdout.split()[1])
    unit = tmp_path / "dice-companion.service"
    unit.write_text(unit_text(PROGRAM.command, ("audio", "video"), number, PROGRAM.in_homes))
    verified = subprocess.run(
        ["systemd-analyze", "verify", str(unit)], capture_output=True, text=True
    )
    assert (verified.returncode, verified.stdout, verified.stderr) == (0, "", "")
    scored = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--threshold=50", str(unit)],
        capture_output=True,
        text=True,
    )
    assert scored.returncode == 0, scored.stdout


@needs_systemd
def test_the_program_may_lie_in_a_folder_with_spaces_and_percent_signs(tmp_path: Path) -> None:
    home = tmp_path / "My dice 50%h $x"
    home.mkdir()
    (home / "python").symlink_to("/usr/bin/true")
    unit = tmp_path / "dice-companion.service"
    games = tmp_path / "My games 50%h"
    unit.write_text(unit_text((str(home / "python"), "play"), (), 252, (home,), games))
    verified = subprocess.run(
        ["systemd-analyze", "verify", str(unit)], capture_output=True, text=True
    )
    assert (verified.returncode, verified.stdout, verified.stderr) == (0, "", "")


def test_the_unit_names_only_groups_that_exist() -> None:
    (unit,) = (s for s in plan_install(BARE, PROGRAM) if getattr(s, "path", None) == UNIT_PATH)
    assert isinstance(unit, Write)
    assert re.search(r"^SupplementaryGroups=video audio$", unit.text, re.M)


def test_old_systemd_gets_no_setting_that_it_does_not_know() -> None:
    assert "RestartSteps" not in unit_text(PROGRAM.command, (), 252)
    assert "RestartSteps" in unit_text(PROGRAM.command, (), 254)


def test_a_program_in_a_closed_home_is_made_visible() -> None:
    assert f"BindReadOnlyPaths={PROGRAM.in_homes[0]}\n" in unit_text(
        PROGRAM.command, (), 257, PROGRAM.in_homes
    )


def test_a_service_may_write_where_the_settings_keep_games() -> None:
    steps = list(plan_install(BARE, PROGRAM, data_dir=Path("/mnt/my disk/dice")))
    unit = next(each for each in steps if isinstance(each, Write) and each.path == UNIT_PATH)
    assert "\nReadWritePaths='-/mnt/my disk/dice'\n" in unit.text
    assert "\nRequiresMountsFor='/mnt/my disk/dice'\n" in unit.text
    folder = [str(each) for each in steps if "install --directory" in str(each)]
    assert folder == [
        "run     install --directory --owner=dice-companion --group=dice-companion"
        " '/mnt/my disk/dice'"
    ]
    with pytest.raises(ServiceError, match="games is in a home"):
        list(plan_install(BARE, PROGRAM, data_dir=Path("/home", "ada", "games")))


def test_the_running_program_can_be_started_again() -> None:
    command = this_program().command
    assert Path(command[0]).exists()
    assert command[-1] == "play"


def test_installing_makes_user_files_and_starts_the_table() -> None:
    steps = list(plan_install(BARE, PROGRAM))
    assert isinstance(steps[0], Command)
    assert steps[0].argv[0] == "useradd"
    written = [s.path for s in steps if isinstance(s, Write)]
    assert written[:3] == [UNIT_PATH, MODULES_PATH, CONFIG_PATH]
    load = "run     systemctl restart systemd-modules-load.service"
    assert load in map(str, steps), "the classes of later devices are there before the start"
    assert str(steps[-1]) == "run     systemctl restart dice-companion.service"


@pytest.mark.parametrize("command", ["install", "remove", "status", "logs"])
def test_a_machine_that_systemd_does_not_run_is_left_alone(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*_args: object, **_more: object) -> None:
        raise AssertionError("nothing may be run")

    monkeypatch.setattr("companion.commands.service.this_machine", lambda: BARE)
    monkeypatch.setattr("companion.service.install.SYSTEMD_RUNS", tmp_path / "nothing")
    monkeypatch.setattr(subprocess, "run", run)
    refused = CliRunner().invoke(dice_companion, ["service", command])
    assert isinstance(refused.exception, ServiceError)
    assert "systemd has started" in str(refused.exception)


def test_a_service_needs_a_port_that_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.toml").write_text("[web]\nport = 0\n")
    monkeypatch.setattr("companion.service.unit.CONFIG_PATH", tmp_path / "config.toml")
    refused = CliRunner().invoke(dice_companion, ["service", "install"])
    assert isinstance(refused.exception, ServiceError)
    assert "web.port = 0" in str(refused.exception)


def test_a_signal_ends_the_log_that_is_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "journalctl"
    program.write_text(
        f"#!/bin/sh\necho $$ > {tmp_path}/pid\nsleep 0.1\nkill -TERM $PPID\nexec sleep 60\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr("companion.commands.service.require_systemd", lambda: None)
    outer = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        done = CliRunner().invoke(dice_companion, ["service", "logs", "--follow"])
    finally:
        signal.signal(signal.SIGTERM, outer)
    assert done.exit_code == 0
    assert not Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}").exists()


def test_a_second_installation_changes_no_file_and_makes_no_user() -> None:
    steps = list(plan_install(after(list(plan_install(BARE, PROGRAM))), PROGRAM))
    assert [str(step) for step in steps] == [
        "run     systemctl enable dice-companion.service",
        "run     systemctl restart dice-companion.service",
    ]


@pytest.mark.skipif(shutil.which("systemctl") is None, reason="systemctl is not installed here")
def test_the_plan_can_be_printed_before_there_is_a_venv(tmp_path: Path) -> None:
    python = tmp_path / ".venv" / "bin" / "python"
    command = [sys.executable, "-S", "-m", "companion.service.install", str(python)]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert f"    | ExecStart={python} -m companion play\n" in printed
    assert "would run     systemctl restart dice-companion.service\n" in printed


def test_installing_keeps_settings_that_are_there() -> None:
    own = replace(BARE, content={CONFIG_PATH: "[table]\nlanguage = 'de'\n"}.get)
    assert CONFIG_PATH not in [s.path for s in plan_install(own, PROGRAM) if isinstance(s, Write)]


def test_what_is_written_is_on_the_disk_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a plug pulled within the next seconds leaves it empty."""
    synced, wait = [], os.fsync

    def fsync(file: int) -> None:
        assert os.stat(file).st_size > 0
        synced.append(os.stat(file).st_ino)
        wait(file)

    monkeypatch.setattr(os, "fsync", fsync)
    Write(tmp_path / "unit", "[Unit]\n").run()
    open_access(tmp_path)
    files = [tmp_path / "unit", tmp_path / "access.json"]
    assert synced == [path.stat().st_ino for path in files]


def test_removing_leaves_games_and_settings_unless_asked() -> None:
    installed = after(list(plan_install(BARE, PROGRAM)))
    kept = [s.path for s in plan_remove(installed) if isinstance(s, Delete)]
    assert UNIT_PATH in kept
    assert POLKIT_PATH in kept
    assert not {DATA_DIR, CONFIG_PATH.parent} & set(kept)
    full = replace(installed, is_there=lambda _: True)
    purged = [s.path for s in plan_remove(full, purge=True) if isinstance(s, Delete)]
    assert {DATA_DIR, CONFIG_PATH.parent} <= set(purged)
    assert DATA_DIR.with_name("dice-companion-backups") in purged
    commands = [s.argv for s in plan_remove(installed, purge=True) if isinstance(s, Command)]
    assert any(PROFILE in argv for argv in commands), "it holds the Wi-Fi's password"
    gone = replace(BARE, is_there=lambda _: False)
    assert not [s for s in plan_remove(gone, purge=True) if isinstance(s, Delete)]


def test_the_command_runs_from_any_folder_for_everybody(tmp_path: Path) -> None:
    steps = plan_install(BARE, this_program())
    (launcher,) = (s for s in steps if getattr(s, "path", None) == LAUNCHER_PATH)
    assert isinstance(launcher, Write)
    replace(launcher, path=tmp_path / "bin" / "dice-companion").run()
    (tmp_path / "companion.py").write_text("raise SystemExit('another program')")
    command = [tmp_path / "bin" / "dice-companion", "replay", "no such file"]
    environ = os.environ | {"PYTHONPATH": str(ROOT)}
    ran = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True)
    assert ran.returncode == 1
    assert "no such file" in ran.stderr


def test_the_command_goes_with_the_service_but_never_a_program_of_pip() -> None:
    ours = replace(BARE, content={LAUNCHER_PATH: launcher_text("/srv/old/python")}.get)
    assert LAUNCHER_PATH in [s.path for s in plan_install(ours, PROGRAM) if isinstance(s, Write)]
    empty = replace(ours, content=lambda path: "" if path == LAUNCHER_PATH else ours.content(path))
    assert LAUNCHER_PATH in [s.path for s in plan_install(empty, PROGRAM) if isinstance(s, Write)]
    assert LAUNCHER_PATH in [s.path for s in plan_remove(ours) if isinstance(s, Delete)]
    other = replace(BARE, content={LAUNCHER_PATH: "#!/usr/bin/python3\nimport companion\n"}.get)
    steps = [*plan_install(other, PROGRAM), *plan_remove(other)]
    assert LAUNCHER_PATH not in [s.path for s in steps if isinstance(s, Write | Delete)]


@pytest.mark.parametrize("is_kept", [True, False])
def test_installing_says_how_a_phone_becomes_the_first_host(
    is_kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config.toml").write_text(f"data_dir = '{tmp_path}'\nweb.port = 8123\n")
    monkeypatch.setattr("companion.service.unit.CONFIG_PATH", tmp_path / "config.toml")
    monkeypatch.setattr("companion.commands.service.this_machine", lambda: BARE)
    monkeypatch.setattr("companion.commands.service.plan_install", lambda *_, **__: [])
    monkeypatch.setattr("companion.commands.service.require_systemd", lambda: None)
    monkeypatch.setattr("companion.commands.service.is_root", lambda: True)
    pin = open_access(tmp_path).pin if is_kept else "that `sudo dice-companion pin` prints"
    said = CliRunner().invoke(dice_companion, ["service", "install"]).output
    assert re.search(
        rf"First host: open http://\S+:8123/host on a phone and enter the PIN {pin}\.", said
    )


def test_another_program_of_the_launchers_name_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "dice-companion"
    other.write_bytes(b"\x7fELF\xff")
    monkeypatch.setattr("companion.service.install.LAUNCHER_PATH", other)
    monkeypatch.setattr("companion.service.install.shutil.which", lambda _: "systemctl")
    monkeypatch.setattr("companion.service.install._systemd_version", lambda: 252)
    machine = this_machine()
    for steps in (plan_install(machine, PROGRAM), plan_remove(machine)):
        assert other not in [getattr(step, "path", None) for step in steps]


def test_copies_of_games_are_found_beside_them(tmp_path: Path) -> None:
    copies = ["table-backups", "table.before-20261126-013156", "table.restored"]
    for name in ("table", *copies, "tables"):
        (tmp_path / name).mkdir()
    assert [path.name for path in copies_of(tmp_path / "table")] == copies


def test_written_files_replace_the_old_ones_whole(tmp_path: Path) -> None:
    path = tmp_path / "etc" / "file"
    Write(path, "one").run()
    Write(path, "two").run()
    assert path.read_text() == "two"
    assert [p.name for p in path.parent.iterdir()] == ["file"]
    Delete(path.parent).run()
    assert not path.parent.exists()


def test_written_files_can_be_read_whatever_roots_umask_is(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        Write(tmp_path / "etc" / "dice-companion" / "config.toml", "one").run()
    finally:
        os.umask(before)
    rights = [path.stat().st_mode & 0o777 for path in sorted((tmp_path / "etc").rglob("*"))]
    assert rights == [0o755, 0o644]


def test_the_network_announcement_is_well_formed() -> None:
    group = ET.fromstring(avahi_text(8001))
    assert group.findtext("name") == "Dice Companion on %h"
    assert group.findtext("service/port") == "8001"


def test_only_the_services_user_may_switch_hotspot_and_machine() -> None:
    rule = polkit_text()
    assert 'subject.user === "dice-companion"' in rule
    assert "org.freedesktop.NetworkManager.network-control" in rule
    assert "org.freedesktop.login1.power-off" in rule
