"""Notes of the camera, in the words of each language."""

from __future__ import annotations

import pytest

from companion.messages.catalogue import LANGUAGES, load_phrases
from companion.messages.equipment import note_line
from companion.tray import Note, NoteCode


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
