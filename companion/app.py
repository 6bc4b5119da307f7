"""The composition root: open every part from the configuration and connect it to one session."""

from __future__ import annotations

import random
import shutil
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from companion.adapters.audio import open_voice
from companion.adapters.bots import Bots
from companion.adapters.camera import CameraPort, keep_pictures, open_tray
from companion.adapters.chances import LiveChances
from companion.adapters.gpio import open_button, open_buzzer, open_lamp
from companion.adapters.mqtt import open_mqtt
from companion.audio.settings import VoiceSettings
from companion.coach.background import Reviews
from companion.config import Config
from companion.doctor.health import Monitor
from companion.eventlog.store import SqliteStore
from companion.history.decided import Verdicts
from companion.messages.catalogue import load_phrases
from companion.service.hotspot import DEFAULT_NAME, switch_on_when_alone
from companion.service.installation import own_version
from companion.service.network import (
    ASK_EVERY_S,
    NONE,
    Watch,
    Wifi,
    active_hotspot,
    reachable_host,
    url,
    watched_address,
)
from companion.service.portal import Portal
from companion.service.power import Power
from companion.service.programs import run_quietly
from companion.service.unit import HOTSPOT_ADDRESS
from companion.session.session import Session
from companion.tray import CameraState
from web.access import Access, open_access

if TYPE_CHECKING:
    from hardware.button import Panel
    from vision.simulation.simulator import Simulator
    from vision.tracking.camera_loop import CameraLoop
    from web.server import Server


LASTING = (
    *("camera", "camera-guard", "voice", "button", "lamp", "lamp-state", "buzzer"),
    *("mqtt", "mqtt-table"),
)
"""Names of threads that run as long as the table."""


@dataclass(slots=True)
class App:
    """A running table.

    Attributes:
        notes: Lines for the terminal on the parts that were found.
        access: The table's code and PIN, which appear in no log.
    """

    session: Session
    server: Server
    access: Access
    notes: list[str]
    live: CameraLoop | None
    simulator: Simulator | None
    panel: Panel
    _stack: ExitStack

    @property
    def address(self) -> tuple[str, int]:
        """The host and port the server listens on."""
        return self.server.host, self.server.port

    @property
    def join_url(self) -> str:
        """The address that phones open."""
        return url(reachable_host(self.server.host), self.server.port)

    def signs_of_life(self) -> dict[str, Callable[[], bool]]:
        """Return a check for each part that must not hang.

        Each takes a lock or a thread of its part, so it does not return while that part hangs.
        """
        live = self.live
        return {
            "session": lambda: self.session.view().version >= 0,
            "page": self.server.answers,
            "camera": lambda: live is None or live.is_turning,
        }

    def close(self) -> None:
        """Close every part, the last opened first; may be called twice."""
        self._stack.close()


def build(config: Config) -> App:
    """Open every part of a table.

    Raises:
        CompanionError: A part that was named in the configuration cannot be used. The parts opened
            before it are closed.
    """
    from web import Equipment, create_app
    from web.server import Server

    with ExitStack() as stack:
        notes: list[str] = []
        store = SqliteStore(config.data_dir)
        stack.callback(store.close)
        if store.notice:
            notes.append(store.notice)
        port = CameraPort()
        session = Session(
            store,
            load_phrases(config.table.language),
            clock=time.monotonic,
            now_text=lambda: datetime.now().astimezone().isoformat(timespec="seconds"),
            call_later=_call_later,
            draw=random.SystemRandom().randrange,
            tray=port,
            speaking=VoiceSettings(
                config.table.language,
                config.sound.say,
                config.sound.volume,
                config.sound.words_per_minute,
            ),
            take_back_s=config.table.take_back_s,
        )
        tray = open_tray(config, session, port, stack, notes)
        live = tray.live if tray is not None else None
        simulator = tray.simulator if tray is not None else None
        power = _power(session, stack)
        panel = open_button(config, session, stack, notes, power if power.is_service else None)
        open_lamp(config, session, live, panel, stack, notes)
        open_buzzer(config, session, panel, stack, notes)
        silence = open_voice(config, session, stack, notes)
        session.past.results_within(0.0)  # reads old games while the other parts are opened
        session.say_again()  # the position of a game that goes on
        chances = LiveChances(session)
        stack.callback(chances.close)
        bots = Bots(session)
        stack.callback(bots.close)
        reviews = Reviews(verdicts=Verdicts(config.data_dir))
        stack.callback(reviews.close)
        access = open_access(config.data_dir)
        if access.notice:
            notes.append(access.notice)
        place = watched_address(config.web.host, session.show_anew)
        stack.callback(place.close)
        ports = [config.web.port]
        pictures = keep_pictures(config, session, live, stack)

        def join_address() -> str:
            return url(place.seen.host, ports[0])

        broker = open_mqtt(
            config, session, live, pictures, stack, notes, version=own_version(), url=join_address
        )
        threads = [each for each in threading.enumerate() if each.name in LASTING]
        monitor = Monitor(
            session, config.data_dir, live=live, sound=silence, broker=broker, threads=threads
        )

        def frames() -> int | None:
            return live.frames if live is not None else None

        page = create_app(
            session,
            tray=live,
            simulator=simulator,
            pictures=pictures,
            equipment=lambda: Equipment(
                camera=live.view.camera if live is not None else CameraState.NONE,
                button=panel.state,
            ),
            press=panel.press,
            join_url=join_address,
            join_name=lambda: url(place.seen.name, ports[0]) if place.seen.name else "",
            version=own_version(),
            setup=tray.setup if tray is not None else None,
            access=access,
            wifi=_wifi(config, session, stack),
            health=monitor.health,
            power=power,
            frames=frames if config.web.metrics else None,
            chances=chances.of,
            reviews=reviews,
            advice=bots.advice,
            has_broker=broker is not None,
        )
        server = Server(page, config.web.host, config.web.port)
        stack.callback(server.close)
        ports[0] = server.port
        return App(session, server, access, notes, live, simulator, panel, stack.pop_all())


def _wifi(config: Config, session: Session, stack: ExitStack) -> Callable[[], Wifi]:
    """The Wi-Fi that phones join first: as configured, else this machine's hotspot.

    A hotspot of the configured name has its own password.
    """
    named = Wifi(config.web.wifi_name, config.web.wifi_password)
    if not shutil.which("nmcli"):
        return lambda: named
    portal = Portal(url(HOTSPOT_ADDRESS, config.web.port))
    stack.callback(portal.close)

    def look() -> Wifi:
        found = active_hotspot(run_quietly)
        portal.follow(bool(found.name))  # each time: a hotspot that comes up has no address yet
        return found

    watch: Watch[Wifi] = Watch(
        look, NONE, name="hotspot", every_s=ASK_EVERY_S, on_change=session.show_anew
    )
    stack.callback(watch.close)
    watch.start()
    if config.web.hotspot == "alone":
        ended = threading.Event()
        stack.callback(ended.set)
        name = config.web.wifi_name or DEFAULT_NAME
        threading.Thread(
            target=switch_on_when_alone, args=(name, ended.wait), name="hotspot-alone", daemon=True
        ).start()
    return lambda: named if named.name not in ("", watch.seen.name) else watch.seen


def _power(session: Session, stack: ExitStack) -> Power:
    """The machine's switch; what it does is shown and spoken like a fault of the machine."""
    power = Power(lambda step: session.part_is("machine", step), on_change=session.show_anew)
    stack.callback(power.close)
    power.start()
    return power


def _call_later(seconds: float, call: Callable[[], None]) -> Callable[[], None]:
    timer = threading.Timer(seconds, call)
    timer.daemon = True
    timer.start()
    return timer.cancel
