"""Who hides their points neither sees nor hears them, in any of their tabs."""

from __future__ import annotations

import re

from tests.session.fakes import Stage
from tests.web.browsing import OpenPage, put, ready


def test_the_points_switch_is_named_by_its_action(stage: Stage, open_page: OpenPage) -> None:
    page = ready(open_page("/", token=put(stage, "action1")[0]))
    page.get_by_role("button", name="Total 3, hide my points").click()
    switch = page.get_by_role("button", name="Total: Show my points")  # the word that is seen, too
    switch.wait_for()
    assert switch.get_attribute("aria-pressed") is None


def test_hidden_points_are_not_read_out_with_their_row(stage: Stage, open_page: OpenPage) -> None:
    page = ready(open_page("/", token=put(stage, "action1")[0]))
    red = page.get_by_role("group", name=re.compile("^Red, 2 to 12"))
    red.and_(page.get_by_label("3 points")).wait_for()
    page.get_by_role("button", name="hide my points").click()
    red.and_(page.get_by_label("points")).wait_for(state="detached")
    page.get_by_role("button", name="Show my points").click()
    red.and_(page.get_by_label("3 points")).wait_for()


def test_two_tabs_agree(stage: Stage, open_page: OpenPage) -> None:
    page = ready(open_page("/", token=put(stage, "action1")[0]))
    other = page.context.new_page()
    other.goto(page.url)
    other.get_by_role("button", name="Pass", disabled=False).wait_for()  # nothing more is drawn
    page.get_by_role("button", name="hide my points").click()
    other.get_by_role("button", name="Show my points").wait_for()
