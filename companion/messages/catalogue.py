"""Every sentence people see or hear, from one catalogue file for each language.

A sentence is put together as a `Line` (a key and what fills its placeholders) and becomes text in
whatever language somebody reads or hears it. Colours and rows go into a line as `Term`s, because
languages bend them: `{die:object}` takes the catalogue's form `die.red.object`, "den roten
Würfel"; a form with a capital begins a sentence, and `{row:Name}` is the plain word so. A line
with a `count` takes the key's `.singular` where the language says that number in the singular.
The browser fills the same placeholders in web/static/lib/words.js.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

LANGUAGES = ("en", "de", "fr", "it")
"""Languages with a complete catalogue."""

SHARED = ("colour.", "die.", "row.", "list.")
"""Words that pages need besides their own sentences, by the beginning of their keys."""

ROOMS = ("setup.",)
"""Pages with many sentences of their own, which the others need not carry."""

SINGULAR = ".singular"
NAME = "name"
"""The form of a term that is the plain word; only worth writing for its capital."""


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the catalogue that has forms, such as Term("die.red")."""

    key: str


@dataclass(frozen=True, slots=True)
class Listed:
    """Words joined as a person would: all of them, or one of them as a choice."""

    words: tuple[Word, ...]
    is_choice: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence, not yet in any language: its key, and what fills its placeholders."""

    key: str
    data: tuple[tuple[str, Word], ...] = ()


Word = str | int | Term | Listed | Line
"""What may fill a placeholder; texts and numbers are the same in every language."""


def line(key: str, /, **data: Word) -> Line:
    """A line of the catalogue with its placeholders named."""
    return Line(key, tuple(data.items()))


def all_of(words: Sequence[Word]) -> Listed:
    """All of these: "red, green and blue"."""
    return Listed(tuple(words))


def one_of(words: Sequence[Word]) -> Listed:
    """One of these: "red, green or blue"."""
    return Listed(tuple(words), is_choice=True)


class Phrases:
    """The sentences of one language."""

    def __init__(self, language: str, table: Mapping[str, str]) -> None:
        self.language = language
        self._table = table

    def __contains__(self, key: str) -> bool:
        return key in self._table

    def under(self, prefix: str) -> dict[str, str]:
        """The sentences whose keys begin with a prefix, by the rest of the key, unfilled."""
        cut = len(prefix)
        return {key[cut:]: text for key, text in self._table.items() if key.startswith(prefix)}

    def for_pages(self, *rooms: str) -> dict[str, str]:
        """What a page's script needs, unfilled: sentences and the shared words.

        Args:
            rooms: Which of `ROOMS` the page is.
        """
        shared = {key: text for key, text in self._table.items() if key.startswith(SHARED)}
        others = tuple(room for room in ROOMS if room not in rooms)
        own = {key: text for key, text in self.under("page.").items() if not key.startswith(others)}
        return own | shared

    def say(self, key: str, /, **data: Word) -> str:
        """One sentence with its placeholders filled.

        Raises:
            KeyError: The catalogue lacks the key or a form, or a placeholder was given no value.
        """
        if is_one(data.get("count"), self.language) and key + SINGULAR in self._table:
            key += SINGULAR
        return self._table[key].format(**{name: _Filled(self, word) for name, word in data.items()})

    def tell(self, *lines: Line) -> str:
        """Lines as one text."""
        return " ".join(self.say(each.key, **dict(each.data)) for each in lines)

    def worded(self, word: Word, form: str = "") -> str:
        """What fills a placeholder that asks for a form."""
        match word:
            case Term(key):
                plain = form[:1].lower() + form[1:]
                text = self._table[key if plain in ("", NAME) else f"{key}.{plain}"]
                return capital(text) if form[:1].isupper() else text
            case Listed(words, is_choice):
                texts = [self.worded(each, form) for each in words]
                return self._joined(texts, "list.or" if is_choice else "list.and")
            case Line():
                return self.tell(word)
            case int():
                return numeral(word)
        return word

    def all_of(self, words: Sequence[Word]) -> str:
        """Words joined as a person would: "red, green and blue"."""
        return self.worded(all_of(words))

    def one_of(self, words: Sequence[Word]) -> str:
        """Words joined as a choice: "red, green or blue"."""
        return self.worded(one_of(words))

    def _joined(self, texts: Sequence[str], key: str) -> str:
        if len(texts) < 2:
            return "".join(texts)
        return self.say(key, first=", ".join(texts[:-1]), last=texts[-1])

    def colour(self, name: str) -> str:
        """A die's colour."""
        return self.say(f"colour.{name}")

    def row(self, name: str) -> str:
        """A row of the sheet, by the name the plan gives it."""
        return self.say(f"row.{name}")


class _Filled:
    """A word on its way into a sentence: the placeholder's format is the form it asks for."""

    def __init__(self, phrases: Phrases, word: Word) -> None:
        self._phrases, self._word = phrases, word

    def __format__(self, form: str) -> str:
        return self._phrases.worded(self._word, form)


def numeral(number: int) -> str:
    """A number as it is printed: below zero with a minus sign, which is no hyphen."""
    return f"{number}".replace("-", "−")


def capital(text: str) -> str:
    """The text with its first letter large."""
    return text[:1].upper() + text[1:]


def is_one(count: object, language: str) -> bool:
    """Whether a language says this number in the singular.

    Source: https://www.unicode.org/cldr/charts/latest/supplemental/language_plural_rules.html
    (en, de, it: one is 1; fr: one is 0 and 1), which browsers follow by Intl.PluralRules.
    """
    if not isinstance(count, int):
        return False
    return abs(count) <= 1 if language == "fr" else abs(count) == 1


@lru_cache
def load_phrases(language: str) -> Phrases:
    """The catalogue of a language.

    Raises:
        ValueError: There is no catalogue for it.
    """
    if language not in LANGUAGES:
        raise ValueError(f"language: expected {' or '.join(LANGUAGES)}, got {language!r}")
    path = resources.files("companion.messages") / "locales" / f"{language}.json"
    return Phrases(language, json.loads(path.read_text(encoding="utf-8")))
