"""Names of players: how they are cleaned, compared and checked (pure)."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from companion.eventlog.state import Seat, Table

LONGEST_NAME = 20
"""Most characters of a name: the width beside a score on a phone of 360 pixels."""

_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Characters that show nothing (Unicode: Hangul fillers, the empty braille pattern)."""

_UNSEEN = (
    "0-20 7f-a0 ad 300-36f 483-489 600-605 61c 6dd 70f 890-891 8e2 115f-1160 1680 180b-180f "
    "1ab0-1aff 1dc0-1dff 2000-200f 2028-202f 205f-206f 20d0-20ff 2800 3000 3164 "
    "fe00-fe0f fe20-fe2f feff ffa0 fff0-fffc fffe-ffff 110bd 110cd 13430-1343f 1bca0-1bca3 "
    "1d173-1d17a e0000-e0fff"
)
"""Spaces, controls, blank characters, and marks that are seen on another character only."""


def _as_class(ranges: str) -> str:
    def end(code: str) -> str:
        # only Python reads \U; other engines take the character itself
        return rf"\u{int(code, 16):04x}" if len(code) < 5 else chr(int(code, 16))

    return "".join("-".join(map(end, each.split("-"))) for each in ranges.split())


NAME_PATTERN = rf"^(?!\s*#[1-9]\s*$)[\s\S]*[^{_as_class(_UNSEEN)}]"
"""A name, for Python and JSON Schema: more than `#` and a digit, with a character that is seen."""

_NAME = re.compile(NAME_PATTERN)

_NOTHING = (
    "\u2065\ufff0-\ufff8\ufffc\ufffe\uffff"
    "\U000e0000-\U000e001f\U000e0080-\U000e00ff\U000e01f0-\U000e0fff"
)
"""Characters that stand for nothing: a placeholder that dictation leaves, unassigned ones that no
browser draws (Default_Ignorable_Code_Point), and two that XML, and so a chart, forbids."""

_NOTHINGS = re.compile(f"[{_NOTHING}]")

_SELECTORS = re.compile(
    f"[\u034f\u17b4\u17b5\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef{_NOTHING}]"
)
"""Marks that change at most how the character before is drawn (Default_Ignorable_Code_Point)."""

_JOINERS = frozenset("\u200c\u200d")
"""Joiners that some scripts and composed emoji need between two characters."""


def clean_name(name: str) -> str:
    """Normalise a name: compose it, drop invisible characters and collapse spaces."""
    composed = unicodedata.normalize("NFC", _NOTHINGS.sub("", name))
    shown = "".join(_shown(c) for c in composed)
    return " ".join(" ".join(word.strip("\u200c\u200d") for word in shown.split()).split())


def _shown(c: str) -> str:
    # Cc control, Cs surrogate, Zl and Zp line breaks; Cf reverses text or shows nothing, except
    # the joiners and the tags (U+E0020 to U+E007F) of regional flags
    category = unicodedata.category(c)
    if c in _BLANK or category in ("Cc", "Cs", "Zl", "Zp"):
        return " "
    is_needed = c in _JOINERS or 0xE0020 <= ord(c) <= 0xE007F
    return "" if category == "Cf" and not is_needed else c


@lru_cache(maxsize=1024)  # statistics of 2,000 games compare 30,000 names
def name_key(name: str) -> str:
    """Comparison key of a name: its visible characters, case-folded."""
    seen = _SELECTORS.sub("", name.casefold())
    return "".join(c for c in seen if unicodedata.category(c) != "Cf")


def is_nameless(name: str) -> bool:
    """Whether a name is only a number: the player had none, or was deleted."""
    return re.fullmatch("#[1-9]", name) is not None


def written_fault(name: str) -> str | None:
    """Code of the reason why a text, not yet cleaned, is no name, or None."""
    if not _NAME.match(clean_name(name)):
        return "NAME_EMPTY"
    return "NAME_TOO_LONG" if len(unicodedata.normalize("NFC", name)) > LONGEST_NAME else None


def name_fault(table: Table, name: str) -> str | None:
    """Code of the reason why a name, not yet cleaned, cannot take a seat, or None."""
    key = name_key(clean_name(name))
    is_taken = any(name_key(seat.name) == key for seat in table.seats)
    return written_fault(name) or ("NAME_TAKEN" if is_taken else None)


def unproved_seat(table: Table, name: str) -> Seat | None:
    """The seat of this name that waits for its player, or None."""
    named = (seat for seat in table.seats if name_key(seat.name) == name_key(name))
    return next((seat for seat in named if seat.waits), None)
