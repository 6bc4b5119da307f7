"""Typed structs at the edges: which data they take, and how an error names the place."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import pytest

from companion.config import load
from companion.wire.structs import (
    Meta,
    Struct,
    WireError,
    convert,
    described,
    encode,
    one_of,
    schemas,
)
from vision.calibration.calibration import as_toml, load_calibration

FILES = Path(__file__).parent.parent / "files" / "0.1"
"""Files that version 0.1 opened and wrote."""

Size = Annotated[int, Meta(ge=1, le=9)]


class Leaf(Struct, forbid_unknown_fields=True):
    """A leaf."""

    size: Size
    kind: Annotated[str, one_of(("oak", "ash"))] = "oak"
    note: Annotated[str, Meta(min_length=1, max_length=3)] | None = None
    share: Annotated[float, Meta(ge=0.0, le=1.0)] = 0.0


class Tree(Struct):
    """A tree."""

    leaf: list[Leaf]
    tall: bool = False
    at: Annotated[tuple[float, float] | None, described("[x, y]")] = None


@pytest.mark.parametrize(
    ("data", "message", "kind"),
    [
        ([], "expected a table, got []", "object"),
        ({}, "leaf: expected a list, got nothing", "list"),
        ({"leaf": [{}]}, "leaf 1: size: expected a whole number, got nothing", "number"),
        ({"leaf": [{"size": 1.5}]}, "leaf 1: size: expected a whole number, got 1.5", "number"),
        ({"leaf": [{"size": 10}]}, "leaf 1: size: expected 1 to 9, got 10", "range"),
        (
            {"leaf": [{"size": 1}, {"size": 1, "kind": "elm"}]},
            "leaf 2: kind: expected oak or ash, got 'elm'",
            "choice",
        ),
        (
            {"leaf": [{"size": 1, "kind": "oak\n"}]},
            "leaf 1: kind: expected oak or ash, got 'oak\\n'",
            "choice",
        ),
        (
            {"leaf": [{"size": 1, "note": "long"}]},
            "leaf 1: note: expected at most 3 characters, got 'long'",
            "longest",
        ),
        (
            {"leaf": [{"size": 1, "note": ""}]},
            "leaf 1: note: expected a text, got ''",
            "text",
        ),
        (
            {"leaf": [{"size": 1, "sort": 2}]},
            "leaf 1: expected size, kind, note, share, got 'sort'",
            "object",
        ),
        ({"leaf": [], "tall": 1}, "tall: expected true or false, got 1", "flag"),
        ({"leaf": [], "at": [1, "x"]}, "at: expected [x, y], got [1, 'x']", "list"),
        ({"leaf": [], "at": [1, float("nan")]}, "at: expected [x, y], got [1, nan]", "list"),
        (
            {"leaf": [{"size": 1, "share": 10**400}]},
            "leaf 1: share: expected a number, got one of too many digits",
            "number",
        ),
        (
            {"leaf": [{"size": 1, "share": float("nan")}]},
            "leaf 1: share: expected 0 to 1, got nan",
            "range",
        ),
    ],
)
def test_an_error_names_the_place(data: object, message: str, kind: str) -> None:
    with pytest.raises(WireError) as caught:
        convert(data, Tree)
    assert (str(caught.value), caught.value.kind) == (message, kind)


def test_what_is_read_is_written_again() -> None:
    data = {"leaf": [{"size": 3, "kind": "ash", "note": None, "share": 0.5}], "tall": True}
    tree = convert(data, Tree)
    assert tree.leaf[0].size == 3
    assert encode(tree) == (
        '{"leaf":[{"size":3,"kind":"ash","note":null,"share":0.5}],"tall":true,"at":null}'
    )


def test_the_schema_follows_from_the_types() -> None:
    (reference,), components = schemas([Tree])
    assert reference == {"$ref": "#/components/schemas/Tree"}
    leaf: dict[str, Any] = components["Leaf"]
    assert leaf["additionalProperties"] is False
    assert leaf["required"] == ["size"]
    assert leaf["properties"]["size"] == {"type": "integer", "minimum": 1, "maximum": 9}
    assert leaf["properties"]["kind"] == {
        "type": "string",
        "enum": ["oak", "ash"],
        "default": "oak",
    }


def test_settings_of_version_0_1_open_unchanged() -> None:
    found = asdict(load(FILES / "config.toml", {"HOME": "/h"}, {}))
    assert found["data_dir"] == Path("/var/lib/dice-companion")
    assert found["camera"] == {
        "source": "/dev/video0",
        "width": 1280,
        "height": 720,
        "fps": 30,
        "seed": 7,
        "calibration": "none",
    }
    assert found["panel"] == {
        "factory": "lgpio",
        "pin": 27,
        "repeat_pin": 22,
        "debounce_s": 0.05,
        "hold_s": 2.0,
        "power_off_s": None,
    }
    assert found["lamp"]["blue_pin"] == 13
    assert found["lamp"]["brightness"] == 0.5
    assert found["web"]["wifi_password"] == "six of them"
    assert found["sound"] == {
        "enabled": False,
        "volume": 150,
        "words_per_minute": 120,
        "say": "sums",
        "clips": "/srv/clips",
    }
    assert found["pictures"] == {"keep": 0}
    assert found["table"] == {"language": "de", "take_back_s": 3.0}


def test_a_calibration_of_version_0_1_opens_unchanged() -> None:
    text = (FILES / "tray.toml").read_text()
    found = load_calibration(FILES / "tray.toml")
    assert found.size_wh == (640, 480)
    assert found.camera == {"exposure": 157.0, "gain": 2.5}
    assert len(found.dice) == 6
    assert found.reference is not None
    assert as_toml(found) == text
