"""Every sentence on pages and in announcements, from one catalogue file for each language.

A sentence is a `Line` (a key and the values of its placeholders) until it becomes text in the
reader's or listener's language. Colours and rows are `Term`s, because languages inflect them:
`{die:object}` takes the catalogue's form `die.red.object`, "den roten Würfel". A form with a
capital begins a sentence; `{row:Name}` is the plain word with a capital. A line with a `count`
takes the key's `.singular` form if the language uses the singular for that number.
The browser fills the same placeholders in web/static/lib/words.js.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

LANGUAGES = ("en", "de", "fr", "it")
"""Languages with a complete catalogue."""

SHARED = ("colour.", "die.", "row.", "list.", "spoken.minus")
"""Prefixes of the words that pages need besides their own sentences."""

SINGULAR = ".singular"
NAME = "name"
"""The form of a term that is the plain word; only needed with a capital."""


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the catalogue that has forms, such as Term("die.red")."""

    key: str


@dataclass(frozen=True, slots=True)
class Listed:
    """Words joined with the catalogue's "and" or "or", or with commas alone."""

    words: tuple[Word, ...]
    joint: str = "list.and"


@dataclass(frozen=True, slots=True)
class Line:
    """An untranslated sentence: its key, and the values of its placeholders."""

    key: str
    data: tuple[tuple[str, Word], ...] = ()


Word = str | int | Term | Listed | Line
"""A value of a placeholder; texts and numbers are the same in every language."""


def line(key: str, /, **data: Word) -> Line:
    """A line of the catalogue, with the values of its placeholders by name."""
    return Line(key, tuple(data.items()))


def all_of(words: Sequence[Word]) -> Listed:
    """All of these: "red, green and blue"."""
    return Listed(tuple(words))


def one_of(words: Sequence[Word]) -> Listed:
    """One of these: "red, green or blue"."""
    return Listed(tuple(words), "list.or")


def each_of(words: Sequence[Word]) -> Listed:
    """Each of these: "Ada: 30, Ben: 20". A voice pauses at colons, so "and" would part a pair."""
    return Listed(tuple(words), "")


class Phrases:
    """The sentences of one language."""

    def __init__(self, language: str, table: Mapping[str, str]) -> None:
        self.language = language
        self._table = table

    def __contains__(self, key: str) -> bool:
        return key in self._table

    def under(self, prefix: str) -> dict[str, str]:
        """The sentences with a prefix by the rest of their keys, with placeholders."""
        cut = len(prefix)
        return {key[cut:]: text for key, text in self._table.items() if key.startswith(prefix)}

    def for_scripts(self, names: Collection[str], stems: tuple[str, ...]) -> dict[str, str]:
        """The sentences and shared words that scripts of pages need, with placeholders.

        Args:
            names: Keys under `page.` that the scripts name.
            stems: Beginnings of keys under `page.` that they compose.
        """
        shared = {key: text for key, text in self._table.items() if key.startswith(SHARED)}
        own = {
            key: text
            for key, text in self.under("page.").items()
            if key.removesuffix(SINGULAR) in names or key.startswith(stems)
        }
        return own | shared

    def say(self, key: str, /, **data: Word) -> str:
        """One sentence with the values of its placeholders.

        Raises:
            KeyError: The key, a form or a placeholder's value is missing.
        """
        if is_one(data.get("count"), self.language) and key + SINGULAR in self._table:
            key += SINGULAR
        return self._table[key].format(**{name: _Filled(self, word) for name, word in data.items()})

    def tell(self, *lines: Line) -> str:
        """Lines as one text."""
        return " ".join(self.say(each.key, **dict(each.data)) for each in lines)

    def worded(self, word: Word, form: str = "") -> str:
        """The text of a placeholder's value in the form the sentence requests."""
        if form[:1].isupper():
            return capital(self.worded(word, form[:1].lower() + form[1:]))
        match word:
            case Term(key):
                return self._table[key if form in ("", NAME) else f"{key}.{form}"]
            case Listed(words, joint):
                return self._joined([self.worded(each, form) for each in words], joint)
            case Line():
                return self.tell(word)
            case int():
                return numeral(word)
        return isolated(word)

    def all_of(self, words: Sequence[Word]) -> str:
        """Words joined with "and": "red, green and blue"."""
        return self.worded(all_of(words))

    def _joined(self, texts: Sequence[str], key: str) -> str:
        if len(texts) < 2 or not key:
            return ", ".join(texts)
        return self.say(key, first=", ".join(texts[:-1]), last=texts[-1])

    def colour(self, name: str) -> str:
        """A die's colour."""
        return self.say(f"colour.{name}")

    def row(self, name: str) -> str:
        """A row of the sheet, by its name in the plan."""
        return self.say(f"row.{name}")


class _Filled:
    """A placeholder's value: the format specification is the form the sentence requests."""

    def __init__(self, phrases: Phrases, word: Word) -> None:
        self._phrases, self._word = phrases, word

    def __format__(self, form: str) -> str:
        return self._phrases.worded(self._word, form)


def numeral(number: int) -> str:
    """A number as text: negative ones with a minus sign instead of a hyphen."""
    return f"{number}".replace("-", "−")


def isolated(word: str) -> str:
    """Isolate a right-to-left word, such as a Hebrew name, so that numbers beside it keep order."""
    if "\u2068" in word:  # a sentence with such a word
        return word
    is_turned = any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in word)
    return f"\u2068{word}\u2069" if is_turned else word


def capital(text: str) -> str:
    """The text with a capital first letter."""
    return text[:1].upper() + text[1:]


def is_one(count: object, language: str) -> bool:
    """Whether a language uses the singular for a number.

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
