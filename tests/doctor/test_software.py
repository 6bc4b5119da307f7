"""Each trap of NOTES on packages, as a fresh interpreter meets it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from companion.doctor.finding import Ran, Run, Verdict, run
from companion.doctor.software import (
    PACKAGES,
    check_lgpio,
    check_onnxruntime,
    check_opencv_wheels,
    check_package,
    check_packages,
    check_picamera2,
    check_python,
)


def with_module(folder: Path, name: str, source: str) -> Run:
    """Run interpreters that find this module before any other of its name."""
    (folder / f"{name}.py").write_text(source)
    environ = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}

    def run_with(command: Sequence[str]) -> Ran:
        done = subprocess.run(command, capture_output=True, text=True, env=environ, check=False)
        return Ran(done.returncode, done.stdout, done.stderr)

    return run_with


@pytest.mark.parametrize(
    ("source", "text", "cure"),
    [
        pytest.param(
            "raise ImportError('libGL.so.1: cannot open shared object file')",
            "libGL.so.1",
            "apt install libgl1",
            id="OpenCV without libGL",
        ),
        pytest.param(
            "raise ImportError('libgthread-2.0.so.0: cannot open shared object file')",
            "libgthread",
            "libglib2.0-0",
            id="OpenCV without GLib",
        ),
        pytest.param(
            "raise ValueError('numpy.dtype size changed, may indicate binary incompatibility')",
            "numpy.dtype size changed",
            "make pi",
            id="built for another NumPy",
        ),
        pytest.param(
            "raise ImportError('A module that was compiled using NumPy 1.x cannot be run in 2.0')",
            "compiled using NumPy 1.x",
            "make play (on a Pi: make pi)",
            id="built for an older NumPy",
        ),
        pytest.param("import os; os.abort()", "crashes (signal 6)", "make play", id="crashes"),
        pytest.param("import sys; sys.exit(3)", "prints nothing", "make play", id="exits"),
    ],
)
def test_a_package_that_cannot_be_loaded(tmp_path: Path, source: str, text: str, cure: str) -> None:
    found = check_package(with_module(tmp_path, "cv2", source), "cv2")
    assert (found.name, found.verdict) == ("opencv", Verdict.BAD)
    assert text in found.text
    assert cure in found.cure


def test_an_old_package_is_named_with_the_version_needed(tmp_path: Path) -> None:
    found = check_package(with_module(tmp_path, "cv2", "__version__ = '4.5.1'"), "cv2")
    assert found.verdict is Verdict.NOTE
    assert found.text == "4.5.1 is older than 4.6"


def test_one_package_that_crashes_hides_no_other(tmp_path: Path) -> None:
    found = check_packages(with_module(tmp_path, "cv2", "import os; os.abort()"))
    assert [each.name for each in found] == [name for name, _ in PACKAGES.values()]
    assert [each.name for each in found if each.verdict is not Verdict.OK] == ["opencv"]
    assert check_package(run, "cv2").verdict is Verdict.OK


@pytest.mark.parametrize(
    ("source", "verdict", "text", "cure"),
    [
        ("__version__ = '1.32.0'", Verdict.OK, "1.32.0", ""),
        (
            "raise ModuleNotFoundError(\"No module named 'onnxruntime'\")",
            Verdict.OK,
            "OpenCV reads the dice",
            "",
        ),
        ("raise ImportError('libonnx: wrong ELF class')", Verdict.NOTE, "ELF", "pip uninstall"),
        ("import os; os.abort()", Verdict.BAD, "crashes (signal 6)", "pip uninstall"),
    ],
)
def test_onnxruntime_may_be_absent_but_not_crash(
    tmp_path: Path, source: str, verdict: Verdict, text: str, cure: str
) -> None:
    finding = check_onnxruntime(with_module(tmp_path, "onnxruntime", source))
    assert finding.verdict is verdict
    assert text in finding.text
    assert cure in finding.cure


def test_two_opencv_wheels_are_distinguished_from_one() -> None:
    assert check_opencv_wheels({"opencv-python"}.__contains__) == []
    both = {"opencv-python", "opencv-python-headless"}
    (finding,) = check_opencv_wheels(both.__contains__)
    pip = ".venv/bin/python -m pip"
    assert f"{pip} uninstall opencv-python opencv-python-headless" in finding.cure
    assert f"{pip} install opencv-python" in finding.cure


def test_the_empty_lgpio_of_2020_is_found_out(tmp_path: Path) -> None:
    (finding,) = check_lgpio(with_module(tmp_path, "lgpio", "__version__ = '0.0.0.2'"), True)
    assert finding.verdict is Verdict.NOTE
    assert "placeholder" in finding.text
    assert ".venv/bin/python -m pip uninstall lgpio" in finding.cure
    assert "python3-lgpio" in finding.cure


@pytest.mark.parametrize("name", ["SET_BIAS_DISABLE", "SET_PULL_NONE"])
def test_lgpio_of_apt_and_of_pypi_are_both_whole(tmp_path: Path, name: str) -> None:
    source = f"__version__ = '0.2.2'\n{name} = 128\n"
    (finding,) = check_lgpio(with_module(tmp_path, "lgpio", source), True)
    assert finding.verdict is Verdict.OK


def test_a_whole_lgpio_is_fine(tmp_path: Path) -> None:
    source = "__version__ = '0.2.2.0'\nSET_BIAS_DISABLE = 128"
    (finding,) = check_lgpio(with_module(tmp_path, "lgpio", source), True)
    assert (finding.verdict, finding.text) == (Verdict.OK, "0.2.2.0")


def test_picamera2_that_does_not_fit_numpy(tmp_path: Path) -> None:
    source = "raise ValueError('numpy.dtype size changed, expected 96')"
    (finding,) = check_picamera2(with_module(tmp_path, "picamera2", source), True)
    assert "a NumPy from pip hides apt's" in finding.cure


def test_picamera2_from_pip_is_named(tmp_path: Path) -> None:
    (finding,) = check_picamera2(with_module(tmp_path, "picamera2", ""), True)
    assert finding.verdict is Verdict.NOTE
    assert ".venv/bin/python -m pip uninstall picamera2" in finding.cure
    assert "apt install python3-picamera2" in finding.cure


def test_without_a_pi_its_parts_are_not_missed() -> None:
    missing = "ModuleNotFoundError: No module named 'lgpio'"
    gone = Ran(1, "", missing)
    assert check_lgpio(lambda _: gone, False) == []
    assert check_picamera2(lambda _: gone, False) == []
    (finding,) = check_lgpio(lambda _: gone, True)
    assert finding.cure == "sudo apt install python3-lgpio, then make pi"


@pytest.mark.parametrize(
    ("version", "is_64_bit", "verdict"),
    [
        ((3, 10, 2), True, Verdict.BAD),
        ((3, 11, 2), False, Verdict.NOTE),
        ((3, 13, 0), True, Verdict.OK),
    ],
)
def test_python(version: tuple[int, ...], is_64_bit: bool, verdict: Verdict) -> None:
    assert check_python(version, "aarch64", is_64_bit).verdict is verdict


def test_a_program_that_is_not_there_or_hangs_is_only_reported() -> None:
    assert run(["no-such-program-anywhere"]).status is None
    assert run([sys.executable, "-c", "input()"], timeout_s=20).status == 1  # nobody types
    hangs = "import threading; threading.Event().wait()"
    assert run([sys.executable, "-c", hangs], timeout_s=0.3).status is None
