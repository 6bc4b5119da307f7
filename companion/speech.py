"""Say sentences through espeak-ng, one voice at a time and the newest first, or stay silent.

espeak-ng runs as a process of its own, once for each text: stopping a sentence is killing its
process. The text goes in through its standard input, so no text is ever taken for an option and
no shell sees it.
"""

from __future__ import annotations

import logging
import shutil
import subprocess
import threading
from pathlib import Path

from companion.errors import ConfigError

LOGGER = logging.getLogger(__name__)

VOICES = {"en": "en", "de": "de", "fr": "fr", "it": "it"}
"""espeak-ng's voice for each language of the table."""


class Speaker:
    """A voice that never keeps anybody waiting.

    `say` and `stop` return at once; one thread starts and ends the processes, each after the one
    before has ended. Where espeak-ng is absent or the sound fails, the table plays on in silence
    and the log says so once.
    """

    def __init__(
        self,
        *,
        volume: int = 100,
        words_per_minute: int = 165,
        executable: str = "espeak-ng",
        wav_path: Path | None = None,
    ) -> None:
        """Look for the voice and get ready.

        Args:
            volume: 0 (muted) to 200 as espeak-ng counts, 100 being its normal.
            words_per_minute: 80 to 450, the range espeak-ng documents.
            executable: Name or path of espeak-ng.
            wav_path: Write each text into this file instead of speaking it.
        Raises:
            ConfigError: A number is out of its range.
        """
        if not 0 <= volume <= 200:
            raise ConfigError(f"voice: volume: expected 0 to 200, got {volume!r}")
        if not 80 <= words_per_minute <= 450:
            raise ConfigError(
                f"voice: words_per_minute: expected 80 to 450, got {words_per_minute!r}"
            )
        self._volume = volume
        self._options = ["--stdin", "-b", "1", "-a", str(volume), "-s", str(words_per_minute)]
        if wav_path is not None:
            self._options += ["-w", str(wav_path.absolute())]
        self._executable = shutil.which(executable)
        self._has_complained = False
        self._changed = threading.Condition()
        self._next: tuple[str, str] | None = None
        self._orders = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._is_speaking = False
        self._is_closed = False
        if self._executable is None:
            self._complain("%s is not installed (apt install espeak-ng)", executable)
        self._thread = threading.Thread(target=self._work, name="voice", daemon=True)
        self._thread.start()

    @property
    def can_speak(self) -> bool:
        """Whether a text given now would be spoken, as far as is known."""
        return self._executable is not None and self._volume > 0 and not self._has_complained

    def say(self, text: str, language: str) -> None:
        """Speak the text, at once and instead of what is being said.

        Raises:
            ConfigError: No voice for the language.
        """
        if language not in VOICES:
            raise ConfigError(
                f"voice: language: expected one of {', '.join(VOICES)}, got {language!r}"
            )
        self._supersede((text, language))

    def stop(self) -> None:
        """Fall silent."""
        self._supersede(None)

    def wait_until_silent(self, timeout_s: float) -> bool:
        """Wait until all is said; False when the time was not enough."""
        with self._changed:
            return self._changed.wait_for(
                lambda: self._next is None and not self._is_speaking, timeout_s
            )

    def close(self) -> None:
        """Fall silent for good; a second call does nothing."""
        with self._changed:
            self._is_closed = True
        self._supersede(None)
        self._thread.join(2.0)  # a killed process can only linger in a broken sound driver

    def _supersede(self, following: tuple[str, str] | None) -> None:
        with self._changed:
            self._next = None if self._is_closed else following
            self._orders += 1
            if self._process is not None:
                self._process.kill()  # at once: it has nothing to tidy up
            self._changed.notify_all()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._is_speaking = False
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._next is not None or self._is_closed)
                if self._next is None:
                    return
                (text, language), self._next = self._next, None
                order = self._orders
                self._is_speaking = True
            try:
                self._speak(text, language, order)
            except Exception as error:
                self._complain("%s", error)

    def _speak(self, text: str, language: str, order: int) -> None:
        """Run one process to its end, be that natural or not."""
        if self._executable is None or self._volume == 0:
            return
        process = subprocess.Popen(
            [self._executable, "-v", VOICES[language], *self._options],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        with self._changed:
            self._process = process
            if self._orders != order:  # superseded while the process was starting
                process.kill()
        try:
            _, trouble = process.communicate(_speakable(text))
        finally:
            with self._changed:
                self._process = None
        # Without a sound card espeak-ng 1.51 writes "error: ..." and still exits with 0. A
        # negative status is our own kill.
        lines = trouble.decode(errors="replace").splitlines()
        errors = [line for line in lines if line.lower().startswith("error")]
        if process.returncode > 0 or (process.returncode == 0 and errors):
            self._complain("%s", (errors or lines or [f"exit status {process.returncode}"])[-1])
        elif process.returncode == 0 and self._has_complained:
            LOGGER.warning("voice: the sound works again")
            self._has_complained = False

    def _complain(self, message: str, *values: object) -> None:
        if not self._has_complained:
            LOGGER.warning("voice: the table stays silent: " + message, *values)
        self._has_complained = True


def _speakable(text: str) -> bytes:
    """The text without control characters, some of which are commands to espeak-ng."""
    return "".join(c if c.isprintable() else " " for c in text).encode(errors="replace")
