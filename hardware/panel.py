"""The button on its pin: gpiozero gives edges, `gesture` says what they mean, one thread tells.

gpiozero's callback comes on a thread of the pin library, so it only puts a timestamped edge on a
queue. The on-screen button takes the same way: through the mock pin where there is one, else
through the queue.
"""

from __future__ import annotations

import atexit
import importlib.util
import logging
import os
import queue
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gpiozero import Button
from gpiozero.pins.mock import MockFactory

from companion.errors import PinsUnavailable
from hardware import gesture
from hardware.gesture import Gesture, GestureConfig

LOGGER = logging.getLogger(__name__)

DEFAULT_PIN = 17
"""BCM number: pin 11 of the header, with a ground pin two places beside it (pin 9)."""

FACTORIES = ("auto", "lgpio", "mock", "none")

CHECK_EVERY_S = 1.0
"""How often a real line is read while nothing happens: a lost chip shows within two seconds, and
an edge the kernel dropped is made good."""

STUCK_CALLBACK_S = 2.0
"""How long `close` waits for a callback that is still running."""


class Panel:
    """A button that calls `on_gesture` from a thread of its own until it is closed.

    Make one with `open_panel`. `on_gesture` is never called twice at a time; while it runs,
    further edges wait with their times, so a press made meanwhile is neither lost nor bent into
    a hold. What it raises is logged, and the next press is served.
    """

    def __init__(
        self,
        on_gesture: Callable[[Gesture], object],
        *,
        kind: str,
        button: Any = None,
        owned_factory: Any = None,
        config: GestureConfig | None = None,
        clock: Callable[[], float] = time.monotonic,
        note: str | None = None,
    ) -> None:
        """Start listening.

        Args:
            on_gesture: Told of every press and hold.
            kind: "ok" for a real pin, "mock" or "none"; the state while all is well.
            button: gpiozero Button without bounce time; None where there is no pin.
            owned_factory: A pin factory to close with the panel.
            config: How long is what; the defaults when None.
            clock: Monotonic seconds.
            note: One line for people on why this kind was taken.
        """
        self.note = note
        self._kind = kind
        self._state = kind
        self._button = button
        self._owned_factory = owned_factory
        self._on_gesture = on_gesture
        self._config = config or GestureConfig()
        self._clock = clock
        self._edges: queue.SimpleQueue[tuple[float, bool] | None] = queue.SimpleQueue()
        self._mutex = threading.Lock()
        self._is_closed = False
        self._contact = gesture.at_rest()
        if button is not None:
            button.when_pressed = lambda: self._edges.put((self._clock(), True))
            button.when_released = lambda: self._edges.put((self._clock(), False))
            if button.is_pressed:
                self._contact = gesture.already_closed(self._clock())
                LOGGER.warning("button: it is down already; nothing counts until it is let go")
        self._thread = threading.Thread(target=self._listen, name="button", daemon=True)
        self._thread.start()

    @property
    def state(self) -> str:
        """One of "ok" (a real pin), "mock", "none" and "lost"."""
        return self._state

    @property
    def has_on_screen_button(self) -> bool:
        """Whether the page has to offer a button, because no real one is at work."""
        return self._state != "ok"

    def press(self) -> None:
        """Push and let go the on-screen button; the gesture follows after the debounce time.

        Raises:
            PinsUnavailable: The panel is closed.
        """
        with self._mutex:
            if self._is_closed:
                raise PinsUnavailable("button: expected an open panel, this one is closed")
            if self._kind == "mock":
                self._button.pin.drive_low()
                self._button.pin.drive_high()
            else:
                self._edges.put((self._clock(), True))
                self._edges.put((self._clock(), False))

    def close(self) -> None:
        """Let the pin go and end the thread; a second call does nothing."""
        with self._mutex:
            if self._is_closed:
                return
            self._is_closed = True
        if self._button is not None:
            self._button.close()
        self._edges.put(None)
        if threading.current_thread() is not self._thread:
            self._thread.join(STUCK_CALLBACK_S)
        if self._owned_factory is not None:
            self._owned_factory.close()

    def __enter__(self) -> Panel:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _listen(self) -> None:
        while True:
            due_s = gesture.deadline_s(self._contact, self._config)
            try:
                found = self._edges.get(timeout=self._patience_s(due_s))
            except queue.Empty:
                told = self._nothing_came(due_s)
            else:
                if found is None:
                    return
                told = self._take_edge(*found)
            if told is not None:
                self._tell(told)

    def _patience_s(self, due_s: float | None) -> float | None:
        if due_s is not None:
            return max(0.0, due_s - self._clock())
        return CHECK_EVERY_S if self._kind == "ok" else None

    def _nothing_came(self, due_s: float | None) -> Gesture | None:
        """Look at the line itself, then let the time pass that has been waited for."""
        level = self._read_line()
        if level is not None and level is not self._contact.is_closed:
            # Its edge was lost or is late, so when it came is unknown. At the deadline at the
            # latest is the careful guess: a push nobody saw the end of is not a hold.
            now_s = self._clock()
            return self._take_edge(now_s if due_s is None else min(now_s, due_s), level)
        if due_s is None:
            return None
        self._contact, told = gesture.elapse(self._contact, self._config, due_s)
        return told

    def _take_edge(self, at_s: float, is_closed: bool) -> Gesture | None:
        self._contact, told = gesture.edge(self._contact, self._config, at_s, is_closed)
        return told

    def _read_line(self) -> bool | None:
        """The level of a real line; None where there is none, or it cannot be read."""
        if self._kind != "ok":
            return None
        try:
            level = bool(self._button.is_pressed)
        except Exception as error:  # each pin library raises a class of its own
            if self._is_closed:
                return None
            if self._state != "lost":
                LOGGER.warning("button: the pin can no longer be read: %s", _one_line(error))
            self._state = "lost"
            return None
        if self._state == "lost":
            LOGGER.warning("button: the pin can be read again")
        self._state = "ok"
        return level

    def _tell(self, told: Gesture) -> None:
        if self._is_closed:
            return
        try:
            self._on_gesture(told)
        except Exception:
            LOGGER.exception("button: what follows a %s failed; the button goes on", told.value)


def open_panel(
    factory: str,
    pin: int,
    on_gesture: Callable[[Gesture], object],
    *,
    config: GestureConfig | None = None,
    clock: Callable[[], float] = time.monotonic,
    pin_factory: Any = None,
) -> Panel:
    """Open the button by the name of its pin factory.

    Args:
        factory: "auto" takes lgpio where it works and else the mock, saying why in `Panel.note`;
            "lgpio", "mock" and "none" take just that.
        pin: BCM number of the button's pin; the other contact goes to ground.
        on_gesture: Told of every press and hold, on the panel's thread.
        config: How long is what; the defaults when None.
        clock: Monotonic seconds.
        pin_factory: A gpiozero factory to use for "lgpio" or "mock" instead of one made here; it
            stays the caller's to close.
    Raises:
        PinsUnavailable: No such factory or pin, or the named one cannot be opened.
    """
    if factory not in FACTORIES:
        raise PinsUnavailable(f"pins: expected one of {', '.join(FACTORIES)}, got {factory!r}")
    if isinstance(pin, bool) or not isinstance(pin, int) or not 0 <= pin <= 27:
        raise PinsUnavailable(f"button pin: expected a BCM number from 0 to 27, got {pin!r}")
    note = None
    if factory == "auto":
        try:
            return open_panel("lgpio", pin, on_gesture, config=config, clock=clock)
        except PinsUnavailable as error:
            factory, note = "mock", f"{error}; using mock pins and the button on the page"
    if factory == "none":
        return Panel(on_gesture, kind="none", config=config, clock=clock)
    owned_factory = None
    try:
        if pin_factory is None:
            pin_factory = owned_factory = MockFactory() if factory == "mock" else _lgpio_factory()
        button = Button(pin, pull_up=True, bounce_time=None, pin_factory=pin_factory)
    except Exception as error:  # each pin library raises a class of its own
        if owned_factory is not None:
            owned_factory.close()
        raise PinsUnavailable(
            f"{factory} pins: cannot open GPIO{pin}: {_one_line(error)}"
        ) from error
    return Panel(
        on_gesture,
        kind="mock" if factory == "mock" else "ok",
        button=button,
        owned_factory=owned_factory,
        config=config,
        clock=clock,
        note=note,
    )


def _lgpio_factory() -> Any:
    if importlib.util.find_spec("lgpio") is None:
        raise ModuleNotFoundError("lgpio is not installed (apt install python3-lgpio)")
    _give_lgpio_a_directory()
    from gpiozero.pins.lgpio import LGPIOFactory

    return LGPIOFactory()


def _give_lgpio_a_directory() -> None:
    """Name a directory for the pipes lgpio makes on import; else it takes the working directory.

    Where that is not writable (a service in /) the import itself fails.
    """
    if os.environ.get("LG_WD"):
        return
    for name in ("RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR"):
        place = os.environ.get(name, "").split(":")[0]
        if place and Path(place).is_dir() and os.access(place, os.W_OK):
            os.environ["LG_WD"] = place
            return
    os.environ["LG_WD"] = tempfile.mkdtemp(prefix="dice-companion-lgpio-")
    atexit.register(shutil.rmtree, os.environ["LG_WD"], ignore_errors=True)


def _one_line(error: BaseException) -> str:
    """An exception as one line: its text, or its name where it has none."""
    text = " ".join(str(error).split())
    return text or type(error).__name__
