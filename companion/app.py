"""The composition root: settings in, opened adapters plugged into one session, and out again."""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from companion.address import reachable_host, url
from companion.announcer import Doubt
from companion.config import Config
from companion.errors import ConfigError
from companion.following import Follower
from companion.lamp_state import lamp_state
from companion.phrases import Line, all_of, line, load_phrases
from companion.pictures import Pictures
from companion.ports import RollKept, SeenDie, TrayView
from companion.session import Session
from companion.speaking import Speaking
from companion.store import SqliteStore

if TYPE_CHECKING:
    from hardware.panel import Panel
    from vision.calibrated import Change
    from vision.calibration import Calibration
    from vision.live import LiveTray
    from vision.notes import Note
    from vision.setting_up import TraySetup
    from vision.watch import TrayReport
    from web.serve import Server

LOGGER = logging.getLogger(__name__)


@dataclass(slots=True)
class App:
    """A running table.

    Attributes:
        notes: One line each on what was found and chosen, for the terminal.
        address: Where the server listens: the bound host, and the port that was taken.
    """

    session: Session
    server: Server
    address: tuple[str, int]
    notes: list[str] = field(default_factory=list)
    live: LiveTray | None = None
    panel: Panel | None = None
    _stack: ExitStack = field(default_factory=ExitStack)

    @property
    def join_url(self) -> str:
        """The address phones can open."""
        return join_url(*self.address)

    def close(self) -> None:
        """Let go of everything, the last opened first; may be called twice."""
        self._stack.close()


def build(config: Config) -> App:
    """Open everything a table needs.

    Raises:
        CompanionError: A part that was asked for by name cannot be used; what was opened by then
            is closed again.
    """
    from web import Equipment, create_app, drawn_code, drawn_pin
    from web.serve import serve

    with ExitStack() as stack:
        notes: list[str] = []
        store = SqliteStore(config.data_dir)
        stack.callback(store.close)
        if store.notice:
            notes.append(store.notice)
        session = Session(
            store,
            load_phrases(config.table.language),
            clock=time.monotonic,
            now_text=lambda: datetime.now().astimezone().isoformat(timespec="seconds"),
            call_later=_call_later,
            draw=random.SystemRandom().randrange,
            speaking=Speaking(
                config.table.language,
                config.sound.say,
                config.sound.volume,
                config.sound.words_per_minute,
            ),
        )
        live, setup = _open_tray(config, session, stack, notes)
        panel = _open_panel(config, session, stack, notes)
        _open_lamp(config, session, live, panel, stack, notes)
        _open_buzzer(config, session, panel, stack, notes)
        _open_voice(config, session, stack)
        address: list[tuple[str, int]] = []
        pictures = _keep_pictures(config, session, live)
        page = create_app(
            session,
            tray=live,
            pictures=pictures,
            equipment=lambda: Equipment(
                camera=live.report.camera if live is not None else "none", button=panel.state
            ),
            press=panel.press,
            join_url=lambda: join_url(*address[0]),
            version=_version(),
            setup=setup,
            code=(code := drawn_code()),
            pin=(pin := drawn_pin()),
            wifi=(config.web.wifi_name, config.web.wifi_password),
        )
        notes.append(f"table code: {code}; host PIN: {pin}")
        address.append((config.web.host, config.web.port))
        server = serve(page, host=config.web.host, port=config.web.port)
        stack.callback(server.close)
        address[0] = (config.web.host, server.port)
        return App(session, server, address[0], notes, live, panel, stack.pop_all())


def join_url(host: str, port: int) -> str:
    """The address phones can open when the server is bound to `host`."""
    return url(reachable_host(host), port)


def _call_later(seconds: float, call: Callable[[], None]) -> Callable[[], None]:
    timer = threading.Timer(seconds, call)
    timer.daemon = True
    timer.start()
    return timer.cancel


def _version() -> str:
    try:
        return version("dice-companion")
    except PackageNotFoundError:
        return "0"


# -- the tray -------------------------------------------------------------------------------


def _open_tray(
    config: Config, session: Session, stack: ExitStack, notes: list[str]
) -> tuple[LiveTray, TraySetup] | tuple[None, None]:
    source = config.camera.source
    if source == "none":
        notes.append("camera: none; dice are entered by hand")
        return None, None
    from vision.calibrated import CalibratedEye
    from vision.calibration import place_of
    from vision.camera import Camera, open_camera
    from vision.live import LiveTray
    from vision.pipeline import Eye
    from vision.setting_up import TraySetup
    from vision.simulated import SimulatedTray

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
        confirmed_roll=session.last_roll,
    )
    stack.callback(live.close)
    session.on_confirmed.append(live.confirmed)
    session.on_undone.append(live.reoffer)
    session.is_reading = lambda: live.is_reading
    session.see(tray_view(live.report))
    live.start()
    kept_in = place_of(config.camera.calibration, config.data_dir)
    return live, TraySetup(live, eye, kept_in)


def _keep_pictures(config: Config, session: Session, live: LiveTray | None) -> Pictures | None:
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
    from vision.calibration import find_calibration, load_calibration

    named = config.camera.calibration
    path = find_calibration(named, config.data_dir)
    if path is None:
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


# -- the button and the voice ---------------------------------------------------------------


def _open_panel(config: Config, session: Session, stack: ExitStack, notes: list[str]) -> Panel:
    from hardware.gesture import Gesture, GestureConfig
    from hardware.panel import open_panel

    _each_pin_once(config)

    def on_gesture(gesture: Gesture) -> None:
        if gesture is Gesture.PRESS:
            session.press()
        else:
            session.hold()

    try:
        timing = GestureConfig(debounce_s=config.panel.debounce_s, hold_s=config.panel.hold_s)
    except ValueError as error:
        raise ConfigError(f"panel: {error}") from error

    def on_state(state: str) -> None:
        session.part_is("button", "lost" if state == "lost" else None)

    panel = open_panel(
        config.panel.factory, config.panel.pin, on_gesture, config=timing, on_state=on_state
    )
    stack.callback(panel.close)
    notes.append(f"button: {panel.note or panel.state}")
    repeat_pin = config.panel.repeat_pin
    if repeat_pin is not None and panel.has_pin:
        again = open_panel(
            _pins_of(panel), repeat_pin, lambda _: session.say_again(), config=timing
        )
        stack.callback(again.close)
        notes.append(f"second button (say it again): GPIO{repeat_pin}")
    return panel


def _each_pin_once(config: Config) -> None:
    """Two parts on one pin would be an error of the pin library at best."""
    named = {
        "panel.pin": config.panel.pin,
        "panel.repeat_pin": config.panel.repeat_pin,
        "lamp.led_pin": config.lamp.led_pin,
        "lamp.red_pin": config.lamp.red_pin,
        "lamp.green_pin": config.lamp.green_pin,
        "lamp.blue_pin": config.lamp.blue_pin,
        "buzzer.pin": config.buzzer.pin,
    }
    taken: dict[int, str] = {}
    for name, pin in named.items():
        if pin is not None and taken.setdefault(pin, name) != name:
            raise ConfigError(f"{name}: expected a pin of its own, {taken[pin]} has {pin} too")


def _pins_of(panel: Panel) -> str:
    """The factory that the button found, for the other parts on pins."""
    return "lgpio" if panel.state in ("ok", "lost") else "mock"


def _open_lamp(
    config: Config,
    session: Session,
    live: LiveTray | None,
    panel: Panel,
    stack: ExitStack,
    notes: list[str],
) -> None:
    from hardware.lamp import LampPins, open_lamp

    set_up = config.lamp
    wiring = LampPins(
        set_up.led_pin,
        set_up.red_pin,
        set_up.green_pin,
        set_up.blue_pin,
        set_up.dimmed,
        set_up.common_anode,
        set_up.brightness,
    )
    if not wiring.is_wired or not panel.has_pin:
        return
    lamp = open_lamp(_pins_of(panel), wiring)
    stack.callback(lamp.close)
    lamp.start()
    follower = Follower(session, lambda view: lamp.show(lamp_state(view)), name="lamp-state")
    stack.callback(follower.close)
    if live is not None and panel.state != "mock":
        live.heed(lamp.light_at)
    pins = wiring.rgb or (wiring.led,)
    notes.append(f"lamp: GPIO{', '.join(str(pin) for pin in pins)}")


def _open_buzzer(
    config: Config, session: Session, panel: Panel, stack: ExitStack, notes: list[str]
) -> None:
    pin = config.buzzer.pin
    if pin is None or not panel.has_pin:
        return
    from hardware.buzzer import open_buzzer

    buzzer = open_buzzer(_pins_of(panel), pin)
    stack.callback(buzzer.close)
    session.listeners.append(lambda said: buzzer.play(said.kind))
    notes.append(f"buzzer: GPIO{pin}")


def _open_voice(config: Config, session: Session, stack: ExitStack) -> None:
    if not config.sound.enabled:
        return
    from companion.speech import Speaker
    from companion.voice import Voice

    speaker = Speaker(volume=config.sound.volume, words_per_minute=config.sound.words_per_minute)
    stack.callback(speaker.close)
    clips = Path(config.sound.clips).expanduser() if config.sound.clips else None
    voice = Voice(speaker, clips=clips or config.data_dir / "clips")

    def tune() -> None:
        speaking, is_on = session.speaking, session.view().table.settings.sound
        voice.amount = speaking.say
        speaker.tune(speaking.volume if is_on else 0, speaking.words_per_minute)

    tune()
    session.on_set.append(tune)
    session.listeners.append(lambda said: voice.tell(said, session.phrases))
