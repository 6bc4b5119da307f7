"""Opens the connection to the broker: from the settings to a publisher that follows the session."""

from __future__ import annotations

import os
import socket
import stat
import time
from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from companion.config import Config
from companion.errors import ConfigError
from companion.session.ports import RollKept
from companion.session.session import Session
from companion.wire.files import read_text

if TYPE_CHECKING:
    from companion.history.pictures import Pictures
    from companion.mqtt.broker import Broker
    from companion.mqtt.payloads import Diagnostics
    from vision.tracking.camera_loop import CameraLoop

HEAT = Path("/sys/class/thermal/thermal_zone0/temp")
"""The processor's temperature in thousandths of a degree, where the system knows it."""

_LONGEST_PASSWORD = 4096


def open_mqtt(
    config: Config,
    session: Session,
    live: CameraLoop | None,
    pictures: Pictures | None,
    stack: ExitStack,
    notes: list[str],
    *,
    version: str,
    url: Callable[[], str],
) -> Callable[[], str | None] | None:
    """Publish the table to the broker of the settings.

    Without one nothing is imported. Settings that cannot be used are noted, and the table plays on.

    Args:
        version: Of the program.
        url: Returns the address of the table's page.

    Returns:
        Why there is no connection now, as a function; None without a broker.
    """
    if not config.mqtt.host:
        return None
    from companion.mqtt.client import Link
    from companion.mqtt.publisher import Identity, Publisher
    from companion.mqtt.results import Ledger
    from companion.mqtt.topics import TableTopics, club_level

    try:
        broker = broker_of(config)
    except ConfigError as error:
        reason = str(error)
        notes.append(f"mqtt: not used: {reason}")
        return lambda: reason
    ledger = Ledger(config.data_dir)
    publisher = Publisher(
        session,
        TableTopics(club_level(config.mqtt.club), ledger.table),
        ledger,
        Identity(
            config.mqtt.name or socket.gethostname()[:40],
            version,
            url,
            config.mqtt.discovery_prefix,
            config.mqtt.discovery,
        ),
        link=partial(Link, broker, client_id=f"dice-companion-{ledger.table}"),
        now_text=lambda: datetime.now().astimezone().isoformat(timespec="seconds"),
        diagnostics=Gauge(version, live).diagnostics,
        picture=partial(_picture, live, pictures),
    )
    stack.callback(publisher.close)
    publisher.start()
    notes.append(f"mqtt: broker {broker}")
    return lambda: publisher.link.trouble


def broker_of(config: Config) -> Broker:
    """The broker of the settings.

    Raises:
        ConfigError: A file cannot be used.
    """
    from companion.mqtt.broker import Broker

    asked = config.mqtt
    password = ""
    if (secret := _file(config, "password_file")) is not None:
        try:
            password = read_text(secret, _LONGEST_PASSWORD).partition("\n")[0].rstrip("\r")
        except OSError as error:
            raise ConfigError(f"mqtt.password_file: {secret}: {error.strerror}") from error
        except ValueError as error:
            raise ConfigError(f"mqtt.password_file: {secret}: {error}") from error
    broker = Broker(
        asked.host,
        asked.port,
        asked.username,
        password,
        asked.tls or bool(asked.ca_file or asked.cert_file),
        _file(config, "ca_file"),
        _file(config, "cert_file"),
        _file(config, "key_file"),
    )
    if broker.key_file and not broker.cert_file:
        raise ConfigError("mqtt.key_file: expected mqtt.cert_file beside it")
    return broker


def _file(config: Config, name: str) -> Path | None:
    """A file of the settings, which no backup of the data directory may contain.

    Raises:
        ConfigError: It is missing, out of reach, or in the data directory.
    """
    value: str | None = getattr(config.mqtt, name)
    if value is None:
        return None
    try:
        path = Path(value).expanduser()
        is_file = stat.S_ISREG(path.stat().st_mode)  # is_file() would not say why, from 3.14 on
    except RuntimeError as error:
        raise ConfigError(f"mqtt.{name}: {value}: {error}") from error
    except (FileNotFoundError, NotADirectoryError, ValueError):
        is_file = False
    except OSError as error:  # of a folder that may not be looked into
        raise ConfigError(f"mqtt.{name}: {value}: {error.strerror}") from error
    if not is_file:
        raise ConfigError(f"mqtt.{name}: {path}: no such file")
    if path.resolve().is_relative_to(config.data_dir.resolve()):
        raise ConfigError(f"mqtt.{name}: {path}: is in the data directory, which backups copy")
    return path


class Gauge:
    """Measures the table for the broker."""

    def __init__(self, version: str, live: CameraLoop | None) -> None:
        self._version, self._live = version, live
        self._last = (time.monotonic(), time.process_time())

    def diagnostics(self) -> Diagnostics:
        """Measure; the processor's use is that since the last measurement."""
        from companion.mqtt.payloads import Diagnostics

        now = (time.monotonic(), time.process_time())
        passed_s, used_s = now[0] - self._last[0], now[1] - self._last[1]
        self._last = now
        cores = os.cpu_count() or 1
        percent = 100 * used_s / (passed_s * cores) if passed_s > 0.5 else None
        reading_s = self._live.reading_s if self._live is not None else None
        return Diagnostics(
            self._version[:40],
            reading_ms=None if reading_s is None else round(1000 * reading_s, 1),
            processor=None if percent is None else round(min(100.0, percent), 1),
            temperature=_heat(),
        )


def _heat() -> float | None:
    try:
        return round(int(HEAT.read_text()) / 1000, 1)
    except (OSError, ValueError):
        return None


def _picture(live: CameraLoop | None, pictures: Pictures | None, roll: RollKept) -> bytes | None:
    """The picture of a roll, from memory or from the disk."""
    jpeg = live.jpeg(roll.frame) if live is not None else None
    if jpeg is None and pictures is not None:
        jpeg = pictures.jpeg(roll.revision)
    return jpeg
