"""What a page does not do while nothing happens: a phone's battery has to last the evening."""

from __future__ import annotations

from tests.session.fakes import Stage
from tests.web.browsing import OpenPage, drawn, put, ready
from tests.web.stand_in import a_roll, dice_in_tray

ENDLESS = """() => document.getAnimations()
  .filter(({ effect }) => effect.getComputedTiming().endTime > 5_000)
  .map(({ animationName, effect }) => `${animationName} of ${effect.target.dataset.token}`)"""
"""What moves for longer than five seconds: more would need a button that stops it (WCAG 2.2.2)."""


def test_a_box_that_can_be_crossed_comes_to_rest(stage: Stage, open_page: OpenPage) -> None:
    tokens = put(stage, "roll")
    page = ready(open_page("/", token=tokens[0]))
    page.locator("#late").wait_for(state="detached")
    page.emulate_media(reduced_motion="no-preference")
    stage.session.see(dice_in_tray(a_roll(3, 4)))
    assert stage.session.press() is None
    box = drawn(page, stage).locator("[data-is=legal]").first
    assert box.evaluate("(box) => box.getAnimations().length") == 1
    assert page.evaluate(ENDLESS) == []
