"""Every page and state is clean for axe, light and dark."""

from __future__ import annotations

import pytest

from tests.session.fakes import Stage
from tests.web.browsing import (
    PHONE,
    PHONE_SMALL,
    STATES,
    TV,
    OpenPage,
    open_part,
    put,
    ready,
    violations,
)


class TestAxe:
    @pytest.mark.parametrize("state", STATES)
    def test_a_players_page(self, stage: Stage, open_page: OpenPage, state: str) -> None:
        tokens = put(stage, state)
        page = ready(open_page("/", size_wh=PHONE_SMALL, token=tokens[0]))
        assert violations(page) == []
        page.emulate_media(color_scheme="dark")
        page.set_viewport_size({"width": 844, "height": 390})
        assert violations(page) == []

    @pytest.mark.parametrize("state", STATES)
    def test_the_table_view(self, stage: Stage, open_page: OpenPage, state: str) -> None:
        put(stage, state)
        page = ready(open_page("/table", size_wh=TV))
        assert violations(page) == []
        page.emulate_media(color_scheme="dark")
        assert violations(page) == []

    @pytest.mark.parametrize("state", ["lobby", "roll", "over"])
    def test_the_hosts_page(self, stage: Stage, open_page: OpenPage, state: str) -> None:
        put(stage, state)
        page = ready(open_page("/host", size_wh=PHONE))
        for part in ("Now", "Players", "Settings"):
            open_part(page, part)
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                assert violations(page) == []

    @pytest.mark.parametrize("path", ["/", "/nothing"])
    def test_joining_and_a_wrong_address(self, open_page: OpenPage, path: str) -> None:
        page = open_page(path, size_wh=PHONE_SMALL)
        page.locator("main:not([hidden])").wait_for()
        assert violations(page) == []
        page.emulate_media(color_scheme="dark")
        assert violations(page) == []
