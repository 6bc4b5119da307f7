"""What every test may use."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of frames, photos and recorded games beside the project."""
    if not SHARED.is_dir():
        pytest.skip("the shared folder with games and pictures is not beside the project")
    return SHARED
