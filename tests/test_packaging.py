"""The built wheel holds every file of the packages and starts with nothing but what it lists."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("companion", "vision", "hardware", "web")

pytestmark = pytest.mark.slow


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", folder, ROOT, cwd=folder)
    (built,) = folder.glob("*.whl")
    return built


def test_no_file_of_the_packages_is_left_out(wheel: Path) -> None:
    tracked = run("git", "ls-files", *PACKAGES, cwd=ROOT).split("\n")
    with zipfile.ZipFile(wheel) as archive:
        packed = set(archive.namelist())
    assert {name for name in tracked if name} - packed == set()
    strangers = {name for name in packed if name.split("/")[0] not in PACKAGES}
    assert all(".dist-info/" in name for name in strangers), strangers


def test_the_wheel_starts_without_our_folder_and_our_tools(wheel: Path, tmp_path: Path) -> None:
    run(sys.executable, "-m", "venv", tmp_path / "venv", cwd=tmp_path)
    bin_folder = tmp_path / "venv" / "bin"
    run(bin_folder / "python", "-m", "pip", "install", "--quiet", wheel, cwd=tmp_path)
    installed = run(bin_folder / "python", "-m", "pip", "list", cwd=tmp_path).lower()
    assert "pytest" not in installed
    assert "dice-companion" in installed
    helped = run(bin_folder / "dice-companion", "--help", cwd=tmp_path)
    assert "play" in helped
    for module in ("companion.app", "web", "vision.pipeline", "hardware.button"):
        run(bin_folder / "python", "-c", f"import {module}", cwd=tmp_path)
