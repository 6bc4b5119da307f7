"""Opens the voice and a family's own sounds."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from threading import Lock

from companion.config import Config
from companion.session.session import Session, Topic


def open_voice(
    config: Config, session: Session, stack: ExitStack, notes: list[str]
) -> Callable[[], str | None] | None:
    """Open the voice; returns what tells why it is silent, or None where there is no voice.

    A named folder of sounds that cannot be read is noted.
    """
    if not config.sound.enabled:
        return None
    from companion.audio.announcer import Voice
    from companion.audio.espeak import Speaker

    speaker = Speaker()
    stack.callback(speaker.close)
    clips = Path(os.path.expanduser(config.sound.clips)) if config.sound.clips else None
    if clips is not None and not (os.path.isdir(clips) and os.access(clips, os.R_OK)):
        notes.append(f"sound.clips: {clips}: no folder that can be read; everything is spoken")
    voice = Voice(speaker, config.sound.say, clips or config.data_dir / "clips")
    tuning = Lock()

    def tune() -> None:
        with tuning:  # else what was read before another change could be used after it
            speaking, is_on = session.speaking, session.view().table.settings.sound
            voice.amount = speaking.say
            speaker.tune(speaking.volume if is_on else 0, speaking.words_per_minute)

    tune()
    session.subscribe(Topic.SETTINGS, tune)
    session.subscribe(Topic.ANNOUNCEMENT, lambda said: voice.tell(said, session.phrases))
    return lambda: speaker.trouble
