"""Every error this project raises on purpose (leaf: imports nothing of ours).

A person's illegal move is a `Refusal`, a doubtful picture a `Problem`; only broken equipment,
broken files and broken contracts raise.
"""


class CompanionError(Exception):
    """Base of all: its text is one line that says where, what was wanted and what came."""


class ConfigError(CompanionError, ValueError):
    """A setting, a flag or a file of settings cannot be used."""


class PictureError(CompanionError, ValueError):
    """A picture cannot be decoded, or has a shape or type the eye does not take."""


class CameraUnavailable(CompanionError, RuntimeError):
    """The named camera cannot be opened, or stopped giving frames."""


class CalibrationError(CompanionError, RuntimeError):
    """A step of a tray's calibration did not get what it needs.

    Attributes:
        reason: A word for programs: not_six, unclear, other_dice, no_picture, outside, no_tray.
        count: With not_six, how many dice were seen.
    """

    def __init__(self, text: str, *, reason: str, count: int = 0) -> None:
        super().__init__(text)
        self.reason = reason
        self.count = count


class PinsUnavailable(CompanionError, RuntimeError):
    """The named pin factory or pin cannot be used."""


class StoreError(CompanionError, RuntimeError):
    """The record of games cannot be opened or written."""


class NotationError(CompanionError, ValueError):
    """A recorded game cannot be read; the text names the line."""


class ServerError(CompanionError, RuntimeError):
    """The web page cannot be served (the port is taken, the address is not ours)."""


class ServiceError(CompanionError, RuntimeError):
    """The system service, the hotspot or a backup cannot be changed as asked."""
