"""Edges with times to presses and holds: the table, and whatever bounces hypothesis thinks of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardware import gesture
from hardware.gesture import Gesture, GestureConfig

CONFIG = GestureConfig(debounce_s=0.025, hold_s=1.5)
PRESS, HOLD = Gesture.PRESS, Gesture.HOLD
RELEASED = gesture.Contact()

Edges = list[tuple[float, bool]]
Told = list[tuple[float, Gesture]]


def play(edges: Edges, contact: gesture.Contact = RELEASED, config: GestureConfig = CONFIG) -> Told:
    """Run edges through the step functions as the panel does, waking at each deadline."""
    told: Told = []

    def wake_until(end_s: float) -> gesture.Contact:
        state = contact
        while (due_s := gesture.deadline_s(state, config)) is not None and due_s < end_s:
            state, found = gesture.elapse(state, config, due_s)
            if found is not None:
                told.append((round(due_s, 6), found))
        return state

    for at_s, is_closed in edges:
        contact = wake_until(at_s)
        contact, found = gesture.edge(contact, config, at_s, is_closed)
        assert found is None, "all that was due had been told before the edge"
    wake_until(100.0)
    return told


@pytest.mark.parametrize(
    ("let_go_s", "expected"),
    [
        pytest.param(0.2, [(0.225, PRESS)], id="a press"),
        pytest.param(3.0, [(3.025, HOLD)], id="a hold counts on release"),
        pytest.param(6.5, [(6.0, Gesture.LONG_HOLD)], id="a long hold counts while it lasts"),
    ],
)
def test_with_a_long_hold_a_hold_is_known_on_release(let_go_s: float, expected: Told) -> None:
    config = GestureConfig(debounce_s=0.025, hold_s=1.5, long_hold_s=6.0)
    assert play([(0.0, True), (let_go_s, False)], config=config) == expected


def bounce(start_s: float, *, edges: int, span_s: float, ends_closed: bool) -> Edges:
    """So many edges spread evenly over a time, the last one to the level given."""
    last = edges - 1
    return [
        (start_s + span_s * n / last, ends_closed if (last - n) % 2 == 0 else not ends_closed)
        for n in range(edges)
    ]


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        pytest.param([], [], id="nobody touches it"),
        pytest.param([(0, True), (0.1, False)], [(0.125, PRESS)], id="a clean press"),
        pytest.param(
            [(0, True), (0, False)], [(0.025, PRESS)], id="on screen: down and up at once"
        ),
        pytest.param([(0, True)], [(1.5, HOLD)], id="held for ever: told once"),
        pytest.param([(0, True), (1.499, False)], [(1.524, PRESS)], id="just short of a hold"),
        pytest.param([(0, True), (1.5, False)], [(1.525, PRESS)], id="let go at the very moment"),
        pytest.param([(0, True), (1.6, False)], [(1.5, HOLD)], id="a hold is no press besides"),
        pytest.param([(0, True), (60, False)], [(1.5, HOLD)], id="a minute is one hold"),
        pytest.param(
            [*bounce(0, edges=21, span_s=0.01, ends_closed=True), (0.2, False)],
            [(0.225, PRESS)],
            id="20 bounces in 10 ms, then steady, is one press",
        ),
        pytest.param(
            bounce(0, edges=21, span_s=0.01, ends_closed=True),
            [(1.5, HOLD)],
            id="20 bounces in 10 ms, then kept down, is one hold from the first edge on",
        ),
        pytest.param(
            [(0, True), *bounce(0.1, edges=21, span_s=0.01, ends_closed=False)],
            [(0.135, PRESS)],
            id="bouncing as it is let go",
        ),
        pytest.param(
            [*bounce(0, edges=201, span_s=0.1, ends_closed=True), (0.3, False)],
            [(0.325, PRESS)],
            id="rattling for four times the debounce time is still one press",
        ),
        pytest.param(
            [(0, True), (1.49, False), (1.505, True), (3, False)],
            [(1.505, HOLD)],
            id="a bounce at the moment of the hold only delays it",
        ),
        pytest.param(
            [(0, True), (0.004, False), (0.1, True), (0.2, False)],
            [(0.029, PRESS), (0.225, PRESS)],
            id="a very short press neither vanishes nor swallows the next",
        ),
        pytest.param(
            [(0, True), (0.06, False), (0.12, True), (0.18, False)],
            [(0.085, PRESS), (0.205, PRESS)],
            id="two quick presses are two",
        ),
        pytest.param(
            [(0, True), (2, False), (2.1, True), (2.2, False)],
            [(1.5, HOLD), (2.225, PRESS)],
            id="a press after a hold",
        ),
        pytest.param([(5, False)], [], id="let go without a push"),
        pytest.param(
            [(0, True), (0.3, True), (0.5, False)], [(0.525, PRESS)], id="an edge doubled"
        ),
        pytest.param(
            [(0, True), (0.1, False), (0.05, True), (0.3, False)],
            [(0.325, PRESS)],
            id="an edge from the past counts as now",
        ),
        pytest.param(
            [(0, True), (0.1, False), (0.11, True), (0.02, False), (0.13, True), (0.2, False)],
            [(0.225, PRESS)],
            id="an edge from the past does not end a push early",
        ),
    ],
)
def test_edges_become_gestures(edges: Edges, expected: Told) -> None:
    assert play(edges) == expected
    assert late(edges) == [told for _, told in expected], "the same however late we look"


def late(edges: Edges) -> list[Gesture]:
    """The gestures when nobody woke at the deadlines between, as under a stalled thread."""
    contact = RELEASED
    told = []
    for at_s, is_closed in [*edges, (1000.0, False)]:
        contact, found = gesture.edge(contact, CONFIG, at_s, is_closed)
        told += [found] if found else []
    return told


def test_a_button_down_when_opened_is_ignored_until_released() -> None:
    stuck = gesture.already_closed(0.0)
    assert play([], contact=stuck) == []
    assert play([(5.0, False)], contact=stuck) == []
    pressed: Edges = [(5.0, False), (16.0, True), (16.1, False)]
    assert [told for _, told in play(pressed, contact=stuck)] == [PRESS]


@pytest.mark.parametrize("pushed_s", [0.1, 3.0, 8.0])
def test_a_switch_that_opens_when_pushed_gives_no_gesture(pushed_s: float) -> None:
    edges: Edges = []
    for start_s in (5.0, 14.0, 30.0, 60.0):
        edges += [(start_s, False), (start_s + pushed_s, True)]
    assert play(edges, contact=gesture.already_closed(0.0)) == []


def test_a_button_that_stays_down_is_stuck_until_it_was_open_for_long() -> None:
    edges: Edges = [(0.0, True), (30.0, False), (31.0, True), (40.0, False)]
    assert play(edges) == [(1.5, HOLD)]
    assert play([*edges, (51.0, True), (51.2, False)]) == [(1.5, HOLD), (51.225, PRESS)]


def test_there_is_nothing_to_wait_for_while_nothing_is_going_on() -> None:
    contact = RELEASED
    assert gesture.deadline_s(contact, CONFIG) is None
    contact, _ = gesture.edge(contact, CONFIG, 1.0, True)
    assert gesture.deadline_s(contact, CONFIG) == 2.5
    assert gesture.elapse(contact, CONFIG, 2.49) == (contact, None)
    contact, told = gesture.elapse(contact, CONFIG, 2.5)
    assert told is HOLD
    assert gesture.deadline_s(contact, CONFIG) == 12.5
    contact, told = gesture.elapse(contact, CONFIG, 12.5)
    assert (contact.is_stuck, told) == (True, None)
    assert gesture.deadline_s(contact, CONFIG) is None


def test_without_debounce_every_edge_counts() -> None:
    bare = GestureConfig(debounce_s=0)
    contact, told = gesture.edge(RELEASED, bare, 1.0, True)
    contact, told = gesture.edge(contact, bare, 1.1, False)
    assert told is None
    assert gesture.elapse(contact, bare, 1.1) == (gesture.Contact(changed_at_s=1.1), PRESS)


flicker = st.lists(
    st.floats(0, CONFIG.debounce_s, exclude_max=True, allow_subnormal=False), max_size=40
)


def rattle(start_s: float, offsets: list[float], *, ends_closed: bool) -> Edges:
    """Edges at the offsets in turn, the first away from the old level, the last to the new one."""
    times = sorted(offsets)
    if len(times) % 2 == 0:
        times.append(times[-1] if times else 0.0)
    return [
        (start_s + at_s, ends_closed if n % 2 == 0 else not ends_closed)
        for n, at_s in enumerate(times)
    ]


@given(down=flicker, up=flicker, kept_s=st.floats(0, 1.4))
def test_any_bounce_shorter_than_the_debounce_time_is_one_press(
    down: list[float], up: list[float], kept_s: float
) -> None:
    let_go_s = 1.0 + CONFIG.debounce_s + kept_s
    edges = rattle(1.0, down, ends_closed=True) + rattle(let_go_s, up, ends_closed=False)
    assert [told for _, told in play(edges)] == [PRESS]
    assert late(edges) == [PRESS]


@given(down=flicker)
def test_any_bounce_and_then_kept_down_is_one_hold(down: list[float]) -> None:
    edges = rattle(1.0, down, ends_closed=True)
    assert play(edges) == [(round(edges[0][0] + CONFIG.hold_s, 6), HOLD)]


@given(
    pushes=st.lists(st.tuples(st.floats(0, 1.4), st.floats(0.026, 5)), max_size=8),
)
def test_every_push_gives_exactly_one_gesture(pushes: list[tuple[float, float]]) -> None:
    edges: Edges = []
    now_s = 0.0
    for kept_s, pause_s in pushes:
        edges += [(now_s, True), (now_s + kept_s, False)]
        now_s += kept_s + pause_s
    assert [told for _, told in play(edges)] == [PRESS] * len(pushes)


@pytest.mark.parametrize("level", [True, False])
def test_an_edge_to_the_level_that_the_line_has_changes_nothing(level: bool) -> None:
    contact, _ = gesture.edge(RELEASED, CONFIG, 1.0, True)
    if not level:
        contact, _ = gesture.edge(contact, CONFIG, 1.3, False)
    assert gesture.edge(contact, CONFIG, 1.32, level) == (contact, None)
