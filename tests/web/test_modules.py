"""The pages' pure modules, imported and called in a browser."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.session.fakes import Stage
from tests.web.browsing import MODULES
from web import create_app
from web.server import Server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

Call = Any
"""call(module, expression): the value of an expression over a module's exports, as `m`."""


@pytest.fixture(scope="module")
def page(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """One page for all: these modules keep nothing that another test could see."""
    stage = Stage(tmp_path_factory.mktemp("table"))
    with Server(create_app(stage.session), "127.0.0.1", 0) as server:
        context = chromium.new_context()
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{server.port}/")
        page.locator("#name").wait_for()
        yield page
        context.close()
    stage.store.close()


@pytest.fixture
def call(page: Page) -> Call:

    def run(module: str, expression: str, *values: Any) -> Any:
        code = (
            f"async (v) => {{ const m = await import('{MODULES}/{module}'); return {expression} }}"
        )
        return page.evaluate(code, list(values))

    return run


def test_a_reply_that_was_cut_short_did_not_arrive(page: Page, call: Call) -> None:
    page.route("**/api/dice", lambda route: route.fulfill(status=200, body='{"rolls":'), times=1)
    assert call("lib/live.js", "await m.get('/api/dice')") is None
    assert call("lib/live.js", "(await m.get('/api/dice')).ok") is True


def test_a_full_storage_does_not_bring_an_old_value_back(page: Page, call: Call) -> None:
    call("lib/storage.js", "m.remember('seen', 'old')")
    page.evaluate("() => { Storage.prototype.setItem = () => { throw new DOMException() } }")
    call("lib/storage.js", "m.remember('seen', 'new')")
    assert call("lib/storage.js", "m.recall('seen')") == "new"


def test_a_voice_gets_words_it_can_read(call: Call) -> None:
    text = "Weiß 7. mia: −5 Punkte. Y a\u2011t\u2011il 3 − 2?"
    spoken = call("table/sound.js", "m.asSpoken(v[0])", text)
    assert spoken == "Weiß 7.\nmia: minus 5 Punkte.\nY a-t-il 3 − 2?"


class TestWords:
    def test_placeholders_and_forms_are_filled(self, call: Call) -> None:
        assert call("lib/words.js", "m.t('die', { colour: 'red', value: 4 })") == "red 4"
        assert call("lib/words.js", "m.listOf(['Ada', 'Ben', 'Cleo'])") == "Ada, Ben and Cleo"
        assert call("lib/words.js", "m.listOf(['Ada'])") == "Ada"
        assert call("lib/words.js", "m.listOf([])") == ""
        assert call("lib/words.js", "m.choiceOf(['a', 'b', 'c'])") == "a, b or c"

    def test_a_negative_number_has_a_minus_sign(self, call: Call) -> None:
        assert call("lib/words.js", "m.numeral(-5)") == "\u22125"
        assert call("lib/words.js", "m.numeral(-0)") == "0"
        assert call("lib/words.js", "m.numeral(1234)") == "1234"  # as the announcements say it

    def test_an_unknown_text_is_an_error(self, call: Call) -> None:
        failure = call(
            "lib/words.js", "(() => { try { m.t('no.such') } catch (e) { return e.message } })()"
        )
        assert "no.such" in failure

    def test_dice_are_named_with_their_colours(self, call: Call) -> None:
        dice = [{"colour": "white", "value": 3}, {"colour": "blue", "value": 6}]
        assert call("lib/words.js", "m.pairOf(v[0])", dice) == "white 3 + blue 6"


def test_everybody_is_asked_to_throw_for_a_bot(call: Call) -> None:
    game = {"phase": "roll", "active": 1, "players": [{"seat": 1, "bot": True}]}

    def told(*, typed: bool, confirmable: bool) -> str:
        status = "ok" if confirmable else "empty"
        tray = {"status": status, "confirmable": confirmable, "dice": []}
        state = {"game": game, "tray": tray, "table": {"typed_rolls": typed}, "me": {"seats": [0]}}
        return str(
            call("play/status.js", "m.statusOf(v[0], { seat: 0 }, null, () => 'Bot 1')", state)
        )

    assert told(typed=True, confirmable=False) == "Throw the dice for Bot 1 and enter them."
    assert told(typed=False, confirmable=False) == "Throw the dice for Bot 1."
    assert told(typed=False, confirmable=True) == "Dice read: press the button to confirm."


def test_the_last_answer_is_worded_before_the_table_replies_as_after(call: Call) -> None:
    red = {"key": "R", "name": "red", "boxes": [{"token": "R7", "number": 7}]}
    game = {"phase": "action1", "active": 0, "closing": [], "players": [], "rows": [red]}
    sent = {"game": game | {"waiting_for": [0], "closes_in_s": None}, "table": {"take_back": True}}
    settled = {"game": game | {"waiting_for": [], "closes_in_s": 3}, "table": {"take_back": True}}
    passed, tapped = {"box": None, "done": True}, {"box": "R7", "done": False}
    status = "v.slice(0, 2).map((s) => m.statusOf(s, v[3], v[2], () => 'Ben'))"
    dice = [{"colour": "white", "value": 3}, {"colour": "white", "value": 4}]
    mine = {"seat": 0, "made_by": {"R7": dice}}
    texts = call("play/status.js", status, sent, settled, passed, mine)
    assert texts == ["You pass. You can still change your answer."] * 2
    texts = call("play/status.js", status, sent, settled, tapped, mine)
    assert texts == ["Red 7 (white 3 + white 4) counts in a moment. Tap again to undo."] * 2


def test_a_restart_of_the_table_sets_the_countdown_anew(call: Call) -> None:
    seconds = """(() => {
      const countdown = new m.Countdown(() => {});
      return v.map((snapshot) => {
        countdown.follow(snapshot);
        return countdown.seconds;
      });
    })()"""
    snapshots = [
        {"epoch": epoch, "version": 5, "game": {"closes_in_s": left}}
        for epoch, left in (("a-1", 1.0), ("a-1", 4.0), ("a-2", 4.0))
    ]
    assert call("lib/countdown.js", seconds, *snapshots) == [1, 1, 4]


def test_two_who_close_a_row_are_named_in_one_sentence(call: Call) -> None:
    rows = [{"key": "R", "word": "row.red"}, {"key": "Y", "word": "row.yellow"}]
    closing = [{"seat": seat, "row": row} for seat, row in ((1, "R"), (2, "Y"), (3, "R"))]
    game = {"phase": "action1", "active": 0, "closing": closing, "players": [], "rows": rows}
    state = {"game": game | {"waiting_for": [0], "closes_in_s": None}, "table": {}}
    status = "m.statusOf(v[0], { seat: 0 }, v[1], (seat) => 'ABCD'[seat])"
    text = call("play/status.js", status, state, {"box": None, "done": True})
    assert text.startswith("B and D are closing red. C is closing yellow. ")


class TestDice:
    def test_a_die_has_as_many_pips_as_its_value(self, call: Call) -> None:
        count = "v.map((value) => m.die('red', value).querySelectorAll('circle').length)"
        assert call("lib/dice.js", count, *range(1, 7)) == [1, 2, 3, 4, 5, 6]

    def test_a_die_without_a_value_is_hidden_from_screen_readers(self, call: Call) -> None:
        assert call("lib/dice.js", "m.die('red').getAttribute('aria-hidden')") == "true"


def die(colour: str, value: int, x: float, y: float, half: float = 20) -> dict[str, Any]:
    """A die of a reading."""
    corners = [[x + dx * half, y + dy * half] for dx, dy in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    read = {"confidence": 0.99, "cocked": False, "in_tray": True, "by_hand": False}
    return {"colour": colour, "value": value, "centre": [x, y], "corners": corners, **read}


COLOURS = ("white", "white", "red", "yellow", "green", "blue")


def dice_at(points: list[tuple[float, float]]) -> list[dict[str, Any]]:
    """Six dice, two white ones first; white 3 and 4, the coloured ones 3."""
    values = (3, 4, 3, 3, 3, 3)
    return [die(c, v, *at) for c, v, at in zip(COLOURS, values, points, strict=True)]


RING = [(100.0 * n + 70, 240.0) for n in range(6)]


def a_game(white: list[int], **more: Any) -> dict[str, Any]:
    colour = dict.fromkeys(("red", "yellow", "green", "blue"), 3)
    roll = {"white": white, "colour": colour}
    return {"over": False, "action": 1, "typed": False, "roll": roll, **more}


class TestOverlay:
    def values(self, call: Call, status: str, game: dict[str, Any]) -> list[int]:
        tray = {"status": status, "dice": dice_at(RING)}
        found = call("lib/overlay.js", "m.countedDice(v[0], v[1]).map((d) => d.value)", tray, game)
        return list(found)

    def test_a_corrected_roll_shows_its_new_values(self, call: Call) -> None:
        assert self.values(call, "old", a_game([4, 5])) == [5, 4, 3, 3, 3, 3]
        assert self.values(call, "old", a_game([3, 4])) == [3, 4, 3, 3, 3, 3]

    def test_a_typed_roll_has_no_labels(self, call: Call) -> None:
        assert self.values(call, "old", a_game([3, 4], typed=True)) == []

    def test_dice_thrown_again_have_no_labels_of_the_open_roll(self, call: Call) -> None:
        assert self.values(call, "ok", a_game([1, 1])) == []

    def test_before_a_roll_the_reading_is_labelled(self, call: Call) -> None:
        assert self.values(call, "ok", a_game([1, 1], action=0)) == [3, 4, 3, 3, 3, 3]

    def test_labels_are_large_and_never_overlap(self, call: Call) -> None:
        draw = random.Random(36)
        words = list(COLOURS)
        for _ in range(30):
            cells = draw.sample([(x, y) for x in range(8) for y in range(6)], 6)
            dice = dice_at([(80.0 * x + 40, 80.0 * y + 40) for x, y in cells])
            labels = call("lib/overlay.js", "m.placeLabels(v[0], [640, 480], v[1])", dice, words)
            boxes = [
                (label["x"], label["y"], label["size"] * 0.3 * (1.6 + 0.72 * len(word)))
                for label, word in zip(labels, words, strict=True)
            ]
            size = labels[0]["size"]
            assert size >= 0.03 * 480
            for i, (x, y, half) in enumerate(boxes):
                assert half <= x + 0.1
                assert x <= 640.1 - half
                for other_x, other_y, other in boxes[i + 1 :]:
                    apart = abs(x - other_x) >= half + other - 0.1
                    assert apart or abs(y - other_y) >= 1.2 * size - 0.1, dice


class TestStorage:
    def test_a_value_is_kept_when_the_browser_refuses_storage(self, call: Call) -> None:
        refused = """(() => {
          const { setItem } = Storage.prototype;
          Storage.prototype.setItem = () => { throw new Error('refused'); };
          m.remember('points', 'hidden');
          Storage.prototype.setItem = setItem;
          return m.recall('points');
        })()"""
        assert call("lib/storage.js", refused) == "hidden"


class TestDom:
    def test_a_redraw_keeps_the_focus_on_the_same_button(self, call: Call) -> None:
        focused = """(() => {
          const root = m.el('div');
          document.body.append(root);
          const buttons = (names) => names.map((text) => m.el('button', { text }));
          m.redraw(root, 1, () => buttons(['one', 'two']));
          root.lastChild.focus();
          m.redraw(root, 2, () => buttons(['zero', 'one', 'two']));
          return document.activeElement.textContent;
        })()"""
        assert call("lib/dom.js", focused) == "two"

    def test_nothing_is_redrawn_while_its_data_stay_the_same(self, call: Call) -> None:
        drawn = """(() => {
          const root = m.el('div');
          let count = 0;
          const make = () => [m.el('i', { text: ++count })];
          for (const data of [[1], [1], [2]]) m.redraw(root, data, make);
          return root.textContent;
        })()"""
        assert call("lib/dom.js", drawn) == "2"
