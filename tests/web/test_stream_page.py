"""The page for streams, and the links a host sends to other rooms."""

from __future__ import annotations

import numpy as np
import pytest
from flask.testing import FlaskClient

from tests.session.fakes import Stage
from tests.web.browsing import (
    PHONE,
    PHONE_SMALL,
    OpenPage,
    close_red,
    drawn,
    open_part,
    put,
    ready,
    resize,
    violations,
)
from tests.web.stand_in import seat


def alpha(png: bytes) -> np.ndarray:
    """Opacity of a picture's pixels, (height, width), 0 to 255."""
    import cv2

    return cv2.imdecode(np.frombuffer(png, np.uint8), cv2.IMREAD_UNCHANGED)[:, :, 3]


def test_a_stream_page_is_transparent_around_its_panels(stage: Stage, open_page: OpenPage) -> None:
    put(stage, "action1")
    page = open_page("/stream?width=600&text=30", size_wh=(1280, 720))
    page.locator("#players bdi").first.wait_for()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        opacity = alpha(page.screenshot(omit_background=True))
        assert (opacity[:, 620:] == 0).all(), scheme
        assert (opacity[-100:] == 0).all(), scheme
        box = page.locator("#players").bounding_box()
        assert box is not None
        x, y = int(box["x"] + box["width"] / 2), int(box["y"] + 4)
        assert opacity[y, x] == 255, scheme
        assert 560 < box["width"] <= 600
        assert page.evaluate("getComputedStyle(document.body).fontSize") == "30px"
        assert violations(page) == [], scheme


def test_names_and_scores_of_a_stream_are_not_broken(stage: Stage, open_page: OpenPage) -> None:
    for name in ("Ada", "Bruno", "Éloïse", "Maximilian-Alexander"):
        seat(stage, name)
    assert stage.session.start("base", 0) is None
    stage.play_out()
    page = open_page("/stream", size_wh=(320, 600))
    page.locator("#players bdi").first.wait_for()
    tall = """all => all.filter((node) =>
        node.getBoundingClientRect().height > 1.9 * parseFloat(getComputedStyle(node).fontSize)
      ).map((node) => node.textContent)"""
    for width in (320, 640, 900, 1100):
        resize(page, (width, 600))
        broken = page.locator("#players bdi, #players .points").evaluate_all(tall)
        assert broken == ["Maximilian-Alexander"][: width == 320], "which breaks at its hyphen"
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), width


def test_nobody_is_due_on_a_stream_page_once_the_game_was_ended(
    stage: Stage, open_page: OpenPage
) -> None:
    put(stage, "roll")
    page = open_page("/stream", size_wh=(800, 600))
    page.locator("#players .is-active").wait_for()
    assert stage.session.end() is None
    drawn(page, stage)
    assert page.locator("#players .is-active").count() == 0


def test_a_stream_page_shows_what_its_address_names(stage: Stage, open_page: OpenPage) -> None:
    put(stage, "action1")
    page = open_page("/stream?show=roll,players,nonsense&width=-1&text=x", size_wh=(800, 300))
    page.get_by_role("img", name="White sum 7").wait_for()
    assert page.locator("#players li.is-active bdi").text_content() == "Ada"
    assert not page.locator("#news").is_visible()
    assert stage.answer(1, None) == ""
    drawn(page, stage)
    assert page.locator("#players li", has_text="Benjamin").get_by_role("img").count() == 1
    assert stage.session.end() is None
    drawn(page, stage)
    assert not page.locator("#roll").is_visible()


def test_a_stream_page_shows_closed_rows_and_who_left(stage: Stage, open_page: OpenPage) -> None:
    close_red(stage, "en")
    assert stage.session.let_go(2) is None
    page = open_page("/stream", size_wh=(1280, 720))
    page.locator("#rows .is-red", has_text="Red closed").wait_for()
    page.locator("#players .is-gone", has_text="Cleo").wait_for()
    assert violations(page) == []


@pytest.mark.parametrize("path", ["/stream", "/stream?show=roll&text=40"])
def test_a_narrow_stream_page_is_as_wide_as_its_window(
    stage: Stage, open_page: OpenPage, path: str
) -> None:
    put(stage, "action1")
    page = open_page(path, size_wh=(320, 400))
    page.get_by_role("img", name="White sum 7").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == 320


@pytest.mark.parametrize("text_px", [22, 40])
def test_long_names_fit_a_narrow_stream_page(
    stage: Stage, open_page: OpenPage, text_px: int
) -> None:
    for name in ("Maximilian-Alexander", "W" * 20):
        seat(stage, name)
    assert stage.session.start("base", 0) is None
    page = open_page(f"/stream?text={text_px}", size_wh=(320, 400))
    page.locator("#players li").nth(1).wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == 320


def test_a_hosts_link_seats_somebody_in_another_room(stage: Stage, open_page: OpenPage) -> None:
    host = seat(stage, "Ada")
    page = ready(open_page("/host", size_wh=PHONE, token=host.token))
    page.locator("#desk").wait_for()
    open_part(page, "Settings")
    links = page.locator("#share a")
    link = links.first.get_attribute("href")
    assert link == "http://192.168.1.5:8000/?code=QWX7"
    assert [each.get_attribute("href") for each in links.all()[1:]] == [
        "http://192.168.1.5:8000/watch",
        "http://192.168.1.5:8000/stream",
    ]
    upstairs = ready(open_page(f"/?{link.partition('?')[2]}", size_wh=PHONE_SMALL))
    assert not upstairs.get_by_label("Table code").is_visible()
    upstairs.get_by_label("Your name").fill("Ben")
    upstairs.get_by_role("button", name="Take a seat").click()
    upstairs.get_by_text("Welcome, Ben").wait_for()
    assert "code" not in upstairs.url


def test_the_stream_page_takes_its_theme_from_the_address(client: FlaskClient) -> None:
    assert 'content="dark"' in client.get("/stream?theme=dark").text
    assert 'content="light dark"' in client.get("/stream?theme=pink").text
