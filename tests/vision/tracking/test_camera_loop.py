"""The watch over the tray, frame by frame, and the loop around it that never gets stuck."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from companion.engine.dice import ALL_DICE, COLOURED, DieColour, Roll
from companion.errors import CameraUnavailable
from companion.tray import Note, NoteCode, Problem, ProblemCode, TrayStatus, TrayView
from tests.vision.tracking.live_table import REST, Table
from tests.vision.tray_fakes import ScriptedReader, bad, ok, picture, step
from vision.reading import Frame, Reading
from vision.tracking.camera_loop import REOPEN_S
from vision.tracking.tracker import TrayTracker


def test_a_throw_is_waited_for_seen_and_offered_once() -> None:
    rolling = [picture(spot=20 + 40 * n) for n in range(4)]
    table = Table([REST, *rolling, *[rolling[-1]] * 10])
    table.turns(15)
    assert table.said == ["waiting", "moving", "ok"]
    assert table.reports[-1].roll == ok().roll
    assert len(table.reader.asked) == 2


def test_nothing_is_read_while_anything_moves() -> None:
    table = Table([picture(spot=10 + 9 * n) for n in range(20)])
    table.turns(20)
    assert table.reader.asked == []
    assert table.said == ["waiting", "moving"]


def test_at_rest_the_reader_looks_only_now_and_then() -> None:
    table = Table([REST] * 100)
    table.turns(100)
    assert len(table.reader.asked) <= 2 + 5  # ten seconds, a look every two


def test_a_confirmed_roll_is_never_reported_again() -> None:
    table = Table([REST] * 60)
    table.turns(5)
    assert table.reports[-1].roll is not None
    table.live.on_confirmed()
    assert table.said[-1] == "old"
    table.turns(50)
    assert table.said[-1] == "old"
    assert table.camera.confirmations == 1


def test_a_reading_begun_before_confirmation_is_discarded() -> None:
    watch = TrayTracker(ScriptedReader(ok()), lambda: ALL_DICE)
    for n in range(3):
        step(watch, Frame(REST, n * 0.1, n))
    assert watch.view().roll is not None
    late = watch.read(watch.measure_motion(Frame(REST, 5.0, 9)))
    assert late.reading is not None
    watch.on_confirmed()
    watch.update(late)
    assert watch.view().status is TrayStatus.OLD


def test_reoffer_brings_untouched_dice_back() -> None:
    table = Table([REST] * 20)
    table.turns(5)
    table.live.on_confirmed()
    table.turns(3)
    table.live.reoffer()
    table.turns(3)
    assert table.reports[-1].roll is not None


def test_a_misread_roll_put_right_is_no_new_throw_when_it_is_pushed() -> None:
    right = ok("35-4225")
    assert right.roll is not None
    pushed = replace(
        right,
        dice=tuple(
            replace(die, centre_xy=(die.centre_xy[1] + 70.0, die.centre_xy[0]))
            for die in right.dice
        ),
    )
    for is_corrected in (True, False):
        table = Table([REST] * 5 + [picture(spot=90)] * 20, *[ok()] * 2, pushed)
        table.turns(5)
        assert table.reports[-1].roll == ok().roll
        table.live.on_confirmed(ok().roll)
        if is_corrected:
            table.live.on_corrected(right.roll)
        table.turns(15)
        assert table.said[-1] == ("old" if is_corrected else "ok")


def test_equal_dice_in_the_next_picture_are_a_new_throw() -> None:
    table = Table([REST] * 20, shows_others=True)
    table.turns(5)
    table.live.on_confirmed()
    assert table.said[-1] == "old"
    table.turns(4)
    assert table.said[-2:] == ["moving", "ok"]


def test_other_dice_in_play_are_asked_for_at_once() -> None:
    table = Table([REST] * 20)
    table.turns(5)
    table.in_play = ALL_DICE[:-1]
    table.turns(3)
    assert table.reader.asked[-2:] == [ALL_DICE[:-1]] * 2


def test_dice_that_lie_still_are_read_anew_without_a_word_of_motion() -> None:
    table = Table([REST] * 20, ok(), ok(), ok("11-4225"))
    table.turns(5)
    assert table.reports[-1].roll == ok().roll
    said = len(table.said)
    table.live.read_anew()
    table.turns(5)
    assert table.reports[-1].roll == ok("11-4225").roll
    assert "moving" not in table.said[said:]


def test_what_is_read_anew_counts_as_being_read_at_once() -> None:
    table = Table([REST] * 20)
    table.turns(5)
    table.live._tracker.read_anew()
    assert table.live.is_reading, "so that a press waits for the reading"
    table.turns(5)
    assert not table.live.is_reading
    assert table.reports[-1].roll is not None


def test_what_is_known_besides_is_told_while_dice_lie_still() -> None:
    table = Table([REST] * 20)
    table.turns(5)
    table.known.append(Problem(ProblemCode.TRAY_MOVED))
    table.turns(1)
    assert table.reports[-1].problems == (*table.known,)
    assert table.live.view.problems == (*table.known,)
    table.known.clear()
    table.turns(1)
    assert table.reports[-1].problems == ()


def test_the_picture_belongs_to_the_reading() -> None:
    shaded = [picture(90 + n % 2, spot=40) for n in range(30)]
    table = Table([REST, *shaded])
    table.turns(31)
    report = table.reports[-1]
    frame = table.live._tracker.frames.get(report.frame)
    assert frame is not None
    shown = table.live._tracker._state.shown.reading
    assert frame in [read_from for reading, read_from in table.reader.frames if reading is shown]
    data = table.live.jpeg(report.frame)
    assert data is not None
    decoded = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    assert (decoded.shape[1], decoded.shape[0]) == report.size_wh
    assert data is table.live.jpeg(report.frame)


def test_only_kept_pictures_are_given() -> None:
    table = Table([picture(spot=5 * n) for n in range(40)])
    assert table.live.jpeg() is None
    table.turns(40)
    assert table.live.jpeg() is not None
    assert table.live.jpeg(3) is None
    assert table.live.jpeg(-1) is None


def test_huge_pictures_are_shown_smaller() -> None:
    table = Table([np.full((1500, 3000, 3), 80, np.uint8)])
    table.turns(1)
    data = table.live.jpeg()
    assert data is not None
    assert cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR).shape[:2] == (640, 1280)
    assert table.reports[-1].size_wh == (3000, 1500)


def test_a_lost_camera_is_reported_once_and_comes_back(caplog: pytest.LogCaptureFixture) -> None:
    gone = CameraUnavailable("camera '/dev/video9': gives no pictures any more")
    table = Table([REST] * 4 + [gone], later=[CameraUnavailable("not yet")] * 5 + [[REST] * 9])
    with caplog.at_level(logging.WARNING):
        waits = table.turns(5 + 5 + 9)
    assert waits[4:10] == [REOPEN_S] * 6
    assert [r.getMessage() for r in caplog.records] == [f"camera lost: {gone}"]
    lost = [r for r in table.reports if r.camera == "lost"]
    assert [r.status for r in lost] == [TrayStatus.LOST] * len(lost)
    assert table.camera.closed == 1
    assert table.reports[-1].camera == "ok"
    assert table.reports[-1].roll is not None
    numbers = [r.frame for r in table.reports]
    assert numbers == sorted(numbers)


def test_old_dice_stay_old_over_a_lost_camera() -> None:
    table = Table([REST] * 4 + [CameraUnavailable("gone")], later=[[REST] * 9])
    table.turns(4)
    table.live.on_confirmed()
    table.turns(9)
    assert table.said[-1] == "old"


def test_a_pause_of_the_camera_changes_nothing() -> None:
    table = Table([REST, REST, REST, None, None, None, REST])
    table.turns(7)
    assert table.said == ["waiting", "ok"]


def test_an_error_nobody_foresaw_is_logged_once_and_the_watch_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    table = Table([REST] * 30, *[ValueError("broken weights")] * 3, ok())
    waits = table.turns(20)
    assert sum(wait > 0 for wait in waits) == 3
    assert table.said == ["waiting", "uncertain", "uncertain", "ok"]  # with the note and without
    assert len([r for r in caplog.records if r.levelno == logging.ERROR]) == 1
    assert table.reports[1].notes == (Note(NoteCode.FAILED),)
    assert "broken weights" in caplog.text
    assert table.reports[-1].roll is not None
    assert table.reports[-1].notes == ()


def test_a_listener_that_fails_does_not_stop_the_watch(caplog: pytest.LogCaptureFixture) -> None:
    table = Table([REST] * 9)
    heard: list[TrayView] = []

    def listen(report: TrayView) -> None:
        heard.append(report)
        raise RuntimeError("full")

    table.live._on_view = listen
    assert set(table.turns(9)) == {0.0}
    assert heard[-1].roll is not None
    assert all(r.levelno == logging.ERROR for r in caplog.records)


def test_an_expected_throw_withdraws_the_offer() -> None:
    table = Table([REST] * 9)
    table.turns(4)
    assert table.reports[-1].roll is not None
    table.live.expect_throw()
    assert table.said[-1] == "moving"
    assert table.reports[-1].roll is None


def test_calls_run_before_the_next_frame_is_read() -> None:
    table = Table([REST] * 9)
    table.turns(2)
    read: list[int] = []
    table.live.call_soon(lambda: read.append(table.camera.number))
    assert read == []
    table.turns(1)
    assert read == [2]


def test_right_after_a_throw_the_tray_is_not_reported_empty() -> None:
    table = Table([REST] * 9 + [picture(spot=90)] * 6, bad("empty"))
    table.turns(5)
    assert table.said[-1] == "empty"
    table.live.expect_throw()
    asked = len(table.reader.asked)
    table.turns(3)
    assert table.said[-1] == "moving"
    assert len(table.reader.asked) == asked
    table.turns(5)
    assert table.said[-1] == "empty"


def test_a_throw_that_never_shows_is_given_up() -> None:
    table = Table([REST] * 40, bad("empty"))
    table.turns(5)
    table.live.expect_throw()
    table.turns(8)
    assert table.said[-2:] == ["moving", "empty"]


def test_the_thread_runs_until_closed_and_lets_go_of_the_camera() -> None:
    table = Table([REST] * 100_000)
    offered = threading.Event()
    table.live._on_view = lambda report: offered.set() if report.roll is not None else None
    table.live.start()
    assert offered.wait(10.0)
    table.live.close()
    table.live.close()
    assert table.camera.closed == 1
    assert not table.live._thread.is_alive()


def test_closing_before_the_start_lets_go_of_the_camera() -> None:
    table = Table([REST])
    table.live.close()
    assert table.camera.closed == 1


class TruthfulReader:
    """Reads the recorded stream as its truth file says (the roll is that of the stream)."""

    def __init__(self, truth: list[dict[str, object]]) -> None:
        self.truth = truth
        self.asked: list[int] = []

    def read(self, frame: Frame, in_play: Sequence[DieColour]) -> Reading:
        self.asked.append(frame.number)
        state = self.truth[frame.number]
        if state["expected"] != "ok":
            return bad(str(state["expected"]))
        return ok("45-3244")


def test_the_recorded_throw_is_offered_once_at_the_right_time(shared: Path) -> None:
    folder = shared / "frames" / "streams" / "stream_a"
    truth = [json.loads(line) for line in (folder / "truth.jsonl").read_text().splitlines()]
    reader = TruthfulReader(truth)
    watch = TrayTracker(reader, lambda: ALL_DICE)
    told: dict[int, str] = {}
    for number, state in enumerate(truth):
        pixels = cv2.imread(str(folder / state["file"]))
        report = step(watch, Frame(pixels, number / 10.0, number))
        if report is not None:
            told[number] = report.status.value
    assert told == {
        0: "waiting",
        2: "empty",
        5: "moving",
        15: "ok",  # at rest since 13: 0.2 s at ten frames a second
        19: "moving",  # the shadow of the hand that takes them
    }
    assert all(truth[number]["state"] != "moving" for number in reader.asked)


def test_the_real_reader_offers_exactly_the_recorded_roll(shared: Path) -> None:
    from vision.pipeline import DiceReader

    folder = shared / "frames" / "streams" / "stream_a"
    watch = TrayTracker(DiceReader(), lambda: ALL_DICE)
    offered = []
    for number, file in enumerate(sorted(folder.glob("*.jpg"))):
        report = step(watch, Frame(cv2.imread(str(file)), number / 10.0, number))
        if report is not None and report.roll is not None:
            offered.append((number, report.roll))
    assert offered == [(15, Roll.of((4, 5), dict(zip(COLOURED, (3, 2, 4, 4), strict=True))))]
