"""Wheel and sdist hold every file; the wheel starts with nothing but what it lists."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
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
    files = [path for name in PACKAGES for path in (ROOT / name).rglob("*") if path.is_file()]
    ours = {str(path.relative_to(ROOT)) for path in files if "__pycache__" not in path.parts}
    with zipfile.ZipFile(wheel) as archive:
        packed = set(archive.namelist())
    assert ours - packed == set()
    strangers = {name for name in packed if name.split("/")[0] not in PACKAGES}
    assert all(".dist-info/" in name for name in strangers), strangers


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a git checkout")
def test_the_sdist_is_the_whole_project(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    run(sys.executable, "-m", "pip", "install", "-q", "--target", tools, "hatchling", cwd=tmp_path)
    build = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)]
    environ = os.environ | {"PYTHONPATH": str(tools)}
    subprocess.run(build, cwd=ROOT, env=environ, check=True, capture_output=True)
    (built,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(built) as archive:
        packed = {each.name.partition("/")[2]: each.mode for each in archive if each.isfile()}
    tracked = set(run("git", "ls-files", cwd=ROOT).split())
    assert packed.keys() ^ tracked == {"PKG-INFO"}
    assert packed[".ci/setup"] & 0o100, "make runs it"


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
