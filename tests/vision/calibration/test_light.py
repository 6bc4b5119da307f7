"""Dark, blown out and blurred pictures are told from good ones."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pytest

from vision.calibration.light import PictureFault, measure_light
from vision.images import load_picture
from vision.reading import Pixels

IMAGES = Path(__file__).parents[1] / "images"
STILL = [
    path
    for path in sorted(IMAGES.glob("*.jpg"))
    if "moving" not in path.name and "empty" not in path.name
]


def exposed(pixels: Pixels, stops: float) -> Pixels:
    """As if the shutter had been open 2 ** stops times as long (gamma 2.2)."""
    light = (pixels / 255.0) ** 2.2 * 2.0**stops
    return np.asarray(np.clip(light, 0.0, 1.0) ** (1 / 2.2) * 255, np.uint8)


@pytest.mark.parametrize("path", STILL, ids=lambda path: path.stem)
def test_good_pictures_have_no_fault_and_spoilt_ones_do(path: Path) -> None:
    good = load_picture(path)
    assert measure_light(good).faults == ()
    assert measure_light(exposed(good, -6.0)).faults == (PictureFault.DARK,)
    assert PictureFault.OVEREXPOSED in measure_light(exposed(good, 5.0)).faults
    soft = cv2.GaussianBlur(good, (0, 0), 4.0 * max(good.shape) / 640)
    assert measure_light(np.asarray(soft, np.uint8)).faults == (PictureFault.BLURRED,)


def test_the_measure_does_not_hang_on_the_size_of_the_picture() -> None:
    whole = load_picture(IMAGES / "kamil_50.jpg")
    half = cv2.resize(whole, None, fx=0.7, fy=0.7, interpolation=cv2.INTER_AREA)
    one, two = measure_light(whole), measure_light(np.asarray(half, np.uint8))
    assert two.edges == pytest.approx(one.edges, rel=0.1)
    assert two.peak == pytest.approx(one.peak, abs=3)


@pytest.mark.parametrize(
    ("level", "faults"),
    [
        (0, (PictureFault.DARK,)),
        (128, (PictureFault.BLURRED,)),
        (255, (PictureFault.OVEREXPOSED, PictureFault.BLURRED)),
    ],
)
def test_pictures_of_nothing(level: int, faults: tuple[PictureFault, ...]) -> None:
    assert measure_light(np.full((48, 64, 3), level, np.uint8)).faults == faults


def test_few_pictures_of_the_shared_set_are_blamed(shared: Path) -> None:
    folder = shared / "frames" / "dev"
    truths = [json.loads(line) for line in (folder / "truth.jsonl").read_text().splitlines()]
    still = [truth["file"] for truth in truths if truth["expected"] != "moving"][::6]
    blamed = [name for name in still if measure_light(load_picture(folder / name)).faults]
    assert len(blamed) <= 1, blamed
