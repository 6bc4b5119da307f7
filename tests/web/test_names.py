"""Names of five players on one line of a phone."""

from __future__ import annotations

import pytest

from companion.messages.catalogue import LANGUAGES
from tests.session.fakes import Stage
from tests.web.browsing import BROKEN, PHONE, PHONE_SMALL, OpenPage, drawn, left, ready, resize
from tests.web.stand_in import seat
from tests.web.test_for_everybody import LARGE_TYPE, settle

FOLDED = (280, 653)


@pytest.mark.parametrize(
    ("names", "size_wh", "cut"),
    [
        (("Ada", "Maximilian", "Wilhelmine", "Oma Gerda", "Jo"), PHONE, []),
        (("Ada Wilhelmina", "Benjamin", "Cleo", "Dieter", "Maximilian"), PHONE, []),
        (
            ("Ada", "Anna Wilhelmina Mia", "Cleo", "Dieter", "Maximilian Alexander"),
            PHONE_SMALL,
            ["Anna Wilhelmina Mia", "Maximilian Alexander"],
        ),
    ],
)
def test_only_long_names_are_cut_where_not_all_fit(
    stage: Stage,
    open_page: OpenPage,
    names: tuple[str, ...],
    size_wh: tuple[int, int],
    cut: list[str],
) -> None:
    tokens = [seat(stage, name).token for name in names]
    stage.session.start("base", 0)
    page = ready(open_page("/", size_wh=size_wh, token=tokens[0]))
    page.locator(".players bdi").nth(4).wait_for()
    found = page.evaluate(
        """() => [...document.querySelectorAll('.players bdi')]
          .filter((node) => node.scrollWidth > node.clientWidth)
          .filter((node) => getComputedStyle(node).textOverflow === 'ellipsis')
          .map((node) => node.textContent)"""
    )
    assert found == cut


CUT = """() => [...document.querySelectorAll('.players bdi')]
  .filter((node) => node.scrollWidth > node.clientWidth).map((node) => node.textContent)"""


def test_no_name_is_cut_beside_free_space(stage: Stage, open_page: OpenPage) -> None:
    names = ("Großmutter Wilhelmin", "Opa", "Jean-Baptiste Émile")
    tokens = [seat(stage, name).token for name in names]
    stage.session.start("base", 0)
    page = ready(open_page("/", token=tokens[0]))
    page.locator(".players bdi").nth(2).wait_for()
    for size_wh in ((768, 1024), (1280, 800)):
        resize(page, size_wh)
        assert left(page, CUT) == [], size_wh


def test_at_200_percent_truncated_names_end_in_an_ellipsis(
    stage: Stage, open_page: OpenPage
) -> None:
    tokens = [seat(stage, name).token for name in ("Ada", "Ben", "Cleo", "Dieter", "Sandra")]
    stage.session.start("base", 0)
    page = ready(open_page("/", size_wh=PHONE, token=tokens[0]))
    page.evaluate(LARGE_TYPE)
    cut = page.evaluate(
        """() => [...document.querySelectorAll('.players bdi')]
          .filter((node) => node.scrollWidth > node.clientWidth)
          .map((node) => getComputedStyle(node).textOverflow)"""
    )
    assert cut
    assert set(cut) == {"ellipsis"}
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_taking_back_fits_its_button_in_german(stage: Stage, open_page: OpenPage) -> None:
    tokens = [seat(stage, name).token for name in ("Ada", "Ben")]
    stage.session.start("base", 0)
    stage.roll(3, 4)
    for player in range(2):
        stage.answer(player, None, revocable=True)
    page = open_page("/?language=de", size_wh=(320, 568), token=tokens[0])
    button = page.get_by_role("button", name="Zurücknehmen")
    button.wait_for()
    assert button.evaluate("(node) => node.scrollWidth <= node.clientWidth")


@pytest.mark.slow
def test_a_name_of_one_long_word_fits_a_folded_phone(stage: Stage, open_page: OpenPage) -> None:
    own, other = seat(stage, "W" * 20), seat(stage, "Ben")
    phones = [open_page("/", size_wh=FOLDED, token=each.token) for each in (own, other)]
    pages = [*phones, open_page("/table", size_wh=FOLDED), open_page("/host", size_wh=FOLDED)]
    for action in (0, 1, 2):
        if action == 1:
            stage.session.start("base", 0)
            stage.roll(3, 4)
        if action == 2:
            for player in range(2):
                stage.answer(player, None)
        for page in pages:
            ready(drawn(page, stage))
            settle(page)
            beyond = page.evaluate(
                """() => [...document.querySelectorAll('.sum, .place, .picture, button')]
                  .filter((node) => node.getClientRects().length)
                  .map((node) => node.getBoundingClientRect())
                  .filter(({ left, right }) => left < 0 || right > innerWidth).length"""
            )
            assert beyond == 0, (action, page.url)


def test_a_short_name_loses_no_letter_to_long_ones(stage: Stage, open_page: OpenPage) -> None:
    names = ("Maximilian-Alexander", "Wilhelmina Grünwald", "Konstantin von Hofer", "Ömür", "Ben")
    tokens = [seat(stage, name).token for name in names]
    stage.session.start("base", 0)
    page = ready(open_page("/", token=tokens[3]))
    page.locator(".players bdi").nth(4).wait_for()
    exactly = """() => [...document.querySelectorAll('.players bdi')].filter((node) => {
      const text = new Range();
      text.selectNodeContents(node);
      return text.getBoundingClientRect().width > node.getBoundingClientRect().width;
    }).map((node) => node.textContent)"""
    for size_wh in (PHONE, (740, 360), (800, 480), (820, 1180)):
        resize(page, size_wh)
        assert not {"Ömür", "Ben"} & set(page.evaluate(exactly)), size_wh


@pytest.mark.parametrize("language", ["de", "it"])
def test_a_host_reads_whole_names_on_a_small_phone(
    stage: Stage, open_page: OpenPage, language: str
) -> None:
    stage.seat("Maximilian-Alexander", "Wilhelmina Grünwald", "Konstantin von Hofer")
    stage.session.start("base", 0)
    stage.roll(3, 4)
    page = ready(open_page(f"/host?language={language}", size_wh=(320, 568)))
    assert page.locator(".host-scores .tool").count() == 3
    assert left(page, BROKEN) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_countdown_moves_no_box_on_a_small_phone(
    stage: Stage, open_page: OpenPage, language: str
) -> None:
    tokens = stage.seat("Ada", "Ben")
    stage.session.start("base", 0)
    stage.roll(3, 4)
    page = ready(open_page(f"/?language={language}", size_wh=(320, 568), token=tokens[0]))
    box = page.locator("[data-token=R7]")
    before = box.bounding_box()
    assert stage.answer(1, None) == ""
    box.click()
    page.locator("#done.is-counting:not(.is-back)", has_text="(").wait_for()
    assert box.bounding_box() == before
