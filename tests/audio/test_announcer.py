"""What is said of an announcement: how much, by whose sounds, and what it silences."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

import pytest

from companion.audio.announcer import (
    CANCELS,
    Voice,
    clip_names,
    found_clips,
    pieces_of,
    spoken_lines,
)
from companion.audio.espeak import Clip
from companion.messages.announcements import Announcement
from companion.messages.catalogue import all_of, line, load_phrases
from companion.session.ports import Topic
from tests.session.fakes import Stage


class Listener:
    """A speaker that writes down what it is given."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, str]] = []
        self.pieces: list[list[str | Clip]] = []
        self.cancels: list[Collection[str] | None] = []

    def say(
        self,
        pieces: Sequence[str | Clip],
        language: str,
        kind: str = "",
        *,
        cancels: Collection[str] | None = None,
    ) -> None:
        texts = [piece if isinstance(piece, str) else piece.path.name for piece in pieces]
        if texts:
            self.heard.append((kind, " ".join(texts).replace("\n", " ")))
        self.pieces.append(list(pieces))
        self.cancels.append(cancels)


def table(tmp_path: Path, amount: str, clips: Path | None = None) -> tuple[Stage, Listener]:
    """A table of two whose announcements are said."""
    stage, listener = Stage(tmp_path), Listener()
    voice = Voice(listener, amount, clips or tmp_path / "none")
    stage.session.subscribe(
        Topic.ANNOUNCEMENT, lambda said: voice.tell(said, stage.session.phrases)
    )
    stage.seat("Ada", "Ben")
    stage.session.start("base", 0)
    return stage, listener


def play(stage: Stage) -> None:
    """A roll, a press too early, a corrected roll, a miss, the next turn and the end."""
    stage.roll(4, 3)
    stage.time.pass_s(2)
    stage.session.press()
    stage.answer(0, "R7", done=False)
    stage.correct(4, 4)
    stage.answer(0, None)
    stage.answer(1, None)
    stage.answer(0, None)
    stage.session.end()
    stage.store.close()


def test_the_level_sum_announces_only_the_number(tmp_path: Path) -> None:
    stage, listener = table(tmp_path, "sum")
    play(stage)
    assert listener.heard == [("roll", "7"), ("corrected", "8")]


def test_the_level_sums_adds_the_active_players_options(tmp_path: Path) -> None:
    stage, listener = table(tmp_path, "sums")
    play(stage)
    assert listener.heard == [
        (
            "roll",
            "White 7. Ada may cross red 6 or 7, yellow 6 or 7, green 6 or 7 or blue 6 or 7.",
        ),
        ("refused", "Waiting for Ada and Ben."),
        (
            "corrected",
            "Roll corrected: white 4 and 4. White 8. "
            "Ada may cross red 7, yellow 7, green 7 or blue 7.",
        ),
    ]


def test_all_adds_everything_else(tmp_path: Path) -> None:
    stage, listener = table(tmp_path, "all")
    play(stage)
    assert [kind for kind, _ in listener.heard] == [
        "turn",
        "roll",
        "refused",
        "corrected",
        "miss",
        "over",
    ]
    said = dict(listener.heard)
    assert said["miss"] == "Penalty for Ada (1 of 4). Ben throws next."
    assert said["over"] == ("The game was ended early. It counts for nobody. Ada: minus 5, Ben: 0.")
    assert "Red" not in said["corrected"], "who has to answer again is shown, not said"


def test_negative_points_are_spoken_in_french(tmp_path: Path) -> None:
    scores = line("end.scores", scores=all_of([line("end.score", name="L-7", total=-15)]))
    (said,) = pieces_of((scores,), load_phrases("fr"), {})
    assert said == "L-7\u00a0: moins 15."


def test_sentences_are_lines_of_their_own() -> None:
    """ "Weiß 7. mia ..." in one line is "Weiß siebte mia" to espeak-ng 1.51."""
    lines = (line("roll.white", sum=7), line("fact.turn", name="mia"))
    (said,) = pieces_of(lines, load_phrases("de"), {})
    assert isinstance(said, str)
    assert said.startswith("Weiß 7.\nmia ")


def test_a_closing_names_the_die_to_remove(tmp_path: Path) -> None:
    stage, listener = table(tmp_path, "all")
    stage.close_red()
    stage.answer(1, None)
    stage.time.pass_s(10)
    said = dict(listener.heard)
    assert said["closing"] == "Ada is closing red. You can all still change your answer."
    assert said["closed"] == "The red row has been closed by Ada. Take the red die out."
    stage.store.close()


def test_only_a_corrected_colour_is_named_and_no_sum_repeated(tmp_path: Path) -> None:
    stage, listener = table(tmp_path, "sums")
    stage.roll(4, 3)
    stage.correct(4, 3, red=5)
    assert listener.heard[-1][1].startswith("Roll corrected: red 5. Ada may cross red 8 or 9, ")
    stage.store.close()


@pytest.mark.parametrize("amount", ["sum", "sums"])
def test_outdated_speech_is_cancelled_without_new_speech(tmp_path: Path, amount: str) -> None:
    stage, listener = table(tmp_path, amount)
    stage.roll(4, 3)
    for player in (0, 1, 0):
        stage.answer(player, None)
    assert listener.pieces[-1] == []
    assert "roll" in (listener.cancels[-1] or ())
    stage.store.close()


@pytest.mark.parametrize("kind", ["roll", "corrected", "undone", "over"])
def test_a_new_roll_or_an_end_cancels_all_speech_about_the_game(kind: str) -> None:
    assert set(CANCELS) - {"retracted"} == CANCELS[kind]


def test_a_roll_does_not_cancel_a_fault_that_persists(tmp_path: Path) -> None:
    stage, listener = table(tmp_path, "all")
    stage.session.part_is("button", "lost")
    stage.roll(4, 3)
    assert listener.heard[-1][0] == "roll"
    cancels = listener.cancels[-1]
    assert cancels is not None
    assert "part button" not in cancels
    stage.store.close()


def test_leaving_in_ones_turn_cancels_the_spoken_options(tmp_path: Path) -> None:
    stage, listener = table(tmp_path, "all")
    stage.roll(4, 3)
    for player in (0, 1):
        stage.answer(player, None)
    stage.session.let_go(stage.state.active)
    assert listener.heard[-1][0] == "left"
    assert {"roll", "refused"} <= set(listener.cancels[-1] or ())
    stage.store.close()


def test_a_refusal_whose_reason_is_gone_falls_silent_and_nothing_else(tmp_path: Path) -> None:
    stage, listener = table(tmp_path, "all")
    stage.roll(4, 3)
    stage.time.pass_s(2.0)
    stage.session.press()
    stage.answer(0, None)
    assert listener.pieces[-1] == []
    assert listener.cancels[-1] == {"refused"}
    stage.store.close()


def test_faults_at_the_same_time_are_spoken_in_turn(tmp_path: Path) -> None:
    stage, listener = table(tmp_path, "all")
    stage.session.part_is("button", "lost")
    stage.session.part_is("repeat", "lost")
    stage.session.part_is("button", None)
    (button, _), (repeat, _), (mended, _) = listener.heard[-3:]
    assert button == mended != repeat
    assert [list(each or ()) for each in listener.cancels[-3:]] == [[button], [repeat], [button]]
    stage.store.close()


@pytest.mark.parametrize(("amount", "has_closing"), [("sums", False), ("all", True)])
def test_only_the_level_all_speaks_closings_after_a_correction(
    tmp_path: Path, amount: str, has_closing: bool
) -> None:
    stage, listener = table(tmp_path, amount)
    stage.close_red()
    stage.correct(6, 6, red=1)
    kind, said = listener.heard[-1]
    assert kind == "corrected"
    assert ("is closing red" in said) == has_closing
    stage.store.close()


@pytest.mark.parametrize("kind", ["turn", "refused", "closing", "passed"])
def test_the_die_to_remove_is_spoken_to_the_end(kind: str) -> None:
    assert "closed" not in CANCELS[kind]


def test_an_amount_of_nothing_is_no_line() -> None:
    said = Announcement("turn", line("fact.turn", name="Ada"), (line("fact.turn", name="Ada"),))
    assert spoken_lines(said, "sum") == ()


class TestClips:
    def test_a_familys_own_sound_stands_for_a_sentence(self, tmp_path: Path) -> None:
        clips = tmp_path / "clips"
        clips.mkdir()
        for name in ("roll.white.7.wav", "FACT.turn.ada.MP3", "roll.extra.wav", "notes.txt"):
            (clips / name).touch()
        stage, listener = table(tmp_path, "all", clips)
        assert listener.heard == [("turn", "FACT.turn.ada.MP3")]
        stage.roll(4, 3)
        assert listener.heard[-1][1].startswith("roll.white.7.wav Ada may cross red 6")
        (clips / "roll.white.7.wav").unlink()
        stage.session.say_again()
        assert listener.heard[-1][1].startswith("White 7. Ada may cross red 6")
        stage.store.close()

    def test_a_sound_never_stands_for_another_number(self) -> None:
        assert "roll.white" not in list(clip_names(line("roll.white", sum=7)))

    def test_names_of_sounds(self) -> None:
        said = line("fact.would_close", name="Emma", row=all_of(["R"]))
        assert list(clip_names(said)) == [
            "fact.would_close.emma.r",
            "fact.would_close.emma",
            "fact.would_close.r",
            "fact.would_close",
        ]

    def test_a_sound_from_a_mac_is_found_by_its_players_name(self, tmp_path: Path) -> None:
        (tmp_path / "fact.turn.Zoe\u0308.wav").touch()
        (name,) = found_clips(tmp_path)
        assert name in list(clip_names(line("fact.turn", name="Zo\u00eb")))

    @pytest.mark.parametrize("name", ["../../etc/passwd", "a/b", "x\0y"])
    def test_a_name_is_no_path(self, name: str, tmp_path: Path) -> None:
        (tmp_path / "fact.turn.wav").touch()
        found = found_clips(tmp_path)
        named = [each for each in clip_names(line("fact.turn", name=name)) if each in found]
        assert named == ["fact.turn"]

    def test_no_folder_is_no_sounds(self, tmp_path: Path) -> None:
        assert found_clips(tmp_path / "nothing") == {}


@pytest.mark.parametrize("language", ["de", "fr", "it"])
def test_the_voice_has_the_tables_language(tmp_path: Path, language: str) -> None:
    stage, listener = table(tmp_path, "all")
    stage.session.change_settings(voice={"language": language})
    stage.roll(4, 3)
    expected = load_phrases(language).say("roll.white", sum=7)
    assert listener.heard[-1][1].startswith(expected)
    stage.store.close()
