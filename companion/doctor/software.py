"""Python and the packages: versions, and the traps of mixing pip with apt."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable

from companion.doctor.finding import Finding, Ran, Run, bad, note, ok

PYTHON = (3, 11)

_PIP = ".venv/bin/python -m pip"

PACKAGES = {
    "click": ("click", (8, 2, 1)),
    "msgspec": ("msgspec", (0, 22)),
    "cv2": ("opencv", (4, 6)),
    "numpy": ("numpy", (1, 24)),
    "flask": ("flask", (2, 3)),
    "h11": ("h11", (0, 14)),
    "gpiozero": ("gpiozero", (2, 0)),
    "segno": ("segno", (1, 5)),
    "simplejpeg": ("simplejpeg", (1, 7, 1)),
    "rich": ("rich", (13, 0)),
    "openskill": ("openskill", (6, 2)),
    "paho.mqtt": ("paho-mqtt", (2, 1)),
}
"""Module, name in the report, and lowest version (as in pyproject.toml)."""

OPENCV_WHEELS = (
    "opencv-python",
    "opencv-python-headless",
    "opencv-contrib-python",
    "opencv-contrib-python-headless",
)
"""Distributions that all install the module cv2 and overwrite each other's files."""

_BIAS = frozenset({"SET_BIAS_DISABLE", "SET_PULL_NONE"})
"""Names of one constant: the first in apt's lgpio, the second in 0.2.2 on PyPI, none in the
placeholder 0.0.0.2 of 2020."""

_LOAD = """
import importlib, importlib.metadata, json, sys
name, dist = sys.argv[1:]
module = importlib.import_module(name)
version = getattr(module, "__version__", None)
if version is None:
    try:
        version = importlib.metadata.version(dist)
    except importlib.metadata.PackageNotFoundError:
        version = ""
print(json.dumps({"version": str(version), "file": str(module.__file__), "has": dir(module)}))
"""

_ANOTHER_NUMPY = "it was built for another NumPy: rm -r .venv, then make play (on a Pi: make pi)"
_CURES = (
    ("libGL.so.1", "sudo apt install libgl1, or use opencv-python-headless instead"),
    ("libgthread-2.0", "sudo apt install libglib2.0-0"),
    ("libglib", "sudo apt install libglib2.0-0"),
    ("numpy.dtype size changed", "a NumPy from pip hides apt's: rm -r .venv, then make pi"),
    ("multiarray", _ANOTHER_NUMPY),
    ("compiled using NumPy", _ANOTHER_NUMPY),
    ("No module named 'lgpio'", "sudo apt install python3-lgpio, then make pi"),
    ("No module named 'picamera2'", "sudo apt install python3-picamera2, then make pi"),
    ("No module named", "make play installs what is missing"),
)
"""Part of an import error, and its cure; the first match counts."""


def check_python(version: tuple[int, ...], machine: str, is_64_bit: bool) -> Finding:
    """Check the interpreter; there are no OpenCV wheels for 32-bit systems."""
    text = f"{'.'.join(str(part) for part in version[:3])}, {machine}"
    if version[:2] < PYTHON:
        return bad("python", text, "Python 3.11 or newer is needed: install it, then make play")
    if not is_64_bit:
        cure = "the 64-bit system is advised; here only apt's python3-opencv will do"
        return note("python", f"{text}, 32-bit", cure)
    return ok("python", text)


def check_packages(run: Run) -> list[Finding]:
    """Load each package in a process of its own, which may crash."""
    return [check_package(run, module) for module in PACKAGES]


def check_package(run: Run, module: str) -> Finding:
    """Load one package of `PACKAGES` and compare its version."""
    name, oldest = PACKAGES[module]
    loaded = load(run, module, name)
    if isinstance(loaded, str):
        return bad(name, f"cannot be loaded: {loaded}", _cure(loaded))
    version = str(loaded["version"])
    if _numbers(version) < oldest:
        wanted = ".".join(str(part) for part in oldest)
        return note(name, f"{version} is older than {wanted}", "rm -r .venv, then make play")
    return ok(name, version)


def check_onnxruntime(run: Run) -> Finding:
    """Check the optional ONNX Runtime; one that crashes would end the table."""
    loaded = load(run, "onnxruntime", "onnxruntime")
    if isinstance(loaded, dict):
        return ok("onnxruntime", str(loaded["version"]))
    if "No module named 'onnxruntime'" in loaded:
        return ok("onnxruntime", "not installed: OpenCV reads the dice")
    cure = f"uninstall it; dice reading works without it: {_PIP} uninstall onnxruntime"
    verdict = bad if "crashes" in loaded else note
    return verdict("onnxruntime", f"cannot be loaded: {loaded}", cure)


def check_opencv_wheels(installed: Callable[[str], bool]) -> list[Finding]:
    """Report two installed OpenCV wheels, which overwrite each other's files."""
    found = [name for name in OPENCV_WHEELS if installed(name)]
    if len(found) < 2:
        return []
    cure = f"keep one: {_PIP} uninstall {' '.join(found)}, then {_PIP} install opencv-python"
    return [note("opencv", f"{' and '.join(found)} are both installed", cure)]


def check_picamera2(run: Run, is_pi: bool) -> list[Finding]:
    """On a Pi, check for picamera2 from apt and a NumPy that fits it."""
    loaded = load(run, "picamera2", "picamera2")
    if isinstance(loaded, str):
        if not is_pi:
            return []
        text = f"cannot be loaded: {loaded}"
        return [note("picamera2", f"{text}; a webcam works without", _cure(loaded))]
    if "dist-packages" not in str(loaded["file"]):
        cure = f"{_PIP} uninstall picamera2; sudo apt install python3-picamera2, then make pi"
        return [note("picamera2", f"is not apt's ({loaded['file']})", cure)]
    return [ok("picamera2", str(loaded["version"]) or "from apt")]


def check_lgpio(run: Run, is_pi: bool) -> list[Finding]:
    """On a Pi, check for a working lgpio: pip on Python 3.13 installs an empty 0.0.0.2."""
    loaded = load(run, "lgpio", "lgpio")
    if isinstance(loaded, str):
        if not is_pi:
            return []
        text = f"cannot be loaded: {loaded}; the page has a button"
        return [note("lgpio", text, _cure(loaded))]
    has = loaded["has"]
    if not isinstance(has, Iterable) or not _BIAS & set(has):
        text = f"{loaded['version']} is a placeholder without functions"
        cure = f"{_PIP} uninstall lgpio; sudo apt install python3-lgpio, then make pi"
        return [note("lgpio", text, cure)]
    return [ok("lgpio", str(loaded["version"]))]


def load(run: Run, module: str, distribution: str) -> dict[str, object] | str:
    """Load a module in a fresh interpreter; return version, file and names, or the error."""
    ran = run([sys.executable, "-c", _LOAD, module, distribution])
    try:
        answer = json.loads(ran.out.splitlines()[-1]) if ran.status == 0 else None
    except (IndexError, ValueError):
        answer = None
    return answer if isinstance(answer, dict) else _last_words(ran)


def _last_words(ran: Ran) -> str:
    if ran.status is not None and ran.status < 0:
        return f"it crashes (signal {-ran.status})"
    lines = [line.strip() for line in ran.err.splitlines() if line.strip()]
    return lines[-1].partition("Error: ")[2] or lines[-1] if lines else "it prints nothing"


def _cure(trouble: str) -> str:
    return next((cure for sign, cure in _CURES if sign in trouble), "rm -r .venv, then make play")


def _numbers(version: str) -> tuple[int, ...]:
    parts = version.split(".")[:3]
    return tuple(int(part) if part.isdecimal() else 0 for part in parts)
