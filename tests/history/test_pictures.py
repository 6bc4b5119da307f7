"""Pictures of confirmed rolls: few, on this machine only, deletable, and never in the way."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from companion.history.pictures import DIRECTORY, Pictures


def filled(tmp_path: Path, count: int, most: int = 5) -> Pictures:
    pictures = Pictures(tmp_path, most)
    for turn in range(1, count + 1):
        pictures.keep(10 * turn, 1, turn, b"jpeg %d" % turn)
    return pictures


def test_a_picture_is_found_by_its_roll(tmp_path: Path) -> None:
    pictures = filled(tmp_path, 3)
    assert pictures.jpeg(20) == b"jpeg 2"
    assert pictures.jpeg(21) is None
    newest = pictures.all()[0]
    assert (newest.revision, newest.game, newest.turn, newest.size) == (30, 1, 3, 6)
    assert "T" in newest.at


def test_the_oldest_go_beyond_the_cap(tmp_path: Path) -> None:
    pictures = filled(tmp_path, 12)
    assert [kept.revision for kept in pictures.all()] == [120, 110, 100, 90, 80]
    assert len(list((tmp_path / DIRECTORY).iterdir())) == 5
    again = Pictures(tmp_path, 2)
    assert len(again.all()) == 5, "a smaller cap takes effect at the next keeping"
    again.keep(130, 1, 13, b"jpeg")
    assert [kept.revision for kept in again.all()] == [130, 120]
    Pictures(tmp_path, 1).prune()
    assert [kept.revision for kept in again.all()] == [130]
    Pictures(tmp_path, 0).prune()
    assert again.all() == []


def test_pictures_of_removed_games_make_room_for_new_ones(tmp_path: Path) -> None:
    filled(tmp_path, 5)
    pictures = Pictures(tmp_path, 5)
    pictures.keep(7, 1, 1, b"of the first game after the old ones were removed")
    assert [kept.revision for kept in pictures.all()] == [7]
    pictures.keep(15, 1, 2, b"jpeg")
    assert [kept.revision for kept in pictures.all()] == [15, 7]


def test_one_or_all_can_be_deleted(tmp_path: Path) -> None:
    pictures = filled(tmp_path, 4)
    assert pictures.delete(20) == 1
    assert pictures.delete(20) == 0
    assert [kept.revision for kept in pictures.all()] == [40, 30, 10]
    assert pictures.delete() == 3
    assert pictures.all() == []


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    pictures = filled(tmp_path, 1)
    note = tmp_path / DIRECTORY / "note.txt"
    note.write_text("ours")
    assert pictures.delete() == 1
    assert note.exists()


def test_a_full_disk_is_not_filled_with_parts_of_pictures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def until_the_disk_is_full(path: Path, data: bytes) -> int:
        with path.open("wb") as file:
            file.write(data[:2])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", until_the_disk_is_full)
    assert filled(tmp_path, 5).all() == []
    assert list((tmp_path / DIRECTORY).iterdir()) == []


def test_a_folder_that_takes_no_pictures_is_reported_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / DIRECTORY).write_text("in the way")
    pictures = filled(tmp_path, 3)
    assert pictures.all() == []
    assert pictures.jpeg(10) is None
    assert pictures.delete() == 0
    assert len(caplog.records) == 1


def test_what_a_pulled_plug_left_of_a_picture_is_neither_kept_nor_shown(tmp_path: Path) -> None:
    folder = tmp_path / DIRECTORY
    filled(tmp_path, 1)
    for leave in (
        lambda: Pictures(tmp_path, 5).prune(),
        lambda: Pictures(tmp_path, 5).delete_games([]),
    ):
        (folder / "game-0001-turn-002-000020.jpg.part").write_bytes(b"half a jp")
        (folder / "game-0001-turn-003-000030.jpg").touch()
        leave()
        assert not list(folder.glob("*.part"))
        assert [each.revision for each in Pictures(tmp_path, 5).all()] == [10]
    assert Pictures(tmp_path, 5).delete() == 2
