"""Which language a page is in: each browser's own choice, apart from the table's."""

from __future__ import annotations

from flask import Request, Response

from companion.messages.catalogue import LANGUAGES, load_phrases
from web import security

COOKIE = "dice_companion_language"

HEADER = "Page-Language"
"""What a page was made in, so that all it hears is in one language. A stream says it in its
address, `?language=`, because no script can give an EventSource a header."""


def asked_for(request: Request, table: str) -> str:
    """The language of an answer.

    What the page was made in, else what was chosen in this browser, else what the
    browser prefers, else the table's.
    """
    for wanted in (request.args.get("language"), request.headers.get(HEADER), chosen(request)):
        if wanted in LANGUAGES:
            return wanted
    # of equally liked ones the table's wins, also for a browser that takes any
    known = [table, *(each for each in LANGUAGES if each != table)]
    return request.accept_languages.best_match(known) or table


def chosen(request: Request) -> str | None:
    """The language chosen in this browser, or None where it follows the device."""
    wanted = request.cookies.get(COOKIE)
    return wanted if wanted in LANGUAGES else None


def choose(response: Response, language: str | None) -> None:
    """Keep a browser's choice; None forgets it."""
    if language is None:
        security.drop_cookie(response, COOKIE)
    else:
        security.set_cookie(response, COOKIE, language)


def names() -> list[tuple[str, str]]:
    """Every language and what it calls itself."""
    return [(each, load_phrases(each).say("language.name")) for each in LANGUAGES]
