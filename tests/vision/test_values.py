"""What several looks and the pips say together of a value, and who is looked at again."""

from __future__ import annotations

import numpy as np
import pytest

from tests.vision.trays import SIX, tray
from vision.eye import reader
from vision.eye.finder import look_over
from vision.eye.nets import CROP, Scores
from vision.eye.reader import CloseUps, look_closely
from vision.eye.values import wavers, weighed

FITS = np.array([9.0, 9.0, 9.0, 9.0, 0.0, 9.0], np.float32)
"""Pips that only a five explains."""


def looks(*each: tuple[int, float]) -> Scores:
    """One row per look: the value it names, and how surely."""
    rows = np.full((len(each), 6), 0.0, np.float32)
    for row, (value, sure) in zip(rows, each, strict=True):
        row[:] = (1.0 - sure) / 5
        row[value - 1] = sure
    return rows


def pips(count: int, fits: Scores = FITS) -> Scores:
    return np.tile(fits, (count, 1))


def test_of_a_few_looks_one_that_names_another_value_is_a_doubt() -> None:
    assert wavers(looks((5, 0.999), (3, 0.6), (5, 0.999)), pips(3))
    assert not wavers(looks((5, 0.999), (5, 0.99), (5, 0.999)), pips(3))


def test_of_many_looks_what_they_say_together_counts() -> None:
    mostly = looks(*[(5, 0.999)] * 8, (3, 0.6))
    assert not wavers(mostly, pips(9))
    assert wavers(looks(*[(5, 0.999)] * 5, *[(3, 0.999)] * 4), np.zeros((9, 6), np.float32))


def test_pips_that_fit_another_value_are_a_doubt_however_many_looks_there_are() -> None:
    other = FITS[[0, 1, 4, 3, 2, 5]]
    for count in (1, 3, 9):
        assert wavers(looks(*[(5, 0.9999)] * count), pips(count, other))


@pytest.fixture
def six_looks() -> list[reader.Look]:
    pixels = tray(SIX)
    return [look for look, _ in look_closely(CloseUps(pixels), look_over(pixels).spots)]


def test_clear_dice_are_not_in_doubt(six_looks: list[reader.Look]) -> None:
    for look in six_looks:
        assert weighed(look.values, look.pips)[1]
        assert not wavers(look.values, look.pips)


def row(die: float = 6.0, lean: float = -6.0, moving: float = -6.0, visible: float = 6.0) -> Scores:
    said = np.zeros(51, np.float32)
    said[[0, 13, 14, 15]] = die, lean, moving, visible
    return said


def test_who_may_be_no_die_is_looked_at_again_as_who_may_show_another_value() -> None:
    clear = looks((5, 0.985))
    calm = np.zeros(7, np.float32)
    assert not reader._doubtful(row(), calm, clear, pips(1))
    assert reader._doubtful(row(die=3.75), calm, clear, pips(1)), "0.985 times 0.977"


@pytest.mark.parametrize("seen", [{"lean": 1.0}, {"moving": 1.0}, {"visible": 0.0}])
def test_the_last_looks_are_for_pictures_that_may_be_announced(seen: dict[str, float]) -> None:
    calm = np.zeros(7, np.float32)
    assert reader._allows_a_roll(row(), calm)
    assert not reader._allows_a_roll(row(**seen), calm)
    assert reader._allows_a_roll(row(die=-1.0, **seen), calm), "what is no die keeps nothing back"


def test_a_mirrored_crop_is_the_crop_in_a_mirror() -> None:
    pixels = np.random.default_rng(3).integers(0, 255, (200, 240, 3)).astype(np.uint8)
    plain = reader._crop_matrix((120.0, 90.0), 22.0, 0.4)
    mirrored = reader._cut(pixels, reader._mirrored(plain))
    assert mirrored.shape == (CROP, CROP, 3)
    apart = np.abs(mirrored[:, ::-1].astype(int) - reader._cut(pixels, plain))
    assert apart.mean() < 2.0
    assert np.abs(mirrored.astype(int) - reader._cut(pixels, plain)).mean() > 20.0


def test_a_die_that_wavers_to_the_end_has_nine_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "_doubtful", lambda *_: True)
    monkeypatch.setattr(reader, "wavers", lambda *_: True)
    pixels = tray(SIX)
    found = [look for look, _ in look_closely(CloseUps(pixels), look_over(pixels).spots)]
    flat = [look for look in found if look.die > 0.9]
    assert [look.values.shape for look in flat] == [(9, 6)] * 6
    assert [look.pips.shape for look in flat] == [(9, 6)] * 6
    assert {int(look.values.argmax(axis=1)[0]) for look in flat} == set(range(6))
    for look in flat:
        assert (look.values.argmax(axis=1) == look.values[0].argmax()).all()
        assert (look.pips.argmin(axis=1) == look.values[0].argmax()).all(), "also in the mirror"
