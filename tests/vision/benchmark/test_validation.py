"""Sets of synthetic frames with their truth."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from companion.engine.dice import ALL_DICE, DieColour
from companion.tray import TrayStatus
from tests.vision.scenes import default_scene
from vision.benchmark import validation
from vision.benchmark.frames import case_of
from vision.benchmark.truth import pictures
from vision.simulation.render import render, truth
from vision.simulation.scene import Lamp


def _write(monkeypatch: pytest.MonkeyPatch, folder: Path, frames: int, *options: str) -> None:
    arguments = [str(folder), "--split", "check", "--frames", str(frames), *options]
    monkeypatch.setattr(sys, "argv", ["validation", *arguments])
    validation.main()


@pytest.mark.slow
def test_a_set_is_read_as_any_other_and_goes_on_where_it_stopped(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _write(monkeypatch, tmp_path / "whole", 3)
    _write(monkeypatch, tmp_path / "parts", 2)
    _write(monkeypatch, tmp_path / "parts", 3)
    whole, parts = (
        (tmp_path / name / "truth.jsonl").read_text(encoding="utf-8") for name in ("whole", "parts")
    )
    assert whole == parts
    cases = list(pictures(tmp_path / "whole"))
    assert [case.expected for case, _ in cases[:2]] == [TrayStatus.OK, TrayStatus.OK]
    for case, pixels in cases:
        assert pixels.shape == (480, 640, 3)
        assert len(case.in_play) in (4, 5, 6)


@pytest.mark.slow
def test_small_dice_are_small_in_pictures_of_any_size(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _write(monkeypatch, tmp_path, 2, "--small", "--size", "800x600")
    for case, pixels in pictures(tmp_path):
        assert pixels.shape == (600, 800, 3)
        edges = [die.edge_px for die in case.dice if die.edge_px is not None]
        assert 0.015 * 800 < np.median(edges) < 0.045 * 800


def test_dice_without_pips_are_to_be_called_uncertain() -> None:
    scene = default_scene([(colour, 3) for colour in ALL_DICE], seed=4)
    with_pips = case_of("", scene)
    dice = (replace(scene.dice[0], symbols=(5,) * 6), *scene.dice[1:])
    case = case_of("", replace(scene, dice=dice))
    assert (with_pips.expected, case.expected) == (TrayStatus.OK, TrayStatus.UNCERTAIN)
    assert not case.readable
    assert case.dice[0].value is None


@pytest.mark.slow
def test_pips_in_a_clipped_highlight_are_called_faint() -> None:
    scene = default_scene([(DieColour.WHITE, 1)], seed=2)
    die = replace(scene.dice[0], pip_depth=0.0, gloss=1.0, roughness=0.3)
    scene = replace(scene, dice=(die,))
    (x, y, _), (u, v, w) = die.position_mm, scene.camera.position_mm
    mirrored = Lamp((2 * x - u + 1, 2 * y - v, w), 30.0, (0.9, 0.9, 0.9))
    glaring = replace(scene, lamps=(mirrored,), lens=replace(scene.lens, exposure_ev=4.0))
    for lit, faint in ((scene, False), (glaring, True)):
        contrast, glare = validation.pip_contrast(lit, die, truth(lit)[0], render(lit))
        assert contrast is not None
        assert (contrast < validation.FAINT) is faint
        assert glare is faint
    line = validation.described("a.jpg", glaring, render(glaring))
    assert line["glare_or_faint"] is True
    assert line["looks"] == ["floor felt", "pips round", "plastic plain"]
    red = replace(glaring, lens=replace(glaring.lens, white_balance=(0.1, 1.0, 1.0)))
    assert "strong cast" in validation.looks_of(red)
    assert np.isclose(line["dice"][0]["center_px"], truth(scene)[0].centre_px, atol=0.01).all()
