"""A file or a directory named on the command line."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click


class Place(click.Path):
    """A path; an empty one, as an unset variable leaves it, would be the working directory."""

    def __init__(self, what: str) -> None:
        super().__init__(path_type=Path)
        self._what = what

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:
        """The path; an empty one is wrong usage."""
        if not os.fspath(value):
            self.fail(f"expected {self._what}, got ''", param, ctx)
        return super().convert(value, param, ctx)


A_FILE, A_DIRECTORY = Place("a file"), Place("a directory")
