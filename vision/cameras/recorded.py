"""Cameras that play recordings: a video file, a folder of pictures."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import cv2

from companion.errors import CameraUnavailable, PictureError
from companion.tray import Note, NoteCode
from companion.wire.files import open_plain
from vision.cameras.camera import CameraKind
from vision.cameras.exposure import without_warnings
from vision.cameras.pace import Clock, Pace, Sleep
from vision.images import PICTURE_SUFFIXES, as_pixels, load_frame
from vision.reading import Frame, Pixels

_NAMED = 3
"""Skipped files that a note names; the rest are counted."""

os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", "-8")  # silent; OpenCV reads it once

_NO_CONTROLS: Mapping[str, float] = MappingProxyType({})


class VideoCamera:
    """A video file at its own rate; after the end its last frame stays."""

    kind = CameraKind.VIDEO
    is_silent = False
    controls = _NO_CONTROLS

    def __init__(self, path: Path, *, fps: float, clock: Clock, sleep: Sleep) -> None:
        """Open a file; `fps` applies if the file names no rate.

        Raises:
            CameraUnavailable: The file cannot be opened or holds no picture.
        """
        self.source = str(path)
        self.description = f"video file {path.name}"
        self.notes: tuple[Note, ...] = ()
        try:
            open_plain(path).close()  # OpenCV gives no reason
        except OSError as error:
            raise CameraUnavailable(f"camera {self.source!r}: {error.strerror}") from error
        with without_warnings():
            self._video = cv2.VideoCapture(str(path))
        rate = self._video.get(cv2.CAP_PROP_FPS)
        self._pace = Pace(rate if 1.0 <= rate <= 240.0 else fps, clock=clock, sleep=sleep)
        self._pixels = self._next()
        if self._pixels is None:
            self._video.release()
            raise CameraUnavailable(
                f"camera {self.source!r}: expected a video file, cannot play it"
            )
        self._is_first = True

    def read(self) -> Frame | None:
        """Return the next frame when its time has come."""
        at_s = self._pace.wait()
        if not self._is_first and not self.notes:
            pixels = self._next()
            if pixels is None:
                self.notes = (Note(NoteCode.VIDEO_OVER),)
                self._video.release()
            else:
                self._pixels = pixels
        self._is_first = False
        assert self._pixels is not None
        return Frame(self._pixels, at_s)

    def close(self) -> None:
        """Close the file; may be called twice."""
        self._video.release()

    def _next(self) -> Pixels | None:
        ok, pixels = self._video.read()
        return as_pixels(pixels) if ok else None


class FolderCamera:
    """Pictures in name order, each shown as if the camera saw it until the next is requested."""

    kind = CameraKind.FOLDER
    is_silent = False
    controls = _NO_CONTROLS

    def __init__(self, path: Path, *, fps: float, clock: Clock, sleep: Sleep) -> None:
        """Open a folder, or a single picture.

        Raises:
            CameraUnavailable: It holds no picture that can be decoded.
        """
        self.source = str(path)
        self.description = f"pictures of {path.name or path}"
        self._pace = Pace(fps, clock=clock, sleep=sleep)
        try:
            files = sorted(path.iterdir()) if path.is_dir() else [path]
        except OSError as error:
            raise CameraUnavailable(f"camera {self.source!r}: {error.strerror}") from error
        pictures = [
            file
            for file in files
            if file.suffix.lower() in PICTURE_SUFFIXES and not file.name.startswith(".")
        ]
        if not pictures:
            raise CameraUnavailable(
                f"camera {self.source!r}: expected JPEG or PNG pictures, found none"
            )
        self._files = iter(pictures)
        self._skipped: list[str] = []
        self._first_error: PictureError | None = None
        self._is_over = False
        frame = self._advance()
        if frame is None:
            raise CameraUnavailable(
                f"camera {self.source!r}: expected pictures, none of {len(pictures)} decodes: "
                f"{self._first_error}"
            ) from self._first_error
        self._frame = frame

    @property
    def notes(self) -> tuple[Note, ...]:
        """Which pictures were skipped, and whether the last one stays."""
        notes: list[Note] = []
        if self._skipped:
            named = tuple(self._skipped[:_NAMED])
            notes.append(Note(NoteCode.SKIPPED, named, len(self._skipped) - len(named)))
        if self._is_over:
            notes.append(Note(NoteCode.FOLDER_OVER))
        return tuple(notes)

    def read(self) -> Frame | None:
        """Return the current picture."""
        return replace(self._frame, captured_at_s=self._pace.wait())

    def show_next(self) -> bool:
        """Show the next picture; False after the last one."""
        frame = self._advance()
        if frame is None:
            self._is_over = True
            return False
        self._frame = frame
        return True

    def close(self) -> None:
        """Nothing is held open."""

    def _advance(self) -> Frame | None:
        for file in self._files:
            try:
                return load_frame(file)
            except PictureError as error:
                self._first_error = self._first_error or error
                self._skipped.append(file.name)
        return None
