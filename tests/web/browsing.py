"""What the browser's tests share: screens, a table put into a state, and what a page shows."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import cv2
import numpy as np
import pytest

from companion.engine import Phase
from tests.session.fakes import Stage
from tests.web.stand_in import a_roll, dice_in_tray, seat
from web.modules import static_path

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

OpenPage = Callable[..., "Page"]

PHONE_SMALL, PHONE, PHONE_FLAT, TV = (360, 640), (390, 844), (844, 390), (1920, 1080)
PI_DISPLAY = (800, 480)  # the seven inches made for the Raspberry Pi

PATIENCE_S = 30.0
"""How long a browser may take on a machine that has much else to do (own choice); a wait ends as
soon as what it waits for is there."""

STATES = ("lobby", "roll", "action1", "tapped", "action2", "over")

VARIANTS = ("base", "big_points")


BROKEN = """() => {
  const found = [];
  const roots = '.rows, .people, .headline, .said, .tray-text, .podium, .host-scores';
  for (const root of document.querySelectorAll(roots)) {
    const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let node = texts.nextNode(); node; node = texts.nextNode()) {
      for (const { 0: word, index } of node.data.matchAll(/[\\p{L}]+/gu)) {
        const range = document.createRange();
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        if (new Set([...range.getClientRects()].map((rect) => rect.top)).size > 1) found.push(word);
      }
    }
  }
  return found;
}"""
"""Words that go on in the next line."""

OVERFLOWING = """() => {
  const out = (node, box) => {
    const r = node.getBoundingClientRect();
    return r.bottom > box.bottom + 1 || r.right > box.right + 1 || r.top < box.top - 1;
  };
  const screen = { top: 0, bottom: innerHeight, right: innerWidth };
  const news = document.querySelector('.news');
  const found = [...document.querySelectorAll('.news, .people li, .rows li, .top *')]
    .filter((node) => node.getClientRects().length && out(node, screen));
  const parts = [...news.children].filter((node) => node.getClientRects().length);
  found.push(...parts.filter((node) => out(node, news.getBoundingClientRect())));
  const lines = [...document.querySelectorAll('.headline[data-kind=roll]')]
    .filter((node) => node.scrollHeight > 1.5 * parseFloat(getComputedStyle(node).fontSize));
  return [...found, ...lines].map((node) => node.className || node.tagName);
}"""


OVERLAPPING = """() => {
  const parts = [...document.querySelectorAll('.top, .picture, .tray-text, .news, .rows, .people')]
    .filter((node) => node.getClientRects().length);
  const found = [];
  for (const [i, one] of parts.entries()) for (const two of parts.slice(i + 1)) {
    const [a, b] = [one.getBoundingClientRect(), two.getBoundingClientRect()];
    const isApart = a.right <= b.left + 1 || b.right <= a.left + 1
      || a.bottom <= b.top + 1 || b.bottom <= a.top + 1;
    if (!isApart) found.push(`${one.className} ${two.className}`);
  }
  const wide = document.documentElement.scrollWidth > innerWidth ? ['page'] : [];
  return [...found, ...wide];
}"""
"""Parts of the table view that lie on each other, and a page that scrolls sideways."""


BEYOND = """() => {
  const px = document.documentElement.scrollHeight - innerHeight;
  return px > 0 ? [`${px} px`] : [];
}"""
"""How far the page scrolls."""


AXE = """async (rules) => {
  const only = rules.length ? {runOnly: rules} : {};
  const {violations} = await axe.run({resultTypes: ['violations'], ...only});
  const places = (nodes) => JSON.stringify(nodes.map((node) => node.target));
  return violations.map(({id, nodes}) => `${id}: ${places(nodes)}`);
}"""
"""Violations only: copying all that axe returns takes longer than its search."""


MODULES = static_path()
"""Where a script imports the modules from that the page itself runs."""


CATCH_UP = """async ([version, patienceMs]) => {
  const { latest } = await import('MODULES/lib/live.js');
  const until = Date.now() + patienceMs;
  while ((latest()?.version ?? -1) < version) {
    if (Date.now() > until) throw new Error(`the page shows ${latest()?.version} of ${version}`);
    await new Promise((done) => setTimeout(done, 10));
  }
}""".replace("MODULES", MODULES)
"""Ends when the page has the snapshot of a version; it draws snapshots at once."""


CODE = """async (css) => {
  const code = document.querySelector(css);
  await code.decode();
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 600;
  const pen = canvas.getContext('2d');
  pen.fillStyle = 'white';
  pen.fillRect(0, 0, 600, 600);
  pen.drawImage(code, 30, 30, 540, 540);
  return canvas.toDataURL().split(',')[1];
}"""
"""A QR code's picture as the page has it, as PNG in base64."""


TAP_TWICE = """async (button) => {
  if (!button.isConnected) return false;
  button.scrollIntoView({ block: 'nearest' });
  const { x, y, width, height } = button.getBoundingClientRect();
  const tap = () => document.elementFromPoint(x + width / 2, y + height / 2)?.click();
  tap();
  await new Promise((done) => setTimeout(done, 250));
  tap();
  return true;
}"""
"""Both taps by the page's own clock: on a busy machine the second one would come too late.
False if the button was drawn anew after it was found."""


READ_OUT = """() => {
  window.readOut = [];
  for (const node of document.querySelectorAll('[aria-live], [role=status], [role=alert]')) {
    new MutationObserver(() => readOut.push(node.textContent))
      .observe(node, { subtree: true, childList: true, characterData: true });
  }
}"""
"""Collect what a screen reader would say."""


RECORD_VIBRATION = """() => {
  window.buzzes = [];
  navigator.vibrate = (pattern) => window.buzzes.push(pattern);
}"""


def scanned(page: Page, css: str) -> str:
    """What a phone reads from a code on the page."""
    png = np.frombuffer(base64.b64decode(page.evaluate(CODE, css)), np.uint8)
    grey = cv2.imdecode(png, cv2.IMREAD_GRAYSCALE)
    assert grey is not None
    return str(cv2.QRCodeDetector().detectAndDecode(grey)[0])


def put(stage: Stage, state: str, variant: str = "base") -> list[str]:
    """Bring a table of three into a state; the players' tokens."""
    tokens = [seat(stage, name).token for name in ("Ada", "Benjamin", "Cleo")]
    if state == "lobby":
        return tokens
    _begin(stage, variant)
    if state == "roll":
        stage.session.see(dice_in_tray(a_roll(3, 4), tilted="green"))
        return tokens
    _confirm(stage)
    if state == "tapped":
        assert stage.answer(0, "R7", done=False) == ""
    if state == "action2":
        _pass_all(stage)
    if state == "over":
        assert stage.session.end() is None
    return tokens


def walk(stage: Stage, *states: str, variant: str = "base") -> Iterator[str]:
    """Bring a table, which has its players, from state to state; gives the wanted ones."""
    for state in STATES:
        if state == "roll":
            _begin(stage, variant)
            stage.session.see(dice_in_tray(a_roll(3, 4), tilted="green"))
        if state == "action1":
            _confirm(stage)
        if state == "tapped":
            assert stage.answer(0, "R7", done=False) == ""
        if state == "action2":
            _pass_all(stage)
        if state == "over":
            assert stage.session.end() is None
        if not states or state in states:
            yield state


def variants(stage: Stage, state: str) -> Iterator[str]:
    """Bring a table, which has its players, into a state in every variant; gives their names."""
    for variant in VARIANTS:
        for _ in walk(stage, state, variant=variant):
            yield variant


def _begin(stage: Stage, variant: str) -> None:
    assert stage.session.start(variant, 0) is None
    for low, high in ((1, 2), (2, 2), (6, 6)):
        assert stage.roll(low, high) is None
        for player in range(3):
            total = low + high
            box = f"{'RYR'[player]}{total}" if total < 12 else None
            assert stage.answer(player, box) == ""
        if stage.state.phase is Phase.ACTION2:
            assert stage.answer(stage.state.active, None) == ""


def _confirm(stage: Stage) -> None:
    stage.session.see(dice_in_tray(a_roll(3, 4)))
    assert stage.session.press() is None
    stage.session.see(dice_in_tray(a_roll(3, 4), status="old"))


def _pass_all(stage: Stage) -> None:
    for player in range(3):
        assert stage.answer(player, None) == ""


def before_the_locks(stage: Stage, *rows: str) -> None:
    """White 2 to 6, crossed by each player in the row named for them (or in none); then 12."""
    for total in (2, 3, 4, 5, 6):
        stage.roll(total // 2, total - total // 2)
        for player, row in enumerate(rows):
            stage.answer(player, f"{row}{total}" if row else None)
        stage.answer(stage.state.active, None)
    stage.roll(6, 6)


def close_red(stage: Stage, language: str) -> None:
    """Five play; the first two have just closed the red row together."""
    stage.session.change_settings(voice={"language": language})
    for name in ("Ada Wilhelmina", "Benjamin", "Cleo", "Dieter", "Maximilian"):
        seat(stage, name)
    stage.session.start("base", 0)
    before_the_locks(stage, *"RRYYY")
    for player in range(5):
        stage.answer(player, "R12" if player < 2 else None)
    stage.time.pass_s(6.0)


def violations(page: Page, *rules: str) -> list[str]:
    """What axe finds on the page, by all its rules or only some."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    if not page.evaluate("Boolean(window.axe)"):
        page.evaluate(axe.Axe().axe_script)
    found: list[str] = page.evaluate(AXE, list(rules))
    return found


def ready(page: Page) -> Page:
    """The page once it shows the table's state."""
    page.locator(
        "main:not([hidden]) :is(bdi, .box, #name, .address, #game-text:not(:empty)):visible"
    ).first.wait_for()
    return page


def drawn(page: Page, stage: Stage) -> Page:
    """The page once it has drawn the table's newest state."""
    page.evaluate(CATCH_UP, [stage.session.view().version, 1_000 * PATIENCE_S])
    return page


def left(page: Page, script: str) -> list[str]:
    """What a script finds once the page has made its texts fit: at best nothing."""
    for _ in range(40):
        if not page.evaluate(script):
            return []
        page.wait_for_timeout(50)
    found: list[str] = page.evaluate(script)
    return found


def resize(page: Page, size_wh: tuple[int, int]) -> None:
    """Give the page a window of another size."""
    page.set_viewport_size({"width": size_wh[0], "height": size_wh[1]})


def open_part(page: Page, name: str) -> None:
    """Open a part of the host's page: Now, Players or Settings."""
    page.get_by_role("tab", name=name).click()


def sit_on_a_shared_tablet(page: Page) -> None:
    """Ada and Grandma sit down on one device."""
    page.get_by_label("Your name").fill("Ada")
    page.get_by_role("button", name="Take a seat").click()
    page.get_by_text("Add a player on this device").click()
    page.get_by_label("Their name").fill("Grandma")
    page.get_by_role("button", name="Take a seat").click()
    page.get_by_text("Welcome, Ada and Grandma!").wait_for()


def start_on_a_shared_tablet(page: Page, stage: Stage) -> None:
    """Ada and Grandma sit down on one device and begin; white 7 is on the table, Ada's turn."""
    if not names(stage):
        sit_on_a_shared_tablet(page)
    page.get_by_role("button", name="Start the game").click()
    page.get_by_role("button", name="Throw", exact=True).wait_for()
    stage.session.see(dice_in_tray(a_roll(3, 4)))
    # a reply that arrives after the test has cut the line would pass for a connection
    with page.expect_request_finished(lambda request: request.url.endswith("/api/press")):
        page.get_by_role("button", name="Confirm").click()
    page.locator("#status", has_text="Ada: White 7").wait_for()


def tap_twice(page: Page, button: Locator) -> None:
    """Two taps on one spot, however the page changes after the first."""
    while not button.evaluate(TAP_TWICE):
        page.wait_for_timeout(50)
    page.wait_for_timeout(300)


def wait_until(page: Page, holds: Callable[[], bool]) -> None:
    """Let the page go on until something holds."""
    until_s = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < until_s, "it never came true"
        page.wait_for_timeout(50)


def comes_true(page: Page, script: str, arg: object = None) -> None:
    """Let the page go on until a script gives something true.

    Playwright's own `wait_for_function` evaluates text inside the page, which its policy forbids.
    """
    wait_until(page, lambda: bool(page.evaluate(script, arg)))


def stop_the_clock(page: Page) -> None:
    """Let no timer of a page end until a test runs its clock on, however slow the machine."""
    page.clock.install()
    page.clock.pause_at(page.evaluate("Date.now() + 1_000"))


def cut_off(page: Page) -> None:
    """Take the line from a page, until the page shows it.

    Chromium lets an open stream go on, and what it says counts as a connection.
    """
    page.context.set_offline(True)
    shown = "dispatchEvent(new Event('offline')), !document.getElementById('offline').hidden"
    comes_true(page, f"() => ({shown})")


def names(stage: Stage) -> list[str]:
    """Who sits at the table, in playing order."""
    return [seat.name for seat in stage.session.view().table.seats]
