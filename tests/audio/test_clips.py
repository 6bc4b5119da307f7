"""Sounds of one's own between spoken texts, against stand-ins for their players."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from companion.audio.espeak import Clip, Speaker
from tests.audio.conftest import StandIn, until_silent
from tests.waiting import until

PLAYER = """#!/bin/sh
exec 9>"{folder}/one-voice"
if flock -n 9; then alone=alone; else alone=TWO-VOICES; fi
printf '%s|%s\\n' "$alone" "$*" >"{folder}/pipe"
case "$2" in *broken*) exit 1 ;; *forever*) exec sleep 60 ;; esac
"""


@pytest.fixture
def player(voice: StandIn, tmp_path: Path) -> None:
    """A program named aplay on the PATH that reports on the same pipe."""
    program = tmp_path / "aplay"
    program.write_text(PLAYER.format(folder=tmp_path))
    program.chmod(0o755)


def a_clip(folder: Path, name: str) -> Path:
    """A file that begins as a WAV does."""
    path = folder / name
    path.write_bytes(b"RIFF\x24\x00\x00\x00WAVEfmt ")
    return path


@pytest.mark.usefixtures("player")
class TestClips:
    def test_clips_and_texts_come_in_order_and_never_together(
        self, voice: StandIn, speaker: Speaker, tmp_path: Path
    ) -> None:
        clip = Clip(a_clip(tmp_path, "-rf.wav"), "White seven.")
        speaker.say([clip, "Ada may use red 7."], "en")
        assert voice.line() == f"alone|-q {tmp_path}/-rf.wav"
        assert voice.line().startswith("alone|-v en")
        assert voice.line() == "said|Ada may use red 7."

    @pytest.mark.parametrize("name", ["broken.wav", "seven.xyz", "seven.mp3"])
    def test_a_clip_that_cannot_be_played_is_spoken(
        self, name: str, voice: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for each in ("sh", "cat", "flock"):
            (tmp_path / each).symlink_to(shutil.which(each) or "")
        monkeypatch.setenv("PATH", str(tmp_path))
        speaker = Speaker()
        speaker.say([Clip(a_clip(tmp_path, name), "White seven.")], "en")
        while voice.line() != "said|White seven.":
            pass
        speaker.close()

    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("seven.wav", b"\x00\x00\x00\x18ftypM4A "),
            ("seven.mp3", b"\x00\x00\x00\x18ftypM4A "),
            ("seven.mp3", b"\xff\xf1\x50\x80"),
            ("seven.WAV", b"ID3\x04"),
            ("seven.wav", b""),
            ("seven.mp3", None),
        ],
    )
    def test_a_clip_that_is_of_another_kind_than_its_name_is_spoken(
        self, name: str, content: bytes | None, voice: StandIn, speaker: Speaker, tmp_path: Path
    ) -> None:
        """aplay makes noise of it and mpg123 plays nothing, and both end with 0."""
        shutil.copy(tmp_path / "aplay", tmp_path / "mpg123")
        path = tmp_path / name
        if content is not None:
            path.write_bytes(content)
        speaker.say([Clip(path, "White seven.")], "en")
        assert voice.line().endswith("|White seven.")
        assert voice.line() == "said|White seven."

    @pytest.mark.parametrize("content", [b"ID3\x04", b"\xff\xfb\x90\x64"])
    def test_a_clip_may_be_an_mp3(
        self, content: bytes, voice: StandIn, speaker: Speaker, tmp_path: Path
    ) -> None:
        shutil.copy(tmp_path / "aplay", tmp_path / "mpg123")
        path = tmp_path / "seven.mp3"
        path.write_bytes(content)
        speaker.say([Clip(path, "White seven.")], "en")
        assert voice.line() == f"alone|-q {path}"

    def test_a_clip_is_cut_short_like_a_text(
        self, voice: StandIn, speaker: Speaker, tmp_path: Path
    ) -> None:
        speaker.say([Clip(a_clip(tmp_path, "forever.wav"), "on and on")], "en")
        voice.line()
        speaker.say(["White seven."], "en")
        assert voice.line().startswith("alone|-v en")
        assert voice.line() == "said|White seven."

    def test_a_clip_that_plays_ends_the_trouble(
        self, voice: StandIn, speaker: Speaker, tmp_path: Path
    ) -> None:
        speaker.say(["no-card"], "en")
        until(lambda: speaker.trouble is not None)
        speaker.say([Clip(a_clip(tmp_path, "seven.wav"), "White seven.")], "en")
        until(lambda: speaker.trouble is None)

    def test_muted_means_no_process_at_all(self, voice: StandIn, tmp_path: Path) -> None:
        speaker = Speaker()
        speaker.tune(0, 165)
        clip = Clip(a_clip(tmp_path, "seven.wav"), "White seven.")
        speaker.say([clip, "Ada may use red 7."], "en")
        until_silent(speaker)
        speaker.close()
        assert voice.all_lines() == []
