"""Where a broker is, and the messages that go to it and come from it (pure values)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

PORT = 1883


@dataclass(frozen=True, slots=True)
class Broker:
    """Where a broker is and how it is reached; its password is in no text of it.

    Attributes:
        tls: Encrypted; always when a certificate is named.
        ca_file: Authorities to trust instead of the system's.
        cert_file, key_file: This machine's certificate and its key.
    """

    host: str
    port: int = PORT
    username: str = ""
    password: str = field(default="", repr=False)
    tls: bool = False
    ca_file: Path | None = None
    cert_file: Path | None = None
    key_file: Path | None = None

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Message:
    """A message to publish.

    Attributes:
        keep_s: Seconds after which the broker drops a retained one, and after which another is
            not worth sending any more; None for never.
        on_acknowledged: Called on the connection's thread once the broker has it; short.
    """

    topic: str
    payload: bytes
    retain: bool = False
    keep_s: int | None = None
    on_acknowledged: Callable[[], None] | None = None


@dataclass(frozen=True, slots=True)
class Received:
    """A message from the broker.

    Attributes:
        retained: It was published before the subscription.
        keeps_s: Seconds for which the broker still keeps it; None if it does not say.
    """

    topic: str
    payload: bytes
    retained: bool
    keeps_s: int | None = None
