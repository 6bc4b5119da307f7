"""Checks of camera, light, button and sound."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from companion.doctor.finding import Finding, Run, bad, note, ok
from companion.errors import CompanionError

_CAMERA_CURES = (
    ("no permission", "sudo usermod -aG video $USER, then log in anew"),
    ("busy", "close the program that uses it (another table?), or plug it in again"),
    ("no sensor answers", "check the ribbon cable at both ends, then: rpicam-hello --list-cameras"),
    ("picamera2", "sudo apt install python3-picamera2, then make pi"),
    ("no picture", "plug it in again, into another socket"),
)
_PLUG_IN = "plug it in; until then dice can be typed (--camera none)"
_PLUG_ONE_IN = "plug a camera in; until then dice can be typed (--camera none)"
_NAME_ANOTHER = "name another with --camera; until then dice can be typed (--camera none)"

_JOIN_GPIO = "sudo usermod -aG gpio $USER, then log in anew"
_NO_CHIP = "there is no /dev/gpiochip: this machine has no pins; --pins none puts it on the page"
_PIN_CURES = (
    ("busy", "another program holds the pin (a table?): end it, or set another pin"),
    ("ermission", _JOIN_GPIO),
    ("can not open gpiochip", _JOIN_GPIO),  # lgpio's message when permission is missing
    ("not installed", "sudo apt install python3-lgpio, then make pi"),
)
_NOT_OPEN = "use the switch's contact NO, not NC, and look for water or a short circuit"


def _held(part: str, table: Mapping[str, object] | None, trouble: str) -> Finding | None:
    """The running table's finding on a part that it keeps busy; None without such a table."""
    says = table.get(part) if table is not None and "busy" in trouble else None
    if says not in ("ok", "lost"):
        return None
    text = f"the running table has it, and says: {says}"
    cure = "end the table (sudo systemctl stop dice-companion) to check it alone"
    return ok(part, text) if says == "ok" else note(part, text, cure)


def check_camera(
    source: str,
    look: Callable[[], tuple[str, str, Sequence[tuple[str, str]]]],
    table: Mapping[str, object] | None = None,
) -> list[Finding]:
    """Open the camera and measure one picture; a named camera must work.

    Args:
        source: As in the settings; auto falls back to the simulated tray.
        look: Opens the camera; returns its kind, its description, and each fault of its picture
            with the cure.
        table: What a running table with the same settings says of itself.
    """
    if source == "none":
        return [ok("camera", "none, as set: dice are typed by hand")]
    try:
        kind, description, faults = look()
    except CompanionError as error:
        text = str(error).removeprefix("camera ")
        verdict = note if source == "auto" else bad
        is_device = source in ("auto", "pi") or source.isdecimal() or source.startswith("/dev/")
        if is_device and (held := _held("camera", table, text)):
            return [held]
        cure = _PLUG_IN if is_device else _NAME_ANOTHER
        return [verdict("camera", text, _first_fit(_CAMERA_CURES, text, cure))]
    if kind == "simulated":
        if source == "simulated":
            return [ok("camera", description)]
        if held := _held("camera", table, description):
            return [held]
        return [note("camera", description, _first_fit(_CAMERA_CURES, description, _PLUG_ONE_IN))]
    found = [ok("camera", description)]
    found += [note("picture", fault, cure) for fault, cure in faults]
    return found if faults else [*found, ok("picture", "bright and sharp enough")]


def check_button(
    factory: str,
    pin: int,
    is_pi: bool,
    open_pins: Callable[[], Sequence[int]],
    has_chip: bool = True,
    table: Mapping[str, object] | None = None,
) -> Finding:
    """Open the pins of button, lamp and buzzer, and close them again.

    A named factory must work.

    Args:
        factory: As set.
        pin: BCM number.
        is_pi: Whether this machine is a Raspberry Pi.
        open_pins: Opens the pins for real and returns those of buttons whose contact is closed;
            raises PinsUnavailable.
        has_chip: Whether there is a /dev/gpiochip.
        table: What a running table with the same settings says of itself.
    """
    if factory in ("mock", "none"):
        return ok("button", "on the page, as set")
    if factory == "auto" and not is_pi:
        return ok("button", "on the page: this machine has no pins")
    verdict = note if factory == "auto" else bad
    try:
        closed = open_pins()
    except CompanionError as error:
        if held := _held("button", table, str(error)):
            return held
        cure = _first_fit(_PIN_CURES, str(error), "--pins none puts the button on the page")
        if cure == _JOIN_GPIO and not has_chip:
            cure = _NO_CHIP
        return verdict("button", str(error), cure)
    if closed:
        text = f"GPIO{closed[0]}: the contact is closed, as if pressed"
        return (verdict if pin in closed else note)("button", text, _NOT_OPEN)
    return ok("button", f"GPIO{pin} can be used")


def check_voice(enabled: bool, language: str, executable: str | None, run: Run) -> Finding:
    """Speak at volume 0, for which espeak-ng opens the sound device as well.

    Args:
        executable: Where espeak-ng is, or None.
    """
    if not enabled:
        return ok("voice", "off, as set")
    if executable is None:
        return note("voice", "espeak-ng is not installed", "sudo apt install espeak-ng")
    ran = run([executable, "-v", language, "-a", "0", "a"])
    lines = [line.strip() for line in ran.err.splitlines() if line.strip()]
    # Without a sound card espeak-ng 1.51 writes "error: ..." and still exits with 0.
    errors = [line for line in lines if line.lower().startswith("error")]
    if ran.status == 0 and not errors:
        return ok("voice", f"espeak-ng speaks ({language})")
    said = (errors or lines or ["no answer"])[-1]
    cure = "plug in a loudspeaker and choose it (raspi-config, Audio); sums are on every screen too"
    return note("voice", f"no sound: {said}", cure)


def _first_fit(cures: Sequence[tuple[str, str]], text: str, otherwise: str) -> str:
    return next((cure for sign, cure in cures if sign in text), otherwise)
