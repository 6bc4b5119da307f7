"""Files of the settings in folders that the table may not look into, such as another user's."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from unittest.mock import MagicMock

from companion.adapters.audio import open_voice
from companion.config import Config
from tests.rights import run_bound

PLAY = """
import sys
from dataclasses import replace
from pathlib import Path

from companion.app import build
from companion.config import Config

data, closed = map(Path, sys.argv[1:])
config = Config(data_dir=data)
app = build(
    replace(
        config,
        camera=replace(config.camera, source="none"),
        panel=replace(config.panel, factory="none"),
        web=replace(config.web, host="127.0.0.1", port=0),
        sound=replace(config.sound, clips=str(closed / "clips")),
        mqtt=replace(config.mqtt, host="127.0.0.1", password_file=str(closed / "password")),
    )
)
print(*app.notes, app.session.join("Ada").seat, sep="\\n")
app.close()
"""


def test_sounds_and_passwords_out_of_reach_cost_no_game(tmp_path: Path) -> None:
    data, closed = tmp_path / "data", tmp_path / "closed"
    data.mkdir()
    (closed / "clips").mkdir(parents=True)
    (closed / "password").write_text("s3cret")
    closed.chmod(0)
    try:
        told = run_bound(PLAY, data, closed).splitlines()
    finally:
        closed.chmod(0o700)
    assert any(f"sound.clips: {closed / 'clips'}: no folder" in note for note in told)
    assert any(
        f"mqtt.password_file: {closed / 'password'}: Permission denied" in note for note in told
    )
    assert told[-1] == "0"


def test_sounds_of_a_user_who_is_nobody_are_noted(tmp_path: Path) -> None:
    config = Config(data_dir=tmp_path)
    config = replace(config, sound=replace(config.sound, clips="~nosuchuser/clips"))
    notes: list[str] = []
    with ExitStack() as stack:
        open_voice(config, MagicMock(), stack, notes)
    assert notes == [
        "sound.clips: ~nosuchuser/clips: no folder that can be read; everything is spoken"
    ]
