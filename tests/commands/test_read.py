"""`dice-companion read` and `bench read` at the command line."""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path

import cv2
import numpy as np
import pytest
from click.testing import CliRunner

from companion.cli import dice_companion
from companion.commands.bench import parse_size
from companion.commands.bench_read import bench_read
from companion.commands.read import parse_in_play, read
from companion.engine.dice import ALL_DICE, DieColour
from companion.errors import CompanionError, ConfigError, PictureError
from tests.vision.trays import tray
from vision.calibration.calibration import load_calibration
from vision.images import load_picture

ROLL = tuple((colour, number + 1) for number, colour in enumerate(ALL_DICE))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("pictures")
    cv2.imwrite(str(where / "b.jpg"), tray(ROLL))
    cv2.imwrite(str(where / "a.png"), tray())
    (where / "notes.txt").write_text("not a picture")
    return where


def test_json_has_one_object_per_picture_in_input_order(folder: Path) -> None:
    paths = [str(folder / "b.jpg"), str(folder)]
    result = CliRunner().invoke(dice_companion, ["read", "--json", *paths])
    assert result.exit_code == 0, result.output
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [Path(line["file"]).name for line in lines] == ["b.jpg", "a.png", "b.jpg"]
    assert lines[0]["file"] == paths[0]
    assert [line["status"] for line in lines] == ["ok", "empty", "ok"]
    assert lines[0]["elapsed_ms"] > 0
    die = next(d for d in lines[0]["dice"] if d["colour"] == "red")
    assert die["value"] == 3
    assert set(die) == {
        "colour", "value", "confidence", "centre", "corners", "cocked", "in_tray",
    }  # fmt: skip
    assert len(die["corners"]) == 4
    assert lines[1]["problems"] == [{"code": "empty", "colour": None}]


def test_pictures_of_a_folder_are_named_under_it_as_given(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    name = folder.name
    for given, joint in ((f"./{name}", "/"), (f"{name}/", ""), (f".//{name}", "/")):
        result = CliRunner().invoke(read, ["--json", given])
        files = [json.loads(line)["file"] for line in result.stdout.splitlines()]
        assert files
        assert all(file.startswith(given + joint) for file in files)


def test_a_bad_file_is_one_line_and_the_others_are_read(folder: Path, tmp_path: Path) -> None:
    text = tmp_path / "text.jpg"
    text.write_text("hello")
    args = ["read", "--json", str(text), str(tmp_path / "none.png"), str(folder / "b.jpg")]
    result = CliRunner().invoke(dice_companion, args)
    assert result.exit_code == 1
    assert len(result.stdout.splitlines()) == 1
    assert len(result.stderr.splitlines()) == 2
    assert "text.jpg" in result.stderr


def test_in_play_decides_the_status(folder: Path) -> None:
    args = ["read", "--json", "--in-play", "white,white,red", str(folder / "b.jpg")]
    line = json.loads(CliRunner().invoke(dice_companion, args).stdout)
    assert line["status"] == "ok"
    assert {p["code"] for p in line["problems"]} == {"removed_die_in_tray"}


@pytest.mark.parametrize("text", ["purple", "", "white,white,white", "red,red"])
def test_nonsense_in_play_is_wrong_usage(folder: Path, text: str) -> None:
    result = CliRunner().invoke(read, ["--in-play", text, str(folder / "b.jpg")])
    assert result.exit_code == 2
    with pytest.raises(ValueError, match="expected"):
        parse_in_play(text)


def test_in_play_parses() -> None:
    assert parse_in_play(" White,red ") == (DieColour.WHITE, DieColour.RED)


def test_pictures_of_one_name_are_drawn_one_by_one(folder: Path, tmp_path: Path) -> None:
    other, target = tmp_path / "other", tmp_path / "drawn"
    other.mkdir()
    (other / "b.jpg").write_bytes((folder / "b.jpg").read_bytes())
    pictures = [str(folder / "b.jpg"), str(other / "b.jpg")]
    assert CliRunner().invoke(read, [*pictures, "--annotate", str(target)]).exit_code == 0
    assert sorted(path.name for path in target.iterdir()) == ["b.jpg", "b_2.jpg"]


@pytest.mark.parametrize("names", [("b.jpg", "b_2.jpg"), ("b.png", "b.jpg")])
def test_no_drawing_takes_the_place_of_a_picture_still_to_read(
    names: tuple[str, str], tmp_path: Path
) -> None:
    rolls = ROLL, tuple((colour, 6 - number) for number, (colour, _) in enumerate(ROLL))
    for name, roll in zip(names, rolls, strict=True):
        cv2.imwrite(str(tmp_path / name), tray(roll))
    before = {name: (tmp_path / name).read_bytes() for name in names}
    plain = CliRunner().invoke(read, [str(tmp_path / name) for name in names])
    drawn = [str(tmp_path / name) for name in names] + ["--annotate", str(tmp_path)]
    assert CliRunner().invoke(read, drawn).stdout == plain.stdout
    assert {name: (tmp_path / name).read_bytes() for name in names} == before
    assert len(list(tmp_path.iterdir())) == 4


def test_folder_entries_that_are_no_pictures_are_skipped(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "._b.jpg").write_bytes(b"\0\5\x16\7 from a Mac")
    os.mkfifo(tmp_path / "pipe.jpg")
    (tmp_path / "deeper.jpg").mkdir()
    (tmp_path / "b.jpg").write_bytes((folder / "b.jpg").read_bytes())
    result = CliRunner().invoke(read, [str(tmp_path)])
    assert result.exit_code == 0
    assert len(result.output.splitlines()) == 1


def _damaged_png() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        crc = zlib.crc32(kind + data)
        return len(data).to_bytes(4, "big") + kind + data + crc.to_bytes(4, "big")

    png = cv2.imencode(".png", tray())[1].tobytes()
    return png[:33] + chunk(b"IDAT", b"no compressed data") + chunk(b"IEND", b"")


@pytest.mark.parametrize("args", [("read",), ("bench", "read")])
def test_a_damaged_png_is_one_line(
    args: tuple[str, ...], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.png").write_bytes(_damaged_png())
    line = {"file": "a.png", "expected": "empty", "dice": []}
    (tmp_path / "truth.jsonl").write_text(json.dumps(line))
    result = CliRunner().invoke(dice_companion, [*args, str(tmp_path)])
    assert result.exit_code == 1
    assert "cannot decode the picture: it is damaged" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert capfd.readouterr().err == "", "libpng writes there"


def test_a_picture_too_wide_to_draw_is_reported(tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "a.png"), np.zeros((4, 70_000, 3), np.uint8))
    args = [str(tmp_path / "a.png"), "--annotate", str(tmp_path / "drawn")]
    result = CliRunner().invoke(read, args)
    assert result.exit_code == 1
    assert "too large" in result.stderr


def test_a_line_break_in_a_name_breaks_no_message(tmp_path: Path) -> None:
    name = "a\nb.jpg"
    (tmp_path / name).write_text("no picture")
    result = CliRunner().invoke(read, [str(tmp_path / name)])
    assert result.stderr.splitlines() == [
        f"dice-companion: {tmp_path}/a\\nb.jpg: expected a JPEG or PNG picture, got something else"
    ]


def test_a_name_that_is_too_long_does_not_hold_the_others_up(folder: Path) -> None:
    result = CliRunner().invoke(read, ["x" * 300 + ".jpg", str(folder / "b.jpg")])
    assert result.exit_code == 1
    assert "b.jpg: " in result.output


def test_annotate_writes_pictures(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "out" / "deep"
    args = [str(folder / "b.jpg"), "--annotate", str(target)]
    result = CliRunner().invoke(read, args)
    assert result.exit_code == 0
    drawn, plain = cv2.imread(str(target / "b.jpg")), cv2.imread(str(folder / "b.jpg"))
    assert drawn.shape == plain.shape
    assert (cv2.absdiff(drawn, plain).max(axis=2) > 60).mean() > 0.002


def test_drawings_replace_only_earlier_drawings(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "drawn"
    target.mkdir()
    photo = (folder / "b.jpg").read_bytes() + b"another photo"
    (target / "b.jpg").write_bytes(photo)
    (target / "b_2.jpg").mkdir()
    for _ in range(2):
        args = [str(folder / "b.jpg"), "--annotate", str(target)]
        assert CliRunner().invoke(read, args).exit_code == 0
    assert (target / "b.jpg").read_bytes() == photo
    assert sorted(path.name for path in target.iterdir()) == ["b.jpg", "b_2.jpg", "b_3.jpg"]
    assert load_picture(target / "b_3.jpg").shape == load_picture(folder / "b.jpg").shape


def test_annotating_into_the_same_folder_overwrites_no_picture(folder: Path) -> None:
    before = (folder / "b.jpg").read_bytes()
    CliRunner().invoke(read, [str(folder / "b.jpg"), "--annotate", str(folder)])
    assert (folder / "b.jpg").read_bytes() == before
    (folder / "b_2.jpg").unlink()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "cannot read"),
        ("size_wh = [640", "TOML"),
        ("", "size_wh"),
        ("size_wh = [640, 480]\ncolour = 3", "colour"),
        ("size_wh = [640, 480]\nwhite_balance_bgr = [1, 2]", "white_balance_bgr"),
        ("size_wh = [640, 480]\ntray_px = [[1, 2]]", "tray_px"),
        ("size_wh = [0, 480]", "size_wh"),
        ('size_wh = [640, 480]\n[die]\nplays = "red"', "die: expected"),
    ],
)
def test_a_bad_calibration_is_one_clear_line(tmp_path: Path, text: str | None, says: str) -> None:
    path = tmp_path / "tray.toml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(ConfigError, match=says) as caught:
        load_calibration(path)
    assert str(path) in str(caught.value)
    result = CliRunner().invoke(read, [str(tmp_path), "--calibration", str(path)])
    assert isinstance(result.exception, CompanionError)


def test_a_good_calibration_loads(tmp_path: Path, folder: Path) -> None:
    path = tmp_path / "tray.toml"
    path.write_text(
        "size_wh = [640, 480]\ntray_px = [[0, 0], [640, 0], [640, 480], [0, 480]]\n"
        "white_balance_bgr = [1.0, 1.0, 1.0]\n"
    )
    args = ["read", "--json", str(folder / "b.jpg"), "--calibration", str(path)]
    assert json.loads(CliRunner().invoke(dice_companion, args).stdout)["status"] == "ok"


def test_bench_read_of_a_folder(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "a.png"), tray())
    line = {"file": "a.png", "expected": "empty", "values_readable": False,
            "dice_in_play": ["white"], "dice": []}  # fmt: skip
    (tmp_path / "truth.jsonl").write_text(json.dumps(line))
    bench_read(str(tmp_path), size_wh=(320, 240), as_json=True, engine="opencv")
    report = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert report["engine"] == f"OpenCV {cv2.__version__}"
    assert report["frames"] == 1
    assert report["special"] == {"frames": 1, "named": 1}
    bench_read(str(tmp_path), annotate=str(tmp_path / "drawn"))
    assert "1 frames" in capsys.readouterr().out


def test_bench_read_measures_the_others_where_a_picture_cannot_be_read(tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "a.png"), tray())
    (tmp_path / "b.png").write_text("no picture")
    lines = [
        {"file": f"{name}.png", "expected": "empty", "dice_in_play": ["white"], "dice": []}
        for name in "abc"
    ]
    (tmp_path / "truth.jsonl").write_text("\n".join(json.dumps(line) for line in lines))
    result = CliRunner().invoke(dice_companion, ["bench", "--json", "read", str(tmp_path)])
    assert result.exit_code == 1
    assert [line.split(":")[1].split("/")[-1] for line in result.stderr.splitlines()] == [
        "b.png",
        "c.png",
    ]
    report = json.loads(result.stdout.splitlines()[-1])
    assert (report["frames"], report["not_read"]) == (1, 2)


def test_bench_read_draws_pictures_of_one_name_one_by_one(tmp_path: Path) -> None:
    lines = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        cv2.imwrite(str(tmp_path / name / "a.png"), tray(ROLL))
        lines.append({"file": f"{name}/a.png", "expected": "empty", "dice": []})
    (tmp_path / "truth.jsonl").write_text("\n".join(json.dumps(line) for line in lines))
    drawn = tmp_path / "drawn"
    bench_read(str(tmp_path), annotate=str(drawn))
    first = min(drawn.iterdir())
    first.write_bytes(b"a photo")
    bench_read(str(tmp_path), annotate=str(drawn))
    assert first.read_bytes() == b"a photo"
    assert len(list(drawn.iterdir())) == 3


def test_an_empty_folder_name_is_no_wish_for_own_pictures(tmp_path: Path) -> None:
    with pytest.raises(PictureError):
        bench_read("")


@pytest.mark.parametrize("text", ["640", "x480", "640x", "ax3", "1x1", "-3x20"])
def test_a_bad_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="640x480"):
        parse_size(text)
    result = CliRunner().invoke(dice_companion, ["bench", "read", "--size", text])
    assert result.exit_code == 2
