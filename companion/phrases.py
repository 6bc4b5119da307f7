"""Every sentence people see or hear, from one catalogue file for each language."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import resources

LANGUAGES = ("en",)
"""Languages with a complete catalogue."""


class Phrases:
    """The sentences of one language; placeholders are filled by name."""

    def __init__(self, language: str, table: Mapping[str, str]) -> None:
        self.language = language
        self._table = table

    def __contains__(self, key: str) -> bool:
        return key in self._table

    def under(self, prefix: str) -> dict[str, str]:
        """The sentences whose keys begin with a prefix, by the rest of the key, unfilled."""
        cut = len(prefix)
        return {key[cut:]: text for key, text in self._table.items() if key.startswith(prefix)}

    def say(self, key: str, **data: object) -> str:
        """One sentence with its placeholders filled.

        Raises:
            KeyError: The catalogue lacks the key, or a placeholder was given no value.
        """
        return self._table[key].format(**data)

    def all_of(self, words: Sequence[str]) -> str:
        """Words joined as a person would: "red, green and blue"."""
        return self._joined(words, "list.and")

    def one_of(self, words: Sequence[str]) -> str:
        """Words joined as a choice: "red, green or blue"."""
        return self._joined(words, "list.or")

    def _joined(self, words: Sequence[str], key: str) -> str:
        if len(words) < 2:
            return "".join(words)
        return self.say(key, first=", ".join(words[:-1]), last=words[-1])

    def colour(self, name: str) -> str:
        """A die's colour."""
        return self.say(f"colour.{name}")

    def row(self, name: str) -> str:
        """A row of the sheet, by the name the plan gives it."""
        key = f"row.{name}"
        return self.say(key) if key in self._table else self.colour(name)


@lru_cache
def load_phrases(language: str) -> Phrases:
    """The catalogue of a language.

    Raises:
        ValueError: There is no catalogue for it.
    """
    if language not in LANGUAGES:
        raise ValueError(f"language: expected {' or '.join(LANGUAGES)}, got {language!r}")
    path = resources.files("companion") / "catalogue" / f"{language}.json"
    return Phrases(language, json.loads(path.read_text(encoding="utf-8")))
