"""When a camera's exposure and colours are held, and when they are measured anew (pure steps).

A camera that adjusts itself changes the colours of the dice whenever a hand comes in. So it may
adjust itself only until its picture is steady; then its values are held. Some webcams say one
exposure and used another (https://github.com/opencv/opencv/pull/5516: two Logitech models give
their default), so the picture is compared before and after, and the exposure put right by it.
Only when the room's light has changed for good is everything measured again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

WARM_UP_S = 1.0
"""A webcam's own control has settled within a second or so of even light ..."""
LONGEST_WARM_UP_S = 4.0
"""... and under flickering light never does: then its values are held as they are."""
STEADY = 0.03
"""Mean brightness may vary by this share over the last half second to count as steady."""
STEADY_FOR_S = 0.5
TAKES_EFFECT_S = 0.5
"""From setting a value to the pictures made with it: drivers queue a few."""
NEAR = 0.15
"""A held picture this close in brightness to the one before is as good."""
TRIES = 5
RELIT = 1.6
"""The room's light is another when brightness at rest is this many times more or less ..."""
RELIT_FOR_S = 3.0
"""... for so long: a hand that takes the dice out is gone sooner."""


class Order(Enum):
    """What the camera's controls are to do now."""

    HOLD = "hold"
    ADJUST = "adjust"
    RELEASE = "release"


class Stage(Enum):
    """Where the metering stands."""

    WARMING = "warming"
    CHECKING = "checking"
    HELD = "held"
    AUTOMATIC = "automatic"


@dataclass(frozen=True, slots=True)
class Metering:
    """What is remembered between two pictures.

    Attributes:
        since_s: When the stage began.
        levels: Mean brightness with its time, the last half second of them.
        target: Mean brightness before the values were held.
        tries: How often the exposure was put right.
        ratio: With ADJUST, by how much the exposure is to change.
        relit_s: Since when the brightness has been another.
    """

    stage: Stage = Stage.WARMING
    since_s: float | None = None
    levels: tuple[tuple[float, float], ...] = ()
    target: float = 0.0
    tries: int = 0
    ratio: float = 1.0
    relit_s: float | None = None


def meter(metering: Metering, at_s: float, level: float) -> tuple[Metering, Order | None]:
    """Take the mean brightness, 0 to 255, of the picture captured at `at_s`."""
    began_s = at_s if metering.since_s is None else metering.since_s
    recent = tuple(seen for seen in metering.levels if seen[0] > at_s - STEADY_FOR_S)
    metering = replace(metering, since_s=began_s, levels=(*recent, (at_s, level)))
    passed_s = at_s - began_s
    match metering.stage:
        case Stage.WARMING:
            if passed_s < WARM_UP_S or not (_is_steady(metering) or passed_s >= LONGEST_WARM_UP_S):
                return metering, None
            return _enter(metering, Stage.CHECKING, at_s, target=level), Order.HOLD
        case Stage.CHECKING:
            return _check(metering, at_s, level) if passed_s >= TAKES_EFFECT_S else (metering, None)
        case Stage.HELD:
            return _watch(metering, at_s, level)
    return metering, None


def give_up(metering: Metering) -> Metering:
    """The camera cannot hold its values: it stays automatic."""
    return replace(metering, stage=Stage.AUTOMATIC)


def _check(metering: Metering, at_s: float, level: float) -> tuple[Metering, Order | None]:
    ratio = max(metering.target, 1.0) / max(level, 1.0)
    if 1.0 - NEAR <= ratio <= 1.0 + NEAR:
        return _enter(metering, Stage.HELD, at_s, target=level), None
    if metering.tries >= TRIES:
        return give_up(metering), Order.RELEASE
    ratio = min(4.0, max(0.25, ratio))
    return (
        replace(metering, since_s=at_s, levels=(), tries=metering.tries + 1, ratio=ratio),
        Order.ADJUST,
    )


def _watch(metering: Metering, at_s: float, level: float) -> tuple[Metering, Order | None]:
    ratio = max(level, 1.0) / max(metering.target, 1.0)
    if 1.0 / RELIT < ratio < RELIT:
        return replace(metering, relit_s=None), None
    if metering.relit_s is None:
        return replace(metering, relit_s=at_s), None
    if at_s - metering.relit_s < RELIT_FOR_S:
        return metering, None
    return _enter(metering, Stage.WARMING, at_s, target=0.0), Order.RELEASE


def _enter(metering: Metering, stage: Stage, at_s: float, *, target: float) -> Metering:
    return Metering(stage, at_s, target=target)


def _is_steady(metering: Metering) -> bool:
    values = [level for _, level in metering.levels]
    return len(values) > 2 and max(values) - min(values) <= STEADY * max(max(values), 1.0)
