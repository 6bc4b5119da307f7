"""`dice-companion play` as a process: how it starts, what it refuses, and that it survives."""

from __future__ import annotations

import http.client
import io
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from companion.cli import main
from companion.commands.play import _show_address
from companion.eventlog.store import FILE_NAME, SqliteStore
from tests.conftest import ROOT
from tests.rights import run_bound

PATIENCE_S = 60.0


class Play:
    """A running table and somebody who talks to it."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self.process, self.url = process, url
        self.cookies: dict[str, str] = {}

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(self.url + path, timeout=PATIENCE_S) as answer:
            return json.load(answer)

    def post(self, path: str, who: str = "", **body: Any) -> Any:
        headers = {"Content-Type": "application/json"}
        if who in self.cookies:
            headers["Cookie"] = self.cookies[who]
        request = urllib.request.Request(
            self.url + path, json.dumps(body).encode(), headers, method="POST"
        )
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            if cookie := answer.headers.get("Set-Cookie"):
                self.cookies[who] = cookie.split(";")[0]
            return json.load(answer)


def command(data: Path, *args: str) -> list[str]:
    table = ["--data-dir", str(data), "--pins", "mock", "--host", "127.0.0.1", "--port", "0"]
    return [sys.executable, "-m", "companion", "play", *table, *args]


@contextmanager
def playing(data: Path, *args: str) -> Iterator[Play]:
    process = subprocess.Popen(
        command(data, *args),
        cwd=ROOT,
        env={**os.environ, "HOME": str(data)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        line = process.stdout.readline()
        found = re.fullmatch(r"listening on (http://127\.0\.0\.1:\d+)\n", line)
        assert found, (line, process.stderr.read() if not line else "")
        yield Play(process, found[1])
    finally:
        process.kill()
        process.wait(PATIENCE_S)
        process.stdout.close()
        process.stderr.close()


Refused = Callable[..., str]


@pytest.fixture
def refused(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Refused:
    """refused(data, *args): the one line a table that cannot be served ends with."""
    monkeypatch.setenv("HOME", "/nonexistent")

    def ended(data: Path, *args: str) -> str:
        capfd.readouterr()
        with pytest.raises(SystemExit) as end:
            main(command(data, *args)[3:])
        out, said = capfd.readouterr()
        assert (end.value.code, out) == (1, "")
        assert "Traceback" not in said
        last = said.strip().splitlines()[-1]
        assert last.startswith("dice-companion: ")
        return last

    return ended


ROLL = {"white": [3, 4], "colour": {"red": 1, "yellow": 2, "green": 3, "blue": 4}}


def test_a_killed_table_goes_on_where_it_was(tmp_path: Path) -> None:
    with playing(tmp_path, "--camera", "none") as table:
        assert table.get("/healthz")["camera"] == "none"
        assert table.process.stderr is not None
        said = "".join(table.process.stderr.readline() for _ in range(3))
        assert "can only be reached from this machine" in said  # and not: join from a phone
        table.post("/api/join", "Ada", name="Ada")
        table.post("/api/join", "Ben", name="Ben")
        table.post("/api/start", "Ada", variant="base", first=0)
        table.post("/api/roll", "Ada", **ROLL)
        mark = {"turn": 1, "action": 1, "box": "R7", "done": True, "key": "once"}
        table.post("/api/answer", "Ada", **mark)
        cookies = table.cookies
        table.process.send_signal(signal.SIGKILL)
        table.process.wait(PATIENCE_S)
    with playing(tmp_path, "--camera", "none") as table:
        table.cookies = cookies
        game = table.get("/api/state")["game"]
        assert game["phase"] == "action1"
        assert game["waiting_for"] == [1]
        table.post("/api/answer", "Ada", **mark)  # the phone never heard of the first answer
        mark |= {"box": "Y7", "key": "another"}
        game = table.post("/api/answer", "Ben", **mark)["game"]
        assert game["phase"] == "action2"
        assert [p["sheet"]["R"] for p in game["players"]] == [["R7"], []]
        assert game["players"][1]["sheet"]["Y"] == ["Y7"]


def test_sigterm_ends_it_in_time_with_pages_open(tmp_path: Path) -> None:
    with playing(tmp_path, "--camera", "none") as table:
        streams = [urllib.request.urlopen(table.url + "/api/events", timeout=9) for _ in range(2)]
        for stream in streams:
            stream.readline()
        table.process.send_signal(signal.SIGTERM)
        assert table.process.wait(5) == 0
        for stream in streams:
            stream.close()


def test_sigterm_ends_it_in_time_while_a_write_hangs(tmp_path: Path) -> None:
    """Another process holds the database, which makes a write wait as a slow disk does."""
    with (
        playing(tmp_path, "--camera", "none") as table,
        closing(sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)) as other,
    ):
        answers: list[Any] = []

        def join() -> None:
            with suppress(OSError, http.client.HTTPException):
                answers.append(table.post("/api/join", name="Ada"))

        other.execute("BEGIN IMMEDIATE")
        asking = threading.Thread(target=join)
        asking.start()
        asking.join(0.7)
        assert asking.is_alive(), "the write waits"
        table.process.send_signal(signal.SIGTERM)
        assert table.process.wait(5) == 0
        other.execute("ROLLBACK")
        asking.join(PATIENCE_S)
        assert table.process.stderr is not None
        assert "Traceback" not in (told := table.process.stderr.read()), told
        kept = other.execute("SELECT count(*) FROM log").fetchone()
        assert (answers, kept) == ([], (0,))


@pytest.mark.parametrize("gone", ["stdout", "stderr"])
def test_a_table_survives_a_closed_terminal(tmp_path: Path, gone: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with subprocess.Popen(
        [
            "env",
            "--default-signal=HUP",
            *command(tmp_path, "--camera", "none", "--port", str(port)),
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:  # tests that nohup started ignore a hang-up, and so would the table
        pipes = {"stdout": process.stdout, "stderr": process.stderr}
        unread, read = pipes.pop(gone), *pipes.values()
        assert unread is not None
        assert read is not None
        unread.close()
        try:
            assert read.readline()  # it serves by then
            Play(process, f"http://127.0.0.1:{port}").get("/healthz")
            process.send_signal(signal.SIGHUP)
            assert process.wait(PATIENCE_S) == 0
        finally:
            process.kill()


def test_a_crash_in_a_library_leaves_a_word(tmp_path: Path) -> None:
    with playing(tmp_path, "--camera", "none") as table:
        table.process.send_signal(signal.SIGSEGV)
        assert table.process.wait(PATIENCE_S) == -signal.SIGSEGV
        assert table.process.stderr is not None
        assert "Segmentation fault" in table.process.stderr.read()


HUNG = """
import atexit, sys, threading
threading.Thread(target=threading.Event().wait, daemon=True, name="a driver that hangs").start()
atexit.register(print, "Python tidies up")
from companion.cli import main
main(sys.argv[1:])
"""


@contextmanager
def started(code: str, *args: str) -> Iterator[subprocess.Popen[str]]:
    """Python with a program that changes the table's own; killed at the end."""
    with subprocess.Popen(
        [sys.executable, "-c", code, *args], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def test_a_thread_that_hangs_in_a_driver_is_left_behind(tmp_path: Path) -> None:
    with started(HUNG, *command(tmp_path, "--camera", "none")[3:]) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("listening on")
        process.send_signal(signal.SIGTERM)
        assert process.stdout.read() == "", "an abort in the driver's code would follow"
        assert process.wait(PATIENCE_S) == 0


SLOW = """
import sys, time
from companion.adapters import camera
def slow(*_, **__):
    print("opening", flush=True)
    time.sleep(60)
camera.open_as_set = slow
from companion.cli import main
main(sys.argv[1:])
"""


def test_sigterm_ends_it_in_time_while_the_camera_is_opened(tmp_path: Path) -> None:
    with started(SLOW, *command(tmp_path, "--camera", "simulated")[3:]) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "opening\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(5) == 0


def test_a_log_that_may_not_be_written_is_no_table(tmp_path: Path) -> None:
    SqliteStore(tmp_path).close()
    (tmp_path / "games.sqlite3").chmod(0o444)
    source = "import sys; from companion.cli import main; main(sys.argv[1:])"
    catching = f"try:\n    {source}\nexcept SystemExit as end:\n    print(end.code)"
    args = command(tmp_path, "--camera", "none")[3:]
    assert run_bound(catching, *args) == "1\n"


def test_a_damaged_log_is_set_aside_and_reported(tmp_path: Path) -> None:
    (tmp_path / "games.sqlite3").write_bytes(b"no database" * 1000)
    with playing(tmp_path, "--camera", "none") as table:
        table.post("/api/join", "Ada", name="Ada")
        table.process.send_signal(signal.SIGTERM)
        table.process.wait(5)
        assert table.process.stderr is not None
        assert "damaged-1" in table.process.stderr.read()


def test_a_busy_port_is_named(tmp_path: Path, refused: Refused) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert str(port) in refused(tmp_path, "--camera", "none", "--port", str(port))


def test_two_tables_do_not_share_a_data_directory(tmp_path: Path, refused: Refused) -> None:
    with playing(tmp_path, "--camera", "none"):
        assert "another table" in refused(tmp_path, "--camera", "none")


@pytest.mark.parametrize(
    "args",
    [
        ("--camera", "/dev/video77"),
        ("--camera", "no-such-file.avi"),
        ("--camera", "pi"),
        ("--pins", "lgpio"),
        ("--config", "no-such.toml"),
        ("--host", "203.0.113.9"),
    ],
    ids=lambda args: " ".join(args),
)
def test_equipment_named_but_unavailable_is_an_error(
    tmp_path: Path, refused: Refused, args: tuple[str, ...]
) -> None:
    library = {"pi": "picamera2", "lgpio": "lgpio"}.get(args[1])
    if library is not None and find_spec(library) is not None:
        pytest.skip(f"{library} is installed: what it opens may be there, too")
    extra = () if "--camera" in args else ("--camera", "none")
    line = refused(tmp_path, *extra, *args)
    assert args[1].split(".")[0].rsplit("/")[-1] in line


def test_a_data_directory_that_is_a_file_is_named(tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "in-the-way").write_text("")
    assert "in-the-way" in refused(tmp_path / "in-the-way", "--camera", "none")


def test_wrong_usage_is_status_2(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(command(tmp_path, "--port", "many")[3:])
    assert end.value.code == 2
    assert "many" in capfd.readouterr().err


@pytest.mark.parametrize(("encoding", "shown"), [("utf-8", True), ("iso8859-1", False)])
def test_a_terminal_without_blocks_gets_the_address_alone(
    encoding: str, shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="replace")
    monkeypatch.setattr(sys, "stdout", terminal)
    _show_address("http://192.168.1.5:8000/")
    text = terminal.buffer.getvalue().decode(encoding)
    assert "http://192.168.1.5:8000/" in text
    assert ("\N{FULL BLOCK}" in text, "?" in text) == (shown, False)
