"""A page names all its modules at once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from flask.testing import FlaskClient

from tests.web.browsing import OpenPage
from web.modules import STATIC, modules_of, static_path

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.mark.parametrize("entry", ["play/page.js", "table/page.js", "games/page.js"])
def test_every_module_of_a_page_is_named_once(entry: str) -> None:
    found = modules_of(entry)
    assert len(set(found)) == len(found)
    assert {entry, "lib/dom.js", "lib/words.js"} <= set(found)
    assert all((STATIC / each).is_file() for each in found)


def test_a_pages_styles_are_one_file(client: FlaskClient) -> None:
    (path,) = re.findall(r'stylesheet" href="(/style/[^"]+)"', client.get("/").text)
    joined = client.get(path)
    assert joined.mimetype == "text/css"
    bare = re.compile(r"/\*.*?\*/|\s+", re.DOTALL)  # comments and spaces need not travel
    parts = [(STATIC / "css" / f"{name}.css").read_text() for name in ("tokens", "base", "play")]
    assert all(bare.sub("", part) in bare.sub("", joined.text) for part in parts)
    assert "/*" not in joined.text
    again = client.get(path, headers={"If-None-Match": joined.headers["ETag"]})
    assert again.status_code == 304
    for wrong in ("nothing", "..+base", "base+"):
        assert client.get(f"/style/{wrong}.css").status_code == 404


def test_the_page_loads_no_module_that_it_did_not_name(
    client: FlaskClient, open_page: OpenPage
) -> None:
    named = set(re.findall(r'modulepreload" href="([^"]+)"', client.get("/").text))
    page = open_page("/")
    page.locator("#name").wait_for()
    loaded = page.evaluate("performance.getEntriesByType('resource').map((each) => each.name)")
    scripts = {each.split("/", 3)[3] for each in loaded if each.endswith(".js")}
    assert {f"/{each}" for each in scripts} == named


def test_a_page_opened_again_waits_for_no_module(open_page: OpenPage, address: str) -> None:
    page = open_page("/", is_new=True)
    page.locator("#name").wait_for()
    page.goto(address)
    page.locator("#name").wait_for()
    sent = """() => performance.getEntriesByType('resource')
      .filter(({ name, transferSize }) => name.endsWith('.js') && transferSize > 0)
      .map(({ name }) => name)"""
    assert page.evaluate(sent) == []


def test_files_of_another_version_are_not_served(client: FlaskClient) -> None:
    with client.get(f"{static_path()}/lib/dom.js") as served:
        assert served.status_code == 200
    assert client.get("/00000000/lib/dom.js").status_code == 404


@pytest.mark.parametrize("path", ["/", "/table", "/setup"])
def test_a_page_that_lost_a_part_offers_to_load_again(
    open_page: OpenPage, address: str, path: str
) -> None:
    page = open_page("/healthz")
    page.route("**/lib/words.js", lambda route: route.abort())
    page.goto(address + path)
    offer = page.get_by_role(
        "link", name="Load it again. If that doesn’t help, this browser is too old."
    )
    page.locator("#late").evaluate("(late) => late.getAnimations()[0].pause()")
    assert not offer.is_visible()
    page.locator("#late").evaluate("(late) => late.getAnimations()[0].finish()")
    page.unroute("**/lib/words.js")
    offer.click()
    page.locator("#late").wait_for(state="detached")
    page.locator("main:not([hidden])").wait_for()


@pytest.mark.parametrize("path", ["/", "/table", "/host"])
def test_a_page_that_lost_its_styles_offers_to_load_again(
    open_page: OpenPage, address: str, path: str
) -> None:
    page = open_page("/healthz")
    page.route("**/style/*", lambda route: route.abort())
    page.goto(address + path)
    page.locator("main:not([hidden])").first.wait_for()
    offer = page.get_by_role("link", name="Load it again.")
    assert offer.is_visible()
    page.unroute("**/style/*")
    offer.click()
    page.locator("#late").wait_for(state="detached")


def test_a_page_without_scripts_does_not_call_the_browser_old(
    chromium: Browser, address: str
) -> None:
    with chromium.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(address)
        assert page.locator("noscript p").inner_html() == "This page needs JavaScript."
        late = page.locator("#late")
        assert late.evaluate("(late) => getComputedStyle(late).display") == "none"
