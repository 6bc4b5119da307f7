"""Pages that were open while the program was updated."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.session.fakes import Stage
from tests.web.browsing import OpenPage, ready, wait_until
from tests.web.stand_in import seat

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

OLD, NEW = "body[data-pages='of another version']", "body:not([data-pages='of another version'])"

LOOKS_TWICE_MS = 2_200
"""A page looks every second whether it is old."""


def _of_the_version_before(page: Page, path: str, times: int = 1) -> None:
    """Load a page as the program before the update wrote it; the newer one comes afterwards."""

    def serve(route: Route) -> None:
        answer = route.fetch()
        text, found = re.subn(
            'data-pages="[0-9a-f]+"', 'data-pages="of another version"', answer.text()
        )
        assert found == 1
        route.fulfill(response=answer, body=text)

    page.route(re.compile(f"{re.escape(path)}$"), serve, times=times)
    page.goto(page.url.replace("/healthz", path))


def test_open_pages_are_loaded_anew_after_an_update(open_page: OpenPage) -> None:
    pages = {path: open_page("/healthz") for path in ("/", "/table", "/host", "/games", "/stream")}
    for path, page in pages.items():
        _of_the_version_before(page, path)
    for page in pages.values():
        page.locator(NEW).wait_for()


def test_a_page_that_stays_old_is_loaded_anew_once(open_page: OpenPage) -> None:
    page = open_page("/healthz")
    loads: list[str] = []
    page.on("load", lambda page: loads.append(page.url))
    _of_the_version_before(page, "/table", times=10)
    wait_until(page, lambda: len(loads) == 2)
    page.wait_for_timeout(LOOKS_TWICE_MS)
    assert len(loads) == 2


def test_nobody_who_types_is_interrupted(stage: Stage, open_page: OpenPage) -> None:
    page = open_page("/healthz", token=seat(stage, "Ada").token)
    _of_the_version_before(page, "/")
    ready(page)
    page.locator("#another summary").click()
    page.locator("#another-name").fill("Ben")
    page.wait_for_timeout(LOOKS_TWICE_MS)
    assert page.locator(OLD).count() == 1
    assert page.locator("#another-name").input_value() == "Ben"
    page.locator("#another-name").blur()
    page.locator(NEW).wait_for()
