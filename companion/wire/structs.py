"""Types of requests, replies and files, each declared once as a struct.

Parsing, error messages with their paths, JSON output and JSON Schema follow from the declaration.
The only module that imports msgspec.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field, inspect

__all__ = [
    "UNSET",
    "Meta",
    "Struct",
    "UnsetType",
    "WireError",
    "about",
    "convert",
    "decoded",
    "described",
    "documented",
    "encode",
    "field",
    "one_of",
    "plain",
    "schemas",
]

_PATH = re.compile(r" - at `(?:key` in `)?\$([^`]*)`$")
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]|\[\.\.\.\]")
_FIELD = re.compile(r"(missing required|contains unknown) field `(.*?)`")
_HUGE = 10**300


class _Nothing:
    def __repr__(self) -> str:
        return "nothing"


NOTHING = _Nothing()
"""Stands for a missing value."""


class WireError(ValueError):
    """Data that does not fit its declared type.

    Attributes:
        path: Where it stands, such as `panel.hold_s` or `die 2: plays`; empty for the whole.
        expected: The expected value in words.
        value: The value found there; `NOTHING` where it is missing.
        kind: text, number, flag, list or object for a wrong type; longest, choice or range for a
            value of the right type; the `kind` of `described` where the field has one.
        longest: The greatest length, where the text is too long.
    """

    def __init__(
        self, path: str, expected: str, value: object, kind: str, longest: int | None = None
    ) -> None:
        where = f"{path}: " if path else ""
        super().__init__(f"{where}expected {expected}, got {shown(value)}")
        self.path, self.expected, self.value = path, expected, value
        self.kind, self.longest = kind, longest


def one_of(values: Iterable[str]) -> Meta:
    """Annotate a text that is one of a few."""
    known = tuple(values)
    pattern = rf"\A(?:{'|'.join(map(re.escape, known))})\Z"
    return Meta(pattern=pattern, extra={"choices": known}, extra_json_schema={"enum": list(known)})


def documented(values: Iterable[str]) -> Meta:
    """Annotate a text whose known values the JSON Schema lists; others pass."""
    return Meta(extra_json_schema={"enum": list(values)})


def described(expected: str, *, kind: str = "") -> Meta:
    """Annotate a compound field whose errors are worded as a whole."""
    return Meta(extra={"expected": expected, "kind": kind})


def about(text: str) -> Meta:
    """Annotate a field with its description in the JSON Schema."""
    return Meta(description=text)


def convert(data: object, kind: Any, *, is_text: bool = False) -> Any:
    """Turn plain data into a value of a declared type.

    Args:
        data: What a JSON or TOML parser returned, or a text.
        kind: A struct, dataclass or annotated type.
        is_text: Numbers and flags are given as texts, as in environment variables.
    Raises:
        WireError: The data does not fit.
    """
    try:
        value = msgspec.convert(data, kind, strict=not is_text)
    except msgspec.ValidationError as error:
        raise _explained(str(error), data, kind, is_text=is_text) from None
    if (steps := _not_finite(value if is_text else data)) is not None:
        raise _located(steps, data, kind)
    return value


def decoded(data: bytes, kind: Any) -> Any:
    """Read JSON that a stranger may have written as a value of a declared type.

    Raises:
        WireError: It is no JSON, is nested too deeply, or does not fit.
    """
    try:
        return convert(msgspec.json.decode(data), kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise WireError("", "JSON", data[:40], "object") from None


def plain(value: object) -> Any:
    """Turn a value of declared types into plain data, which `convert` reads again."""
    return msgspec.to_builtins(value)


def encode(value: object) -> str:
    """Write a value as JSON without needless spaces."""
    return msgspec.json.encode(value).decode()


def schemas(kinds: Iterable[Any]) -> tuple[Sequence[Any], dict[str, Any]]:
    """Derive JSON Schemas.

    Returns:
        A schema or reference for each type, and the named component schemas.
    """
    found, components = msgspec.json.schema_components(
        kinds, ref_template="#/components/schemas/{name}"
    )
    return [_tidy(each) for each in found], _tidy(components)


def shown(value: object) -> str:
    """Return a value as error messages show it."""
    if isinstance(value, int) and abs(value) >= _HUGE:
        return "one of too many digits"
    return repr(value)


def _tidy(schema: Any) -> Any:
    """Drop titles and the pattern of a text whose values are listed; shorten lists of one kind."""
    if isinstance(schema, list):
        return [_tidy(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    tidied = {
        name: _tidy(each)
        for name, each in schema.items()
        if not (name == "title" and isinstance(each, str))
        and not (name == "pattern" and "enum" in schema)
    }
    first, *others = tidied.get("prefixItems") or [None]
    if first is not None and all(each == first for each in others):
        del tidied["prefixItems"]
        tidied["items"] = first  # minItems and maxItems give the length
    return tidied


def _explained(message: str, data: object, kind: Any, *, is_text: bool) -> WireError:
    path = _PATH.search(message)
    steps: list[str | int | None] = [
        name or (int(index) if index else None)
        for name, index in _STEP.findall(path[1] if path else "")
    ]
    named = _FIELD.search(message)
    if named and named[1].startswith("contains"):
        return _located(steps, data, kind, unknown=named[2])
    return _located([*steps, named[2]] if named else steps, data, kind, is_text=is_text)


def _located(
    steps: Sequence[str | int | None],
    data: object,
    kind: Any,
    *,
    unknown: str | None = None,
    is_text: bool = False,
) -> WireError:
    info, path, value = inspect.type_info(kind), "", data
    for step in steps:
        bare, extra = _unwrapped(info)
        if extra.get("expected"):
            break
        if isinstance(bare, (inspect.StructType, inspect.DataclassType)):
            known = next((each.type for each in bare.fields if each.encode_name == step), None)
            if known is None:
                break
            info = known
            path += f"{'.' if path and not path.endswith(': ') else ''}{step}"
            value = value.get(step, NOTHING) if isinstance(value, dict) else NOTHING
        elif isinstance(step, int) and isinstance(value, (list, tuple)):
            if isinstance(bare, inspect.NamedTupleType):
                info = bare.fields[step].type
            else:
                is_fixed = isinstance(bare, inspect.TupleType)
                info = bare.item_types[step] if is_fixed else bare.item_type
            path, value = f"{path} {step + 1}: ".lstrip(), value[step]
        else:
            break
    path = path.rstrip(": ")
    bare, extra = _unwrapped(info)
    if unknown is not None and isinstance(bare, inspect.StructType):
        names = ", ".join(each.encode_name for each in bare.fields)
        return WireError(path, names, unknown, "object")
    expected, named = _words(bare, extra, _meant(bare, value) if is_text else value)
    longest = getattr(bare, "max_length", None) if named == "longest" else None
    return WireError(path, expected, value, extra.get("kind") or named, longest)


def _unwrapped(info: Any) -> tuple[Any, dict[str, Any]]:
    """The bare type of a value that is there, and what `Meta` says of it in `extra`."""
    extra: dict[str, Any] = {}
    while isinstance(info, (inspect.Metadata, inspect.UnionType)):
        if isinstance(info, inspect.Metadata):
            extra = {**(info.extra or {}), **extra}
            info = info.type
        else:  # an optional one
            info = next(each for each in info.types if not isinstance(each, inspect.NoneType))
    return info, extra


def _meant(bare: Any, value: object) -> object:
    """The number that a text stands for, where one is wanted."""
    kind = {inspect.IntType: int, inspect.FloatType: float}.get(type(bare))
    with suppress(ValueError):
        return value if kind is None or not isinstance(value, str) else kind(value)
    return value


def _words(bare: Any, extra: Mapping[str, Any], value: object) -> tuple[str, str]:
    """The expected value in words, and the kind of error."""
    if text := extra.get("expected"):
        return text, "list" if isinstance(bare, (inspect.ListType, inspect.TupleType)) else "object"
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if isinstance(bare, inspect.IntType):
        is_bound = is_number and not isinstance(value, float) and bare.ge is not None
        return (f"{bare.ge} to {bare.le}", "range") if is_bound else ("a whole number", "number")
    if isinstance(bare, inspect.FloatType):
        if is_number and bare.ge is not None and shown(value) == repr(value):
            return f"{bare.ge:g} to {bare.le:g}", "range"
        return "a number", "number"
    if isinstance(bare, inspect.BoolType):
        return "true or false", "flag"
    if isinstance(bare, (inspect.EnumType, inspect.LiteralType)) or "choices" in extra:
        known = extra.get("choices") or (
            [each.value for each in bare.cls] if isinstance(bare, inspect.EnumType) else bare.values
        )
        is_text = isinstance(value, type(next(iter(known))))
        return " or ".join(map(str, known)), "choice" if is_text else "text"
    if isinstance(bare, inspect.StrType):
        if isinstance(value, str) and len(value) > (bare.max_length or len(value)):
            return f"at most {bare.max_length} characters", "longest"
        return "a text", "text"
    if isinstance(bare, (inspect.ListType, inspect.TupleType)):
        return "a list", "list"
    return "a table", "object"


def _not_finite(data: object) -> list[str | int | None] | None:
    """Return the path to the first number that is not finite; None if all are."""
    if isinstance(data, float):
        return None if math.isfinite(data) else []
    pairs: Iterable[tuple[Any, Any]] = ()
    if isinstance(data, dict):
        pairs = data.items()
    elif isinstance(data, list):
        pairs = enumerate(data)
    for step, value in pairs:
        if (rest := _not_finite(value)) is not None:
            return [step, *rest]
    return None
