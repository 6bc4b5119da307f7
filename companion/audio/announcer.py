"""Speaks announcements, and selects the queued speech that each cancels."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

from companion.audio.espeak import PLAYERS, Clip, Speaker
from companion.messages.announcements import Announcement
from companion.messages.catalogue import Line, Phrases, Term, Word
from companion.messages.spoken import spoken_lines

_ACTION = frozenset({"roll", "corrected", "refused", "closing", "passed"})
_GAME = _ACTION | {"closed", "miss", "left", "turn", "undone", "paused", "over"}
CANCELS = {
    "roll": _GAME,
    "corrected": _GAME,
    "undone": _GAME,
    "paused": _GAME,
    "over": _GAME,
    "closing": frozenset({"closing", "refused"}),
    "closed": _ACTION,
    "passed": frozenset({"closing", "refused"}),
    "miss": _ACTION,
    "left": frozenset({"refused"}),
    "turn": _ACTION | {"turn", "undone"},
    "refused": frozenset({"refused"}),
    "retracted": frozenset({"refused"}),
}
"""The kinds of announcements that each kind cancels. News of a part of the equipment cancels only
earlier news of that part."""

NEGATIVE = re.compile(r"−(?=\d)")
"""The minus sign of a number. espeak-ng 1.51 skips it in French, so it is spoken as a word."""

EXACT = frozenset({"sum", "boxes", "dice", "scores"})
"""Placeholders that the name of a clip must contain."""


class Voice:
    """Speaks the announcements, as far as the table wants it.

    Attributes:
        amount: One of `companion.messages.spoken.AMOUNTS`.
    """

    def __init__(self, speaker: Speaker, amount: str, clips: Path) -> None:
        self.amount = amount
        self._speaker, self._clips = speaker, clips

    def tell(self, said: Announcement, phrases: Phrases) -> None:
        """Speak an announcement in a language."""
        spoken = spoken_lines(said, self.amount)
        pieces = pieces_of(spoken, phrases, found_clips(self._clips)) if spoken else []
        # an announcement that is not spoken still cancels outdated speech
        if said.about:
            kind = f"part {said.about}"
            cancels = frozenset({kind})
        else:
            kind = said.kind
            cancels = frozenset[str]().union(*(CANCELS[each] for each in (kind, *said.also)))
        self._speaker.say(pieces, phrases.language, kind, cancels=cancels)


def pieces_of(lines: Sequence[Line], phrases: Phrases, clips: dict[str, Path]) -> list[str | Clip]:
    """Texts and clips in order; neighbouring texts are joined."""
    pieces: list[str | Clip] = []
    minus = phrases.say("spoken.minus") + " "
    for each in lines:
        text = NEGATIVE.sub(minus, phrases.tell(each))
        path = next((clips[name] for name in clip_names(each) if name in clips), None)
        if path is not None:
            pieces.append(Clip(path, text))
        elif pieces and isinstance(pieces[-1], str):
            pieces[-1] += f"\n{text}"  # espeak-ng reads "Weiß 7. mia" as "Weiß siebte"
        else:
            pieces.append(text)
    return pieces


def clip_names(said: Line) -> Iterator[str]:
    """Possible clip names of a line, most exact first: fact.turn.emma, then fact.turn."""
    values = [(name, _as_name(word)) for name, word in said.data]
    yield ".".join([said.key, *(value for _, value in values)]).casefold()
    needed = [value for name, value in values if name in EXACT]
    if needed:
        yield ".".join([said.key, *needed]).casefold()
        return
    for _, value in values:
        yield f"{said.key}.{value}".casefold()
    yield said.key.casefold()


def _as_name(word: Word) -> str:
    match word:
        case str() | int():
            return str(word)
        case Term(key):
            return key.rpartition(".")[2]
        case Line():
            return "-".join(_as_name(value) for _, value in word.data)
        case _:
            return "-".join(_as_name(each) for each in word.words)


def found_clips(directory: Path) -> dict[str, Path]:
    """The clips of a directory by their names without suffix; the directory may be missing."""
    try:
        paths = sorted(path for path in directory.iterdir() if path.suffix.lower() in PLAYERS)
    except OSError:
        return {}
    # a Mac may write é as e and an accent; names of players are composed
    return {unicodedata.normalize("NFC", path.stem).casefold(): path for path in paths}
