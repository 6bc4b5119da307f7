"""What a camera has to say besides its pictures, in codes: the words are in the catalogue."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class NoteCode(StrEnum):
    """What there is to say."""

    VIDEO_OVER = "video_over"
    """The video has ended; its last picture stays."""
    FOLDER_OVER = "folder_over"
    """That was the folder's last picture; it stays."""
    SKIPPED = "skipped"
    """Files of the folder are no pictures and were left out."""
    FAILED = "failed"
    """Reading the tray failed in a way nobody foresaw; the log says how."""


@dataclass(frozen=True, slots=True)
class Note:
    """One thing to say.

    Attributes:
        names: Of the files it is about.
        more: How many there are besides, unnamed.
    """

    code: NoteCode
    names: tuple[str, ...] = ()
    more: int = 0
