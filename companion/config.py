"""The settings of a table: defaults, then a TOML file, then the environment, then flags.

`load` is a function of its arguments; the commands call it and hand the settings on.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any, get_type_hints

from companion.audio.espeak import SPEEDS, VOLUMES
from companion.errors import ConfigError
from companion.messages.catalogue import LANGUAGES
from companion.messages.spoken import AMOUNTS
from companion.service.log import FORMS, LEVELS
from companion.wire.files import read_toml
from companion.wire.structs import Meta, WireError, convert, described, one_of

ENVIRONMENT_PREFIX = "DICE_COMPANION_"
"""DICE_COMPANION_WEB_PORT=8001 sets `port` of `[web]`."""

HOTSPOT = ("never", "alone")

PIN_FACTORIES = ("auto", "lgpio", "mock", "none")

A_TOPIC = Meta(pattern=r"\A[\w-]+(?:/[\w-]+)*\Z")
_HOST = r"(?:[^\s\0/:]*|[^\s\0/:]*:[^\s\0/:]*:[^\s\0/]*)\Z"
A_HOST = Meta(pattern=rf"\A{_HOST}")
"""No address of the web, and one colon alone would begin a port: an IPv6 address has several."""
AN_ADDRESS = Meta(pattern=rf"\A(?!\*?\Z|\d+\Z){_HOST}")
"""The same, but not empty; `*` and `0` would be served, and no phone could open the link."""

Pin = Annotated[int, Meta(ge=0, le=27)]
"""A BCM number of the Pi's header."""


@dataclass(frozen=True, slots=True)
class CameraConfig:
    """The camera above the tray.

    Attributes:
        source: auto, pi, a V4L2 device, a video file, a folder of pictures, simulated or none.
        width, height: Requested size of the pictures in pixels.
        fps: Requested frames per second.
        seed: Makes the simulated tray's throws repeatable; unset draws a new one each start.
        calibration: Calibration of the tray: a file, none, or auto for the file that `calibrate`
            writes into the data directory.
    """

    source: str = "auto"
    width: Annotated[int, Meta(ge=160, le=4096)] = 640
    height: Annotated[int, Meta(ge=120, le=4096)] = 480
    fps: Annotated[int, Meta(ge=1, le=60)] = 15
    seed: int | None = None
    calibration: str = "auto"


@dataclass(frozen=True, slots=True)
class PanelConfig:
    """The button.

    Attributes:
        factory: auto, lgpio, mock or none.
        pin: BCM number of the button's pin; the button connects it to ground.
        repeat_pin: The same of a second button, which repeats the announcement; unset, there is
            none.
        debounce_s: How long the contact must be open before the button counts as released.
        hold_s: How long a press must last to be a hold.
        power_off_s: How long it must last to switch the machine off; unset, it never does.
    """

    factory: Annotated[str, one_of(PIN_FACTORIES)] = "auto"
    pin: Pin = 17
    repeat_pin: Pin | None = None
    debounce_s: Annotated[float, Meta(ge=0.0, le=0.2)] = 0.025
    hold_s: Annotated[float, Meta(ge=0.3, le=10.0)] = 1.5
    power_off_s: Annotated[float, Meta(ge=3.0, le=30.0)] | None = None


@dataclass(frozen=True, slots=True)
class LampConfig:
    """The lamp: one LED, or an RGB LED, on BCM pins; without pins there is none.

    Attributes:
        dimmed: By pulse width; false for a relay or a plain LED that is on or off.
        common_anode: The LED lights when its pin is low.
        brightness: 0.05 to 1.
    """

    led_pin: Pin | None = None
    red_pin: Pin | None = None
    green_pin: Pin | None = None
    blue_pin: Pin | None = None
    dimmed: bool = True
    common_anode: bool = False
    brightness: Annotated[float, Meta(ge=0.05, le=1.0)] = 1.0


@dataclass(frozen=True, slots=True)
class BuzzerConfig:
    """The buzzer: a passive piezo on a BCM pin; without a pin there is none."""

    pin: Pin | None = None


@dataclass(frozen=True, slots=True)
class WebConfig:
    """The page: where it is served, and the table's own Wi-Fi where it has one.

    Attributes:
        host: Address to serve on.
        port: Its port; 0 picks a free one.
        wifi_name: The Wi-Fi that phones have to join first, such as the Pi's hotspot; empty for
            none.
        wifi_password: Its password; empty for an open one.
        hotspot: When the table opens a Wi-Fi of its own: never, or alone, which is after a minute
            without any network.
        metrics: Whether /metrics is served, for Prometheus.
    """

    host: Annotated[str, described("an address such as 0.0.0.0"), AN_ADDRESS] = "0.0.0.0"
    port: Annotated[int, Meta(ge=0, le=65535)] = 8000
    wifi_name: str = ""
    wifi_password: str = ""
    hotspot: Annotated[str, one_of(HOTSPOT)] = "never"
    metrics: bool = False


@dataclass(frozen=True, slots=True)
class SoundConfig:
    """The voice.

    Attributes:
        enabled: Whether announcements are spoken.
        volume: 0 (muted) to 200, the range of espeak-ng.
        words_per_minute: Speed, 80 to 450.
        say: How much is spoken: sum, sums or all.
        clips: Folder of sounds that replace sentences; unset means `clips` in the data directory.
    """

    enabled: bool = True
    volume: Annotated[int, Meta(ge=VOLUMES[0], le=VOLUMES[1])] = 100
    words_per_minute: Annotated[int, Meta(ge=SPEEDS[0], le=SPEEDS[1])] = 165
    say: Annotated[str, one_of(AMOUNTS)] = "all"
    clips: str | None = None


@dataclass(frozen=True, slots=True)
class PicturesConfig:
    """The pictures of confirmed rolls: how many are kept on this machine, 0 for none."""

    keep: Annotated[int, Meta(ge=0, le=1000)] = 60


@dataclass(frozen=True, slots=True)
class TableConfig:
    """The table.

    Attributes:
        language: Of its screen and its voice.
        take_back_s: How long the last answer may still be taken back; 0 for not at all.
    """

    language: Annotated[str, one_of(LANGUAGES)] = "en"
    take_back_s: Annotated[float, Meta(ge=0.0, le=30.0)] = 3.0


@dataclass(frozen=True, slots=True)
class MqttConfig:
    """The broker that lamps, speakers and the club listen to; without a host there is none.

    Attributes:
        host: Name or address of the broker; empty for none.
        username: The table's user name at the broker.
        password_file: File whose first line is the password. It is outside the data directory, so
            that no backup contains it.
        tls: Encrypted; always when `ca_file` or `cert_file` is set.
        ca_file: Authorities to trust instead of the system's.
        cert_file, key_file: The table's own certificate, and its key.
        club: Tables of one club find each other by this name.
        name: Of the table; empty for the machine's.
        discovery: Whether Home Assistant finds the table by itself.
        discovery_prefix: As set in Home Assistant.
    """

    host: Annotated[str, described("a name or address (mqtt.port has the port)"), A_HOST] = ""
    port: Annotated[int, Meta(ge=1, le=65535)] = 1883
    username: str = ""
    password_file: str | None = None
    tls: bool = False
    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    club: Annotated[str, Meta(max_length=80)] = ""
    name: Annotated[str, Meta(max_length=40)] = ""
    discovery: bool = True
    discovery_prefix: Annotated[str, described("a topic such as homeassistant"), A_TOPIC] = (
        "homeassistant"
    )


@dataclass(frozen=True, slots=True)
class LogConfig:
    """The log on standard error.

    Attributes:
        level: The lowest level that is written.
        form: text, or json for one object a line.
    """

    level: Annotated[str, one_of(LEVELS)] = "warning"
    form: Annotated[str, one_of(FORMS)] = "text"


@dataclass(frozen=True, slots=True)
class Config:
    """All settings; `data_dir` is where games are kept."""

    camera: CameraConfig = field(default_factory=CameraConfig)
    panel: PanelConfig = field(default_factory=PanelConfig)
    lamp: LampConfig = field(default_factory=LampConfig)
    buzzer: BuzzerConfig = field(default_factory=BuzzerConfig)
    web: WebConfig = field(default_factory=WebConfig)
    sound: SoundConfig = field(default_factory=SoundConfig)
    table: TableConfig = field(default_factory=TableConfig)
    pictures: PicturesConfig = field(default_factory=PicturesConfig)
    mqtt: MqttConfig = field(default_factory=MqttConfig)
    log: LogConfig = field(default_factory=LogConfig)
    data_dir: Path = Path()


SECTIONS = {f.name: f.default_factory for f in fields(Config) if f.name != "data_dir"}


def load(
    path: Path | None, environ: Mapping[str, str], flags: Mapping[str, object | None]
) -> Config:
    """Put the settings together.

    Args:
        path: A TOML file that must exist, or None for the usual place, where it need not.
        environ: The process's environment.
        flags: Values by "section.key" ("data_dir" alone); None means not given.
    Raises:
        ConfigError: A file cannot be read, a key is unknown, or a value does not fit.
    """
    config = Config(data_dir=default_data_dir(environ))
    wanted = path or default_config_path(environ)
    if path is not None or _is_there(wanted):
        config = _with_file(config, wanted)
    return with_flags(_with_environment(config, environ), flags)


def with_flags(config: Config, flags: Mapping[str, object | None]) -> Config:
    """Put flags over settings; as in `load`.

    Raises:
        ConfigError: A value does not fit.
    """
    for name, flag in flags.items():
        if name == "data_dir" and flag is not None:
            config = replace(config, data_dir=_directory(flag, "--data-dir"))
        elif flag is not None:
            named = "broker" if name == "mqtt.host" else name.rpartition(".")[2].replace("_", "-")
            config = _with(config, name, flag, f"--{named}")
    return config


def default_config_path(environ: Mapping[str, str]) -> Path:
    """Where the settings file is looked for; systemd's directory wins."""
    if systemd := environ.get("CONFIGURATION_DIRECTORY"):
        return Path(systemd.split(":")[0]) / "config.toml"
    base = environ.get("XDG_CONFIG_HOME") or str(_home(environ) / ".config")
    return Path(base) / "dice-companion" / "config.toml"


def default_data_dir(environ: Mapping[str, str]) -> Path:
    """Where games are kept; systemd's directory wins."""
    if systemd := environ.get("STATE_DIRECTORY"):
        return Path(systemd.split(":")[0])
    base = environ.get("XDG_STATE_HOME") or str(_home(environ) / ".local" / "state")
    return Path(base) / "dice-companion"


def _home(environ: Mapping[str, str]) -> Path:
    return Path(environ.get("HOME") or os.path.expanduser("~"))


def _is_there(path: Path) -> bool:
    """Whether a file has that name, also one that cannot be read: it must not be passed over."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        pass
    return True


def _with_file(config: Config, path: Path) -> Config:
    try:
        table = read_toml(path)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ConfigError(f"{path}: is not TOML: {error}") from error
    for section, values in table.items():
        if section == "data_dir":
            config = _with(config, section, values, f"{path}: data_dir")
            continue
        if section not in SECTIONS:
            raise ConfigError(f"{path}: {_unknown(section, [*SECTIONS, 'data_dir'])}")
        if not isinstance(values, dict):
            raise ConfigError(f"{path}: {section}: expected a table, got {values!r}")
        for key, value in values.items():
            config = _with(config, f"{section}.{key}", value, f"{path}: {section}.{key}")
    return config


def _unknown(name: str, known: list[str], prefix: str = "") -> str:
    # without the prefix, whose letters would count as a likeness
    bare = {each.removeprefix(prefix).lower(): each for each in known}
    near = difflib.get_close_matches(name.removeprefix(prefix).lower(), bare, n=1)
    meant = [bare[each] for each in near]
    meant = meant or [each for each in setting_names() if each.endswith(f".{name}")]
    others = f"; known are {', '.join(known)}"
    hint = f"; did you mean {' or '.join(map(repr, meant))}?" if meant else others
    return f"unknown setting {name!r}{hint}"


def _with_environment(config: Config, environ: Mapping[str, str]) -> Config:
    known = {ENVIRONMENT_PREFIX + n.replace(".", "_").upper(): n for n in setting_names()}
    for key, value in environ.items():
        if key.startswith(ENVIRONMENT_PREFIX):
            if key not in known:
                raise ConfigError(f"environment: {_unknown(key, [*known], ENVIRONMENT_PREFIX)}")
            try:
                value.encode()
            except UnicodeEncodeError:
                raise ConfigError(f"{key}: expected a text in UTF-8, got {value!r}") from None
            config = _with(config, known[key], value, key, is_text=True)
    return config


def setting_names() -> list[str]:
    """Every setting as "section.key", and data_dir."""
    names = [f"{s}.{f.name}" for s, make in SECTIONS.items() for f in fields(make())]  # type: ignore[operator]
    return [*names, "data_dir"]


def _with(config: Config, name: str, value: object, where: str, *, is_text: bool = False) -> Config:
    if name == "data_dir":
        directory = _directory(value, where)
        if not directory.is_absolute():  # it would be another one wherever the table is started
            raise ConfigError(f"{where}: expected a whole path such as /mnt/games, got {value!r}")
        return replace(config, data_dir=directory)
    section, _, key = name.partition(".")
    part = getattr(config, section)
    types = get_type_hints(type(part), include_extras=True)
    if key not in types:
        raise ConfigError(f"{where}: {_unknown(key, list(types))}")
    try:
        fitted = convert(value, types[key], is_text=is_text)
    except WireError as error:
        raise ConfigError(f"{where}: {error}") from None
    changed: Any = {section: replace(part, **{key: fitted})}
    return replace(config, **changed)


def _directory(value: object, where: str) -> Path:
    shown = str(value) if isinstance(value, Path) else value
    if not isinstance(value, (str, Path)) or not str(value):
        raise ConfigError(f"{where}: expected a directory, got {shown!r}")
    try:
        directory = Path(value).expanduser()
    except RuntimeError as error:
        raise ConfigError(f"{where}: expected a directory, got {shown!r}: {error}") from error
    if "\0" in str(directory):
        raise ConfigError(f"{where}: expected a directory, got {shown!r}")
    return directory
