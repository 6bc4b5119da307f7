"""The voice, against a stand-in for espeak-ng that reports what it was asked, and the real one."""

from __future__ import annotations

import os
import shutil
import wave
from pathlib import Path

import pytest

from companion.audio import espeak
from companion.audio.espeak import Speaker, spoken_s
from companion.messages.catalogue import LANGUAGES
from tests.audio.conftest import StandIn, until_silent


def test_a_text_goes_in_through_the_standard_input(voice: StandIn, speaker: Speaker) -> None:
    assert speaker.trouble is None
    speaker.say(["White seven."], "en")
    assert voice.line() == "alone|-v en --stdin -b 1 -a 80 -s 150|White seven."
    assert voice.line() == "said|White seven."
    until_silent(speaker)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("-w /tmp/owned --help", "-w /tmp/owned --help"),
        ("$(touch owned); `id` && 'x' \"y\"", "$(touch owned); `id` && 'x' \"y\""),
        ("Zoë würfelt sieben", "Zoë würfelt sieben"),
        ("one\x01c\x00two\tthree\x1b", "one c two three "),
        ("Relance\u2011le.", "Relance-le."),
        ("\u2068נועה\u2069’s turn", "נועה’s turn"),
    ],
)
def test_no_text_is_more_than_text(
    text: str, said: str, voice: StandIn, speaker: Speaker, tmp_path: Path
) -> None:
    speaker.say([text], "de")
    assert voice.line() == f"alone|-v de --stdin -b 1 -a 80 -s 150|{said}"
    assert voice.line() == f"said|{said}"
    assert not (tmp_path / "owned").exists()


def test_the_end_of_a_line_parts_sentences(voice: StandIn, speaker: Speaker) -> None:
    speaker.say(["Weiß 7.\nmia würfelt."], "de")
    lines = [voice.line() for _ in range(4)]
    assert lines[2:] == ["said|Weiß 7.", "mia würfelt."]


def test_the_newest_text_stops_the_current_one(voice: StandIn, speaker: Speaker) -> None:
    speaker.say(["on and on forever"], "en")
    assert voice.line().endswith("|on and on forever")
    speaker.say(["White seven."], "en")
    assert voice.line().startswith("alone|"), "the first voice had ended before"
    assert voice.line() == "said|White seven."


def test_of_many_texts_only_the_last_is_spoken(voice: StandIn, speaker: Speaker) -> None:
    for n in range(40):
        speaker.say([f"number {n} forever"], "en")
    speaker.say(["the last word"], "en")
    lines = []
    while not lines or lines[-1] != "said|the last word":
        lines.append(voice.line())
    assert not [line for line in lines if line.startswith("TWO-VOICES")]
    until_silent(speaker)
    assert voice.all_lines() == []


def test_text_that_still_holds_is_spoken_to_the_end(voice: StandIn, speaker: Speaker) -> None:
    speaker.say(["Take the red die out."], "en", "closed")
    speaker.say(["Ben throws next."], "en", "turn", cancels={"roll"})
    assert [voice.line() for _ in range(4)][1::2] == [
        "said|Take the red die out.",
        "said|Ben throws next.",
    ]


def test_outdated_text_is_cut_short_or_never_spoken(voice: StandIn, speaker: Speaker) -> None:
    speaker.say(["White six forever"], "en", "roll")
    assert voice.line().endswith("|White six forever")
    speaker.say(["Press again."], "en", "refused", cancels={"refused"})
    speaker.say(["Waiting for Ben."], "en", "refused", cancels={"refused"})
    speaker.say(["Ben throws next."], "en", "turn", cancels={"roll", "refused"})
    assert voice.line().endswith("|Ben throws next.")
    assert voice.line() == "said|Ben throws next."
    until_silent(speaker)
    assert voice.all_lines() == []


def test_a_text_that_is_asked_for_again_and_again_is_spoken_once(
    voice: StandIn, speaker: Speaker
) -> None:
    """The second button repeats an announcement, and somebody pushes it many times."""
    speaker.say(["on and on forever"], "en", "turn")
    voice.line()
    for _ in range(6):
        speaker.say(["Red is closed."], "en", "closed", cancels=())
    speaker.say(["White seven."], "en", "roll", cancels={"turn"})
    heard = [voice.line() for _ in range(4)]
    assert heard[1::2] == ["said|Red is closed.", "said|White seven."]


def test_a_text_that_is_asked_for_again_is_begun_anew(voice: StandIn, speaker: Speaker) -> None:
    for _ in range(2):
        speaker.say(["on and on forever"], "en", "closed", cancels=())
        assert voice.line() == "alone|-v en --stdin -b 1 -a 80 -s 150|on and on forever"
    assert speaker.trouble is None, "the first one was not waited for"


def test_cancelling_a_text_cancels_its_continuation(voice: StandIn, speaker: Speaker) -> None:
    speaker.say(["on forever", "and after"], "en")
    voice.line()
    speaker.stop()
    until_silent(speaker)
    assert voice.all_lines() == []


def test_volume_and_speed_change_with_the_next_text(voice: StandIn, speaker: Speaker) -> None:
    speaker.tune(40, 200)
    speaker.say(["White seven."], "it")
    assert voice.line() == "alone|-v it --stdin -b 1 -a 40 -s 200|White seven."
    speaker.say(["on forever"], "it")
    while not voice.line().endswith("on forever"):
        pass
    speaker.tune(0, 200)
    until_silent(speaker)
    speaker.say(["muted"], "it")
    until_silent(speaker)
    assert voice.all_lines() == []


def test_stop_and_close_silence_it(voice: StandIn, speaker: Speaker) -> None:
    speaker.say(["on and on forever"], "en")
    voice.line()
    speaker.stop()
    until_silent(speaker)
    speaker.say(["again forever"], "en")
    assert voice.line().startswith("alone|")
    speaker.close()
    speaker.close()
    until_silent(speaker)
    speaker.say(["too late"], "en")
    until_silent(speaker)
    assert voice.all_lines() == []


def test_stopping_right_after_speaking_leaves_no_process(voice: StandIn, speaker: Speaker) -> None:
    for _ in range(20):
        speaker.say(["on and on forever"], "en")
        speaker.stop()
    until_silent(speaker)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("crash", "voice: the table stays silent: cannot open the sound"),
        ("no-card", "voice: the table stays silent: error: No such file or directory"),
    ],
)
def test_failing_sound_is_reported_once_and_retried(
    text: str, line: str, voice: StandIn, speaker: Speaker, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(3):
        speaker.say([text], "en")
        until_silent(speaker)
        assert speaker.trouble is not None
    assert [record.getMessage() for record in caplog.records] == [line]
    speaker.say(["well again"], "en")
    until_silent(speaker)
    assert speaker.trouble is None
    assert caplog.records[-1].getMessage() == "voice: sound is working again"


def test_a_hanging_voice_does_not_block_later_texts(
    voice: StandIn, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(espeak, "HUNG_S", 0.05)
    speaker = Speaker()
    speaker.tune(100, 450)
    speaker.say(["forever"], "en", "roll")
    speaker.say(["Red is closed."], "en", "closing", cancels={"closing"})
    while voice.line() != "said|Red is closed.":
        pass
    until_silent(speaker)
    assert caplog.records[0].getMessage() == (
        "voice: the table stays silent: espeak-ng did not finish"
    )
    assert speaker.trouble is None, "the next text was said"
    speaker.close()


def test_a_long_text_has_the_time_it_needs() -> None:
    assert spoken_s("White seven. Ada may use red 7 or 8.", 165) == pytest.approx(2.6, abs=0.1)
    assert spoken_s("x" * 400, 80) == pytest.approx(60.0)


def test_a_voice_installed_meanwhile_is_found(
    tmp_path: Path, voice: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = (tmp_path / "espeak-ng").rename(tmp_path / "not-yet")
    with monkeypatch.context() as without:
        without.setenv("PATH", str(tmp_path))
        speaker = Speaker()
    assert speaker.trouble is not None
    away.rename(tmp_path / "espeak-ng")
    speaker.say(["White seven."], "en")
    assert voice.line().endswith("|White seven.")
    until_silent(speaker)
    assert speaker.trouble is None
    speaker.close()


def test_being_stopped_is_no_failure(
    voice: StandIn, speaker: Speaker, caplog: pytest.LogCaptureFixture
) -> None:
    speaker.say(["on and on forever"], "en")
    voice.line()
    speaker.stop()
    until_silent(speaker)
    assert speaker.trouble is None
    assert caplog.records == []


def test_without_espeak_play_goes_on_with_one_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    speaker = Speaker()
    assert speaker.trouble is not None
    for _ in range(2):
        speaker.say(["White seven."], "en")
        until_silent(speaker)
    speaker.close()
    assert [record.getMessage() for record in caplog.records] == [
        "voice: the table stays silent: espeak-ng is not installed (apt install espeak-ng)"
    ]


def test_a_program_that_cannot_be_run_is_silence_too(
    voice: StandIn, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    speaker = Speaker()
    (tmp_path / "espeak-ng").write_text("#!/no/such/interpreter\n")
    speaker.say(["White seven."], "en")
    until_silent(speaker)
    speaker.close()
    assert "the table stays silent: [Errno 2]" in caplog.text


@pytest.mark.skipif(
    shutil.which("espeak-ng") is None, reason="no espeak-ng: apt-get install espeak-ng"
)
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_real_espeak_makes_sound_of_it(
    language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wav, program = tmp_path / "spoken.wav", tmp_path / "espeak-ng"
    program.write_text(f'#!/bin/sh\nexec {shutil.which("espeak-ng")} -w "{wav}" "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    speaker = Speaker()
    speaker.say(["-7 Ada 7 8"], language)
    until_silent(speaker)
    assert speaker.trouble is None
    speaker.close()
    with wave.open(str(wav)) as sound:
        assert sound.getnframes() > sound.getframerate() / 2, "more than half a second"
        assert any(sound.readframes(sound.getnframes())), "and not silence"
