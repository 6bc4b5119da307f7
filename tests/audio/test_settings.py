"""How a table speaks: set up, chosen at the table, kept, and set up anew."""

from __future__ import annotations

import pytest

from companion.audio.settings import VoiceOverride, VoiceSettings, chosen, from_data
from companion.messages.catalogue import load_phrases
from companion.session.ports import Topic
from companion.session.session import Session
from tests.session.fakes import Stage


def again(stage: Stage, speaking: VoiceSettings) -> Session:
    """The same table started anew, set up so."""
    return Session(
        stage.store,
        load_phrases(speaking.language),
        clock=stage.time.clock,
        now_text=lambda: "",
        call_later=stage.time.call_later,
        draw=lambda n: 0,
        speaking=speaking,
    )


def test_chosen_settings_are_kept(stage: Stage) -> None:
    set_up: list[int] = []
    stage.session.subscribe(Topic.SETTINGS, lambda: set_up.append(stage.session.speaking.volume))
    stage.session.change_settings(voice={"language": "it", "volume": 20})
    stage.session.change_settings(voice={"say": "sums", "volume": 30})
    stage.session.change_settings(voice={"volume": 30})
    assert set_up == [20, 30]
    assert stage.session.speaking == VoiceSettings("it", "sums", 30, 165)
    assert stage.session.phrases.language == "it"
    taken_up = again(stage, VoiceSettings())
    assert taken_up.speaking == VoiceSettings("it", "sums", 30, 165)
    assert taken_up.phrases.language == "it"


def test_settings_that_were_changed_count_again(stage: Stage) -> None:
    stage.session.change_settings(voice={"language": "it", "volume": 20})
    taken_up = again(stage, VoiceSettings(language="fr"))
    assert taken_up.speaking == VoiceSettings("fr", "all", 20, 165)
    assert taken_up.phrases.language == "fr"


def test_an_undone_step_leaves_it_as_it_is(stage: Stage) -> None:
    stage.seat("Ada")
    stage.session.start()
    stage.roll(3, 4)
    stage.session.change_settings(voice={"say": "sum"})
    stage.session.undo()
    assert stage.session.speaking.say == "sum"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("language", "nl"),
        ("say", "nothing"),
        ("volume", 201),
        ("volume", True),
        ("words_per_minute", 79),
        ("words_per_minute", "fast"),
        ("pitch", 50),
    ],
)
def test_impossible_settings_are_refused(stage: Stage, name: str, value: object) -> None:
    with pytest.raises(ValueError, match=f"^{name}: "):
        stage.session.change_settings(voice={name: value})  # type: ignore[dict-item]
    with pytest.raises(ValueError, match="expected"):
        from_data({name: [value, value]}, ())


def test_of_two_choices_the_newer_counts() -> None:
    first = from_data({"volume": [20, 100]}, ())
    both = from_data({"volume": [40, 100]}, first)
    assert both == (VoiceOverride("volume", 40, 100),)
    assert chosen(VoiceSettings(), both).volume == 40
    with pytest.raises(ValueError, match="expected how a table speaks"):
        from_data({"volume": 40}, ())
