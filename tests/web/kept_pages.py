"""Pages of Chromium that serve one test after another.

A page that is opened again has the table's scripts and styles in its cache and a process that
runs: that takes a third less time. Nothing else of an earlier test stays in it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import BrowserContext, Error, Page

from tests.web.browsing import MODULES, PATIENCE_S
from web.security import BROWSER_COOKIE, SEAT_COOKIE

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_FOR_GOOD = (
    (Page, "add_init_script"),
    (Page, "on"),
    (BrowserContext, "add_init_script"),
    (BrowserContext, "new_cdp_session"),
)
"""What a test may do to a page that cannot be undone, beside a clock of its own: such pages are
closed after it."""

_FORGET = "() => { localStorage.clear(); sessionStorage.clear(); }"


class KeptPages:
    """Lends pages, each in a browser of its own, and takes them back."""

    def __init__(self, chromium: Browser, patched: pytest.MonkeyPatch) -> None:
        self._chromium = chromium
        self._idle: list[Page] = []
        self._lent: list[Page] = []
        self._address = ""
        self._troubles: list[str] = []
        self._are_changed = False
        for kind, name in _FOR_GOOD:
            patched.setattr(kind, name, self._noting(getattr(kind, name)))
        patched.setattr(Page, "clock", property(self._noting(Page.clock.fget)))

    def _noting(self, change: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*args: Any, **kwargs: Any) -> Any:
            self._are_changed = True
            return change(*args, **kwargs)

        return noted

    def open(
        self,
        address: str,
        path: str = "/",
        *,
        size_wh: tuple[int, int] = (390, 844),
        dark: bool = False,
        token: str | None = None,
        device: str | None = None,
        is_new: bool = False,
    ) -> Page:
        """Open a page of the table at an address, as a device that never was there.

        Its cache is that of a device that was there, unless `is_new`.
        """
        self._address = address
        page = self._idle.pop() if self._idle and not is_new else self._new()
        self._lent.append(page)
        page.set_viewport_size({"width": size_wh[0], "height": size_wh[1]})
        page.emulate_media(
            media="null",
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce",
            forced_colors="null",
        )
        for name, value in ((SEAT_COOKIE, token), (BROWSER_COOKIE, device)):
            if value is not None:
                page.context.add_cookies([{"name": name, "value": value, "url": address}])
        page.goto(address + path)
        return page

    def take_back(self) -> list[str]:
        """Take all pages back; return the errors that they logged or threw, and their requests
        to other hosts."""
        for page in self._lent:
            self._put_away(page)
        troubles = self._troubles[:]
        self._lent.clear()
        self._troubles.clear()
        self._are_changed = False
        return troubles

    def close(self) -> None:
        """Close the pages that wait for a test: even idle ones take time of the processor."""
        for page in self._idle:
            page.context.close()

    def _new(self) -> Page:
        context = self._chromium.new_context()
        context.set_default_timeout(1_000 * PATIENCE_S)
        context.on("weberror", lambda it: self._troubles.append(str(it.error)))
        context.on("console", lambda said: self._note(said.type, said.text))
        context.on("request", lambda request: self._note_stranger(request.url))
        return context.new_page()

    def _put_away(self, page: Page) -> None:
        context = page.context
        if self._are_changed or page.is_closed() or not page.url.startswith(f"{self._address}/"):
            context.close()
            return
        try:
            for each in context.pages:
                if each is not page:
                    each.close()
            page.unroute_all(behavior="ignoreErrors")
            context.unroute_all(behavior="ignoreErrors")
            context.set_offline(False)
            page.mouse.move(-1, -1)
            page.goto(f"{self._address}{MODULES}/icon.svg")  # where no script keeps anything
            page.evaluate(_FORGET)
        except Error:  # the page is just going elsewhere, or its table has gone
            context.close()
            return
        context.clear_cookies()
        self._idle.append(page)

    def _note(self, kind: str, text: str) -> None:
        # Chromium also logs refused marks (409), which are no errors of the page.
        if kind == "error" and "Failed to load resource" not in text:
            self._troubles.append(text)

    def _note_stranger(self, url: str) -> None:
        if not url.startswith((f"{self._address}/", "data:", "blob:")):
            self._troubles.append(f"a request to {url}")
