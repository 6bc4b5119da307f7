"""The table view on the machine's own display: started, waited for, brought back."""

from __future__ import annotations

import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner

from companion.cli import dice_companion
from companion.commands.kiosk import service_url
from companion.errors import ServiceError
from companion.service.install import Command, Delete, Write
from companion.service.kiosk import (
    AUTOSTART_PATH,
    KIOSK_UNIT_PATH,
    autostart_text,
    browser_command,
    has_display,
    has_page,
    is_up,
    kiosk_unit_text,
    plan_kiosk,
    plan_no_kiosk,
    require_programs,
    run_browser,
    show,
)
from tests.service.test_unit import BARE, PROGRAM


class Evening:
    """A table that comes up late, and a browser that runs for given seconds each time.

    The display ends with the last of them.
    """

    def __init__(self, up_at_s: float, runs_s: Sequence[float]) -> None:
        self.now_s, self._up_at_s = 0.0, up_at_s
        self._runs_s = list(runs_s)
        self.started_s: list[float] = []

    def is_up(self, _url: str) -> bool:
        return self.now_s >= self._up_at_s

    def run(self, _url: str) -> int:
        self.started_s.append(self.now_s)
        self.now_s += self._runs_s.pop(0)
        return 1

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds

    def play(self) -> list[float]:
        show(
            lambda: "http://127.0.0.1:8000/", self.run, is_up=self.is_up, sleep=self.sleep,
            has_display=lambda: bool(self._runs_s), clock=lambda: self.now_s,
        )  # fmt: skip
        return self.started_s


def test_the_browser_waits_for_the_table(caplog: pytest.LogCaptureFixture) -> None:
    assert Evening(7.0, [3600.0]).play() == [7.0]
    assert caplog.text.count("no table answers at http://127.0.0.1:8000/; waiting for it") == 1


@pytest.mark.parametrize("url", ["nope", "http://", "http://[x y", "ftp://table/", "http://x:y/"])
def test_an_address_that_cannot_be_one_is_refused(url: str) -> None:
    done = CliRunner().invoke(dice_companion, ["kiosk", "--url", url])
    assert done.exit_code == 2
    assert "expected http://HOST:PORT/" in done.output


def test_a_browser_that_crashes_at_once_is_started_less_and_less_often() -> None:
    assert Evening(0.0, [0.0] * 6).play() == [0.0, 2.0, 7.0, 17.0, 27.0, 37.0]


def test_a_browser_that_ran_for_long_is_back_within_a_second() -> None:
    assert Evening(0.0, [0.0, 0.0, 600.0, 0.0]).play() == [0.0, 2.0, 7.0, 608.0]


@pytest.mark.parametrize(("answer", "is_there"), [(b"done", True), (b"", False), (None, False)])
def test_a_display_is_there_while_its_compositor_answers(
    tmp_path: Path, answer: bytes | None, is_there: bool
) -> None:
    environ = {"XDG_RUNTIME_DIR": str(tmp_path), "WAYLAND_DISPLAY": "wayland-0"}
    assert not has_display(environ)
    with socket.socket(socket.AF_UNIX) as compositor:
        compositor.bind(str(tmp_path / "wayland-0"))
        compositor.listen()

        def serve() -> None:
            program, _ = compositor.accept()
            with program:
                assert program.recv(64) == struct.pack("=III", 1, 12 << 16, 2)
                if answer is None:  # it waits for its programs to end
                    program.recv(1)
                else:
                    program.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        assert has_display(environ, within_s=0.1 if answer is None else 5.0) is is_there
        thread.join()
    assert has_display({})


def test_a_display_of_x11_is_there_while_its_server_answers(tmp_path: Path) -> None:
    environ = {"DISPLAY": ":1.0"}
    assert not has_display(environ, x11=tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "X1"))
        server.listen()
        assert has_display(environ, x11=tmp_path)
        assert not has_display({"DISPLAY": ":0"}, x11=tmp_path)
        assert has_display({"DISPLAY": "elsewhere:0"}, x11=tmp_path)
    assert not has_display(environ, x11=tmp_path)


@pytest.mark.parametrize(
    ("there", "has_desktop", "missing"),
    [
        ({"chromium-browser", "cage", "Xwayland"}, False, ""),
        ({"chromium", "wlrctl"}, True, ""),
        ({"chromium"}, False, "cage xwayland"),
        (set(), True, "chromium wlrctl"),
    ],
)
def test_a_display_is_not_set_up_without_its_programs(
    there: set[str], has_desktop: bool, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: name if name in there else None)
    if not missing:
        require_programs(has_desktop=has_desktop)
        return
    with pytest.raises(ServiceError, match=f"sudo apt install {missing}$"):
        require_programs(has_desktop=has_desktop)


def test_the_pointer_is_put_away_where_a_compositor_shows_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "wlrctl"
    program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert run_browser(tmp_path, ["true"]) == 0
    assert not (tmp_path / "asked").exists()
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    assert run_browser(tmp_path, ["true"]) == 0
    assert (tmp_path / "asked").read_text() == "pointer move 10000 10000\n"


def test_a_killed_browsers_lock_does_not_stop_the_next_one(tmp_path: Path) -> None:
    (tmp_path / "SingletonLock").symlink_to("raspberrypi-719")
    assert run_browser(tmp_path, ["test", "!", "-L", str(tmp_path / "SingletonLock")]) == 0


def browser_of(tmp_path: Path, page: str) -> list[str]:
    """A browser whose page is a process that runs `page`, and which never ends by itself."""
    script = tmp_path / "page"
    script.write_text(page)
    return ["sh", "-c", f"sh {script} --type=renderer & exec sleep 60"]


def test_a_page_that_crashed_is_shown_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    browser = browser_of(tmp_path, "sleep 0.3; true")
    began_s = time.monotonic()
    run_browser(tmp_path, browser, every_s=0.05)
    assert time.monotonic() - began_s < 10
    assert "the page crashed" in caplog.text


def test_a_browser_shows_the_table_where_it_answers_by_now(tmp_path: Path) -> None:
    answers = iter([False, False, True])
    browser = browser_of(tmp_path, "sleep 3; true")
    run_browser(tmp_path, browser, lambda: next(answers), every_s=0.05)
    assert not list(answers)


def test_a_browsers_own_pages_are_not_the_tables(tmp_path: Path) -> None:
    for number, parent, words in (
        (7, 1, "chromium"),
        (8, 7, "chromium --type=zygote"),
        (9, 8, "chromium --type=renderer --top-chrome-webui"),
        (11, 1, "chromium --type=renderer"),
    ):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "cmdline").write_text(words)
        (tmp_path / str(number) / "stat").write_text(f"{number} (a) b) S {parent} 1")
    assert not has_page(7, tmp_path)
    (tmp_path / "9" / "cmdline").write_text("chromium --type=renderer")
    assert has_page(7, tmp_path)


@pytest.mark.parametrize("ends", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_browser_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ends: signal.Signals
) -> None:
    browser = tmp_path / "chromium"
    browser.write_text(
        f"#!/bin/sh\ntrap 'exit 0' TERM\necho $$ > {tmp_path}/pid\nsleep 0.1\n"
        f"kill -{ends.name[3:]} $PPID\nfor _ in $(seq 1000); do sleep 0.01; done\n"
    )
    browser.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setattr("companion.service.kiosk.show", lambda find, run: run(find()))
    outer = signal.signal(signal.SIGINT, signal.default_int_handler)  # a script's job ignores it
    try:
        done = CliRunner().invoke(dice_companion, ["kiosk", "--url", "http://127.0.0.1:8000/"])
    finally:
        signal.signal(signal.SIGINT, outer)
    assert (done.exit_code, done.output) == (0, "")
    assert not Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}").exists()


@pytest.mark.parametrize(("status", "up"), [(200, True), (503, True), (404, False)])
def test_a_table_that_cannot_play_yet_is_up_all_the_same(status: int, up: bool) -> None:
    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        assert is_up(f"http://127.0.0.1:{server.server_port}/") is up
        server.shutdown()
        thread.join()
    assert not is_up(f"http://127.0.0.1:{server.server_port}/")


def test_a_program_that_does_not_speak_http_is_no_table(ssh_port: int) -> None:
    assert not is_up(f"http://127.0.0.1:{ssh_port}/")


@pytest.mark.parametrize(
    ("settings", "url"),
    [
        (None, "http://127.0.0.1:8000/"),
        ("[web]\nport = 8123\n", "http://127.0.0.1:8123/"),
        ('[web]\nhost = "::"\n', "http://[::1]:8000/"),
        ("[web\n", "http://127.0.0.1:8000/"),
    ],
)
def test_the_display_shows_where_the_service_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: str | None, url: str
) -> None:
    path = tmp_path / "config.toml"
    monkeypatch.setattr("companion.service.unit.CONFIG_PATH", path)
    if settings is not None:
        path.write_text(settings)
    assert service_url() == url


def test_the_browser_opens_the_table_view_and_nothing_else() -> None:
    page = "http://127.0.0.1:8000/table"
    command = browser_command("/usr/bin/chromium", page, Path("profile"), {})
    assert command[-1] == page
    assert {"--kiosk", "--disable-background-networking"} <= set(command)
    on_wayland = {"WAYLAND_DISPLAY": "wayland-0"}
    more = set(browser_command("/usr/bin/chromium", page, Path("profile"), on_wayland))
    assert more - set(command) == {"--ozone-platform=wayland"}


def test_a_desktop_gets_an_autostart_entry_and_lite_a_unit() -> None:
    desktop = list(plan_kiosk(BARE, PROGRAM, "pi", has_desktop=True))
    assert [s.path for s in desktop if isinstance(s, Write)] == [AUTOSTART_PATH]
    lite = list(plan_kiosk(BARE, PROGRAM, "pi", has_desktop=False))
    assert [s.path for s in lite if isinstance(s, Write)] == [KIOSK_UNIT_PATH]


def test_installing_twice_writes_once_and_removing_deletes_it() -> None:
    steps = list(plan_kiosk(BARE, PROGRAM, "pi", has_desktop=False))
    files = {s.path: s.text for s in steps if isinstance(s, Write)}
    installed = replace(BARE, content=files.get)
    again = plan_kiosk(installed, PROGRAM, "pi", has_desktop=False)
    assert not [s for s in again if isinstance(s, Write)]
    removed = list(plan_no_kiosk(installed))
    assert Delete(KIOSK_UNIT_PATH) in removed
    assert "run     systemctl start getty@tty1.service" in [str(step) for step in removed]


@pytest.mark.skipif(shutil.which("pgrep") is None, reason="no pgrep: apt-get install procps")
def test_a_desktop_takes_the_display_over_and_gives_it_back() -> None:
    lite = replace(BARE, content={KIOSK_UNIT_PATH: "[Unit]"}.get)
    assert Delete(KIOSK_UNIT_PATH) in list(plan_kiosk(lite, PROGRAM, "pi", has_desktop=True))
    desktop = replace(BARE, content={AUTOSTART_PATH: "[Desktop Entry]"}.get)
    removed = list(plan_no_kiosk(desktop))
    assert Delete(AUTOSTART_PATH) in removed
    ends = removed[-1]
    assert isinstance(ends, Command)
    kiosk = [sys.executable, "-c", "input()", "-m", "companion", "kiosk"]
    with subprocess.Popen(kiosk, stdin=subprocess.PIPE) as shown:
        asked = ["pgrep", *ends.argv[1:]]  # another one may run here
        found = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()
        assert str(shown.pid) in found
        shown.kill()


def test_an_autostart_entry_quotes_as_desktops_read_it() -> None:
    text = autostart_text(("/opt/My dice 50%h/python", 'a "b" $c \\', "kiosk"))
    (line,) = (each for each in text.splitlines() if each.startswith("Exec="))
    assert line == r'Exec="/opt/My dice 50%%h/python" "a \\"b\\" \\$c \\\\" kiosk'


@pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="no systemd-analyze: apt-get install systemd"
)
def test_systemd_accepts_the_unit_of_the_display(tmp_path: Path) -> None:
    unit = tmp_path / "dice-companion-kiosk.service"
    text = kiosk_unit_text(("/usr/bin/true", "my 50%h/python", "kiosk"), "root")
    assert " -- /usr/bin/true 'my 50%%h/python' kiosk\n" in text
    # its session takes the programs out of the unit, so that `journalctl -u` has nothing of them
    assert "SyslogIdentifier=dice-companion-kiosk\n" in text
    unit.write_text(text.replace("/usr/bin/cage", "/usr/bin/true"))  # need not be installed here
    verified = subprocess.run(
        ["systemd-analyze", "verify", str(unit)], capture_output=True, text=True
    )
    assert verified.returncode == 0, verified.stderr
