"""The pages' pure modules, imported and called in a browser."""

from __future__ import annotations

from typing import Any

import pytest

from tests.web.browsing import OpenPage

pytestmark = [pytest.mark.browser]

Call = Any
"""call(module, expression): the value of an expression over a module's exports, as `m`."""


@pytest.fixture
def call(open_page: OpenPage) -> Call:
    page = open_page("/")
    page.locator("#name").wait_for()

    def run(module: str, expression: str, *values: Any) -> Any:
        code = f"async (v) => {{ const m = await import('/static/{module}'); return {expression} }}"
        return page.evaluate(code, list(values))

    return run


class TestWords:
    def test_placeholders_and_forms_are_filled(self, call: Call) -> None:
        assert call("lib/words.js", "m.t('die', { colour: 'red', value: 4 })") == "red 4"
        assert call("lib/words.js", "m.listOf(['Ada', 'Ben', 'Cleo'])") == "Ada, Ben and Cleo"
        assert call("lib/words.js", "m.listOf(['Ada'])") == "Ada"
        assert call("lib/words.js", "m.listOf([])") == ""

    def test_a_negative_number_has_a_minus_sign(self, call: Call) -> None:
        assert call("lib/words.js", "m.numeral(-5)") == "\u22125"

    def test_an_unknown_text_is_an_error(self, call: Call) -> None:
        failure = call(
            "lib/words.js", "(() => { try { m.t('no.such') } catch (e) { return e.message } })()"
        )
        assert "no.such" in failure

    def test_dice_are_named_with_their_colours(self, call: Call) -> None:
        dice = [{"colour": "white", "value": 3}, {"colour": "blue", "value": 6}]
        assert call("lib/words.js", "m.pairOf(v[0])", dice) == "white 3 + blue 6"


class TestDice:
    @pytest.mark.parametrize("value", range(1, 7))
    def test_a_die_has_as_many_pips_as_its_value(self, call: Call, value: int) -> None:
        count = "m.die('red', v[0]).querySelectorAll('circle').length"
        assert call("lib/dice.js", count, value) == value

    def test_a_die_without_a_value_is_hidden_from_screen_readers(self, call: Call) -> None:
        assert call("lib/dice.js", "m.die('red').getAttribute('aria-hidden')") == "true"


class TestStorage:
    def test_a_value_is_kept_when_the_browser_refuses_storage(self, call: Call) -> None:
        refused = """(() => {
          Storage.prototype.setItem = () => { throw new Error('refused'); };
          m.remember('points', 'hidden');
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
