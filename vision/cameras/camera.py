"""Interface of everything that delivers frames of the tray."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol, runtime_checkable

from companion.tray import Note
from vision.reading import Frame


class CameraKind(StrEnum):
    """Where a camera's frames come from."""

    SIMULATED = "simulated"
    V4L2 = "v4l2"
    PI = "pi"
    VIDEO = "video"
    FOLDER = "folder"

    @property
    def is_device(self) -> bool:
        """Whether it is a real camera, which needs time to find its exposure."""
        return self in (CameraKind.V4L2, CameraKind.PI)

    @property
    def is_recorded(self) -> bool:
        """Whether its pictures were taken before, perhaps of another table."""
        return self in (CameraKind.VIDEO, CameraKind.FOLDER)


class Camera(Protocol):
    """Delivers frames of the tray, seen from above.

    One thread uses it, except for `is_silent` and `controls`; nothing here needs a mutex.
    """

    @property
    def kind(self) -> CameraKind:
        """Where its frames come from."""

    @property
    def source(self) -> str:
        """Name that opens this very camera again."""

    @property
    def description(self) -> str:
        """One line for people: which camera this is, and why it was chosen."""

    @property
    def controls(self) -> Mapping[str, float] | None:
        """Held exposure, gain and white balance, by the driver's names and units; empty if the
        camera holds none, None while they are measured."""

    @property
    def notes(self) -> tuple[Note, ...]:
        """Current messages to people, such as that the last picture is shown."""

    @property
    def is_silent(self) -> bool:
        """Whether the device has delivered nothing for too long. Any thread may read it."""

    def read(self) -> Frame | None:
        """Wait for the next frame, at the camera's own pace.

        Returns:
            None if nothing new came within about half a second.
        Raises:
            CameraUnavailable: The camera is lost; only opening it again may help.
        """

    def close(self) -> None:
        """Release the device; may be called twice."""


@runtime_checkable
class PictureSequence(Protocol):
    """A camera that shows one picture until the next is requested, such as a folder."""

    def show_next(self) -> bool:
        """Show the next picture; False after the last one."""
