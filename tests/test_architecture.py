"""The import rules: layers, no cycles, one seam per heavy dependency, a light core."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("companion", "vision", "hardware", "web")

TOPS = (
    "companion.app",
    "companion.adapters",
    "companion.cli",
    "companion.mqtt.club.app",
    "companion.commands",
    "companion.__main__",
)
"""They sit on everything and nobody below may import them."""

LAYERS: Mapping[str, tuple[str, ...]] = {
    "companion.engine": ("companion.engine", "companion.errors"),
    "companion.tray": ("companion.engine.dice",),
    "companion.mqtt.club": (
        "companion.mqtt.club",
        "companion.engine",
        "companion.errors",
        "companion.eventlog",
        "companion.history",
        "companion.mqtt",
        "companion.session.notifier",
        "companion.wire",
    ),
    "companion": ("companion",),
    "vision": (
        "vision",
        "companion.engine.dice",
        "companion.errors",
        "companion.tray",
        "companion.wire",
    ),
    "hardware": ("hardware", "companion.engine.dice", "companion.errors"),
    "web": ("web", "companion"),
}
"""What of ours each part may import; the longest name that fits a module is its part."""

ASIDE: Mapping[str, tuple[str, ...]] = {
    "companion.mqtt.club": ("companion.mqtt.club", "web.club"),
    "web.club": ("web.club",),
}
"""Parts that no table needs, and who may import them besides the top."""

SEAMS: Mapping[str, tuple[tuple[str, ...], int | None]] = {
    "click": (("companion.cli", "companion.commands"), None),
    "cv2": (("vision", "companion.commands"), None),
    "flask": (("web",), None),
    "gpiozero": (("hardware",), None),
    "h11": (PACKAGES, 1),
    "lgpio": (("hardware",), None),
    "numpy": (("vision", "companion.commands", "companion.coach"), None),
    "onnxruntime": (("vision.detector.models", "vision.training.quantize"), 2),
    "paho": (("companion.mqtt",), 1),
    "openskill": (("companion.history",), 1),
    "picamera2": (("vision",), 1),
    "segno": (PACKAGES, 1),
    "simplejpeg": (("vision",), 1),
    "sqlite3": (("companion.mqtt.club", "companion.eventlog"), None),
    "torch": (("vision.training",), None),
}
"""Where a dependency may be imported, and in how many modules at most.

The coach plays thousands of games as arrays: the judge in plain Python is 40 times too slow.
"""

TRAINING = "vision.training"
FOR_TRAINING = ("onnx", "torch")
"""Needed to make the weights again, never to play: nothing outside may reach it."""

BROUGHT_BY_FLASK = ("werkzeug", "jinja2", "markupsafe")
FROM_APT = ("lgpio", "picamera2")
IMPORT_NAMES = {"opencv-python": "cv2", "paho-mqtt": "paho"}


class Import(NamedTuple):
    """One import statement's target, as a module name."""

    importer: str
    line: int
    target: str


def is_within(module: str, part: str) -> bool:
    return module == part or module.startswith(part + ".")


def is_within_any(module: str, parts: tuple[str, ...]) -> bool:
    return any(is_within(module, part) for part in parts)


def module_name(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(
    source: str, importer: str, *, modules: frozenset[str], is_package: bool
) -> Iterator[Import]:
    """Every import anywhere in the source: in functions and under TYPE_CHECKING as well."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(importer, node.lineno, alias.name)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                up = importer.split(".")
                up = up[: len(up) - node.level + is_package]
                base = ".".join([*up, base] if base else up)
            for alias in node.names:
                whole = f"{base}.{alias.name}"
                yield Import(importer, node.lineno, whole if whole in modules else base)


def complaints(sources: Mapping[str, str], *, packages: frozenset[str] = frozenset()) -> list[str]:
    """What is wrong with who imports whom.

    Args:
        sources: Module name to source text, of all our modules.
        packages: Which of them are packages' `__init__`.
    """
    modules = frozenset(sources)
    found = [
        each
        for module, source in sources.items()
        for each in imports_of(source, module, modules=modules, is_package=module in packages)
    ]
    return [
        *wrong_layers(found),
        *wrong_seams(found),
        *wrong_reach(found, modules),
        *cycles(found, modules),
    ]


def wrong_layers(imports: list[Import]) -> Iterator[str]:
    for importer, line, target in imports:
        if is_within_any(importer, TOPS):
            continue
        part = max((p for p in LAYERS if is_within(importer, p)), key=len)
        where = f"{importer}:{line} imports {target}"
        if is_within_any(target, PACKAGES):
            if is_within_any(target, TOPS):
                yield f"{where}: nothing below may import the top"
            elif not is_within_any(target, LAYERS[part]):
                yield f"{where}: {part} may import only {', '.join(LAYERS[part])}"
            for aside, users in ASIDE.items():
                if is_within(target, aside) and not is_within_any(importer, users):
                    yield f"{where}: only {', '.join(users)} may"
        elif part == "companion.engine" and target.split(".")[0] not in sys.stdlib_module_names:
            yield f"{where}: {part} may import only the standard library besides"


def wrong_seams(imports: list[Import]) -> Iterator[str]:
    for dependency, (places, at_most) in SEAMS.items():
        users = [each for each in imports if each.target.split(".")[0] == dependency]
        for importer, line, target in users:
            if not is_within_any(importer, places):
                yield f"{importer}:{line} imports {target}: only for {', '.join(places)}"
        importers = sorted({each.importer for each in users})
        if at_most is not None and len(importers) > at_most:
            yield f"{', '.join(importers)} import {dependency}: at most {at_most} module may"


def wrong_reach(imports: list[Import], modules: frozenset[str]) -> Iterator[str]:
    tainted = {
        each.importer: each.target for each in imports if each.target.split(".")[0] in FOR_TRAINING
    }
    while more := {
        each.importer: each.target
        for each in imports
        if each.target in tainted and each.importer not in tainted
    }:
        tainted |= more
    for module in sorted(tainted):
        if tainted[module] in modules and not is_within(module, TRAINING):
            yield f"{module} imports {tainted[module]}: it leads to {', '.join(FOR_TRAINING)}"


def cycles(imports: list[Import], modules: frozenset[str]) -> Iterator[str]:
    graph: dict[str, set[str]] = {module: set() for module in modules}
    for importer, _, target in imports:
        if target in modules and target != importer:
            graph[importer].add(target)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        yield f"a circle of imports: {' <- '.join(error.args[1])}"


def our_sources() -> tuple[dict[str, str], frozenset[str]]:
    paths = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    sources = {module_name(path, ROOT): path.read_text(encoding="utf-8") for path in paths}
    packages = {module_name(path, ROOT) for path in paths if path.name == "__init__.py"}
    return sources, frozenset(packages)


def test_our_imports_keep_to_the_rule() -> None:
    sources, packages = our_sources()
    assert {"companion.engine.game", "vision.reading", "hardware.button"} <= sources.keys()
    assert complaints(sources, packages=packages) == []


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        pytest.param(
            {"companion.engine.sheet": "import json\nimport numpy as np\n"},
            [
                "companion.engine.sheet:2 imports numpy: "
                "companion.engine may import only the standard library besides",
                "companion.engine.sheet:2 imports numpy: "
                "only for vision, companion.commands, companion.coach",
            ],
            id="the engine takes numpy",
        ),
        pytest.param(
            {"companion.engine.sheet": "from ..store import Store\n", "companion.store": ""},
            [
                "companion.engine.sheet:1 imports companion.store: "
                "companion.engine may import only companion.engine, companion.errors"
            ],
            id="the engine looks up, by a relative import",
        ),
        pytest.param(
            {"companion.session": "def f():\n    import vision.camera\n", "vision.camera": ""},
            ["companion.session:2 imports vision.camera: companion may import only companion"],
            id="the session reaches for an adapter, inside a function",
        ),
        pytest.param(
            {"companion.session": "from companion import app\n", "companion.app": ""},
            ["companion.session:1 imports companion.app: nothing below may import the top"],
            id="somebody imports the composition root",
        ),
        pytest.param(
            {"web.views": "from companion.commands.play import play\n"},
            ["web.views:1 imports companion.commands.play: nothing below may import the top"],
            id="the page imports a command",
        ),
        pytest.param(
            {"vision.detector": "from companion.engine import game\n", "companion.engine.game": ""},
            [
                "vision.detector:1 imports companion.engine.game: "
                "vision may import only "
                "vision, companion.engine.dice, companion.errors, companion.tray, "
                "companion.wire"
            ],
            id="the reader learns the rules",
        ),
        pytest.param(
            {
                "companion.tray": "from companion.messages.catalogue import Line\n",
                "companion.messages.catalogue": "",
            },
            [
                "companion.tray:1 imports companion.messages.catalogue: "
                "companion.tray may import only companion.engine.dice"
            ],
            id="the tray's types need words",
        ),
        pytest.param(
            {"hardware.button": "import vision\n"},
            [
                "hardware.button:1 imports vision: "
                "hardware may import only hardware, companion.engine.dice, companion.errors"
            ],
            id="the button looks through the camera",
        ),
        pytest.param(
            {
                "web.views": "from companion.mqtt.club import store\n",
                "companion.mqtt.club.store": "",
            },
            [
                "web.views:1 imports companion.mqtt.club.store: "
                "only companion.mqtt.club, web.club may",
            ],
            id="a table needs the club",
        ),
        pytest.param(
            {"companion.announcer": "from flask import g\n"},
            ["companion.announcer:1 imports flask: only for web"],
            id="a second seam for flask",
        ),
        pytest.param(
            {"web.server": "import h11\n", "web.views": "import h11\n"},
            ["web.server, web.views import h11: at most 1 module may"],
            id="a second module with the web server",
        ),
        pytest.param(
            {
                "web.a": "from web import b\n",
                "web.b": "from . import c\n",
                "web.c": "import web.a\n",
            },
            ["a circle of imports: web.a <- web.c <- web.b <- web.a"],
            id="a circle of three",
        ),
        pytest.param(
            {
                "vision.training.nets": "import torch.nn\n",
                "vision.training.generator": "import vision.training.nets\n",
                "vision.bench": "from vision.training import generator\n",
            },
            [
                "vision.bench imports vision.training.generator: it leads to "
                + ", ".join(FOR_TRAINING)
            ],
            id="the bench needs torch, by way of another module",
        ),
        pytest.param(
            {
                "companion.app": "import vision.camera, hardware.panel, web\n",
                "vision.camera": "import cv2\nfrom companion.engine.dice import Roll\n",
                "companion.cli": "import click\nfrom companion.app import build\n",
                "companion.engine.game": "from companion.errors import CompanionError\n",
                "web.views": "from flask import Flask\nimport companion.table\n",
            },
            [],
            id="as it should be",
        ),
    ],
)
def test_the_checker_names_file_and_import(sources: dict[str, str], expected: list[str]) -> None:
    found = complaints(sources)
    assert sorted(normal(each) for each in found) == sorted(normal(each) for each in expected)


def normal(complaint: str) -> str:
    """A circle may be told from any of its modules on."""
    head, arrow, _ = complaint.partition("circle of imports: ")
    return complaint if not arrow else head + arrow + " ".join(sorted(set(complaint.split())))


def test_packages_resolve_relative_imports_from_themselves() -> None:
    sources = {"web": "from . import views\nfrom .views import page\n", "web.views": ""}
    found = imports_of(sources["web"], "web", modules=frozenset(sources), is_package=True)
    assert [each.target for each in found] == ["web.views", "web.views"]


def test_every_dependency_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = {each.split(">")[0].strip() for each in project["dependencies"]}
    known = {IMPORT_NAMES.get(each, each) for each in declared}
    known |= {*FROM_APT, *BROUGHT_BY_FLASK, *FOR_TRAINING}
    sources, packages = our_sources()
    strangers = {
        f"{module}:{line} imports {target}"
        for module, source in sources.items()
        for _, line, target in imports_of(
            source, module, modules=frozenset(sources), is_package=module in packages
        )
        if target.split(".")[0] not in {*sys.stdlib_module_names, *known, *PACKAGES}
    }
    assert strangers == set()


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("companion", {"cv2", "numpy", "flask", "gpiozero", "click", "sqlite3"}),
        ("companion.engine", {"cv2", "numpy", "flask", "gpiozero", "click", "sqlite3"}),
        ("companion.tray", {"cv2", "numpy", "flask", "gpiozero", "click", "sqlite3"}),
        ("hardware.gesture", {"cv2", "numpy", "flask", "gpiozero"}),
        ("hardware.button", {"cv2", "numpy", "flask", "lgpio"}),
    ],
)
def test_a_fresh_interpreter_loads_nothing_heavy(module: str, heavy: set[str]) -> None:
    loaded = subprocess.run(
        [sys.executable, "-c", f"import sys, {module}\nprint(*sys.modules)"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert module in loaded
    assert heavy.isdisjoint(loaded), f"import {module} loads {sorted(heavy.intersection(loaded))}"
