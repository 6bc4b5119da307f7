"""Disk, saved games, address, clock and power: real files and sockets, faults put in."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from companion.doctor import machine
from companion.doctor.finding import Ran, Verdict
from companion.doctor.host import check_file_system
from companion.doctor.machine import (
    check_address,
    check_clock,
    check_data_dir,
    check_games,
    check_port,
    running_table,
)
from companion.errors import StoreError
from companion.eventlog.journal import JOURNAL_NAME
from companion.eventlog.record import Record
from companion.eventlog.store import FILE_NAME, LOCK_NAME, SqliteStore
from tests.rights import run_bound


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A data directory with three records."""
    store = SqliteStore(tmp_path)
    store.append(tuple(Record(n, "note", {"text": "x" * 3000}, "") for n in (1, 2, 3)))
    store.close()
    return tmp_path


class TestData:
    def test_a_directory_still_to_be_made(self, tmp_path: Path) -> None:
        directory = tmp_path / "a" / "b"
        assert [f.verdict for f in check_data_dir(directory)] == [Verdict.OK]
        assert not directory.exists()

    @pytest.mark.parametrize(
        ("free_mb", "verdict"), [(3, Verdict.BAD), (100, Verdict.NOTE), (900, Verdict.OK)]
    )
    def test_room(self, tmp_path: Path, free_mb: float, verdict: Verdict) -> None:
        (finding,) = check_data_dir(tmp_path, free_mb)
        assert finding.verdict is verdict
        assert f"{free_mb:.0f} MB free" in finding.text

    def test_a_file_in_its_place(self, tmp_path: Path) -> None:
        (tmp_path / "data").write_text("")
        assert check_data_dir(tmp_path / "data")[0].verdict is Verdict.BAD

    def test_a_link_to_a_stick_that_is_away(self, tmp_path: Path) -> None:
        for name, to in (("data", "/media/no-such-stick/games"), ("loop", "loop")):
            link = tmp_path / name
            link.symlink_to(to)
            assert check_file_system(link, "") == []
            for place in (link, link / "below"):
                (finding,) = check_data_dir(place)
                assert finding.verdict is Verdict.BAD
                assert finding.text == f"{link} is a link to {to}, which is missing"
            with pytest.raises(StoreError, match="it is a link to a missing one"):
                SqliteStore(link)

    def test_below_a_directory_that_may_not_be_entered(self, tmp_path: Path) -> None:
        closed = tmp_path / "closed"
        closed.mkdir(mode=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # threads of other tests
            child = os.fork()
        if child == 0:  # somebody else than root, who may enter everything
            try:
                if os.geteuid() == 0:
                    os.setuid(65_534)
                (finding,) = check_data_dir(closed / "data")
                check_games(closed / "data")
                os._exit(0 if finding.verdict is Verdict.BAD else 1)
            except BaseException:
                os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

    @pytest.mark.parametrize(
        ("name", "may", "cure"),
        [
            pytest.param(".", os.X_OK, "sudo chown $USER {}", id="the directory itself"),
            pytest.param("a b/c", os.X_OK, "sudo install -d -o $USER '{}'", id="one above it"),
            pytest.param("a/b", 0, None, id="one above it that may not be entered"),
        ],
    )
    def test_a_place_that_cannot_be_written(
        self,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        name: str,
        may: int,
        cure: str | None,
    ) -> None:
        monkeypatch.setattr(os, "access", lambda _, asked: asked == may)  # root may do everything
        (finding,) = check_data_dir(tmp_path / name)
        assert finding.verdict is Verdict.BAD
        own = "" if cure is None else f", or: {cure.format(tmp_path / name)}"
        assert finding.cure == f"choose another with --data-dir{own}"


class TestGames:
    def test_none_yet(self, tmp_path: Path) -> None:
        assert check_games(tmp_path).text == "none yet"
        assert list(tmp_path.iterdir()) == []

    def test_all_readable(self, kept: Path) -> None:
        assert check_games(kept).text == "3 records, all readable"

    def test_a_running_table_is_seen_and_not_disturbed(self, kept: Path) -> None:
        with open(kept / LOCK_NAME, "ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            assert check_games(kept).text == "3 records, all readable; a table is using it now"
        SqliteStore(kept).close()

    @pytest.mark.parametrize("name", [FILE_NAME, f"{FILE_NAME}-wal", f"{FILE_NAME}-shm", LOCK_NAME])
    @pytest.mark.parametrize("is_own", [True, False])
    def test_files_play_cannot_write_are_reported(
        self, kept: Path, monkeypatch: pytest.MonkeyPatch, name: str, is_own: bool
    ) -> None:
        (kept / name).touch()
        owner = os.geteuid() if is_own else os.geteuid() + 1
        monkeypatch.setattr(os, "geteuid", lambda: owner)
        monkeypatch.setattr(os, "access", lambda path, _: Path(path) != kept / name)
        finding = check_games(kept)
        assert finding.verdict is Verdict.BAD
        assert finding.text == f"{kept / name} cannot be written"
        assert finding.cure == f"{'chmod u+rw' if is_own else 'sudo chown $USER'} {kept}/games.*"
        with open(kept / LOCK_NAME, "ab") as lock:  # the table of the user whose files they are
            fcntl.flock(lock, fcntl.LOCK_EX)
            assert check_games(kept).verdict is Verdict.OK

    def test_a_read_only_file_of_games_by_its_mode(self, kept: Path) -> None:
        (kept / FILE_NAME).chmod(0o444)
        look = "import sys, pathlib; from companion.doctor.machine import check_games as look;"
        said = run_bound(f"{look} print(look(pathlib.Path(sys.argv[1])).verdict)", kept)
        assert said == "bad\n"

    def test_a_damaged_file_is_left_as_it_is(self, kept: Path) -> None:
        path = kept / FILE_NAME
        data = bytearray(path.read_bytes())
        data[100:3000] = b"\xa5" * 2900
        path.write_bytes(data)
        finding = check_games(kept)
        assert finding.verdict is Verdict.NOTE
        assert finding.text.startswith("damaged: ")
        assert path.read_bytes() == data

    @pytest.mark.parametrize("name", [FILE_NAME, JOURNAL_NAME])
    def test_damage_is_named_before_and_after_its_repair(self, kept: Path, name: str) -> None:
        path = kept / name
        path.unlink() if name == FILE_NAME else path.write_bytes(b"?" + path.read_bytes()[1:])
        finding = check_games(kept)
        assert finding.verdict is Verdict.NOTE
        assert JOURNAL_NAME in finding.text
        SqliteStore(kept).close()
        mended = check_games(kept)
        assert "damaged-1" in mended.text
        assert "all readable" in mended.text


class TestAddress:
    def test_a_machine_without_a_network_is_reported(self) -> None:
        finding = check_address("127.0.0.1", 8000)
        assert finding.verdict is Verdict.NOTE
        assert "http://127.0.0.1:8000/ can only be reached from this machine" in finding.text

    def test_a_network_without_ipv4_needs_another_host(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        seen = {"0.0.0.0": "127.0.0.1", "::": "2001:db8::5"}
        monkeypatch.setattr(machine, "reachable_host", seen.get)
        assert "--host ::" in check_address("0.0.0.0", 8000).cure
        assert check_address("::", 8000).verdict is Verdict.OK
        seen["::"] = "127.0.0.1"
        assert "join a Wi-Fi" in check_address("0.0.0.0", 8000).cure

    def test_an_address_phones_can_open(self) -> None:
        assert check_address("192.168.1.7", 8000).text == "http://192.168.1.7:8000/"
        assert check_address("192.168.1.7", 0).text == "192.168.1.7"

    def test_a_chosen_loopback(self) -> None:
        assert check_address("localhost", 8000).verdict is Verdict.NOTE


class Health(BaseHTTPRequestHandler):
    """Answers as a table does."""

    answer: ClassVar[object] = {"status": "ok", "version": "9.9", "camera": "ok", "button": "ok"}

    def do_GET(self) -> None:
        data = json.dumps(self.answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


class TestPort:
    def test_free(self) -> None:
        assert check_port("127.0.0.1", 0).verdict is Verdict.OK

    def test_a_table_runs_there_already(self) -> None:
        with serving(Health) as port:
            finding = check_port("127.0.0.1", port, running_table("127.0.0.1", port))
        assert finding.verdict is Verdict.OK
        assert "a table runs there already (version 9.9)" in finding.text

    def test_a_table_for_this_machine_alone_is_ours_too(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(machine, "reachable_host", lambda _: "127.0.0.2")
        with serving(Health) as port:
            finding = check_port("0.0.0.0", port, running_table("0.0.0.0", port))
        assert finding.verdict is Verdict.OK
        assert "a table runs there already" in finding.text

    def test_a_table_beside_it_does_not_speak_for_another_address(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(machine, "ANSWERS_WITHIN_S", 0.05)
        with serving(Health) as port, socket.create_server(("127.0.0.2", port)):
            assert running_table("127.0.0.2", port) is None
            assert check_port("127.0.0.2", port).verdict is Verdict.BAD

    def test_another_program_has_it(self) -> None:
        class Other(Health):
            answer: ClassVar[object] = ["hello"]

        with serving(Other) as port:
            finding = check_port("127.0.0.1", port, running_table("127.0.0.1", port))
        assert finding.verdict is Verdict.BAD
        assert finding.cure == "choose one with --port"

    def test_a_silent_program_has_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(machine, "ANSWERS_WITHIN_S", 0.05)
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            assert running_table("127.0.0.1", port) is None
            assert check_port("127.0.0.1", port).verdict is Verdict.BAD

    def test_a_program_that_does_not_speak_http_has_it(self, ssh_port: int) -> None:
        assert running_table("127.0.0.1", ssh_port) is None
        assert check_port("127.0.0.1", ssh_port).verdict is Verdict.BAD

    def test_an_address_that_is_not_ours(self) -> None:
        finding = check_port("203.0.113.9", 8000)
        assert finding.verdict is Verdict.BAD
        assert "--host" in finding.cure


@pytest.mark.parametrize(
    ("year", "synchronised", "verdict"),
    [
        (1970, Ran(None), Verdict.NOTE),
        (2026, Ran(0, "NTPSynchronized=no\n"), Verdict.NOTE),
        (2026, Ran(0, "NTPSynchronized=yes\n"), Verdict.OK),
        (2026, Ran(None), Verdict.OK),
    ],
)
def test_clock(year: int, synchronised: Ran, verdict: Verdict) -> None:
    assert check_clock(datetime(year, 1, 1, 12, tzinfo=UTC), synchronised).verdict is verdict
