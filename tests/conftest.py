"""Fixtures of all tests, and one rule: no test logs an error that it does not expect."""

from __future__ import annotations

import logging
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

from companion.eventlog.store import SqliteStore
from tests.session.fakes import Stage

settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
# A failure is all that counts: to find its smallest case may take five minutes.
settings.register_profile(
    "no shrinking", settings.get_profile("any machine"), phases=[Phase.explicit, Phase.generate]
)
settings.load_profile("any machine")

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # a script's job ignores it
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder of frames, photos and recorded games beside the project."""
    if not SHARED.is_dir():
        pytest.skip("the shared folder with games and pictures is not beside the project")
    return SHARED


@pytest.fixture
def ssh_port() -> Iterator[int]:
    """A port of this machine on which a program answers that does not speak HTTP."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            with suppress(OSError):  # the server was shut down
                while True:
                    with server.accept()[0] as asked:
                        asked.recv(1000)
                        asked.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
        thread.join()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that need Chromium, and put all of a folder with long ones first.

    Each file runs on one worker, so a long file that begins late would keep the others waiting.
    """
    for item in items:
        if isinstance(item, pytest.Function) and "chromium" in item.fixturenames:
            item.add_marker("browser")
    items.sort(key=lambda item: item.path.parent != ROOT / "tests" / "web")


class _Errors(logging.Handler):
    """Keeps records of level ERROR and above."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@pytest.fixture(autouse=True)
def _no_errors_logged(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test during which an error is logged.

    A test that expects one takes `caplog` and checks it, or is marked `logs_errors`.
    """
    if "caplog" in request.fixturenames or request.node.get_closest_marker("logs_errors"):
        yield
        return
    errors = _Errors()
    logging.getLogger().addHandler(errors)
    yield
    logging.getLogger().removeHandler(errors)
    assert [f"{each.name}: {each.getMessage()}" for each in errors.records] == []


@pytest.fixture(autouse=True)
def _closed_logs(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close every event log that a test opened: Python 3.13 warns of an open database."""
    opened: list[SqliteStore] = []
    make = SqliteStore.__init__

    def make_and_note(store: SqliteStore, directory: Path, *, is_writer: bool = True) -> None:
        make(store, directory, is_writer=is_writer)
        opened.append(store)

    monkeypatch.setattr(SqliteStore, "__init__", make_and_note)
    yield
    for store in opened:
        store.close()


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    """A table without players."""
    return Stage(tmp_path)


@pytest.fixture
def two(stage: Stage) -> Stage:
    """Ada and Ben in a game, Ada to throw; earlier announcements are cleared."""
    stage.seat("Ada", "Ben")
    assert stage.session.start() is None
    stage.told.clear()
    return stage
