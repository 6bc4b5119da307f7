"""The files of the pages: scripts and styles in few steps over the network, and their version."""

from __future__ import annotations

import hashlib
import re
import secrets
from functools import lru_cache
from pathlib import Path, PurePosixPath
from posixpath import normpath

from companion.messages import catalogue

STATIC = Path(__file__).parent / "static"

_IMPORT = re.compile(r"""^(?:import|export)\b[^;]*?["'](\.[^"']+)["'];""", re.MULTILINE)

_NAMED = re.compile(r"""["'`]([a-z_]+(?:\.[a-z0-9_]+)*)["'`]""")
_COMPOSED = re.compile(r"`([a-z_]+\.(?:[a-z_]+\.)*)\$\{")

_UNSENT = re.compile(r"/\*.*?\*/|^\s+|(?<=[{};,])\n", re.MULTILINE | re.DOTALL)
"""Comments, indentation and most line ends of a style sheet; no string of ours holds any."""


@lru_cache
def pages_version() -> str:
    """Name the files and sentences of all pages: an open page with another name is an old one."""
    digest = hashlib.blake2b(digest_size=4)
    places = (STATIC, STATIC.with_name("templates"), Path(catalogue.__file__).with_name("locales"))
    for file in sorted(file for place in places for file in place.rglob("*") if file.is_file()):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def static_path() -> str:
    """Return the path of the static folder: the name of the pages, so that no file is an old one.

    It is short: a page names it thirty times.
    """
    return f"/{pages_version()}"


def new_epoch() -> str:
    """Name a run of the program, after the version of its pages."""
    return f"{pages_version()}-{secrets.token_hex(4)}"


@lru_cache
def modules_of(entry: str) -> tuple[str, ...]:
    """A module and all that it imports, as paths below the static folder.

    Without this list a browser finds each module only in the one that imports it, and waits for
    the network at every step.
    """
    found: dict[str, None] = {}
    waiting = [entry]
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found[path] = None
        source = (STATIC / path).read_text(encoding="utf-8")
        folder = PurePosixPath(path).parent
        waiting += [normpath(str(folder / each)) for each in _IMPORT.findall(source)]
    return tuple(found)


@lru_cache
def phrases_named_in(entry: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return what may be keys of sentences in a module and in all that it imports: the strings that
    look like one, and the constant parts of composed ones such as `why.${why}`."""
    source = "\n".join((STATIC / each).read_text(encoding="utf-8") for each in modules_of(entry))
    return frozenset(_NAMED.findall(source)), tuple(set(_COMPOSED.findall(source)))


@lru_cache
def style_of(names: str) -> str | None:
    """Style sheets joined in the order of their names, which a plus sign parts; None if one is
    unknown or named twice. Comments, indentation and most line ends, a sixth of it, stay here."""
    files = {file.stem: file for file in (STATIC / "css").glob("*.css")}
    wanted = names.split("+")
    if not files.keys() >= set(wanted) or len(wanted) > len(set(wanted)):
        return None
    text = "\n".join(files[name].read_text(encoding="utf-8") for name in wanted)
    return _UNSENT.sub("", text)
