"""The line between a page and the table, in a real browser: it keeps every page live."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.session.fakes import Stage
from tests.web.browsing import TV, OpenPage, comes_true, put, stop_the_clock, wait_until
from tests.web.stand_in import seat
from web.client import Client

if TYPE_CHECKING:
    from flask import Flask
    from playwright.sync_api import Route

ONE_HEARTBEAT = """window.EventSource = class {
  static OPEN = 1;
  readyState = 1;
  constructor() { window.opened = (window.opened ?? 0) + 1; }
  addEventListener(kind, receive) {
    if (kind === 'beat') setTimeout(receive, 1_000);
  }
  close() {}
};"""
"""A stream that stays open and brings no more, as when a phone changes its access point."""

STREAM_BY_HAND = """window.EventSource = class {
  static OPEN = 1;
  static CLOSED = 2;
  readyState = 1;
  on = {};
  constructor() { window.stream = this; }
  addEventListener(kind, receive) { this.on[kind] = receive; }
  close() {}
};"""
"""A stream whose messages and errors come when a test says so."""

COUNT_OUTAGES = """() => {
  const banner = document.getElementById('offline');
  window.outages = 0;
  const count = () => (window.outages += banner.hidden ? 0 : 1);
  new MutationObserver(count).observe(banner, { attributeFilter: ['hidden'] });
}"""
"""A slow machine looks for the banner only after it is gone."""


def test_without_a_stream_the_page_asks_again_and_again(
    stage: Stage, app: Flask, open_page: OpenPage
) -> None:
    streams = app.extensions["streams"]
    taken = [streams.open(Client(None, (), True, ("", ""))) for _ in range(36)]
    assert None not in taken
    page = open_page("/")
    page.get_by_text("Nobody is here yet.").wait_for()
    stage.session.join("Ada")
    page.get_by_text("Already here: Ada.").wait_for()


def test_a_stream_that_stays_silent_is_soon_given_up(
    stage: Stage, open_page: OpenPage, address: str
) -> None:
    page = open_page("/healthz")
    page.clock.install()
    silent: list[Route] = []
    page.route("**/api/events*", lambda route: silent.append(route))  # as in another network
    page.goto(address)
    page.get_by_text("Nobody is here yet.").wait_for()
    stop_the_clock(page)
    stage.session.join("Ada")
    page.clock.run_for(8_000)
    page.get_by_text("Already here: Ada.").wait_for()
    for route in silent:
        route.abort()


def test_a_stream_that_falls_silent_is_given_up_after_a_missed_heartbeat(
    stage: Stage, open_page: OpenPage, address: str
) -> None:
    page = open_page("/healthz")
    page.clock.install()
    page.context.add_init_script(ONE_HEARTBEAT)
    page.goto(address)
    page.get_by_text("Nobody is here yet.").wait_for()
    stop_the_clock(page)
    stage.session.join("Ada")
    page.clock.run_for(10_000)
    assert page.get_by_text("Nobody is here yet.").is_visible()
    page.clock.run_for(8_000)
    page.get_by_text("Already here: Ada.").wait_for()


def test_after_an_outage_the_page_opens_a_stream_at_once(open_page: OpenPage, address: str) -> None:
    page = open_page("/healthz")
    page.clock.install()
    page.context.add_init_script(ONE_HEARTBEAT)
    page.goto(address)
    page.get_by_text("Nobody is here yet.").wait_for()
    page.route("**/api/state*", lambda route: route.abort())
    page.clock.run_for(18_000)
    page.get_by_text("No connection to the table.").wait_for()
    assert page.evaluate("opened") == 1
    page.unroute_all()
    page.get_by_text("No connection to the table.").wait_for(state="hidden", timeout=8_000)
    assert page.evaluate("opened") == 2


def test_each_request_without_an_answer_is_followed_by_a_look(open_page: OpenPage) -> None:
    page = open_page("/healthz")
    page.context.add_init_script(ONE_HEARTBEAT)
    page.goto(page.url.removesuffix("healthz"))
    page.route("**/api/join", lambda route: route.abort())
    page.get_by_label("Your name").fill("Ada")
    page.evaluate(COUNT_OUTAGES)
    for told in range(1, 4):
        page.get_by_role("button", name="Take a seat").click()
        comes_true(page, "(told) => outages === told", told)
        page.get_by_text("No connection to the table.").wait_for(state="hidden", timeout=6_000)


def test_a_look_that_fails_late_says_nothing_about_a_stream_that_is_back(
    open_page: OpenPage, address: str
) -> None:
    page = open_page("/healthz")
    page.context.add_init_script(STREAM_BY_HAND)
    page.goto(address)
    page.get_by_text("Nobody is here yet.").wait_for()
    looks: list[Route] = []
    page.route("**/api/state*", lambda route: looks.append(route))
    page.evaluate("stream.readyState = 0; stream.on.error()")
    wait_until(page, lambda: len(looks) == 1)
    page.evaluate("stream.readyState = 1; stream.on.beat()")
    with page.expect_event("requestfailed"):
        looks[0].abort()
    page.wait_for_timeout(100)
    assert page.get_by_text("No connection to the table.").is_hidden()


def test_waking_up_opens_a_new_stream(stage: Stage, app: Flask, open_page: OpenPage) -> None:
    page = open_page("/")
    page.get_by_text("Nobody is here yet.").wait_for()
    streams = app.extensions["streams"]
    for stream in list(streams._open):
        stream.close()  # as iOS does to a sleeping page, without a word
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    stage.session.join("Ada")
    page.get_by_text("Already here: Ada.").wait_for()
    assert len(streams) == 1


def test_a_page_that_newer_ones_replaced_is_live_again_once_it_is_used(
    stage: Stage, app: Flask, open_page: OpenPage
) -> None:
    page = open_page("/")
    page.get_by_text("Nobody is here yet.").wait_for()
    newer = [page.context.new_page() for _ in range(4)]
    for each in newer:
        with each.expect_response("**/api/events*"):
            each.goto(page.url)
    streams = app.extensions["streams"]
    wait_until(page, lambda: len(streams) == 4)
    for each in newer:
        each.close()
    wait_until(page, lambda: len(streams) == 0)
    page.evaluate("dispatchEvent(new Event('focus'))")
    wait_until(page, lambda: len(streams) == 1)
    page.evaluate("dispatchEvent(new Event('focus'))")
    stage.session.join("Ada")
    page.get_by_text("Already here: Ada.").wait_for()
    assert len(streams) == 1


def test_a_second_window_hears_of_the_seat_that_the_first_took(
    stage: Stage, open_page: OpenPage
) -> None:
    first = open_page("/")
    first.get_by_label("Your name").fill("Ada")
    second = first.context.new_page()
    second.goto(first.url)
    second.get_by_text("Nobody is here yet.").wait_for()
    first.get_by_label("Your name").press("Enter")
    first.get_by_text("Welcome, Ada!").wait_for()
    second.get_by_text("Welcome, Ada!").wait_for()
    assert stage.session.let_go(0) is None
    for page in (first, second):
        page.get_by_label("Your name").wait_for()
    first.get_by_label("Your name").fill("Ada")
    first.get_by_label("Your name").press("Enter")
    second.get_by_text("Welcome, Ada!").wait_for()


def test_a_forgotten_seat_asks_for_the_name_again(stage: Stage, open_page: OpenPage) -> None:
    token = seat(stage, "Ada").token
    page = open_page("/", token=token)
    page.get_by_text("Welcome, Ada!").wait_for()
    stage.session.leave(0)
    page.get_by_label("Your name").wait_for()


def test_the_day_of_the_last_game_is_asked_for_until_it_arrives(
    stage: Stage, open_page: OpenPage, address: str
) -> None:
    put(stage, "roll")
    stage.play_out()
    page = open_page("/healthz", size_wh=TV)
    page.route("**/api/game?*", lambda route: route.abort(), times=2)
    page.goto(f"{address}/table")
    page.locator(".said .note", has_text="November 2026").wait_for()
