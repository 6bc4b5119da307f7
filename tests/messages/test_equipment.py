"""Notes of the camera, in the words of each language."""

from __future__ import annotations

import pytest

from companion.engine import (
    DieColour,
)
from companion.messages.catalogue import LANGUAGES, Term, load_phrases
from companion.messages.equipment import note_line, tray_lines
from companion.tray import Note, NoteCode, Problem, ProblemCode, TrayStatus


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("code", list(NoteCode))
def test_camera_problems_have_a_sentence_in_every_language(language: str, code: NoteCode) -> None:
    names = ("a.jpg", "b.jpg") if code is NoteCode.SKIPPED else ()
    text = load_phrases(language).tell(note_line(Note(code, names)))
    assert text.endswith(".")
    assert all(name in text for name in names)
    assert code.value not in text


def test_files_that_are_not_named_are_counted() -> None:
    said = note_line(Note(NoteCode.SKIPPED, ("1.jpg", "2.jpg", "3.jpg"), 4))
    assert load_phrases("de").tell(said).endswith("1.jpg, 2.jpg, 3.jpg und 4 weitere.")


def test_words_of_the_table_stay_lines_until_somebody_reads_them() -> None:
    failed = note_line(Note(NoteCode.FAILED))
    told = {load_phrases(language).tell(failed) for language in LANGUAGES}
    assert len(told) == len(LANGUAGES)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "status",
    [TrayStatus.MISSING, TrayStatus.COCKED, TrayStatus.OBSTRUCTED, TrayStatus.UNCERTAIN],
)
def test_all_dice_that_are_meant_are_named(language: str, status: TrayStatus) -> None:
    phrases = load_phrases(language)
    meant = [DieColour.WHITE, DieColour.RED, DieColour.WHITE]
    told = phrases.tell(*tray_lines(status, [Problem(ProblemCode(status), c) for c in meant]))
    form = "" if phrases.worded(Term("die.red")) in told else "object"
    for word in ("die.red", "whites"):
        assert phrases.worded(Term(word), form).casefold() in told.casefold()
    assert told[0].isupper()


def test_missing_dice_are_told_with_where_they_may_be() -> None:
    def told(*problems: Problem) -> str:
        return load_phrases("en").tell(*tray_lines(TrayStatus.MISSING, problems))

    white = Problem(ProblemCode.MISSING, DieColour.WHITE)
    assert told(white).startswith("A white die is missing.")
    assert told(white, white).startswith("The two white dice are missing.")
    red = Problem(ProblemCode.MISSING, DieColour.RED)
    assert told(red, red).startswith("The red die is missing.")
    many = "The two white dice and the red die are missing. Put them back and throw again."
    assert told(white, red, white) == many
    assert told(white, Problem(ProblemCode.BESIDE_TRAY)).endswith("There is a die beside the tray.")
