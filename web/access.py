"""The table's secrets (code, PIN, signing key) and its paired table views."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import threading
from collections.abc import Iterable
from pathlib import Path

from companion.errors import ConfigError
from companion.session.seats import digest
from companion.wire.files import read_text, write_whole
from companion.wire.structs import Struct, WireError, convert, encode, field

FILE_NAME = "access.json"
MOST_BYTES = 64 * 1024
CODE_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""Letters and digits that look different on a television."""

_PIN_DIGITS = 6
_CODE_LETTERS = 4
_NAME_BYTES = 8
_MOST_TABLES = 16
_MOST_WAITING = 32
"""Table views that may wait for pairing; then the oldest of the address with most gives way."""
_UNREADABLE = (OSError, ValueError, RecursionError, WireError)
"""Errors of a file of secrets that is missing, damaged or of another form."""


class _Kept(Struct):
    """Content of the secrets file."""

    pin: str
    key: str
    tables: list[str] = field(default_factory=list)


def draw_code() -> str:
    """Draw a table's code."""
    return "".join(secrets.choice(CODE_LETTERS) for _ in range(_CODE_LETTERS))


def draw_pin() -> str:
    """Draw a host's PIN."""
    return f"{secrets.randbelow(10**_PIN_DIGITS):0{_PIN_DIGITS}}"


class Access:
    """The table's secrets and paired table views; thread-safe.

    Attributes:
        code: Code that a phone sends to take a seat.
        pin: PIN that makes a device the host.
        notice: Why the kept secrets were not used, or None.
    """

    def __init__(
        self,
        *,
        code: str = "",
        pin: str = "",
        key: str = "",
        tables: Iterable[str] = (),
        path: Path | None = None,
        notice: str | None = None,
    ) -> None:
        """Use the given secrets; draw the missing ones.

        Args:
            key: Signs the names of browsers.
            tables: Digests of the paired table views.
            path: File for the pairings; None keeps them in memory.
        """
        self.code, self.pin, self.notice = code or draw_code(), pin or draw_pin(), notice
        self._key = bytes.fromhex(key) if key else secrets.token_bytes(32)
        self._tables, self._path = list(tables), path
        self._waiting: dict[str, tuple[str, str]] = {}  # by code, the device and its address
        self._own: tuple[str, ...] = ()
        self._mutex = threading.Lock()

    def new_device(self) -> str:
        """Name a browser: 32 hexadecimal digits, half of them random, half their signature."""
        name = secrets.token_hex(_NAME_BYTES)
        return name + self._signature(name)

    def seat_token(self, device: str, name: str) -> str:
        """The token that proves a player's seat to a device: 32 hexadecimal digits.

        A device that asks again, as after an answer that never arrived, gets the same one.

        Args:
            name: The comparison key of the player's name.
        """
        return self._digits(f"{device} {name}")[:32]

    def is_genuine(self, device: str) -> bool:
        """Whether this table gave a browser its name."""
        name, signature = device[: 2 * _NAME_BYTES], device[2 * _NAME_BYTES :]
        return hmac.compare_digest(signature.encode(), self._signature(name).encode())

    def is_table(self, device: str) -> bool:
        """Whether a device is a paired table view, or one on the table's own machine."""
        return device in self._own or digest(device) in self._tables

    def admit(self, device: str) -> None:
        """Make a device a table view.

        Raises:
            ConfigError: It cannot be kept.
        """
        with self._mutex:
            self._admit(device)

    def welcome(self, device: str) -> None:
        """Make a device a table view until the program ends, as it runs on the table's machine."""
        if not self.is_table(device):
            self._own = (*self._own, device)[-_MOST_TABLES:]

    def _admit(self, device: str) -> None:
        known = self._tables
        if digest(device) not in known:
            self._tables = [*known, digest(device)][-_MOST_TABLES:]
            try:
                self.save()
            except ConfigError:
                self._tables = known
                raise

    def pairing_code(self, device: str, address: str) -> str:
        """Return the code that a table view shows until a host enters it."""
        with self._mutex:
            for code, (waiting, _) in self._waiting.items():
                if waiting == device:
                    return code
            while (code := draw_code()) in self._waiting:
                pass
            self._waiting[code] = (device, address)
            if len(self._waiting) > _MOST_WAITING:
                held = [at for _, at in self._waiting.values()]
                greedy = max(held, key=held.count)
                del self._waiting[next(c for c, (_, at) in self._waiting.items() if at == greedy)]
            return code

    def is_pairing_code(self, code: str) -> bool:
        """Whether a table view shows this code until a host enters it."""
        with self._mutex:
            return code in self._waiting

    def pair(self, code: str) -> bool:
        """Make the device with a pairing code a table view.

        Returns:
            Whether a device shows this code.

        Raises:
            ConfigError: The pairing cannot be kept.
        """
        with self._mutex:
            if code not in self._waiting:
                return False
            self._admit(self._waiting[code][0])
            del self._waiting[code]
            return True

    def save(self) -> None:
        """Write the secrets to their file, readable by its owner only.

        Raises:
            ConfigError: It cannot be written.
        """
        if self._path is None:
            return
        kept = encode(_Kept(self.pin, self._key.hex(), self._tables))
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # whole, as the PIN that is shown next must outlive a pulled plug
            write_whole(self._path, kept + "\n", 0o600)
        except OSError as error:
            raise ConfigError(f"{self._path}: cannot be written: {error.strerror}") from error

    def _signature(self, name: str) -> str:
        return self._digits(name)[: 2 * _NAME_BYTES]

    def _digits(self, text: str) -> str:
        return hmac.new(self._key, text.encode("utf-8", "replace"), hashlib.sha256).hexdigest()


def open_access(data_dir: Path) -> Access:
    """Read a table's secrets, or draw them at the first start; the code is drawn each time.

    A file that cannot be read is replaced: hosts keep their role, table views pair again.

    Raises:
        ConfigError: They cannot be written.
    """
    path = data_dir / FILE_NAME
    try:
        kept = _read(path)
        return Access(pin=kept.pin, key=kept.key, tables=kept.tables, path=path)
    except _UNREADABLE as error:
        anew = f"{path} was damaged: the host's PIN is new, and table views pair again"
        access = Access(path=path, notice=None if isinstance(error, FileNotFoundError) else anew)
        access.save()
        return access


def kept_pin(data_dir: Path) -> str:
    """Read the PIN of a table that runs: it would not accept one drawn anew.

    Raises:
        ConfigError: There is none.
    """
    path = data_dir / FILE_NAME
    try:
        return _read(path).pin
    except _UNREADABLE as error:
        raise ConfigError(f"{path}: no PIN can be read there; the host's page shows it") from error


def _read(path: Path) -> _Kept:
    kept: _Kept = convert(json.loads(read_text(path, MOST_BYTES)), _Kept)
    return kept
