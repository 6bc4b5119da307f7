"""Opens the camera, watches the tray and reports it to the session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from companion.config import CameraConfig, Config
from companion.errors import CameraUnavailable, ConfigError
from companion.history.pictures import Pictures
from companion.service.board import is_raspberry_pi
from companion.service.notify import is_service
from companion.session.ports import RollKept
from companion.session.session import Session, Topic
from companion.tray import Problem, ProblemCode, TrayStatus, TrayView

if TYPE_CHECKING:
    from vision.calibration.calibration import Calibration
    from vision.calibration.light import PictureFault
    from vision.calibration.reader import Change
    from vision.cameras.camera import Camera
    from vision.setup.wizard import TraySetup
    from vision.simulation.simulator import Simulator
    from vision.tracking.camera_loop import CameraLoop


@dataclass(frozen=True, slots=True)
class OpenTray:
    """The parts of an open tray; `simulator` is None for a real camera."""

    live: CameraLoop
    setup: TraySetup
    simulator: Simulator | None


class CameraPort:
    """State of the camera loop for the session, which is there before the camera is opened.

    Attributes:
        live: The camera loop; None until it is opened, or without a camera.
    """

    def __init__(self) -> None:
        self.live: CameraLoop | None = None

    @property
    def is_reading(self) -> bool:
        """Whether the dice lie still and their reading is due any moment."""
        return self.live is not None and self.live.is_reading

    @property
    def is_unwatched(self) -> bool:
        """Whether frames are discarded at present, so that a die may be moved unseen."""
        return self.live is not None and self.live.is_skipping_frames


def open_as_set(asked: CameraConfig, measured: Calibration | None, **more: Any) -> Camera:
    """Open the camera of the settings, with the exposure of a calibration that has one.

    Args:
        more: Of `open_camera`, which says what is raised.
    """
    from vision.sources import open_camera

    return open_camera(
        asked.source,
        seed=asked.seed,
        size_wh=(asked.width, asked.height),
        fps=asked.fps,
        controls=measured.camera or None if measured is not None else None,
        **more,
    )


def open_tray(
    config: Config, session: Session, port: CameraPort, stack: ExitStack, notes: list[str]
) -> OpenTray | None:
    """Open the camera and watch the tray; None if the table has no camera."""
    source = config.camera.source
    if source == "none":
        notes.append("camera: none; dice are entered by hand")
        return None
    from vision.calibration.calibration import find_calibration, place_of
    from vision.calibration.reader import CalibratedReader
    from vision.cameras.devices import FIRST_PICTURE_S, webcam_paths
    from vision.cameras.reopening import Reopener
    from vision.pipeline import DiceReader
    from vision.setup.wizard import TraySetup
    from vision.simulation.camera import SimulatedTray
    from vision.simulation.simulator import Simulator
    from vision.sources import is_device
    from vision.tracking.camera_loop import CameraLoop

    named, is_simulated = config.camera.calibration, source == "simulated"
    calibrated: list[str] = []
    found = find_calibration(named, config.data_dir, is_simulated=is_simulated)
    reader = CalibratedReader(DiceReader(), _calibration(named, found, calibrated))

    def open_named(name: str, patience_s: float = FIRST_PICTURE_S) -> Camera:
        asked, may_simulate = replace(config.camera, source=name), not is_raspberry_pi()
        return open_as_set(
            asked, reader.calibration, or_simulated=may_simulate, patience_s=patience_s
        )

    camera: Camera | None = None
    try:
        camera = open_named(source)
    except CameraUnavailable as error:
        if source != "auto" and not (is_service() and is_device(source)):
            raise
        text = str(error).removeprefix("camera ")
        notes.append(f"camera: {text}; the table waits for it")
    else:
        notes.append(f"camera: {camera.description}")
    if isinstance(camera, SimulatedTray) and source != "simulated":  # no camera was found
        calibrated.clear()
        named, is_simulated = "none" if named == "none" else "auto", True
        found = find_calibration(named, config.data_dir, is_simulated=True)
        reader.use(_calibration(named, found, calibrated))
    notes += calibrated

    if isinstance(camera, SimulatedTray):
        reopen: Callable[[], Camera] = camera.plugged_in
    else:
        webcams = webcam_paths if source == "auto" else tuple
        reopen = Reopener(open_named, camera.source if camera else source, webcams=webcams)
    is_recorded = camera is not None and camera.kind.is_recorded
    live = CameraLoop(
        camera,
        reopen=reopen,
        reader=reader,
        in_play=session.in_play,
        on_view=session.see,
        annotated=lambda view: with_causes(view, reader.change, reader.faults),
        # recordings start again with their first picture
        confirmed_rolls=() if is_recorded else session.last_rolls,
    )
    stack.callback(live.close)
    session.subscribe(Topic.CONFIRMED, live.on_confirmed)
    session.subscribe(Topic.CORRECTED, live.on_corrected)
    session.subscribe(Topic.ROLL_DUE_AGAIN, live.reoffer)

    def learn(kept: RollKept) -> None:
        frame = live.frame(kept.frame)
        if frame is not None:
            live.call_soon(lambda: reader.learn(frame, kept.roll))

    if not is_recorded:  # its pictures may show other tables
        session.subscribe(Topic.SEEN_ROLL, learn)
    port.live = live
    session.see(live.view)
    live.start()
    simulator = None
    if isinstance(camera, SimulatedTray):
        simulator = Simulator(camera, live, session.in_play)
    kept_in = place_of(named, config.data_dir, is_simulated=is_simulated)
    setup = TraySetup(live, reader, None if named == "none" else kept_in)
    return OpenTray(live, setup, simulator)


def keep_pictures(
    config: Config, session: Session, live: CameraLoop | None, stack: ExitStack
) -> Pictures | None:
    """Keep the pictures of confirmed rolls, as many as the settings allow; delete the others.

    They are written on a thread of their own: a press that waited for the reading is answered on
    the camera's, for which every page would wait as long as a slow card takes.
    """
    pictures = Pictures(config.data_dir, config.pictures.keep)
    pictures.prune()
    if config.pictures.keep == 0:
        return None
    if live is None:
        return pictures  # the host may look at them and delete them

    writer = ThreadPoolExecutor(1, "pictures")
    stack.callback(writer.shutdown)

    def keep(kept: RollKept) -> None:
        jpeg = live.jpeg(kept.frame)
        if jpeg is not None:
            with suppress(RuntimeError):  # the table closes
                writer.submit(pictures.keep, kept.revision, kept.game, kept.turn, jpeg)

    session.subscribe(Topic.SEEN_ROLL, keep)
    return pictures


def _calibration(named: str, path: Path | None, notes: list[str]) -> Calibration | None:
    """Load the tray's calibration; a damaged file is skipped with a note unless it was named."""
    from vision.calibration.calibration import load_calibration

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


def with_causes(
    view: TrayView, change: Change | None, faults: Sequence[PictureFault] = ()
) -> TrayView:
    """Add what changed since the tray was calibrated, and what makes unclear dice hard to read."""
    codes = [f"tray_{change.value}"] if change is not None else []
    is_unclear = view.status.names_a_die or view.status is TrayStatus.EMPTY
    codes += [f"picture_{fault.value}" for fault in faults if is_unclear]
    if not codes:
        return view
    return replace(view, problems=(*view.problems, *(Problem(ProblemCode(c)) for c in codes)))
