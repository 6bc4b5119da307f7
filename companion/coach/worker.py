"""A process of lowest priority for the coach's arithmetic.

A thread of this process would not do: thousands of short array operations take turns with the
reader at the interpreter's lock, which costs the reader a third of its frames and the coach many
times its time (docs/evaluation.md, coach).
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any, BinaryIO, TypeVar

from companion.errors import CompanionError

T = TypeVar("T")

LOWEST_PRIORITY = 19

IDLE_S = 300.0
"""Seconds without work after which the process is ended; the next call starts another."""

SHARE, DONE, FAILED = "share", "done", "failed"


class WorkerError(CompanionError, RuntimeError):
    """A call failed, or its process was ended or could not be started."""


class _EndedError(WorkerError):
    """The process ended before it was done."""


class Worker:
    """Runs functions one at a time in a process that starts with the first call; thread-safe."""

    def __init__(self) -> None:
        self._one_call = threading.Lock()
        self._mutex = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._timer: threading.Timer | None = None
        self._is_closed = False

    def call(
        self,
        function: Callable[..., T],
        *args: Any,
        progress: Callable[[float], None] | None = None,
    ) -> T:
        """Return what a module's function returns there.

        If the process was ended from outside, for want of memory perhaps, it is tried once more.

        Args:
            progress: Receives the share that is done; the function gets an argument of that name.

        Raises:
            WorkerError: It raised, or the process could not be started or ended before it was done.
        """
        with self._one_call:
            try:
                try:
                    return self._tried(function, args, progress)
                except _EndedError:
                    return self._tried(function, args, progress)
            finally:
                self._end_later()

    @property
    def is_closed(self) -> bool:
        """Whether it was closed; calls that it cuts short fail."""
        return self._is_closed

    def close(self) -> None:
        """End the process, whatever it does; may be called twice."""
        with self._mutex:
            self._is_closed = True
        self._end()

    def _tried(
        self,
        function: Callable[..., T],
        args: tuple[Any, ...],
        progress: Callable[[float], None] | None,
    ) -> T:
        process = self._started()
        try:
            return self._exchange(process, (function, args, progress is not None), progress)
        except (OSError, EOFError, ValueError, pickle.UnpicklingError) as error:
            # a ValueError: `close` closed the pipe that is being read
            self._end()
            raise _EndedError(f"coach: the process ended: {error!r}") from error

    def _started(self) -> subprocess.Popen[bytes]:
        with self._mutex:
            if self._is_closed:
                raise WorkerError("coach: the table is closed")
            if self._timer is not None:
                self._timer.cancel()
            if self._process is None:
                try:
                    self._process = subprocess.Popen(
                        [sys.executable, "-m", __name__],
                        stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE,
                        start_new_session=True,  # Ctrl-C on the terminal is for the table
                    )
                except OSError as error:  # no memory, or too many processes or open files
                    raise WorkerError(f"coach: no process can be started: {error}") from error
            return self._process

    def _exchange(
        self,
        process: subprocess.Popen[bytes],
        request: tuple[Callable[..., T], tuple[Any, ...], bool],
        progress: Callable[[float], None] | None,
    ) -> T:
        assert process.stdin is not None
        assert process.stdout is not None
        pickle.dump(request, process.stdin)
        process.stdin.flush()
        while True:
            kind, value = pickle.load(process.stdout)
            if kind == SHARE and progress is not None:
                progress(value)
            elif kind == FAILED:
                raise WorkerError(f"coach: {value}")
            elif kind == DONE:
                done: T = value
                return done

    def _end_later(self) -> None:
        with self._mutex:
            if not self._is_closed:
                self._timer = threading.Timer(IDLE_S, self._end_idle)
                self._timer.daemon = True
                self._timer.start()

    def _end_idle(self) -> None:
        if self._one_call.acquire(blocking=False):
            try:
                self._end()
            finally:
                self._one_call.release()

    def _end(self) -> None:
        with self._mutex:
            process, self._process = self._process, None
            if self._timer is not None:
                self._timer.cancel()
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Run the functions that arrive until there are no more."""

    def answer(kind: str, value: Any) -> None:
        pickle.dump((kind, value), answers)
        answers.flush()

    while True:
        try:
            function, args, has_progress = pickle.load(requests)
        except EOFError:
            return
        try:
            more = {"progress": lambda share: answer(SHARE, share)} if has_progress else {}
            answer(DONE, function(*args, **more))
        except Exception:
            answer(FAILED, traceback.format_exc())


if __name__ == "__main__":
    os.nice(LOWEST_PRIORITY)
    # print() must not disturb the answers; the pipe is broken when the table has ended
    with suppress(BrokenPipeError), os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)
        serve(sys.stdin.buffer, out)
