"""The camera and the eye: opened, watched, and told to the session in its own plain words."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from companion.config import Config
from companion.errors import ConfigError
from companion.history.pictures import Pictures
from companion.messages.catalogue import Line, all_of, line
from companion.messages.equipment import Doubt
from companion.session.ports import RollKept, SeenDie, TrayView
from companion.session.session import Session

if TYPE_CHECKING:
    from vision.calibration.calibration import Calibration
    from vision.calibration.reader import Change
    from vision.cameras.notes import Note
    from vision.setup.wizard import TraySetup
    from vision.tracking.camera_loop import LiveTray
    from vision.tracking.tracker import TrayReport


def open_tray(
    config: Config, session: Session, stack: ExitStack, notes: list[str]
) -> tuple[LiveTray, TraySetup] | tuple[None, None]:
    source = config.camera.source
    if source == "none":
        notes.append("camera: none; dice are entered by hand")
        return None, None
    from vision.calibration.calibration import place_of
    from vision.calibration.reader import CalibratedEye
    from vision.cameras.camera import Camera, open_camera
    from vision.pipeline import Eye
    from vision.setup.wizard import TraySetup
    from vision.simulation.camera import SimulatedTray
    from vision.tracking.camera_loop import LiveTray

    size_wh = (config.camera.width, config.camera.height)
    eye = CalibratedEye(Eye(), _calibration(config, notes))

    def open_named(name: str) -> Camera:
        measured = eye.calibration
        return open_camera(
            name,
            seed=config.camera.seed,
            size_wh=size_wh,
            fps=config.camera.fps,
            controls=measured.camera or None if measured is not None else None,
        )

    camera = open_named(source)
    notes.append(f"camera: {camera.description}")
    if camera.kind == "simulated" and source != "simulated":
        eye.use(None)  # it was measured of another tray

    def reopen() -> Camera:
        if isinstance(camera, SimulatedTray):
            return camera.plugged_in()
        return open_named(camera.source)

    live = LiveTray(
        camera,
        reopen=reopen,
        eye=eye,
        in_play=session.in_play,
        on_report=lambda report: session.see(tray_view(report, eye.change)),
        # recorded pictures begin anew with the first
        confirmed_roll=None if camera.kind in ("folder", "video") else session.last_roll,
    )
    stack.callback(live.close)
    session.on_confirmed.append(live.confirmed)
    session.on_undone.append(live.reoffer)
    session.is_reading = lambda: live.is_reading
    session.is_unwatched = lambda: live.is_overlooking
    session.see(tray_view(live.report))
    live.start()
    kept_in = place_of(config.camera.calibration, config.data_dir)
    if camera.kind == "simulated" and source != "simulated":
        kept_in = kept_in.with_stem(f"{kept_in.stem}-simulated")  # the real tray's stays as it is
    return live, TraySetup(live, eye, kept_in)


def keep_pictures(config: Config, session: Session, live: LiveTray | None) -> Pictures | None:
    if live is None or config.pictures.keep == 0:
        return None
    pictures = Pictures(config.data_dir, config.pictures.keep)

    def keep(kept: RollKept) -> None:
        jpeg = live.jpeg(kept.frame)
        if jpeg is not None:
            pictures.keep(kept.revision, kept.game, kept.turn, jpeg)

    session.on_rolled.append(keep)
    return pictures


def _calibration(config: Config, notes: list[str]) -> Calibration | None:
    """What was measured of the tray; a damaged file that nobody named is left out, and said."""
    from vision.calibration.calibration import find_calibration, load_calibration

    named = config.camera.calibration
    path = find_calibration(named, config.data_dir)
    if path is None:
        return None
    if not path.exists():
        notes.append(f"calibration: {path} is not there yet; dice-companion calibrate makes it")
        return None
    try:
        measured = load_calibration(path)
    except ConfigError as error:
        if named != "auto":
            raise
        notes.append(f"calibration: not used: {error}")
        return None
    notes.append(f"calibration: {path}")
    return measured


def tray_view(report: TrayReport, change: Change | None = None) -> TrayView:
    """What the camera loop reports, in the session's plain words.

    Args:
        change: What is not as it was when the tray was calibrated.
    """
    reading = report.reading
    dice = reading.dice if reading is not None else ()
    problems = reading.problems if reading is not None else ()
    return TrayView(
        status=report.status.value,
        roll=report.roll,
        frame=report.frame_number,
        size_wh=report.size_wh,
        dice=tuple(
            SeenDie(
                colour=die.colour.value if die.colour else None,
                value=die.value,
                confidence=die.confidence,
                centre=die.centre_xy,
                corners=die.corners_xy,
                cocked=die.cocked,
                in_tray=die.in_tray,
            )
            for die in dice
        ),
        doubts=tuple(
            Doubt(problem.code.value, problem.colour.value if problem.colour else None)
            for problem in problems
        )
        + ((Doubt(f"tray_{change.value}"),) if change is not None else ()),
        notes=tuple(note_line(each) for each in report.notes),
        fault=report.fault,
    )


def note_line(note: Note) -> Line:
    """What a camera has to say, as a line of the catalogue."""
    if not note.names:
        return line(f"tray.note.{note.code.value}")
    names = all_of(note.names)
    if note.more == 0:
        return line(f"tray.note.{note.code.value}", names=names)
    return line(f"tray.note.{note.code.value}.more", names=", ".join(note.names), count=note.more)
