"""The language of a page: each browser's own choice, independent of the table's."""

from __future__ import annotations

from flask import Request, Response

from companion.messages.catalogue import LANGUAGES, load_phrases
from web import security

COOKIE = "dice_companion_language"

HEADER = "Page-Language"
"""Request header with the language of the page, so that all replies are in it. A stream uses the
parameter `?language=` instead, because an EventSource cannot send headers."""


def asked_for(request: Request, table: str) -> str:
    """Return the language of a reply.

    It is the page's language, else the one chosen in this browser, else the browser's preferred
    one, else the table's.
    """
    for wanted in (request.args.get("language"), request.headers.get(HEADER), chosen(request)):
        if wanted in LANGUAGES:
            return wanted
    # the table's comes first: it wins if the browser prefers several equally, or accepts any
    known = [table, *(each for each in LANGUAGES if each != table)]
    wishes = {each: _wish(request, each) for each in known}
    return max(known, key=wishes.__getitem__) if any(wishes.values()) else table


def _wish(request: Request, language: str) -> float:
    """How much a browser wants a language, 0 to 1, in any region's form."""
    accepted = request.accept_languages
    named = [wish for tag, wish in accepted if tag.partition("-")[0].lower() == language]
    return max(named or [wish for tag, wish in accepted if tag == "*"], default=0.0)


def chosen(request: Request) -> str | None:
    """Return the language chosen in this browser; None if it follows the device."""
    wanted = request.cookies.get(COOKIE)
    return wanted if wanted in LANGUAGES else None


def choose(response: Response, language: str | None) -> None:
    """Store a browser's choice in a cookie; None deletes it."""
    if language is None:
        security.drop_cookie(response, COOKIE)
    else:
        security.set_cookie(response, COOKIE, language)


def names() -> list[tuple[str, str]]:
    """Every language and what it calls itself."""
    return [(each, load_phrases(each).say("language.name")) for each in LANGUAGES]
