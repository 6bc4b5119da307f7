"""A page that serves a second test has nothing of the first one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.web.kept_pages import KeptPages

KEPT = "[localStorage.length, sessionStorage.length, document.cookie, navigator.onLine, innerWidth]"


def test_a_page_lent_again_has_forgotten_all(kept_pages: KeptPages, address: str) -> None:
    first = kept_pages.open(address, "/healthz", size_wh=(800, 480))
    first.evaluate("localStorage.a = sessionStorage.b = document.cookie = 'c=1'")
    first.route("**/healthz", lambda route: route.abort())
    first.context.set_offline(True)
    assert first.evaluate(KEPT) == [1, 1, "c=1", False, 800]
    assert kept_pages.take_back() == []
    again = kept_pages.open(address, "/healthz")
    assert again is first
    assert again.evaluate(KEPT) == [0, 0, "", True, 390]
    assert kept_pages.take_back() == []


def test_a_page_with_a_clock_of_its_own_is_not_lent_again(
    kept_pages: KeptPages, address: str
) -> None:
    first = kept_pages.open(address, "/healthz")
    first.clock.install()
    assert kept_pages.take_back() == []
    assert first.is_closed()
    assert kept_pages.open(address, "/healthz") is not first
    assert kept_pages.take_back() == []


def test_what_a_page_throws_is_told_once(kept_pages: KeptPages, address: str) -> None:
    page = kept_pages.open(address, "/healthz")
    with page.context.expect_event("weberror"):
        page.evaluate("() => { setTimeout(() => { throw new Error('thrown') }) }")
    assert kept_pages.take_back() == ["thrown"]
    assert kept_pages.take_back() == []


def test_requests_to_other_hosts_are_told(kept_pages: KeptPages, address: str) -> None:
    page = kept_pages.open(address, "/healthz")
    page.evaluate("() => fetch('http://localhost:1/a').catch(() => null)")
    with page.context.expect_event("requestfailed"):
        page.evaluate("() => { location.href = 'http://localhost:1/b' }")
    forbidden, *others = kept_pages.take_back()
    assert "Content Security Policy" in forbidden
    assert others[-1] == "a request to http://localhost:1/b"
