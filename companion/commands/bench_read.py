"""`dice-companion bench read`: measure the eye against pictures whose truth is known."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from companion.errors import PictureError

if TYPE_CHECKING:
    from vision.bench import Case, Outcome
    from vision.reading import Pixels, Reading

OWN_FRAMES = 60
"""Frames rendered when no folder is given."""


def bench_read(
    folder: str | None,
    *,
    size: str | None = None,
    as_json: bool = False,
    annotate: str | None = None,
    frames: int = OWN_FRAMES,
) -> None:
    """Print how the eye does on a folder with a truth file, or on pictures of its own.

    Args:
        folder: Holds pictures and `truth.jsonl`; None renders `frames` of our own.
        size: WxH that the pictures are scaled to fit, None for as they are.
        annotate: A folder for the pictures that were not read exactly, with the reading drawn in.
        frames: How many pictures of our own.
    Raises:
        PictureError: The folder or a picture cannot be used.
    """
    import cv2

    from vision.bench import measure, pictures
    from vision.bench_frames import own_pictures
    from vision.pipeline import Eye
    from vision.reading import Frame

    size_wh = parse_size(size) if size else None
    cases: Iterator[tuple[Case, Pixels]]
    cases = pictures(Path(folder), size_wh) if folder else own_pictures(frames, size_wh)
    eye = Eye()

    def read(pixels: Pixels, in_play: Any) -> tuple[Reading, float]:
        started = time.perf_counter()
        reading = eye.read(Frame(pixels), in_play)
        return reading, (time.perf_counter() - started) * 1e3

    threads = cv2.getNumThreads()
    cv2.setNumThreads(1)
    try:
        report = measure(cases, read, _annotator(annotate)).report()
    finally:
        cv2.setNumThreads(threads)
    report["source"] = folder or "own"
    click.echo(json.dumps(report) if as_json else readable(report))


def parse_size(text: str) -> tuple[int, int]:
    """`640x480` as a pair.

    Raises:
        PictureError: It is something else.
    """
    width, _, height = text.lower().partition("x")
    if not (width.isdecimal() and height.isdecimal()) or not (
        16 <= int(width) <= 20000 and 16 <= int(height) <= 20000
    ):
        raise PictureError(f"--size: expected WIDTHxHEIGHT such as 640x480, got {text!r}")
    return int(width), int(height)


def _annotator(folder: str | None) -> Any:
    if folder is None:
        return None
    import cv2

    from vision.overlay import draw_reading

    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PictureError(f"{folder}: cannot make the folder: {error.strerror}") from error

    def draw(case: Case, pixels: Pixels, reading: Reading, outcome: Outcome) -> None:
        if outcome.verdict == "exact" or outcome.named:
            return
        done, data = cv2.imencode(".jpg", draw_reading(pixels, reading))
        if done:
            (target / f"{outcome.verdict}_{Path(case.name).stem}.jpg").write_bytes(data.tobytes())

    return draw


def readable(report: dict[str, Any]) -> str:
    """The report as lines for people."""
    frames, ok, special = report["frames"], report["ok"], report["special"]
    dice = report["dice"]
    wrong = report["silently_wrong"]
    bound = f" (0 of {frames}: below {3 / max(frames, 1):.2%} with 95 %)" if not wrong else ""
    lines = [
        f"{frames} frames from {report['source']}",
        f"exact {report['exact']}, unsure {report['unsure']}, "
        f"silently wrong {wrong}{bound}, special not announced {report['not_announced']}",
        f"ok frames read exactly: {ok['exact']} of {ok['frames']}",
        f"special frames named: {special['named']} of {special['frames']}",
        f"dice: {dice['right']} right of {dice['seen']} seen of {dice['labelled']} labelled, "
        f"{dice['false']} seen that are not labelled",
        f"ms per frame, one thread: median {report['ms']['median']}, p95 {report['ms']['p95']}",
        "expected as read: "
        + ", ".join(f"{name}: {count}" for name, count in report["statuses"].items()),
    ]
    for name in ("values", "colours"):
        lines.append(f"{name} (true: read):")
        for true, row in report[name].items():
            lines.append(f"  {true}: " + ", ".join(f"{r} {c}" for r, c in row.items()))
    lines.append("stated confidence and what came true:")
    lines += [
        f"  from {row['from']:.2f}: {row['dice']} dice, stated {row['stated']:.3f}, "
        f"right {row['right']:.3f}"
        for row in report["reliability"]
    ]
    lines += [f"silently wrong: {name}" for name in report["wrong_files"]]
    lines += [f"unsure: {name}" for name in report["unsure_files"]]
    return "\n".join(lines)
