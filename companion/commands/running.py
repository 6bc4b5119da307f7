"""Shared parts of commands that a signal ends: settings, the signal, output, an end in time."""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

import click

from companion.config import Config, load
from companion.service import log

END_WITHIN_S = 4.0
"""Seconds that the parts take to close; then the process ends without those that hang."""

OPEN_WITHIN_S = 0.5
"""Seconds after a signal in which the parts may still open, to be closed in order."""


class Stop:
    """The wish to end, which a signal's handler may set at any moment.

    A `threading.Event` would not do: the handler runs on the main thread, and `set` waits for the
    lock that this thread may just have taken in `wait`. Writing to a pipe needs no lock.
    """

    def __init__(self) -> None:
        self._seen, self._said = os.pipe()
        os.set_blocking(self._said, False)

    def set(self) -> None:
        """Say it; also more than once."""
        with suppress(BlockingIOError):
            os.write(self._said, b"!")

    def wait(self, timeout_s: float) -> bool:
        """Wait until it is said, at most so long; return whether it was."""
        return bool(select.select([self._seen], [], [], timeout_s)[0])


def settled(path: Path | None, flags: Mapping[str, object | None]) -> Config:
    """Load the settings and begin to log as they say; `--verbose` logs more."""
    config = load(path, os.environ, flags)
    is_verbose = click.get_current_context().find_root().params.get("verbose")
    log.install(level="info" if is_verbose else config.log.level, form=config.log.form)
    return config


def stop_on_signal() -> Stop:
    """Return what SIGINT, SIGTERM and SIGHUP set; one ignored under nohup stays so."""
    stop = Stop()

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, on_signal)
    return stop


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """SIGTERM and SIGHUP end the work as Ctrl-C does; one ignored under nohup stays so.

    Processes are stopped, temporary files removed, and changes taken back. Only the first signal
    counts: a terminal that is closed sends several.
    """
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        for number in before:
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    for number, handler in before.items():
        if handler != signal.SIG_IGN:
            signal.signal(number, on_signal)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def wait_for(stop: Stop, meanwhile: Callable[[], object] = lambda: None) -> None:
    """Wait for a signal, and call a function every second."""
    while not stop.wait(1.0):
        meanwhile()


@contextmanager
def opened_in_time(stop: Stop) -> Iterator[None]:
    """End the process at a signal while parts are opened: a camera may take long, or hang."""
    opened = threading.Event()

    def watch() -> None:
        while not opened.is_set():
            if stop.wait(0.2) and not opened.wait(OPEN_WITHIN_S):
                _end()

    threading.Thread(target=watch, name="start", daemon=True).start()
    try:
        yield
    finally:
        opened.set()


@contextmanager
def closed_in_time(close: Callable[[], None]) -> Iterator[None]:
    """Close the parts at the end, and end the process if one of them hangs."""
    try:
        yield
    finally:
        deadline = threading.Timer(END_WITHIN_S, _end)
        deadline.daemon = True
        deadline.start()
        close()
    if set(threading.enumerate()) - {threading.main_thread(), deadline}:
        _end()


def tell(text: str, *, err: bool = False) -> None:
    """Print and flush; a closed output does not end the game."""
    try:
        click.echo(text, err=err)
    except OSError:
        stream = sys.stderr if err else sys.stdout
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _end() -> None:
    """End the process at once, where a hanging driver or disk still holds a thread.

    Everything that was acknowledged is on the disk. An ordinary exit would wait for the thread, or
    abort inside the driver's C++.
    """
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with suppress(OSError):  # its reader may be gone
                stream.flush()
    os._exit(0)
