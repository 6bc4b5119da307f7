"""Every error this project raises on purpose (a leaf: it imports nothing of ours).

An illegal move is a `Refusal` and a doubtful picture has a `Problem`. Only broken equipment, broken
files and broken contracts raise.
"""


class CompanionError(Exception):
    """Base class. The text is one line: where it happened, what was expected, what was given."""

    def __str__(self) -> str:
        return super().__str__().replace("\r", "\\r").replace("\n", "\\n")  # of a file's name


class ConfigError(CompanionError, ValueError):
    """A setting, a flag or a configuration file cannot be used."""


class PictureError(CompanionError, ValueError):
    """A picture cannot be decoded, or has a shape or type that cannot be read."""


class CameraUnavailable(CompanionError, RuntimeError):
    """The named camera cannot be opened, or delivers no frames any more."""


class CalibrationError(CompanionError, RuntimeError):
    """A step of the calibration cannot be completed.

    Attributes:
        reason: A code: not_six, other_dice, not_looked, no_picture, dark, outside, no_tray,
            metering, switched_off.
        count: With not_six, the number of dice that were seen.
    """

    def __init__(self, text: str, *, reason: str, count: int = 0) -> None:
        super().__init__(text)
        self.reason = reason
        self.count = count


class PinsUnavailable(CompanionError, RuntimeError):
    """The named pin factory or pin cannot be used."""


class StoreError(CompanionError, RuntimeError):
    """The event log cannot be opened, read or written."""


class NotationError(CompanionError, ValueError):
    """A recorded game cannot be read; the text names the line."""


class ServerError(CompanionError, RuntimeError):
    """The web page cannot be served: the port is taken, or the address is not of this machine."""


class ServiceError(CompanionError, RuntimeError):
    """The system service, the hotspot or a backup cannot be changed as asked."""
