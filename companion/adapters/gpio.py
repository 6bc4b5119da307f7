"""Opens the parts on pins: the buttons, the lamp and the buzzer."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict
from typing import TYPE_CHECKING

from companion.adapters.follower import Follower
from companion.adapters.lamp import lamp_state
from companion.config import Config, setting_names
from companion.errors import ConfigError, ServiceError
from companion.service.board import is_raspberry_pi
from companion.service.notify import is_service
from companion.service.power import Power, PowerStep
from companion.session.session import Session, Topic, View

if TYPE_CHECKING:
    from hardware.button import Panel
    from hardware.lamp import LampPins
    from vision.tracking.camera_loop import CameraLoop

LOGGER = logging.getLogger(__name__)


def open_button(
    config: Config,
    session: Session,
    stack: ExitStack,
    notes: list[str],
    power: Power | None = None,
) -> Panel:
    """Open the buttons; `power` is the machine's switch, where the table is its service."""
    from hardware.button import open_panel
    from hardware.gesture import Gesture, GestureConfig

    check_pins(config)
    hold_s, off_s = config.panel.hold_s, config.panel.power_off_s
    if off_s is not None and power is None:
        notes.append("panel.power_off_s: not used; only a service may switch the machine off")
        off_s = None

    def on_gesture(gesture: Gesture, pushed_for_s: float) -> None:
        if gesture is Gesture.PRESS:
            session.press()
        elif gesture is Gesture.HOLD:
            session.hold(pushed_for_s)
        elif power is not None:
            try:
                power.take(PowerStep.OFF)
            except ServiceError as error:
                LOGGER.warning("button: %s", error)

    timing = GestureConfig(config.panel.debounce_s, hold_s, off_s)

    def tells_of(part: str) -> Callable[[str], None]:
        return lambda state: session.part_is(part, "lost" if state == "lost" else None)

    factory = config.panel.factory
    panel = open_panel(
        factory,
        config.panel.pin,
        on_gesture,
        config=timing,
        on_state=tells_of("button"),
        may_be_late=is_raspberry_pi() if factory == "auto" else is_service(),
    )
    stack.callback(panel.close)
    if panel.note is not None:
        LOGGER.info("button: %s", panel.note)
    is_replaced = factory == "auto" and panel.state == "mock"
    if is_replaced:
        notes.append("No GPIO button found: use the button on the page.")
    else:
        notes.append(f"button: {panel.note or panel.state}")
    unused = [name for name in taken_pins(config) if name != "panel.pin"]
    if unused and not _has_pins(config, panel):
        why = "no pins were found" if is_replaced else f"panel.factory is {factory}"
        notes.append(f"{', '.join(unused)}: not used, because {why}")
    repeat_pin = config.panel.repeat_pin
    if repeat_pin is not None and _has_pins(config, panel):
        again = open_panel(
            _pins_of(panel),
            repeat_pin,
            lambda *_: session.say_again(),
            config=timing,
            on_state=tells_of("repeat"),
            may_be_late=_may_be_late(config, panel),
        )
        stack.callback(again.close)
        notes.append(f"second button (say it again): GPIO{repeat_pin}")
    return panel


def check_pins(config: Config) -> None:
    """Check that no two parts share a pin, and that times and the lamp's pins go together.

    Raises:
        ConfigError: Two parts share a pin, or a hold would switch the machine off.
        PinsUnavailable: The lamp's pins do not go together.
    """
    taken: dict[int, str] = {}
    for name, pin in taken_pins(config).items():
        if taken.setdefault(pin, name) != name:
            raise ConfigError(f"{name}: expected a pin of its own, {taken[pin]} has {pin} too")
    held_s, off_s = config.panel.hold_s, config.panel.power_off_s
    if off_s is not None and off_s <= held_s:
        raise ConfigError(f"panel.power_off_s: expected above panel.hold_s ({held_s}), got {off_s}")
    _wiring(config)


def taken_pins(config: Config) -> dict[str, int]:
    """The pins of all parts by the names of their settings."""
    named = (name.partition(".") for name in setting_names() if name.endswith("pin"))
    pins = {f"{section}.{key}": getattr(getattr(config, section), key) for section, _, key in named}
    return {name: pin for name, pin in pins.items() if pin is not None}


def _wiring(config: Config) -> LampPins:
    from hardware.lamp import LampPins

    return LampPins(**asdict(config.lamp))


def _has_pins(config: Config, panel: Panel) -> bool:
    """Whether the parts beside the button have pins: those that were found, or mock ones as set."""
    return panel.has_pin and (panel.state != "mock" or config.panel.factory == "mock")


def _may_be_late(config: Config, panel: Panel) -> bool:
    """Whether a part beside the button is waited for: where the button is, and by a service."""
    is_looked_for = config.panel.factory == "auto" and is_raspberry_pi()
    return is_looked_for or is_service() or not panel.is_open


def _pins_of(panel: Panel) -> str:
    """Pin factory of the button, for the other parts."""
    return "lgpio" if panel.state in ("ok", "lost") else "mock"


def open_lamp(
    config: Config,
    session: Session,
    live: CameraLoop | None,
    panel: Panel,
    stack: ExitStack,
    notes: list[str],
) -> None:
    from hardware.lamp import open_lamp as light_up

    wiring = _wiring(config)
    if not wiring.pins or not _has_pins(config, panel):
        return
    lamp = light_up(_pins_of(panel), wiring, may_be_late=_may_be_late(config, panel))
    stack.callback(lamp.close)
    lamp.start()
    was_lost = False

    def follow(view: View) -> None:
        nonlocal was_lost
        lamp.show(lamp_state(view))
        is_lost = any(part == "button" for part, _ in view.faults)
        if was_lost and not is_lost:
            lamp.renew()  # the button's chip, which is the lamp's too, was away
        was_lost = is_lost

    follower = Follower(session, follow, name="lamp-state")
    stack.callback(follower.close)
    if live is not None and panel.state != "mock":
        live.use_lamp_schedule(lamp.light_at)
    notes.append(f"lamp: GPIO{', '.join(str(pin) for pin in wiring.pins)}")


def open_buzzer(
    config: Config, session: Session, panel: Panel, stack: ExitStack, notes: list[str]
) -> None:
    pin = config.buzzer.pin
    if pin is None or not _has_pins(config, panel):
        return
    from hardware.buzzer import open_buzzer as sound_out

    buzzer = sound_out(_pins_of(panel), pin, may_be_late=_may_be_late(config, panel))
    stack.callback(buzzer.close)
    session.subscribe(Topic.ANNOUNCEMENT, lambda said: buzzer.play(said.kind))
    notes.append(f"buzzer: GPIO{pin}")
