"""What a device does for itself: it stays awake, is light or dark, speaks, and fills the screen."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from companion.tray import TrayStatus, TrayView
from tests.session.fakes import Stage
from tests.web.browsing import (
    MODULES,
    PHONE,
    PHONE_SMALL,
    TV,
    OpenPage,
    comes_true,
    put,
    ready,
    stop_the_clock,
    violations,
)
from tests.web.stand_in import a_roll, dice_in_tray

WITHOUT_HTTPS = "delete Navigator.prototype.wakeLock;"

PLAYS = """() => {
  const video = document.querySelector('video');
  return video && !video.paused && video.readyState >= 2 && video.currentTime > 0;
}"""

HAS_VOICES = """
  window.spoken = [];
  let voices = [];
  window.SpeechSynthesisUtterance = function (text) { this.text = text; };
  Object.defineProperty(window, 'speechSynthesis', { value: {
    getVoices: () => {
      const known = voices;
      voices = [{ lang: 'de-DE' }, { lang: 'en-GB' }];
      return known;
    },
    cancel: () => window.cancelled = window.spoken.length,
    speak: ({ text, voice }) => text && window.spoken.push(`${voice.lang} ${text}`),
  } });
"""
"""As in Firefox and Chromium, which know their voices some time after they were first asked."""

WANTS_A_TAP = """
  let isUnlocked = false;
  addEventListener('click', () => {
    window.inTap = true;
    setTimeout(() => window.inTap = false);
  }, true);
  window.spoken = [];
  window.SpeechSynthesisUtterance = function (text) { this.text = text; };
  Object.defineProperty(window, 'speechSynthesis', { value: {
    getVoices: () => [{ lang: 'en-GB' }],
    cancel: () => {},
    speak: ({ text }) => {
      isUnlocked ||= window.inTap;
      if (isUnlocked && text) window.spoken.push(text);
    },
  } });
"""
"""As on an iPhone, which is silent until it has spoken in a tap."""

IS_MUTE_UNTIL_A_TAP = """
  localStorage.setItem('table-sound', 'on');
  window.tones = 0;
  const allowed = [];
  addEventListener('click', () => allowed.forEach((go) => go()), true);
  const node = () => ({ connect: (to) => to, start: () => window.tones += 1, stop: () => {},
    frequency: {}, gain: { setValueAtTime: () => {}, exponentialRampToValueAtTime: () => {} } });
  window.AudioContext = class {
    currentTime = 0;
    resume = () => new Promise((go) => allowed.push(go));
    createOscillator = node;
    createGain = node;
  };
"""
"""As a browser that lets no page sound before somebody taps on it."""

KEEPS_SCREEN_ON = """
  window.isKeptOn = false;
  navigator.wakeLock.request = async () => {
    window.isKeptOn = true;
    return new EventTarget();
  };
"""

POINTER = "getComputedStyle(document.querySelector('h1')).cursor"

SCHEME = "getComputedStyle(document.documentElement).colorScheme"


def test_a_phone_stays_awake_while_a_game_runs_and_can_be_dark(
    stage: Stage, open_page: OpenPage
) -> None:
    tokens = put(stage, "action1")
    page = open_page("/", size_wh=PHONE_SMALL, token=tokens[1])
    page.add_init_script(WITHOUT_HTTPS)
    page.reload()
    ready(page).locator("#menu").click()  # some browsers only play after a tap
    comes_true(page, PLAYS)
    assert not page.locator("#menu-awake").is_visible()
    assert page.get_by_role("link", name="Rules").is_visible()
    with page.expect_navigation():
        page.get_by_label("Appearance").select_option("Dark")
    ready(page).locator("#menu").click()
    assert page.evaluate(SCHEME) == "dark"
    assert violations(page) == []
    page.get_by_role("button", name="Back to my sheet").click()
    comes_true(page, PLAYS)
    assert stage.session.end() is None
    comes_true(page, "() => document.querySelector('video').paused")


def test_a_choice_of_colours_or_language_waits_for_a_table_that_is_away(
    open_page: OpenPage,
) -> None:
    page = open_page("/")
    dark = "head:has([name=color-scheme][content=dark])"
    for name, value, then in (("theme", "dark", dark), ("language", "de", "[lang=de]")):
        page.route("**/*", lambda route: route.abort())
        page.locator(f"#{name}").select_option(value)
        page.wait_for_timeout(1_000)
        assert page.locator("#name").is_visible()
        page.unroute_all()
        page.locator(then).wait_for(state="attached")


def test_the_tables_own_screen_stays_on_and_shows_no_pointer(open_page: OpenPage) -> None:
    page = open_page("/table", size_wh=TV)
    page.add_init_script(KEEPS_SCREEN_ON)
    page.clock.install()
    page.reload()
    ready(page)
    comes_true(page, "window.isKeptOn")
    assert page.evaluate(POINTER) == "none"
    stop_the_clock(page)
    page.mouse.move(300, 300)
    comes_true(page, f"{POINTER} !== 'none'")
    page.clock.run_for(3_100)
    assert page.evaluate(POINTER) == "none"


def test_a_table_view_speaks_once_allowed_and_fills_the_screen(
    stage: Stage, open_page: OpenPage
) -> None:
    put(stage, "roll")
    page = open_page("/table", size_wh=TV)
    page.add_init_script(HAS_VOICES)
    page.reload()
    ready(page)
    stage.session.see(dice_in_tray(a_roll(3, 4)))
    assert stage.session.press() is None
    page.locator(".headline", has_text="7").wait_for()
    assert page.evaluate("window.spoken") == []
    page.get_by_role("button", name="Sound").click()
    page.get_by_role("button", name="Sound", pressed=True).wait_for()
    assert stage.answer(0, "R7") == ""
    assert stage.correct(3, 5) is None
    page.get_by_text("red 7 no longer fits").first.wait_for()
    stage.session.change_settings(voice={"say": "sum"})
    assert stage.correct(4, 5) is None
    page.locator(".headline", has_text="9").wait_for()
    stage.session.change_settings({"sound": False})
    assert stage.correct(5, 5) is None
    page.locator(".headline", has_text="10").wait_for()
    allowed, corrected, only_sum = page.evaluate("window.spoken")
    assert allowed == "en-GB Sound"
    assert corrected.startswith("en-GB Roll corrected: white 3 and 5.\n")
    assert "no longer fits" not in corrected, "like the loudspeaker"
    assert only_sum == "en-GB 9"
    page.get_by_role("button", name="Full screen").click()
    comes_true(page, "() => document.fullscreenElement !== null")


def test_a_table_view_loaded_anew_speaks_after_any_tap(stage: Stage, open_page: OpenPage) -> None:
    put(stage, "action1")
    page = open_page("/table", size_wh=TV)
    page.evaluate("localStorage.setItem('table-sound', 'on')")
    page.add_init_script(WANTS_A_TAP)
    page.reload()
    page.get_by_role("button", name="Sound", pressed=True).wait_for()
    page.locator("#now").click()
    assert stage.session.close_action() is None
    comes_true(page, "() => window.spoken.length > 0")


def test_chimes_from_before_the_first_tap_are_not_made_up_for(
    stage: Stage, open_page: OpenPage
) -> None:
    put(stage, "action1")
    page = open_page("/table", size_wh=TV)
    page.add_init_script(IS_MUTE_UNTIL_A_TAP)
    page.reload()
    page.get_by_role("button", name="Sound", pressed=True).wait_for()
    assert stage.correct(4, 5) is None
    page.locator(".headline", has_text="9").wait_for()
    page.wait_for_timeout(1_100)
    page.locator("#now").click()
    page.wait_for_timeout(100)
    assert page.evaluate("window.tones") == 0
    assert stage.correct(5, 5) is None
    page.locator(".headline", has_text="10").wait_for()
    page.locator("#now").click()
    comes_true(page, "window.tones > 0")


def test_a_table_view_says_who_was_passed_over_and_what_broke(
    stage: Stage, open_page: OpenPage
) -> None:
    put(stage, "action1")
    page = open_page("/table", size_wh=TV)
    page.add_init_script(HAS_VOICES)
    page.reload()
    ready(page)
    page.get_by_role("button", name="Sound").click()
    assert stage.session.close_action() is None
    comes_true(page, "() => window.spoken.length > 1")
    stage.session.part_is("camera", "slow")
    comes_true(page, "() => window.spoken.length > 2")
    _, passed, broken = page.evaluate("window.spoken")
    assert passed == "en-GB No answer, so they pass: Ada, Benjamin and Cleo."
    assert broken == "en-GB The camera is very slow.\nGive it a moment."
    assert page.evaluate("window.cancelled") is None, "they wait for the end of what is being said"
    sound = f"import('{MODULES}/table/sound.js')"
    after = """.then(({ sound }) => {
      const roll = (number) => [{ number, kind: 'roll', spoken: `Roll ${number}` }];
      sound({ heard: roll(57), table: { sound: true }, epoch: 'one' });
      sound({ heard: roll(1), table: { sound: true }, epoch: 'another' });
    })"""
    page.evaluate(sound + after)
    assert page.evaluate("window.spoken")[-1] == "en-GB Roll 1"
    assert page.evaluate("window.cancelled") == 4
    uncut = """.then(({ sound }) => {
      const say = (number, kind) => ({ number, kind, spoken: `${kind} ${number}` });
      const hear = (...heard) => sound({ heard, table: { sound: true }, epoch: 'another' });
      const said = [], { speak } = speechSynthesis;
      speechSynthesis.speak = (each) => { said.push(each); speak(each); };
      hear(say(1, 'roll'), say(2, 'fault'), say(3, 'roll'));
      hear(say(3, 'roll'), say(4, 'mended'));
      speechSynthesis.speaking = true;
      window.cancelled = null;
      hear(say(4, 'mended'), say(5, 'roll'));
      hear(say(5, 'roll'), say(6, 'roll'));
      const early = window.cancelled;
      for (const each of said) each.onend?.();
      hear(say(6, 'roll'), say(7, 'roll'));
      return [early, window.cancelled !== null];
    })"""
    assert page.evaluate(sound + uncut) == [None, True], (
        "the news of the equipment is said to its end"
    )
    assert page.evaluate("window.spoken.slice(-5)") == [
        "en-GB fault 2 roll 3",
        "en-GB mended 4",
        "en-GB roll 5",
        "en-GB roll 6",
        "en-GB roll 7",
    ]


def test_a_refusal_whose_reason_is_gone_is_heard_no_more(stage: Stage) -> None:
    put(stage, "roll")
    stage.session.see(TrayView(TrayStatus.LOST))
    assert stage.session.press() is not None
    refused = stage.session.view().heard[-1]
    assert refused[1].kind == "refused"
    stage.session.see(dice_in_tray(a_roll(3, 4)))
    assert refused not in stage.session.view().heard
    assert stage.session.press() is None
    assert stage.session.view().heard[-1][0] > refused[0], "a page that heard it hears this, too"


def test_who_only_watches_sees_the_game_and_cannot_touch_it(
    stage: Stage, open_page: OpenPage
) -> None:
    put(stage, "action1")
    page = open_page("/", size_wh=PHONE)
    page.get_by_role("link", name="Just watch the game").click()
    page.locator(".headline", has_text="7").wait_for()
    assert not page.get_by_role("button", name="Confirm").is_visible()
    assert violations(page) == []


class TestTheTheme:
    @pytest.mark.parametrize(
        ("chosen", "media"),
        [
            (None, 'media="screen and (prefers-color-scheme: dark)"'),
            ("dark", 'media="screen"'),
            ("purple", 'media="screen and (prefers-color-scheme: dark)"'),
        ],
    )
    def test_the_dark_colours_are_for_screens_that_want_them(
        self, client: FlaskClient, chosen: str | None, media: str
    ) -> None:
        if chosen:
            client.set_cookie("dice_companion_theme", chosen)
        assert f'css/dark.css" {media}' in client.get("/games").text

    def test_a_light_page_has_none(self, client: FlaskClient) -> None:
        client.set_cookie("dice_companion_theme", "light")
        page = client.get("/").text
        assert "dark.css" not in page
        assert '<meta name="color-scheme" content="light">' in page


def test_the_page_can_be_put_on_the_home_screen(client: FlaskClient) -> None:
    manifest = client.get("/manifest.webmanifest")
    assert manifest.mimetype == "application/manifest+json"
    for icon in manifest.get_json()["icons"]:
        with client.get(icon["src"]) as answer:
            width = int.from_bytes(answer.data[16:20])  # PNG, 11.2.2
            assert (answer.mimetype, f"{width}x{width}") == (icon["type"], icon["sizes"])
