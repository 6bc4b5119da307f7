"""What only WebKit does, which Safari and every browser on an iPhone show pages with."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from companion.tray import TrayStatus, TrayView
from tests.session.fakes import Stage
from tests.web import webkit
from tests.web.browsing import TV, close_red, put
from tests.web.webkit import WebKit

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not webkit.is_here(), reason="apt-get install webkit2gtk-driver xvfb"),
]

FITS = "document.documentElement.scrollHeight <= innerHeight"


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebKit]:
    home = tmp_path_factory.mktemp("home")
    home.chmod(0o700)
    with webkit.window(str(home)) as page:
        page.resize(TV)
        yield page


@pytest.fixture
def page(window: WebKit) -> Iterator[WebKit]:
    yield window
    window.forget()


@pytest.mark.slow
def test_sheets_fit_a_tv(stage: Stage, address: str, page: WebKit) -> None:
    put(stage, "roll", "big_points")
    stage.session.see(TrayView(TrayStatus.WAITING))
    page.open(f"{address}/table")
    page.wait_for("document.querySelectorAll('.news .mini-sheet').length === 3")
    page.wait_for(FITS)


@pytest.mark.parametrize("language", ["de", "en"])
def test_a_closed_row_fits_a_tv(stage: Stage, address: str, page: WebKit, language: str) -> None:
    close_red(stage, language)
    page.open(f"{address}/table")
    page.wait_for("document.querySelector('.rows .is-closed')")
    page.wait_for(FITS)


def test_a_page_gone_back_to_has_the_colours_chosen_since(
    stage: Stage, address: str, page: WebKit
) -> None:
    put(stage, "lobby")
    dark = "getComputedStyle(document.documentElement).colorScheme === 'dark'"
    page.open(address)
    page.wait_for("document.querySelector('#name')")
    assert not page.run(f"return {dark}")
    page.open(f"{address}/table")
    page.wait_for("document.querySelector('#theme:not([hidden])')")
    page.run("document.querySelector('#theme').click()")
    page.wait_for(dark)
    page.back()
    page.wait_for("document.querySelector('#name')")
    page.wait_for(dark)


def test_the_total_looks_like_a_button(stage: Stage, address: str, page: WebKit) -> None:
    put(stage, "lobby")
    page.open(address)
    style = "getComputedStyle(document.querySelector('.total-word'))"
    assert page.run(f"return {style}.textDecorationLine") == "underline"
    assert page.run(f"return {style}.textDecorationStyle") == "dotted"


SHOWS = {
    "/": "#name",
    "/table": "#people bdi",
    "/watch": "#people bdi",
    "/host": "#game-text:not(:empty)",
    "/setup": "#closed:not(:empty)",
    "/games": "#now-text:not(:empty)",
    "/stream": "bdi",
}
"""What each page shows once its script has run, in a game of a table without a camera."""


def test_every_page_is_drawn(stage: Stage, address: str, page: WebKit) -> None:
    put(stage, "action1")
    for path, mark in SHOWS.items():
        page.open(address + path)
        page.wait_for(f"document.querySelector({mark!r})?.checkVisibility()")


def test_a_select_whose_text_is_cut_off_widens_no_page(
    stage: Stage, address: str, page: WebKit
) -> None:
    put(stage, "lobby")
    page.open(address)
    page.wait_for("document.querySelector('#name')")
    page.run("document.documentElement.style.fontSize = '800%'")
    select = "document.querySelector('#language')"
    page.wait_for(f"{select}.scrollWidth > {select}.clientWidth")
    page.wait_for("document.documentElement.scrollWidth <= innerWidth")
