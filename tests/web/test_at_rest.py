"""What a page does not do while nothing happens: a phone's battery has to last the evening."""

from __future__ import annotations

import pytest

from companion.tray import TrayStatus, TrayView
from tests.session.fakes import Stage
from tests.web.browsing import TV, OpenPage, comes_true, drawn, put, ready, wait_until
from tests.web.stand_in import SIZE_WH, a_roll, dice_in_tray

NOTE_WHAT_MOVES = """() => {
  window.moved = new Set();
  const note = () => document.getAnimations().forEach((each) => moved.add(each));
  addEventListener('animationstart', note);
}"""
"""A slow machine looks only after a movement has ended."""

MOVED = "() => [...moved].some(({ effect }) => effect.target.dataset.is === 'legal')"

ENDLESS = """() => [...moved]
  .filter(({ effect }) => effect.getComputedTiming().endTime > 5_000)
  .map(({ animationName, effect }) => `${animationName} of ${effect.target.dataset.token}`)"""
"""What moves for longer than five seconds: more would need a button that stops it (WCAG 2.2.2)."""


VISIBILITY = """(value) => {
  Object.defineProperty(document, 'visibilityState', { value, configurable: true });
  document.dispatchEvent(new Event('visibilitychange'));
}"""


def test_a_box_that_can_be_crossed_comes_to_rest(stage: Stage, open_page: OpenPage) -> None:
    tokens = put(stage, "roll")
    page = ready(open_page("/", token=tokens[0]))
    page.locator("#late").wait_for(state="detached")
    page.emulate_media(reduced_motion="no-preference")
    page.evaluate(NOTE_WHAT_MOVES)
    stage.session.see(dice_in_tray(a_roll(3, 4)))
    assert stage.session.press() is None
    comes_true(page, MOVED)
    assert page.evaluate(ENDLESS) == []


@pytest.mark.parametrize("path", ["/table", "/host"])
def test_a_hidden_page_does_not_film_rolling_dice(
    stage: Stage, open_page: OpenPage, path: str
) -> None:
    tokens = put(stage, "roll")
    page = ready(open_page(path, token=tokens[0], size_wh=TV))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    def is_filmed() -> bool:
        return any("frame.jpg?at=" in url for url in asked)

    page.evaluate(VISIBILITY, "hidden")
    stage.session.see(TrayView(TrayStatus.MOVING, None, 1, SIZE_WH))
    drawn(page, stage).wait_for_timeout(500)
    assert not is_filmed()
    page.evaluate(VISIBILITY, "visible")
    wait_until(page, is_filmed)
