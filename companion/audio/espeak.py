"""Speak texts with espeak-ng and play sound clips, one after the other.

Each text and each clip is a process of its own; stopping a sentence kills its process. A text is
passed through standard input, never as an option or through a shell.
"""

from __future__ import annotations

import logging
import re
import shutil
import subprocess
import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

LOGGER = logging.getLogger(__name__)

PROGRAM = "espeak-ng"

VOLUMES = (0, 200)
"""Range of espeak-ng's amplitude: 100 is normal, 0 is muted."""

SPEEDS = (80, 450)
"""Words per minute, as documented by espeak-ng."""

HUNG_S = 10.0
"""Extra seconds after three times the expected duration until a process counts as hanging."""

LONGEST_CLIP_S = 120.0
"""Seconds after which a clip counts as hanging."""

PLAYERS: dict[str, tuple[tuple[str, ...], ...]] = {
    ".wav": (("aplay", "-q"), ("pw-play",), ("paplay",)),
    ".flac": (("pw-play",), ("paplay",)),
    ".ogg": (("pw-play",), ("paplay",)),
    ".mp3": (("mpg123", "-q"), ("pw-play",), ("paplay",)),
}
"""Players by file suffix; the first installed one is used."""

_SIGNS = {
    ".wav": re.compile(rb"RIFF....WAVE", re.DOTALL),
    ".mp3": re.compile(rb"ID3|\xff[\xe2-\xe7\xf2-\xf7\xfa-\xff]"),  # the rest is AAC
}
"""How files begin whose players accept any other: aplay makes noise of it, and mpg123 is silent."""

_DIRECTIONS = re.compile("[\u2066-\u2069]")
"""Marks round a word from right to left."""


@dataclass(frozen=True, slots=True)
class Clip:
    """A sound file, and the text that is spoken if it cannot be played."""

    path: Path
    text: str


@dataclass(frozen=True, slots=True)
class _Utterance:
    pieces: tuple[str | Clip, ...]
    language: str
    kind: str


class Speaker:
    """A queue of utterances and a thread that speaks them.

    `say` and `stop` return at once. If espeak-ng is missing or the sound fails, the table stays
    silent and one warning is logged.
    """

    def __init__(self) -> None:
        """Find espeak-ng and start the thread; `tune` sets volume and speed."""
        self._volume, self._words_per_minute = 100, 165
        self._changed = threading.Condition()
        self._queue: list[_Utterance] = []
        self._current: _Utterance | None = None
        self._is_cut = False
        self._process: subprocess.Popen[bytes] | None = None
        self._has_complained = False
        self._is_closed = False
        self._executable = shutil.which(PROGRAM)
        if self._executable is None:
            self._complain("%s is not installed (apt install espeak-ng)", PROGRAM)
        self._thread = threading.Thread(target=self._work, name="voice", daemon=True)
        self._thread.start()

    @property
    def trouble(self) -> str | None:
        """Why nothing is spoken, or None."""
        if self._executable is None:
            return f"{PROGRAM} is not installed"
        return "the sound does not play" if self._has_complained else None

    def tune(self, volume: int, words_per_minute: int) -> None:
        """Set volume (`VOLUMES`) and speed (`SPEEDS`) of the next texts; muting works at once."""
        self._volume, self._words_per_minute = volume, words_per_minute
        if volume == 0:
            self.stop()

    def say(
        self,
        pieces: Sequence[str | Clip],
        language: str,
        kind: str = "",
        *,
        cancels: Collection[str] | None = None,
    ) -> None:
        """Queue texts and clips, which are spoken one after the other.

        The same ones again take the place of those that are still spoken or queued.

        Args:
            language: Of the texts; espeak-ng names its voices so.
            kind: Name by which later calls can cancel this one.
            cancels: Kinds that are cut short or removed from the queue; None cancels everything.
        """
        self._supersede(cancels, _Utterance(tuple(pieces), language, kind))

    def stop(self) -> None:
        """Stop speaking and clear the queue."""
        self._supersede(None, None)

    def close(self) -> None:
        """Stop for good; further calls do nothing."""
        with self._changed:
            self._is_closed = True
        self.stop()
        self._thread.join(2.0)  # a killed process can only linger in a broken sound driver

    def _supersede(self, cancels: Collection[str] | None, following: _Utterance | None) -> None:
        def is_stale(each: _Utterance) -> bool:
            return cancels is None or each.kind in cancels or each == following

        with self._changed:
            self._queue = [each for each in self._queue if not is_stale(each)]
            if following is not None and not self._is_closed:
                self._queue.append(following)
            if self._current is not None and is_stale(self._current):
                self._is_cut = True
                if self._process is not None:
                    self._process.kill()  # there is nothing to clean up
            self._changed.notify_all()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._current = None
                self._changed.wait_for(lambda: bool(self._queue) or self._is_closed)
                if not self._queue:
                    return
                self._current, self._is_cut = self._queue.pop(0), False
                current = self._current
            try:
                for piece in current.pieces:
                    if not self._is_cut:
                        self._say_piece(piece, current.language)
            except Exception as error:
                self._complain("%s", error)

    def _say_piece(self, piece: str | Clip, language: str) -> None:
        if self._volume == 0:
            return
        if isinstance(piece, str):
            self._speak(piece, language)
        elif not self._play(piece.path):
            self._speak(piece.text, language)

    def _play(self, path: Path) -> bool:
        """Play a clip; False if no player could."""
        if not _is_sound(path):
            return False
        for player, *options in PLAYERS.get(path.suffix.lower(), ()):
            found = shutil.which(player)
            if found is not None:
                command = [found, *options, str(path.absolute())]
                status, _ = self._run(command, b"", LONGEST_CLIP_S)
                if status == 0 and self._executable is not None:
                    self._recover()
                return status <= 0  # negative: killed by this program
        return False

    def _speak(self, text: str, language: str) -> None:
        if self._executable is None:
            self._executable = shutil.which(PROGRAM)  # it may have been installed meanwhile
        if self._executable is None:
            return
        options = ["--stdin", "-b", "1", "-a", str(self._volume), "-s", str(self._words_per_minute)]
        command = [self._executable, "-v", language, *options]
        patience_s = 3 * spoken_s(text, self._words_per_minute) + HUNG_S
        status, trouble = self._run(command, _speakable(text), patience_s)
        # Without a sound card espeak-ng 1.51 prints "error: ..." and still exits with 0. A
        # negative status means that this program killed it.
        lines = trouble.decode(errors="replace").splitlines()
        errors = [line for line in lines if line.lower().startswith("error")]
        if status > 0 or (status == 0 and errors):
            self._complain("%s", (errors or lines or [f"exit status {status}"])[-1])
        elif status == 0:
            self._recover()

    def _run(self, command: list[str], given: bytes, patience_s: float) -> tuple[int, bytes]:
        """Run a process, kill it after `patience_s`, and return its status and error output."""
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        with self._changed:
            self._process = process
            if self._is_cut:  # cancelled while the process was starting
                process.kill()
        try:
            _, trouble = process.communicate(given, timeout=patience_s)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            self._complain("%s did not finish", Path(command[0]).name)
            return process.returncode, b""
        finally:
            with self._changed:
                self._process = None
        return process.returncode, trouble

    def _complain(self, message: str, *values: object) -> None:
        if not self._has_complained:
            LOGGER.warning("voice: the table stays silent: " + message, *values)
        self._has_complained = True

    def _recover(self) -> None:
        if self._has_complained:
            LOGGER.warning("voice: sound is working again")
        self._has_complained = False


def _is_sound(path: Path) -> bool:
    """Whether a file begins as its suffix says; a recording may only have been renamed."""
    sign = _SIGNS.get(path.suffix.lower())
    if sign is None:
        return True
    try:
        with path.open("rb") as file:
            return sign.match(file.read(12)) is not None
    except OSError:
        return False


def spoken_s(text: str, words_per_minute: int) -> float:
    """Expected duration of a text in seconds; a word has five letters."""
    return 60.0 * len(text) / 5.0 / words_per_minute


def _speakable(text: str) -> bytes:
    """The text without control characters, some of which are espeak-ng commands.

    The hyphen that keeps a line together would part the words when spoken, and so would a space
    in place of a mark of the direction of reading.
    """
    text = _DIRECTIONS.sub("", text).replace("\u2011", "-")
    plain = (c if c.isprintable() or c == "\n" else " " for c in text)
    return "".join(plain).encode(errors="replace")
