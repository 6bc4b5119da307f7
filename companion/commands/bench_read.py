"""`dice-companion bench read`: measure dice reading on annotated pictures."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from companion.commands.console import complain, progress, without_library_messages
from companion.commands.drawings import Drawings
from companion.errors import PictureError
from companion.history.risk import CONFIDENCE, at_most, upwards

if TYPE_CHECKING:
    from vision.benchmark.scoring import Outcome
    from vision.benchmark.truth import Case
    from vision.reading import Pixels, Reading

OWN_FRAMES = 60
"""Frames rendered when no folder is given."""


def bench_read(
    folder: str | None,
    *,
    size_wh: tuple[int, int] | None = None,
    as_json: bool = False,
    annotate: str | Path | None = None,
    frames: int = OWN_FRAMES,
    engine: str = "auto",
) -> None:
    """Measure dice reading on a folder with a truth file, or on rendered pictures.

    Args:
        folder: Directory with pictures and `truth.jsonl`; None renders `frames` pictures.
        size_wh: Width and height that the pictures are scaled to fit; None keeps their size.
        annotate: Directory for drawings of the readings that were not exact.
        frames: How many pictures to render.
        engine: What runs the networks: opencv as on a Pi, or auto as in play.
    Raises:
        PictureError: The folder or its truth file cannot be used.
        SystemExit: Some pictures could not be read or drawn; the others were measured.
    """
    import cv2

    from vision.benchmark.frames import own_pictures
    from vision.benchmark.scoring import measure
    from vision.benchmark.truth import load_cases, pictures
    from vision.detector.models import opencv_alone, shared_net
    from vision.pipeline import DiceReader
    from vision.reading import Frame

    cases: Iterator[tuple[Case, Pixels]]
    not_read: list[PictureError] = []

    def unread(error: PictureError) -> None:
        not_read.append(error)
        complain(error)

    drawings = Drawings(Path(annotate)) if annotate is not None else None

    def draw(case: Case, pixels: Pixels, reading: Reading, outcome: Outcome) -> None:
        is_good = not outcome.misread and (outcome.verdict == "exact" or outcome.named)
        if drawings is not None and not is_good:
            drawings.add(f"{outcome.verdict}_{Path(case.name).stem}", pixels, reading)

    total = frames
    if folder is None:
        cases = own_pictures(frames, size_wh)
    else:
        if not os.path.isdir(folder):
            shown = folder or "''"
            raise PictureError(f"{shown}: expected a folder of pictures with a truth.jsonl")
        total = len(load_cases(Path(folder)))  # before the networks are loaded
        cases = pictures(Path(folder), size_wh, unread, _load)
    reader = DiceReader()

    def read(pixels: Pixels, in_play: Any) -> tuple[Reading, float]:
        started = time.perf_counter()
        reading = reader.read(Frame(pixels), in_play)
        return reading, (time.perf_counter() - started) * 1e3

    threads = cv2.getNumThreads()
    cv2.setNumThreads(1)
    try:
        with opencv_alone() if engine == "opencv" else nullcontext():
            reader.get_ready()
            followed = progress(cases, total, "Reading pictures")
            report = measure(followed, read, draw).report()
            report["engine"] = shared_net("upright").engine
    finally:
        cv2.setNumThreads(threads)
    report["risk"] = _risk(report)
    report |= {"source": "own" if folder is None else folder, "not_read": len(not_read)}
    click.echo(json.dumps(report) if as_json else readable(report))
    if not_read or (drawings is not None and drawings.failed):
        sys.exit(1)


def _load(path: Path) -> Pixels:
    from vision.images import load_picture

    with without_library_messages():
        return load_picture(path)


def _risk(report: Mapping[str, Any]) -> dict[str, Any]:
    """How often an announced roll is wrong, as far as the pictures can show."""
    wrong, announced = report["silently_wrong"], report["announced"]
    bound = round(at_most(wrong, announced), 6)
    return {"announced": announced, "wrong": wrong, "at_most": bound, "confidence": CONFIDENCE}


def _bound(risk: Mapping[str, Any]) -> list[str]:
    """The same in words; photos, of which only the dice are known, announce nothing."""
    if not risk["announced"]:
        return []
    bound = upwards(risk["at_most"])
    return [
        f"announced {risk['announced']}, {risk['wrong']} of them wrong: at most {bound} of "
        f"announced rolls are wrong ({risk['confidence']:.0%} confidence)"
    ]


def readable(report: dict[str, Any]) -> str:
    """The report as text for people."""
    frames, ok, special = report["frames"], report["ok"], report["special"]
    dice, faint, risk = report["dice"], report["faint"], report["risk"]
    skipped = [
        f"{count} {what}"
        for count, what in (
            (report["not_counted"], "skipped because their label is uncertain"),
            (report["not_read"], "unreadable"),
        )
        if count
    ]
    lines = [
        f"{frames} frames from {report['source']}" + "".join(f", {part}" for part in skipped),
        f"exact {report['exact']}, unsure {report['unsure']}, "
        f"silently wrong {report['silently_wrong']}, "
        f"special not announced {report['not_announced']}",
        *_bound(risk),
        f"ok frames read exactly: {ok['exact']} of {ok['frames']}"
        + (f"; {faint['exact']} of {faint['frames']} faint ones" if faint["frames"] else ""),
        f"special frames named: {special['named']} of {special['frames']}",
        f"dice: {dice['right']} right of {dice['seen']} seen of {dice['labelled']} labelled, "
        f"{dice['false']} seen that are not labelled",
        f"ms per frame, one thread of {report['engine']}: median {report['ms']['median']}, "
        f"p95 {report['ms']['p95']}",
        "expected as read: "
        + ", ".join(f"{name}: {count}" for name, count in report["statuses"].items()),
    ]
    lines += [
        f"ok frames with {look}: {of['exact']} of {of['frames']}"
        for look, of in report["looks"].items()
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
    lines += [f"not named: {name}" for name in report["unnamed_files"]]
    lines += [f"misread: {name}" for name in report["misread_files"]]
    return "\n".join(lines)
