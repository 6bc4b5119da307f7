"""Parameter types for files, directories and texts on the command line."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click


class NonEmptyPath(click.Path):
    """A path that is not empty: an unset variable must not mean the working directory."""

    def __init__(self, what: str) -> None:
        super().__init__(path_type=Path, readable=False)
        self._what = what

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:
        """Return the path; an empty one is wrong usage."""
        if not os.fspath(value):
            self.fail(f"expected {self._what}, got ''", param, ctx)
        return super().convert(value, param, ctx)


class Text(click.types.StringParamType):
    """A text that pages and messages can hold; a terminal may send bytes of another encoding."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the text; one that is not UTF-8 is wrong usage."""
        text = super().convert(value, param, ctx)
        try:
            text.encode()
        except UnicodeEncodeError:
            self.fail(f"expected a text in UTF-8, got {text!r}", param, ctx)
        return text


class Parsed(click.types.StringParamType):
    """A value that a function makes of a text; its ValueError is wrong usage."""

    def __init__(self, parse: Callable[[str], object]) -> None:
        self._parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value."""
        try:
            return self._parse(super().convert(value, param, ctx))
        except ValueError as error:
            self.fail(str(error), param, ctx)


A_FILE, A_DIRECTORY = NonEmptyPath("a file"), NonEmptyPath("a directory")
A_TEXT = Text()
