"""Every page and state is clean for axe, light and dark."""

from __future__ import annotations

import pytest

from tests.session.fakes import Stage
from tests.web.browsing import (
    PHONE,
    PHONE_SMALL,
    TV,
    OpenPage,
    drawn,
    open_part,
    put,
    ready,
    resize,
    violations,
    walk,
)

COLOURS = ("color-contrast", "link-in-text-block")
"""The rules whose result depends on the colours."""


class TestAxe:
    def test_a_players_page(self, stage: Stage, open_page: OpenPage) -> None:
        page = ready(open_page("/", size_wh=PHONE_SMALL, token=put(stage, "lobby")[0]))
        for state in walk(stage):
            drawn(page, stage)
            for size_wh, scheme in ((PHONE_SMALL, "light"), ((844, 390), "dark")):
                page.emulate_media(color_scheme=scheme)
                resize(page, size_wh)
                assert violations(page) == [], (state, scheme)

    def test_the_table_view(self, stage: Stage, open_page: OpenPage) -> None:
        put(stage, "lobby")
        page = ready(open_page("/table", size_wh=TV))
        for state in walk(stage):
            drawn(page, stage)
            page.emulate_media(color_scheme="light")
            assert violations(page) == [], state
            page.emulate_media(color_scheme="dark")
            assert violations(page, *COLOURS) == [], state

    def test_the_hosts_page(self, stage: Stage, open_page: OpenPage) -> None:
        put(stage, "lobby")
        page = ready(open_page("/host", size_wh=PHONE))
        for state in walk(stage, "lobby", "roll", "over"):
            drawn(page, stage)
            for part in ("Now", "Players", "Settings"):
                open_part(page, part)
                page.emulate_media(color_scheme="light")
                assert violations(page) == [], (state, part)
                page.emulate_media(color_scheme="dark")
                assert violations(page, *COLOURS) == [], (state, part)

    @pytest.mark.parametrize("path", ["/", "/nothing"])
    def test_joining_and_a_wrong_address(self, open_page: OpenPage, path: str) -> None:
        page = open_page(path, size_wh=PHONE_SMALL)
        page.locator("main:not([hidden])").wait_for()
        assert violations(page) == []
        page.emulate_media(color_scheme="dark")
        assert violations(page, *COLOURS) == []

    @pytest.mark.slow
    @pytest.mark.parametrize("variant", ["base", "big_points"])
    @pytest.mark.parametrize("path", ["/", "/table", "/host"])
    def test_high_contrast(
        self, stage: Stage, open_page: OpenPage, path: str, variant: str
    ) -> None:
        tokens = put(stage, "lobby")
        page = ready(open_page(path, size_wh=PHONE, token=tokens[0] if path == "/" else None))
        for state in walk(stage, variant=variant):
            drawn(page, stage)
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme, forced_colors="active")
                for size_wh in (PHONE_SMALL, (1280, 720)):
                    resize(page, size_wh)
                    assert violations(page) == [], (state, scheme, size_wh)
