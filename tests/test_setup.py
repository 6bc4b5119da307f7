"""What .ci/setup would do on machines that lack this or that, told by its dry run.

The machines are made of stand-ins: a folder that is the whole PATH, and a python3 that knows
which modules and libraries it has.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

TOOLS = ("sh", "cat", "cksum", "cmp", "dirname", "env", "grep", "head", "id", "tail", "test")

PYTHON = """#!/bin/sh
# Fails for every module and library in its list, and is of the version given.
case "$*" in
  *version_info*) exit {too_old} ;;
  --version) echo "Python 3.9.2" ;;
esac
for each in {lacks}; do
  case "$*" in *"$each"*) exit 1 ;; esac
done
exit 0
"""


class Machine:
    """A copy of the script in a project of its own, on a machine with few programs."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        self.bin = folder / "bin"
        (self.project / ".ci").mkdir(parents=True)
        self.bin.mkdir()
        for script in ("setup", "service"):
            shutil.copy(ROOT / ".ci" / script, self.project / ".ci" / script)
        shutil.copy(ROOT / "pyproject.toml", self.project)
        for tool in TOOLS:
            found = shutil.which(tool)
            assert found, f"every Debian has {tool}"
            (self.bin / tool).symlink_to(found)
        self.python()
        self.program("apt-get", 'echo "apt-get $*"')

    def program(self, name: str, body: str = "exit 0") -> None:
        (self.bin / name).unlink(missing_ok=True)
        (self.bin / name).write_text(f"#!/bin/sh\n{body}\n")
        (self.bin / name).chmod(0o755)

    def python(self, *lacks: str, too_old: bool = False) -> None:
        self.program("python3")
        (self.bin / "python3").write_text(
            PYTHON.format(lacks=" ".join(lacks) or "''nothing", too_old=int(too_old))
        )

    def user(self, number: int) -> None:
        self.program("id", f"echo {number}")

    def set_up(self, purpose: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return self.run("setup", *purpose.split(), **environment)

    def run(
        self, *command: str, stdin: int = subprocess.DEVNULL, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.project / ".ci" / command[0]), *command[1:]],
            env={"PATH": str(self.bin), "PYTHON": str(self.bin / "python3"), **environment},
            stdin=stdin,
            capture_output=True,
            text=True,
            timeout=60,
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def would_install(done: subprocess.CompletedProcess[str]) -> set[str]:
    """The packages a dry run names, without the two that are looked for by their place."""
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("would install from")]
    return {each for line in lines for each in line.split(": ")[1].split()} - {
        "fonts-dejavu-core",
        "mosquitto",
    }


def test_a_dry_run_for_play_needs_no_browser_and_no_voice(machine: Machine) -> None:
    done = machine.set_up("play", DRY_RUN="1")
    assert would_install(done) == set()
    assert "would make .venv with" in done.stdout
    assert "for development" not in done.stdout
    assert not (machine.project / ".venv").exists()


def test_the_tests_need_a_browser_and_a_voice(machine: Machine) -> None:
    machine.python("libatomic.so.1")
    assert would_install(machine.set_up("play", DRY_RUN="1")) == set()
    assert "libatomic1" in would_install(machine.set_up("test", DRY_RUN="1"))
    machine.python()
    done = machine.set_up("test", DRY_RUN="1")
    assert would_install(done) == {"chromium", "espeak-ng"}
    assert "for development too" in done.stdout
    assert "would try chromium-headless-shell" in done.stdout
    assert "would try webkit2gtk-driver xvfb" in done.stdout
    machine.program("chromium")
    machine.program("espeak-ng")
    assert would_install(machine.set_up("test", DRY_RUN="1")) == set()


@pytest.mark.parametrize(
    ("lacks", "package"),
    [
        ("ensurepip", "python3-venv"),
        ("libGL.so.1", "libgl1"),
        ("libgthread-2.0.so.0", "libglib2.0-0"),
    ],
)
def test_missing_python_modules_are_named_by_debian_package(
    lacks: str, package: str, machine: Machine
) -> None:
    machine.python(lacks)
    assert would_install(machine.set_up("play", DRY_RUN="1")) == {package}


@pytest.mark.parametrize(
    ("has_sudo", "line"),
    [
        (True, "    sudo apt-get update && sudo apt-get install -y --no-install-recommends {}"),
        (False, "    su -c 'apt-get update && apt-get install -y --no-install-recommends {}'"),
    ],
)
def test_without_root_it_prints_the_install_line_and_stops(
    has_sudo: bool, line: str, machine: Machine
) -> None:
    machine.python("ensurepip", "libGL")
    machine.user(1000)
    if has_sudo:
        machine.program("sudo", "exit 1")  # it wants a password
    done = machine.set_up("play")
    assert done.returncode == 1
    assert line.format("python3-venv libgl1") in done.stderr.splitlines()
    assert done.stderr.count("install -y") == 1
    assert done.stdout == ""
    assert not (machine.project / ".venv").exists()


SUDO = '[ "$1" = -n ] && exit 1\n[ "$1" = -v ] && exit {answer}\nshift 0; echo "sudo: $2 $3"'
"""One that wants a password, as on Raspberry Pi OS."""


@pytest.fixture
def terminal() -> Iterator[int]:
    ours, theirs = os.openpty()
    yield theirs
    os.close(theirs)
    os.close(ours)


def test_on_a_terminal_make_pi_lets_sudo_ask_for_the_password(
    terminal: int, machine: Machine
) -> None:
    machine.python("picamera2")
    machine.user(1000)
    machine.program("systemctl")
    machine.program("sudo", SUDO.format(answer=0))
    assert "sudo: update -qq" in machine.run("setup", "pi", stdin=terminal).stdout
    assert machine.run("service", stdin=terminal).stdout == "sudo: service install\n"
    machine.program("sudo", SUDO.format(answer=1))  # nobody knows it
    assert "    sudo make pi\n" in machine.run("setup", "pi", stdin=terminal).stderr
    assert "    sudo .venv/bin" in machine.run("service", stdin=terminal).stdout


@pytest.mark.parametrize(
    ("has_sudo", "line"), [(True, "    sudo make pi"), (False, "    su -c 'make pi'")]
)
def test_without_root_make_pi_asks_for_no_package_that_debian_lacks(
    has_sudo: bool, line: str, machine: Machine
) -> None:
    machine.python("picamera2", "lgpio", "libGL")
    machine.user(1000)
    if has_sudo:
        machine.program("sudo", SUDO.format(answer=0))
    done = machine.set_up("pi")
    assert done.returncode == 1
    assert line in done.stderr.splitlines()
    assert "picamera2" not in done.stderr


@pytest.mark.parametrize("as_root", [True, False])
def test_with_root_it_installs(as_root: bool, machine: Machine) -> None:
    machine.python("libGL")
    machine.user(0 if as_root else 1000)
    log = machine.project / "log"
    machine.program("sudo", f'[ "$1" = -n ] && exit 0\necho sudo >>"{log}"\nexec "$@"')
    machine.program("apt-get", f'echo "$*" >>"{log}"\n[ "$1" = update ]')  # the install fails
    done = machine.set_up("play")
    assert done.returncode == 1
    assert "could not install" in done.stderr
    assert "libgl1" in done.stderr
    lines = log.read_text().splitlines()
    assert lines.count("sudo") == (0 if as_root else 2)
    assert [line.split()[0] for line in lines if line != "sudo"] == ["update", "install"]


def test_without_apt_the_packages_are_named(machine: Machine) -> None:
    (machine.bin / "apt-get").unlink()
    machine.python("libGL")
    done = machine.set_up("play")
    assert done.returncode == 1
    assert "no apt-get; please install what Debian calls: libgl1" in done.stderr


def test_an_old_python_is_refused_by_its_version(machine: Machine) -> None:
    machine.python(too_old=True)
    done = machine.set_up("play")
    assert done.returncode == 1
    assert "expected Python 3.11 to 3.14" in done.stderr
    assert "found Python 3.9.2" in done.stderr


def test_a_python_without_wheels_is_used_only_if_it_is_named(machine: Machine) -> None:
    newer = "import sys; sys.version_info = (3, 15, 2); exec(sys.argv[1])"
    machine.program("python3", f"shift\nexec '{sys.executable}' -c '{newer}' \"$@\"")
    named = machine.set_up("play", DRY_RUN="1")
    assert f"would make .venv with {machine.bin / 'python3'}\n" in named.stdout
    machine.program("python3.14")
    found = machine.set_up("play", DRY_RUN="1", PYTHON="")
    assert "would make .venv with python3.14\n" in found.stdout


def test_python_finds_the_project_without_the_file_that_pip_writes(tmp_path: Path) -> None:
    script = (ROOT / ".ci" / "setup").read_text(encoding="utf-8")
    (code,) = re.findall(r"<<'PY'\n(import sysconfig.*?)^PY$", script, re.DOTALL | re.MULTILINE)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / ".venv"], check=True)
    python = tmp_path / ".venv" / "bin" / "python"
    for _ in range(2):
        subprocess.run([python, "-c", code], cwd=ROOT, check=True)
    (place,) = tmp_path.rglob("dice-companion.pth")
    assert place.read_text(encoding="utf-8") == f"{ROOT}\n"
    found = [python, "-P", "-c", "import companion; print(companion.__path__[0])"]
    told = subprocess.run(found, cwd="/", env={}, check=True, capture_output=True, text=True)
    assert told.stdout.strip() == str(ROOT / "companion")


def test_a_pi_gets_camera_and_pins_from_apt_and_a_venv_that_sees_them(machine: Machine) -> None:
    machine.python("picamera2", "lgpio", "cv2", "libGL")
    done = machine.set_up("pi", DRY_RUN="1")
    assert would_install(done) == {"python3-picamera2", "python3-lgpio", "libgl1", "espeak-ng"}
    assert "--system-site-packages" in done.stdout
    machine.python("cv2", "sys.maxsize")  # PyPI has no OpenCV for 32 bits
    assert would_install(machine.set_up("pi", DRY_RUN="1")) == {"python3-opencv", "espeak-ng"}


def test_packages_missing_from_the_archive_are_named_and_skipped(machine: Machine) -> None:
    machine.python("picamera2", "libGL")
    machine.program("apt-get", 'case "$*" in "install --simulate "*libgl1) exit 0;; esac; exit 100')
    done = machine.set_up("pi", DRY_RUN="1")
    assert would_install(done) == {"libgl1"}
    assert "so without: python3-picamera2 espeak-ng (Rasp" in done.stderr


def test_what_the_archive_lacked_is_not_asked_for_again(machine: Machine) -> None:
    machine.python("picamera2", "libGL")
    machine.program("cksum", "echo the same archives")
    venv = machine.project / ".venv"
    venv.mkdir()
    (venv / "not-in-the-archive").write_text("the same archives\npython3-picamera2\n")
    assert would_install(machine.set_up("pi", DRY_RUN="1")) == {"libgl1", "espeak-ng"}
    (venv / "not-in-the-archive").write_text("fewer archives\npython3-picamera2\n")
    assert "python3-picamera2" in would_install(machine.set_up("pi", DRY_RUN="1"))


def test_an_archive_list_never_fetched_proves_nothing(machine: Machine) -> None:
    machine.python("picamera2")
    machine.program("apt-get", "exit 100")
    done = machine.set_up("pi", DRY_RUN="1")
    assert would_install(done) == {"python3-picamera2", "espeak-ng"}
    assert done.stderr == ""


def test_a_second_run_has_nothing_to_do_until_the_dependencies_change(machine: Machine) -> None:
    venv = machine.project / ".venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python").symlink_to(machine.bin / "python3")
    project = machine.project / "pyproject.toml"
    (venv / "set-up-to-test").write_text(f"# {machine.project} \n{project.read_text()}")
    for purpose in ("play", "test"):
        done = machine.set_up(purpose, DRY_RUN="1")
        assert "into .venv" not in done.stdout
        assert "would make" not in done.stdout
    project.write_text(project.read_text() + "# another dependency\n")
    done = machine.set_up("play", DRY_RUN="1")
    assert "would install into .venv" in done.stdout
    assert "would make .venv" not in done.stdout
    assert "would make .venv with" in machine.set_up("pi", DRY_RUN="1").stdout
    (venv / "set-up-to-test").write_text(f"# {machine.project} \n")  # pip found no network
    assert "would make .venv" not in machine.set_up("play", DRY_RUN="1").stdout
    (venv / "bin" / "python").unlink()
    assert "would make .venv" in machine.set_up("play", DRY_RUN="1").stdout


def test_the_program_is_compiled_before_root_can_do_it(machine: Machine) -> None:
    """A service may be installed after make play, too; what root compiled before is passed over."""
    venv, asked = machine.project / ".venv", machine.project / "asked"
    (venv / "bin").mkdir(parents=True)
    machine.program("python-asked", f'echo "$*" >>{asked}')
    (venv / "bin" / "python").symlink_to(machine.bin / "python-asked")
    text = (machine.project / "pyproject.toml").read_text()
    (venv / "set-up-to-play").write_text(f"# {machine.project} \n{text}")
    machine.user(1000)
    assert machine.set_up("play").returncode == 0
    assert "-m compileall -qq companion hardware vision web" in asked.read_text()


def test_a_project_is_the_same_by_a_link_to_it(machine: Machine) -> None:
    venv = machine.project / ".venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python").symlink_to(machine.bin / "python3")
    text = (machine.project / "pyproject.toml").read_text()
    (venv / "set-up-to-play").write_text(f"# {machine.project} \n{text}")
    link = machine.project.with_name("link")
    link.symlink_to(machine.project)
    machine.project = link
    assert machine.set_up("play", DRY_RUN="1").stdout == "that is all there is to set up\n"


def test_a_venv_of_a_python_that_was_replaced_is_made_again(machine: Machine) -> None:
    venv = machine.project / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    text = (machine.project / "pyproject.toml").read_text()
    (venv / "set-up-to-play").write_text(f"# {machine.project} \n{text}")
    assert "would make" not in machine.set_up("play", DRY_RUN="1").stdout
    (packages,) = (venv / "lib").iterdir()
    packages.rename(venv / "lib" / "python3.9")  # as if bin/python had been 3.9
    assert "would make .venv" in machine.set_up("play", DRY_RUN="1").stdout


def test_a_failed_pip_does_not_cost_the_venv(machine: Machine) -> None:
    venv = machine.project / ".venv"
    (venv / "bin").mkdir(parents=True)
    machine.program("pip-fails", 'case "$*" in *"-m pip"*) exit 1 ;; esac')
    (venv / "bin" / "python").symlink_to(machine.bin / "pip-fails")
    for tool in ("rm", "stat", "chown"):
        machine.program(tool, f'exec {shutil.which(tool)} "$@"')
    project = machine.project / "pyproject.toml"
    before = project.read_text()
    (venv / "set-up-to-play").write_text(f"# {machine.project} \n{before}")
    project.write_text(before + "# another dependency\n")
    assert machine.set_up("play").returncode == 1
    for text in (project.read_text(), before):
        project.write_text(text)
        done = machine.set_up("play", DRY_RUN="1")
        assert "would make .venv" not in done.stdout
        assert "would install into .venv" in done.stdout


def test_a_venv_with_its_own_numpy_gives_way_once_debians_is_there(machine: Machine) -> None:
    """make play first, make pi later: pip's numpy would hide the one picamera2 was built for."""
    venv = machine.project / ".venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python").symlink_to(machine.bin / "python3")
    (venv / "pyvenv.cfg").write_text("include-system-site-packages = true\n")
    text = (machine.project / "pyproject.toml").read_text()
    for alone, makes in ((" numpy cv2", False), ("", True)):
        head = f"# {machine.project} with system packages{alone}"
        (venv / "set-up-to-play").write_text(f"{head}\n{text}")
        done = machine.set_up("pi", DRY_RUN="1")
        assert ("would make .venv" in done.stdout) == makes


@pytest.mark.parametrize(
    ("user", "sudo", "said"),
    [
        (0, None, "root: service install"),
        (1000, 'shift 0; [ "$1" = -n ] && exit 0\necho "sudo: $2 $3"', "sudo: service install"),
        (1000, "exit 1", "    sudo .venv/bin/dice-companion service install"),
    ],
)
def test_make_pi_ends_with_the_running_table(
    user: int, sudo: str | None, said: str, machine: Machine
) -> None:
    program = machine.project / ".venv" / "bin" / "dice-companion"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\necho "root: $*"\n')
    program.chmod(0o755)
    machine.user(user)
    if sudo is not None:
        machine.program("sudo", sudo)
    assert "make play" in machine.run("service").stdout
    machine.program("systemctl", "exit 1")
    assert "make play" in machine.run("service").stdout
    machine.program("systemctl")
    assert said in machine.run("service").stdout.splitlines()
    machine.program("python3", 'echo "$*"')
    planned = f"-m companion.service.install {machine.project}/.venv/bin/python\n"
    assert machine.run("service", DRY_RUN="1").stdout == planned


@pytest.mark.parametrize("purpose", ["", "everything"])
def test_an_unknown_purpose_is_wrong_usage(purpose: str, machine: Machine) -> None:
    done = machine.set_up(purpose)
    assert done.returncode == 2
    assert done.stderr == "usage: .ci/setup play|test|pi\n"


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_lists_its_commands() -> None:
    done = subprocess.run(["make", "-s", "help"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0
    for command in ("play", "test", "test-slow", "lint", "pi", "clean"):
        assert f"make {command} " in done.stdout
