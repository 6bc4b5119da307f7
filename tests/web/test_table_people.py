"""The people at the foot of the table view, and the end of a game, in a real browser."""

from __future__ import annotations

import pytest

from tests.session.fakes import Stage
from tests.web.browsing import (
    BROKEN,
    OVERFLOWING,
    OVERLAPPING,
    PHONE,
    PHONE_SMALL,
    TV,
    OpenPage,
    close_red,
    drawn,
    left,
    put,
    ready,
    resize,
    violations,
)
from tests.web.stand_in import seat


def test_chances_to_win_stand_on_the_table_view(
    stage: Stage, open_page: OpenPage, chances: list[tuple[float, float]]
) -> None:
    put(stage, "action1")
    page = ready(open_page("/table", size_wh=TV))
    assert page.locator(".chance").count() == 0, "off unless the host wants them"
    chances += [(0.25, 0.02), (0.7, 0.025), (0.05, 0.01)]
    stage.session.change_settings({"chances": True})
    drawn(page, stage)
    assert page.locator(".chance").all_inner_texts() == [
        "wins: 25% ± 4",
        "wins: 70% ± 5",
        "wins: 5% ± 2",
    ]
    for size_wh in (TV, (1280, 720), (1024, 600), (820, 1180), PHONE):
        resize(page, size_wh)
        assert left(page, OVERLAPPING) == [], size_wh
        if size_wh != PHONE:
            assert left(page, OVERFLOWING) == [], size_wh
    outside = """[...document.querySelectorAll('.chance')].filter((node) => {
      const own = node.getBoundingClientRect(), box = node.parentElement.getBoundingClientRect();
      return own.left < box.left || own.right > box.right || own.bottom > box.bottom;
    }).map((node) => node.textContent)"""
    for size_wh in ((820, 1180), (768, 1024), PHONE_SMALL):
        resize(page, size_wh)
        assert left(page, outside) == [], size_wh
    assert violations(page) == []


@pytest.mark.slow
def test_names_stay_whole_and_chances_in_their_cards(
    stage: Stage, open_page: OpenPage, chances: list[tuple[float, float]]
) -> None:
    """Five play, then four and a free seat shows its code; German has the longest words."""
    stage.session.change_settings({"chances": True}, voice={"language": "de"})
    chances += [(0.5, 0.124)] * 5
    for name in ("Alexandra", "Christopher", "Maximilian", "Opa Herbert", "Friederike"):
        seat(stage, name)
    assert stage.session.start("base", 0) is None
    assert stage.roll(3, 4) is None
    page = ready(open_page("/table", size_wh=(1280, 720)))
    outside = """[...document.querySelectorAll('.people :is(bdi, .chance)')].filter((node) => {
      const range = document.createRange(), { right } = node.closest('li').getBoundingClientRect();
      range.selectNodeContents(node);
      return range.getBoundingClientRect().right > right;
    }).map((node) => node.textContent)"""
    tablets = ((768, 1024), (800, 1280), (820, 1180))
    for cards in (5, 6):
        if cards == 6:
            assert stage.session.let_go(4) is None
        drawn(page, stage).get_by_text("gewinnt: 50 % ± 25").first.wait_for()
        assert page.locator(".people li").count() == cards
        for size_wh in ((1280, 720), (1366, 768), TV, (3840, 2160), (1024, 600), *tablets):
            resize(page, size_wh)
            assert left(page, BROKEN) == [], (cards, size_wh)
            assert left(page, outside) == [], (cards, size_wh)
            assert left(page, OVERLAPPING) == [], (cards, size_wh)


def test_a_free_seat_says_when_its_taker_plays(stage: Stage, open_page: OpenPage) -> None:
    stage.seat("Ada", "Ben", "Cleo")
    assert stage.session.start("base", 0) is None
    assert stage.session.let_go(2) is None
    page = ready(open_page("/table", size_wh=(1280, 720)))
    page.get_by_text("Free seat").wait_for()
    assert stage.roll(3, 4) is None
    page.get_by_text("Play in the next game").wait_for()
    assert page.get_by_text("Free seat").count() == 0


def test_an_early_end_names_no_leader_anywhere(stage: Stage, open_page: OpenPage) -> None:
    token = put(stage, "over")[0]
    said = stage.told[-1].text
    assert said.startswith("The game was ended early. It counts for nobody.")
    assert "wins" not in said
    for page in (ready(open_page("/table", size_wh=TV)), ready(open_page("/", token=token))):
        assert page.locator(".podium li").count() == 3
        assert page.locator(".podium .rank-1").count() == 0
        assert set(page.locator(".podium .rank").all_inner_texts()) == {""}
        assert page.get_by_text("wins with").count() == 0
        assert page.get_by_text("The game was ended early.").first.is_visible()


def test_the_end_leads_to_the_report(stage: Stage, open_page: OpenPage) -> None:
    put(stage, "action1")
    stage.play_out()
    page = ready(open_page("/table", size_wh=(1280, 720)))
    page.get_by_role("link", name="192.168.1.5:8000/games/1").wait_for()
    assert page.locator(".report-link img").evaluate("(image) => image.decode().then(() => true)")
    for size_wh in ((1280, 720), (820, 1180), TV):
        resize(page, size_wh)
        assert left(page, OVERLAPPING) == [], size_wh
        assert (
            left(
                page, "[document.documentElement.scrollHeight - innerHeight].filter((px) => px > 0)"
            )
            == []
        )


@pytest.mark.slow
def test_a_name_with_a_hyphen_has_two_lines_not_tiny_letters(
    stage: Stage, open_page: OpenPage
) -> None:
    stage.seat("Maximilian-Alexander", "Maximilian Alexander", "Ada", "Ben", "Cleo")
    assert stage.session.start("base", 0) is None
    page = ready(open_page("/table"))
    sizes = "all => all.slice(0, 2).map((node) => parseFloat(getComputedStyle(node).fontSize))"
    for size_wh in (TV, (800, 480), (820, 1180)):
        resize(page, size_wh)
        assert left(page, BROKEN) == [], size_wh
        hyphen_px, space_px = page.locator(".people bdi").evaluate_all(sizes)
        assert hyphen_px > 0.85 * space_px, size_wh


def test_a_closed_row_keeps_its_words_whole_on_a_phone(stage: Stage, open_page: OpenPage) -> None:
    close_red(stage, "de")
    page = ready(open_page("/table"))
    page.locator(".rows .is-closed").wait_for()
    for size_wh in (PHONE, PHONE_SMALL, (320, 568)):
        resize(page, size_wh)
        assert left(page, BROKEN) == [], size_wh
