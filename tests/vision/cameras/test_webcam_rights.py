"""Webcams that this user may not open: said as such, and not taken for busy ones."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from companion.errors import CameraUnavailable
from vision.cameras import devices


def test_a_webcam_without_rights_is_not_called_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def access(path: str, mode: int) -> bool:
        asked.append((path, mode))
        return False

    monkeypatch.setattr(os, "access", access)  # root may open everything
    with pytest.raises(CameraUnavailable, match="camera '/dev/null': no permission to open it"):
        devices.open_v4l2("/dev/null")
    assert asked == [("/dev/null", os.R_OK | os.W_OK)]


def test_those_without_rights_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("video0", "video1", "null"):
        (tmp_path / name).touch()
    monkeypatch.setattr(os, "access", lambda path, _: path.endswith("video0"))
    assert devices.closed_paths(tmp_path) == [str(tmp_path / "video1")]
