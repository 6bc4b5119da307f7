"""Turns timed edges of a contact into presses and holds, debounced (pure, without a clock).

The line counts as pushed from its first edge, and as released once it has been open without a break
for `debounce_s`. So a bouncing push is one push however long it bounces, and a tap shorter than the
bounce still counts. A spike on a long wire also counts as a press; that is acceptable, because a
press only confirms a roll that was read and has settled.

A press is reported on release, because only then is it known not to be a hold: a hold answers for
other people, and must not confirm a roll on its way.

A contact that stays closed is stuck: something lies on it, its cable is wet, or it is a switch that
opens when it is pushed. The end of a push would pass for a push there, and the rest for a hold. So
it gives no gesture until it has been open for longer than anybody pushes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum


class Gesture(Enum):
    """Gestures of a person at the button."""

    PRESS = "press"
    HOLD = "hold"
    LONG_HOLD = "long_hold"


@dataclass(frozen=True, slots=True)
class GestureConfig:
    """Times of the gestures, each longer than the one before.

    Attributes:
        debounce_s: Open time after which the button counts as released: more than twice the 10
            ms of bounce in the tests, and far less than the time between two presses. It is
            added to every press. 0 suits a button that is debounced by its circuit.
        hold_s: Pushed time after which a push is a hold.
        long_hold_s: The same for a long hold, if there is one. A hold is reported on release then:
            only there is it known not to become a long one.
    """

    debounce_s: float = 0.025
    hold_s: float = 1.5
    long_hold_s: float | None = None


STUCK_S = 10.0
"""Seconds closed, after the longest hold, from which on a contact is stuck; and seconds open after
which a stuck one counts again. Longer than anybody holds a button."""


@dataclass(frozen=True, slots=True)
class Contact:
    """State of the contact between two edges; at first a released button.

    Attributes:
        is_closed: Last level of the line, bounce included.
        changed_at_s: Time of the line's last change.
        pushed_at_s: Time when the present push began; None while the button is released.
        is_spent: The present push has caused its gesture, or may not cause one.
        is_stuck: It gives no gestures.
    """

    is_closed: bool = False
    changed_at_s: float = 0.0
    pushed_at_s: float | None = None
    is_spent: bool = False
    is_stuck: bool = False


def already_closed(at_s: float) -> Contact:
    """A button that is pushed at the start counts as stuck."""
    return Contact(True, at_s, pushed_at_s=at_s, is_spent=True, is_stuck=True)


def edge(
    contact: Contact, config: GestureConfig, at_s: float, is_closed: bool
) -> tuple[Contact, Gesture | None]:
    """Take one edge of the line.

    Everything due before the edge happens first; an edge at that very moment comes before it, so a
    button released exactly at `hold_s` was pressed. An edge to the level the line already has
    changes nothing, and one from the past counts as now.
    """
    at_s = max(at_s, contact.changed_at_s)
    due_s = deadline_s(contact, config)
    gesture = None
    if due_s is not None and due_s < at_s:
        contact, gesture = elapse(contact, config, due_s)
    if is_closed == contact.is_closed:
        return contact, gesture
    contact = replace(contact, is_closed=is_closed, changed_at_s=at_s)
    if is_closed and contact.pushed_at_s is None:
        contact = replace(contact, pushed_at_s=at_s, is_spent=False)
    return contact, gesture


def elapse(contact: Contact, config: GestureConfig, now_s: float) -> tuple[Contact, Gesture | None]:
    """Let time pass without an edge: an open line becomes released, a closed one a hold, and in the
    end stuck."""
    due_s = deadline_s(contact, config)
    if due_s is None or now_s < due_s:
        return contact, None
    if contact.is_closed and contact.is_spent:
        return replace(contact, is_stuck=True), None
    if contact.is_closed:
        held = Gesture.HOLD if config.long_hold_s is None else Gesture.LONG_HOLD
        return replace(contact, is_spent=True), held
    gesture = None if contact.is_spent else _released(contact, config)
    return replace(contact, pushed_at_s=None, is_spent=False, is_stuck=False), gesture


def _released(contact: Contact, config: GestureConfig) -> Gesture:
    assert contact.pushed_at_s is not None
    is_held = contact.changed_at_s - contact.pushed_at_s > config.hold_s
    return Gesture.HOLD if is_held and config.long_hold_s is not None else Gesture.PRESS


def deadline_s(contact: Contact, config: GestureConfig) -> float | None:
    """Time at which `elapse` has an effect; None until the next edge."""
    if contact.pushed_at_s is None:
        return None
    if not contact.is_closed:
        return contact.changed_at_s + (STUCK_S if contact.is_stuck else config.debounce_s)
    if contact.is_stuck:
        return None
    longest_s = config.hold_s if config.long_hold_s is None else config.long_hold_s
    due_s = contact.pushed_at_s + longest_s + (STUCK_S if contact.is_spent else 0.0)
    return max(contact.changed_at_s, due_s)
