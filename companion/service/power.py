"""Switch the machine off, or start it again, through systemd's logind.

A service's user may do so by the polkit rule that the installer writes (`unit.polkit_text`).
Source: org.freedesktop.login1(5), CanPowerOff; systemctl(1).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from enum import StrEnum

from companion.errors import ServiceError
from companion.service.network import Watch
from companion.service.notify import is_service
from companion.service.programs import Run, run_quietly, runner

ASK_EVERY_S = 60.0
"""Seconds between two questions whether the machine may be switched off: logind may start late."""

CAN_POWER_OFF = (
    "busctl",
    "call",
    "org.freedesktop.login1",
    "/org/freedesktop/login1",
    "org.freedesktop.login1.Manager",
    "CanPowerOff",
)


class PowerStep(StrEnum):
    """Ways to switch the machine off, or to start it again."""

    OFF = "off"
    RESTART = "restart"


_VERBS = {PowerStep.OFF: "poweroff", PowerStep.RESTART: "reboot"}


class Power:
    """The machine's switch, for a table that is its service."""

    def __init__(
        self,
        tell: Callable[[str | None], None],
        *,
        on_change: Callable[[], None] = lambda: None,
        ask: Run = run_quietly,
        run: Run | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        """Nothing is asked before `start`.

        Args:
            tell: Receives the step that begins, or None when it was refused.
            on_change: Called when `is_offered` changes.
            ask: Runs a command; "" if it fails.
            run: Runs a command; raises ServiceError if it fails.
            environ: Shows whether systemd runs this process.
        """
        self.is_service = is_service(environ)
        self._tell = tell
        self._run = run or runner("power", "systemd")
        self._watch = Watch(
            lambda: ask(CAN_POWER_OFF).split() == ["s", '"yes"'],
            False,
            name="power",
            every_s=ASK_EVERY_S,
            on_change=on_change,
        )

    @property
    def is_offered(self) -> bool:
        """Whether this table may switch its machine off."""
        return self._watch.seen

    def start(self) -> None:
        """Begin to ask whether it may; a table that is no service never may."""
        if self.is_service:
            self._watch.start()

    def close(self) -> None:
        """Stop asking; may be called twice."""
        self._watch.close()

    def take(self, step: PowerStep) -> None:
        """Announce a step and take it; systemd then ends the table like any service.

        Raises:
            ServiceError: The machine refuses, or this table may not.
        """
        if not self.is_offered:
            raise ServiceError("power: expected a table that is the machine's service")
        self._tell(step.value)
        try:
            self._run(["systemctl", "--no-ask-password", _VERBS[step]])
        except ServiceError:
            self._tell(None)
            raise
