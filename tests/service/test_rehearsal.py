"""A new version tried on a copy of the games, and asked whether people can play."""

from __future__ import annotations

import http.server
import json
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from companion.errors import ServiceError
from companion.service.backup import write_backup
from companion.service.update import (
    Places,
    expect_health,
    rehearse,
)
from tests.service.backups import NOW


@pytest.fixture
def python(tmp_path: Path) -> Callable[[str], str]:
    """python(then) gives an interpreter of this program whose `update` does that instead."""

    def make(then: str) -> str:
        fake = tmp_path / "python"
        updates = f'case $* in *" companion update "*) {then} ;; esac'
        fake.write_text(f'#!/bin/sh\n{updates}\nexec {sys.executable} "$@"\n')
        fake.chmod(0o755)
        return str(fake)

    return make


def test_the_new_version_is_tried_on_a_copy_of_the_games(
    tmp_path: Path, places: Places, python: Callable[[str], str]
) -> None:
    backup = tmp_path / "backup.tar.gz"
    write_backup(backup, places.data_dir, places.config_path, now=NOW, version="1")
    before = (places.data_dir / "games.sqlite3").read_bytes()
    rehearse(python("exit 0"), backup)
    assert (places.data_dir / "games.sqlite3").read_bytes() == before
    fake = tmp_path / "python"
    leaves_none = "#!/bin/sh\n[ $1 = -B ] || exit 2\n"
    fake.write_text(f"{leaves_none}echo 'dice-companion: too new for this Python' >&2; exit 1\n")
    fake.chmod(0o755)
    with pytest.raises(ServiceError, match="too new for this Python"):
        rehearse(str(fake), None)


def test_a_version_that_cannot_update_itself_is_refused(python: Callable[[str], str]) -> None:
    with pytest.raises(ServiceError, match="update --dry-run: SyntaxError"):
        rehearse(python("echo SyntaxError >&2; exit 1"), None)


def test_modules_of_the_folder_that_it_is_called_in_are_not_taken(
    tmp_path: Path,
    places: Places,
    python: Callable[[str], str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "random.py").write_text("raise ImportError('not for you')\n")
    monkeypatch.chdir(tmp_path)
    backup = tmp_path / "backup.tar.gz"
    write_backup(backup, places.data_dir, places.config_path, now=NOW, version="1")
    rehearse(python("exit 0"), backup)


class Sick(http.server.BaseHTTPRequestHandler):
    """A table at which nobody can play, until it was asked twice."""

    asked = 0

    def do_GET(self) -> None:
        type(self).asked += 1
        parts = {
            "steps": {"state": "ok", "reason": ""},
            "storage": {"state": "failed", "reason": "the disk is full"},
            "camera": {"state": "impaired", "reason": "the lens is covered"},
        }
        body = json.dumps({"parts": parts}).encode()
        self.send_response(503 if self.asked < 3 else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def sick() -> Iterator[str]:
    Sick.asked = 0
    with http.server.HTTPServer(("127.0.0.1", 0), Sick) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def test_a_table_is_healthy_once_people_can_play(sick: str) -> None:
    with pytest.raises(ServiceError, match=r"at: storage: the disk is full$"):
        expect_health(sick, within_s=0.1, sleep=lambda _: threading.Event().wait(0.2))
    expect_health(sick, sleep=lambda _: None)
    assert Sick.asked == 3


def test_a_program_that_does_not_speak_http_is_no_healthy_table(ssh_port: int) -> None:
    with pytest.raises(ServiceError, match="SSH"):
        expect_health(f"http://127.0.0.1:{ssh_port}/", within_s=0.01, sleep=lambda _: None)
