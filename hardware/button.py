"""The button: gpiozero reports edges, `gesture` interprets them, one thread calls back.

gpiozero calls back on a thread of the pin library, so the callback only puts a timestamped edge on
a queue. The on-screen button pushes the mock pin if there is one; else it puts a press on the
queue, which works even if a real contact is stuck.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable
from functools import partial

from companion.errors import PinsUnavailable
from hardware import gesture
from hardware.gesture import Gesture, GestureConfig
from hardware.pins import Wire, make_factory, one_line

LOGGER = logging.getLogger(__name__)

CHECK_EVERY_S = 0.02
"""Seconds between two reads of a real line: a push is noticed although the kernel or the pin
library dropped its edges."""

REOPEN_EVERY_S = 1.0
"""Seconds between two attempts to reopen a lost pin."""

STUCK_CALLBACK_S = 2.0
"""Seconds `close` waits for a running callback."""


class Panel:
    """A button that calls `on_gesture` from a thread of its own until it is closed.

    Make one with `open_panel`. `on_gesture` is never called twice at a time; further edges wait
    with their times, so a press made meanwhile is neither lost nor turned into a hold. Its errors
    are logged, and the next press works.
    """

    def __init__(
        self,
        on_gesture: Callable[[Gesture, float], object],
        *,
        kind: str,
        wire: Wire | None = None,
        config: GestureConfig | None = None,
        clock: Callable[[], float] = time.monotonic,
        on_state: Callable[[str], object] | None = None,
        note: str | None = None,
    ) -> None:
        """Start listening.

        Args:
            on_gesture: Receives every press and hold, and the seconds since its push began.
            kind: "ok" for a real pin, "mock" or "none"; the state while all is well.
            wire: The pin, if there is one.
            config: Times of the gestures; the defaults if None.
            clock: Monotonic seconds.
            on_state: Receives every change of `state`, and "lost" if the pin is missing at first.
            note: One line for people on why this kind was chosen.
        """
        self.note = note
        self._kind = kind
        self._is_lost = False
        self._wire = wire
        self._on_gesture = on_gesture
        self._on_state = on_state
        self._config = config or GestureConfig()
        self._clock = clock
        self._events: queue.SimpleQueue[tuple[float, bool | Gesture] | None] = queue.SimpleQueue()
        self._mutex = threading.Lock()
        self._is_closed = False
        self._contact = gesture.Contact()
        if wire is not None and wire.is_open:
            self._listen_to(wire)
        elif wire is not None:
            self._is_lost = True
        self._told_state = kind
        self._tell_state()
        self._thread = threading.Thread(target=self._listen, name="button", daemon=True)
        self._thread.start()

    @property
    def state(self) -> str:
        """One of "ok" (a real pin), "mock", "none" and "lost" (unreadable or stuck)."""
        return "lost" if self._is_lost or self._contact.is_stuck else self._kind

    @property
    def has_pin(self) -> bool:
        """Whether there is a pin, real or mock."""
        return self._wire is not None

    @property
    def is_open(self) -> bool:
        """Whether there is a pin now: its chip may come late or be gone."""
        return self._wire is not None and self._wire.is_open

    def press(self) -> None:
        """Push and release the on-screen button.

        Raises:
            PinsUnavailable: The panel is closed.
        """
        with self._mutex:
            if self._is_closed:
                raise PinsUnavailable("button: expected an open panel, this one is closed")
            if self._kind == "mock":
                assert self._wire is not None
                self._wire.push()
            else:
                self._events.put((self._clock(), Gesture.PRESS))

    def close(self) -> None:
        """Close the pin and end the thread; a second call does nothing."""
        with self._mutex:
            if self._is_closed:
                return
            self._is_closed = True
        self._events.put(None)
        if threading.current_thread() is not self._thread:
            self._thread.join(STUCK_CALLBACK_S)
        if self._wire is not None:
            self._wire.close()

    def __enter__(self) -> Panel:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _listen(self) -> None:
        while not self._is_closed:
            try:
                self._serve()
            except Exception:
                LOGGER.exception("button: reading the pin failed; starting again")
                self._contact = gesture.Contact()

    def _serve(self) -> None:
        """Turn edges into gestures until the panel is closed."""
        while True:
            due_s = gesture.deadline_s(self._contact, self._config)
            wait_s = None if due_s is None else max(0.0, due_s - self._clock())
            check_s = self._check_s
            pushed_s = self._contact.pushed_at_s
            is_check = check_s is not None and (wait_s is None or check_s < wait_s)
            try:
                found = self._events.get(timeout=check_s if is_check else wait_s)
            except queue.Empty:
                told = self._nothing_came(None if is_check else due_s)
            else:
                if found is None:
                    return
                at_s, event = found
                if isinstance(event, Gesture):
                    self._tell(event, at_s)
                    continue
                told = self._take_edge(at_s, event)
            self._tell_state()
            if told is not None:
                assert pushed_s is not None
                self._tell(told, pushed_s)

    @property
    def _check_s(self) -> float | None:
        """Seconds until a real line is read even without an edge."""
        if self._kind != "ok":
            return None
        return REOPEN_EVERY_S if self._is_lost else CHECK_EVERY_S

    def _nothing_came(self, due_s: float | None) -> Gesture | None:
        """Read the line, then let the awaited time pass."""
        level = self._read_line()
        if level is not None and level is not self._contact.is_closed:
            # The edge was lost or is late, so its time is unknown. The guess is the deadline at
            # the latest: a push without a known end must not become a hold.
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
        """Level of a real line; None without one, or if it cannot be read."""
        if self._kind != "ok":
            return None
        assert self._wire is not None
        try:
            return self._wire.is_closed
        except Exception as error:  # each pin library raises a class of its own
            if self._is_closed:
                return None
            if not self._is_lost:
                LOGGER.warning("button: the pin can no longer be read: %s", one_line(error))
                self._is_lost = True
                self._tell_state()
        return self._take_back(self._wire)

    def _take_back(self, wire: Wire) -> bool | None:
        """Reopen the pin: a chip that comes back may have another number."""
        with self._mutex:
            if self._is_closed:
                return None
            try:
                wire.reopen()
                self._listen_to(wire)
                level = wire.is_closed
            except Exception:
                return None
        LOGGER.warning("button: the pin can be read again")
        self._is_lost = False
        return level

    def _listen_to(self, wire: Wire) -> None:
        wire.listen(lambda is_closed: self._events.put((self._clock(), is_closed)))
        self._contact = gesture.Contact()
        if wire.is_closed:
            self._contact = gesture.already_closed(self._clock())

    def _tell_state(self) -> None:
        """Pass on that the button was lost, or that it is back."""
        state, before = self.state, self._told_state
        if state == before:
            return
        self._told_state = state
        if self._contact.is_stuck:
            LOGGER.warning(
                "button: it stays pressed; ignored until it has been released for %g s",
                gesture.STUCK_S,
            )
        if self._on_state is not None:
            try:
                self._on_state(state)
            except Exception:
                LOGGER.exception("button: the handler of the state %r failed", state)

    def _tell(self, told: Gesture, pushed_s: float) -> None:
        if self._is_closed:
            return
        try:
            self._on_gesture(told, self._clock() - pushed_s)
        except Exception:
            LOGGER.exception("button: the handler of a %s failed; the button goes on", told.value)


def open_panel(
    factory: str,
    pin: int,
    on_gesture: Callable[[Gesture, float], object],
    *,
    config: GestureConfig | None = None,
    clock: Callable[[], float] = time.monotonic,
    on_state: Callable[[str], object] | None = None,
    may_be_late: bool = False,
) -> Panel:
    """Open the button by the name of its pin factory.

    Args:
        factory: "auto" takes lgpio if it works and else the mock, with the reason in
            `Panel.note`; "lgpio", "mock" and "none" take just that.
        pin: BCM number of the button's pin; the other contact goes to ground.
        on_gesture: Receives every press and hold and the seconds since its push began, on the
            panel's thread.
        config: Times of the gestures; the defaults if None.
        clock: Monotonic seconds.
        on_state: Receives the state when the button is lost, also at the start, or back.
        may_be_late: A chip that is not there yet is waited for: the button is "lost" until then.
    Raises:
        PinsUnavailable: The pin cannot be opened.
    """
    if factory == "none":
        return Panel(on_gesture, kind="none", config=config, clock=clock)
    kind, note = "mock" if factory == "mock" else "ok", None
    try:
        wire = _open_wire("mock" if factory == "mock" else "lgpio", pin, may_be_late)
    except PinsUnavailable as error:
        if factory != "auto":
            raise
        kind, note = "mock", f"{error}; using mock pins and the button on the page"
        wire = _open_wire("mock", pin, may_be_late)
    if not wire.is_open:
        note = f"GPIO{pin} is not there yet; the table waits for it"
    return Panel(
        on_gesture, kind=kind, wire=wire, config=config, clock=clock, on_state=on_state, note=note
    )


def _open_wire(factory: str, pin: int, may_be_late: bool) -> Wire:
    try:
        return Wire(pin, partial(make_factory, factory), may_be_late=may_be_late)
    except Exception as error:  # each pin library raises a class of its own
        text = f"{factory} pins: cannot open GPIO{pin}: {one_line(error)}"
        raise PinsUnavailable(text) from error
