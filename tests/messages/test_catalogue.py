"""Four languages: whole catalogues, right forms, and nothing said in a language not asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from companion.engine import (
    ClosingTakenBack,
    DieColour,
    GameState,
    MissTaken,
    Phase,
    Reason,
    Refusal,
    RowClosed,
    new_game,
)
from companion.engine.variants import PLANS
from companion.messages.announcements import Announcement, announce_closings, announce_facts
from companion.messages.catalogue import (
    LANGUAGES,
    SHARED,
    Line,
    Phrases,
    Term,
    all_of,
    is_one,
    line,
    load_phrases,
    one_of,
)
from companion.messages.equipment import CAUSES, tray_lines
from companion.messages.refusals import refusal_line
from companion.session.ports import Topic
from companion.tray import Problem, ProblemCode, TrayStatus
from tests.conftest import ROOT
from tests.session.fakes import Stage

OTHERS = [language for language in LANGUAGES if language != "en"]
SOURCES = [*ROOT.glob("companion/**/*.py"), *ROOT.glob("web/**/*.py")]

ENGLISH = frozenset(
    re.findall(
        r"\w+",
        """the and white dice throw throws row rows closed cross crossed box player answer answers
        game miss seat seats you your with this that have has take turn enter nobody everybody
        camera not again already only press read reading sheet red yellow green blue""",
    )
)
"""Words that no sentence of another language has: "die", "table" and "points" are not here."""


def test_every_language_the_command_takes_has_a_catalogue() -> None:
    assert LANGUAGES == ("en", "de", "fr", "it")
    assert [load_phrases(each).say("language.name") for each in LANGUAGES] == [
        "English",
        "Deutsch",
        "Français",
        "Italiano",
    ]


@pytest.mark.parametrize("language", OTHERS)
def test_no_sentence_is_left_in_english(language: str) -> None:
    for key, text in load_phrases(language).under("").items():
        words = set(re.findall(r"[^\W\d_]+", re.sub(r"\{.*?\}|dice-companion", "", text.lower())))
        assert words & ENGLISH == set(), f"{key}: {text}"


@pytest.mark.parametrize("language", LANGUAGES)
def test_marks_are_those_of_printed_text(language: str) -> None:
    for key, text in load_phrases(language).under("").items():
        bare = re.sub(r"\{.*?\}", "{}", text)
        assert not re.search("[\"']", bare), f"{key}: {text}"
        if language == "fr":  # what belongs to a word must not begin the next line
            assert not re.search("[^\u00a0][:;!?»]|«[^\u00a0]", bare), f"{key}: {text}"
            assert not re.search(r"\w-(ce|elle|il|la|le|les|lui|on|y)\b", bare), f"{key}: {text}"


ELIDED = {
    "fr": r"\b(?:de|que|le|la) \{names?\}",
    "it": r"\b(?:il|lo|la|del|nel|al|dal|sul) \{(?:number|first|last|count)\}",
}
"""Words that change before a vowel, and so cannot stand before what is not known: d’Emma, l’8."""


@pytest.mark.parametrize("language", ELIDED)
def test_no_eliding_word_stands_before_a_placeholder(language: str) -> None:
    for key, text in load_phrases(language).under("").items():
        assert not re.search(ELIDED[language], text), f"{key}: {text}"


NAMED = {
    "say.tapped": "done",
    "host.answer_of": "host.answer",
    "host.free_of": "host.free",
    "host.hand_of": "host.hand",
    "games.resume_of": "games.resume",
    "lobby.leave_of": "lobby.leave_one",
}
"""Sentences and names of buttons, and the button's own word that they have to hold (WCAG 2.5.3)."""


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_buttons_accessible_name_contains_its_label(language: str) -> None:
    phrases = load_phrases(language)
    for key, button in NAMED.items():
        text, word = phrases.under("page.")[key], phrases.say(f"page.{button}")
        assert word.casefold() in text.casefold(), f"{key}: {text}"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_form_a_sentence_asks_for_is_there(language: str) -> None:
    phrases = load_phrases(language)
    kinds = dict.fromkeys(("row", "rows"), "row.") | dict.fromkeys(("die", "dice"), "die.")
    kinds |= {"made_by": "die.", "colour": "colour."}
    for key, text in phrases.under("").items():
        for name, form in re.findall(r"\{(\w+):(\w+)\}", text):
            stem = kinds[name]
            words = [k for k in phrases.under("") if k.startswith(stem) and k.count(".") == 1]
            for word in words:
                assert phrases.worded(Term(word), form), f"{key} wants {word}.{form}"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_catalogue_entry_is_used(language: str) -> None:
    """A consistency check over source text: an entry nobody uses is translated in vain."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES)
    stems = (
        "asked.",
        "whites.",
        "coach.decided.",
        "tray.",
        "fault.",
        "refused.",
        "declined.",
        "record.end.",
        "preview.moment.",
        "setup.",
        "house.",
        "rules.",
        "house.",
        "page.",
        *SHARED,
    )
    for key in load_phrases(language).under(""):
        named = key.removesuffix(".singular")
        assert f'"{named}"' in text or key.startswith(stems), key


def lines_of_a_table(directory: Path) -> Iterator[Line]:
    """What a game's announcements are made of: rolls, closings, misses, corrections, the end."""
    stage = Stage(directory)
    told: list[Announcement] = []
    stage.session.subscribe(Topic.ANNOUNCEMENT, told.append)
    stage.seat("Zoé", "Jörg")
    assert stage.session.start("base", 0) is None
    stage.session.press()
    for low, high in ((1, 1), (1, 2), (2, 2), (2, 3), (3, 3)):
        stage.roll(low, high)
        stage.session.press()
        stage.answer(0, f"R{low + high}")
        stage.answer(1, None)
        stage.answer(stage.state.active, None)
    stage.roll(6, 6)
    stage.answer(0, "R12", done=False)
    stage.answer(0, "Y12", done=False)
    stage.answer(0, "R12")
    stage.answer(1, None)
    stage.time.pass_s(10)
    stage.answer(stage.state.active, None)
    stage.session.undo()
    stage.session.end()
    stage.store.close()
    for said in told:
        yield said.headline
        yield from said.lines


def some_lines() -> Iterator[Line]:
    """Lines that a short game does not lead to."""
    plan = PLANS["big_points"]
    state = _state(plan.name)
    names = ["Zoé", "Jörg"]
    facts = [
        *(RowClosed(row.key, row.lock, (0, 1)) for row in plan.rows if row.lock),
        *(ClosingTakenBack(1, row.key) for row in plan.rows if row.lock),
        MissTaken(1, 1),
    ]
    told = [announce_facts(state, state, [fact], names) for fact in facts]
    for token in ("R12", "Y12", "G2", "B2"):
        closing = state._replace(phase=Phase.ACTION1, answers=(plan.bits[token], None))
        told.append(announce_closings(closing, names))
    for said in told:
        assert said is not None
        yield said.headline
        yield from said.lines
    for colour in DieColour:
        for status in ("obstructed", "cocked", "missing", "extra", "uncertain"):
            yield from tray_lines(TrayStatus(status), [Problem(ProblemCode(status), colour)])
    for colour in list(DieColour)[1:]:
        yield from tray_lines(TrayStatus.OK, [Problem(ProblemCode.REMOVED_DIE_IN_TRAY, colour)])
    yield from tray_lines(TrayStatus.OK, [Problem(code) for code in CAUSES])
    for total in (-5, 0, 1, 7):
        yield line("end.winner", names="Zoé", count=total)
        yield line("end.winners", names=all_of(names), count=total)


def _state(variant: str) -> GameState:
    return new_game(PLANS[variant], 2, 0)


REFUSALS = [
    Refusal(Reason.BAD_DICE, "E45", {"expected": ["red", "blue"], "got": []}),
    Refusal(Reason.BAD_DICE, "E45", {"expected": [], "got": []}),
    Refusal(Reason.GAME_OVER, "E18"),
    Refusal(Reason.WRONG_PHASE, "E9", {"phase": "action2"}),
    Refusal(Reason.WRONG_PHASE, "E1", {"phase": "roll"}),
    Refusal(Reason.WRONG_PHASE, "E1", {"phase": "action1", "waiting_for": [0]}),
    Refusal(Reason.WRONG_PHASE, "E1", {"phase": "action1", "waiting_for": [0, 1]}),
    Refusal(Reason.WRONG_PHASE, "E1", {"phase": "action2", "waiting_for": [1]}),
    Refusal(Reason.WRONG_PHASE, "E1", {"phase": "action1", "waiting_for": []}),
    Refusal(Reason.UNKNOWN_PLAYER, "E40", {"players": 2}),
    Refusal(Reason.NOT_ACTIVE, "E4", {"active": 1}),
    Refusal(Reason.TWO_MARKS, "E3", {"choice": ["R7", "Y7"]}),
    Refusal(Reason.BAD_TOKEN, "E42", {"choice": 3}),
    Refusal(Reason.LOCK_ALONE, "E12", {"row": "yellow"}),
    Refusal(Reason.NO_BONUS_ROW, "E47", {"choice": "RY5"}),
    Refusal(Reason.NO_SUCH_NUMBER, "E42", {"row": "green", "number": 13, "first": 12, "last": 2}),
    Refusal(Reason.ROW_LOCKED, "E14", {"row": "blue", "number": 7}),
    Refusal(Reason.DIE_REMOVED, "E14", {"row": "red", "number": 7, "die": "red"}),
    Refusal(Reason.WRONG_SUM, "E2", {"row": "red", "number": 7, "action": 1, "sums": [8]}),
    Refusal(
        Reason.WRONG_SUM,
        "E2",
        {"row": "red", "number": 7, "action": 2, "die": "red", "sums": [8, 9]},
    ),
    Refusal(
        Reason.WRONG_SUM,
        "E2",
        {"row": "bonus red-yellow", "number": 7, "action": 2, "sums": []},
    ),
    Refusal(
        Reason.WRONG_DIE,
        "E2",
        {"row": "red", "number": 7, "die": "red", "made_by": ["yellow", "blue"], "sums": [8, 9]},
    ),
    Refusal(
        Reason.BONUS_WRONG_DIE,
        "E25",
        {"row": "bonus green-blue", "number": 7, "made_by": ["red"], "beside": [], "crossed": []},
    ),
    Refusal(Reason.ALREADY_CROSSED, "E7", {"row": "yellow", "number": 7}),
    Refusal(Reason.NOT_TO_THE_RIGHT, "E41", {"row": "red", "number": 7, "last": 9}),
    Refusal(Reason.NOT_TO_THE_RIGHT, "E6", {"row": "red", "number": 7, "last": 9}),
    Refusal(
        Reason.LOCK_NEEDS_FIVE, "E10", {"row": "green", "number": 2, "crosses": 4, "needed": 5}
    ),
    Refusal(Reason.BONUS_NEEDS_NEIGHBOUR, "E24", {"row": "bonus red-yellow", "number": 7}),
    Refusal(Reason.MISS_NOT_ACTIVE, "E8", {"active": 0}),
    Refusal(Reason.MISS_NOT_DUE, "E8"),
]


def test_every_reason_is_tried_here() -> None:
    assert {refusal.reason for refusal in REFUSALS} == set(Reason)


ALIKE = frozenset({"roll.headline", "end.scores", "end.score"})
"""Lines that are the same in every language."""


@pytest.mark.parametrize("language", OTHERS)
def test_announcements_and_refusals_use_the_language_asked_for(
    language: str, tmp_path: Path
) -> None:
    english, phrases = load_phrases("en"), load_phrases(language)
    refused = [refusal_line(refusal, ["Zoé", "Jörg"]) for refusal in REFUSALS]
    for each in (*lines_of_a_table(tmp_path), *some_lines(), *refused):
        text = phrases.tell(each)
        assert "{" not in text
        assert "None" not in text
        assert text[0] == text[0].upper()
        assert each.key in ALIKE or text != english.tell(each), each
        words = set(re.findall(r"[^\W\d_]+", text.lower()))
        assert words & ENGLISH == set(), text


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "The red row has been closed by Ada and Ben. Take the red die out."),
        (
            "de",
            "Die rote Reihe wurde von Ada und Ben abgeschlossen. Nehmt den roten Würfel heraus.",
        ),
        ("fr", "La rangée rouge a été clôturée par Ada et Ben. Retirez le dé rouge."),
        ("it", "La fila rossa è stata chiusa da Ada e Ben. Togliete il dado rosso."),
    ],
)
def test_colours_agree_with_their_noun(language: str, said: str) -> None:
    state = _state("base")
    closed = announce_facts(state, state, [RowClosed("R", DieColour.RED, (0, 1))], ["Ada", "Ben"])
    assert closed is not None
    assert load_phrases(language).tell(*closed.lines) == said


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "Green open, Green closed, closed by Ada"),
        ("de", "Grün offen, Grün abgeschlossen, abgeschlossen von Ada"),
        ("fr", "Vert ouvert, Vert clôturé, clôturé par Ada"),
        ("it", "Verde aperto, Verde chiuso, chiuso da Ada"),
    ],
)
def test_a_row_named_by_its_colour_alone_agrees_with_it(language: str, said: str) -> None:
    phrases = load_phrases(language)
    row = phrases.worded(Term("row.green"), "Name")
    states = [phrases.say(f"page.table.row_{state}", row=row) for state in ("open", "closed")]
    assert ", ".join([*states, phrases.say("page.sheet.closed_by", names="Ada")]) == said


@pytest.mark.parametrize(
    ("language", "count", "said"),
    [
        ("en", 1, "Ada wins with 1 point."),
        ("en", 0, "Ada wins with 0 points."),
        ("de", 1, "Ada gewinnt mit 1 Punkt."),
        ("de", 70, "Ada gewinnt mit 70 Punkten."),
        ("fr", 0, "Ada gagne avec 0 point."),
        ("fr", 2, "Ada gagne avec 2 points."),
        ("it", -5, "Ada vince con −5 punti."),
        ("it", 1, "Ada vince con 1 punto."),
    ],
)
def test_a_count_of_one_takes_the_singular(language: str, count: int, said: str) -> None:
    assert load_phrases(language).say("end.winner", names="Ada", count=count) == said


def test_only_numbers_have_a_singular() -> None:
    assert not is_one("1", "en")
    assert not is_one(None, "fr")


def test_words_are_joined_as_people_do() -> None:
    german = load_phrases("de")
    dice = one_of([Term("die.red"), Term("die.blue"), Term("die.green")])
    assert german.worded(dice, "with") == (
        "mit dem roten Würfel, mit dem blauen Würfel oder mit dem grünen Würfel"
    )
    assert german.all_of(["Ada"]) == "Ada"


def test_a_name_from_right_to_left_leaves_the_numbers_beside_it_in_place() -> None:
    english = load_phrases("en")
    assert english.say("page.table.throws", name="שרה") == "\u2068שרה\u2069 throws"
    assert english.say("page.table.throws", name="ليلى") == "\u2068ليلى\u2069 throws"
    assert english.all_of(["שרה", "Ada"]) == "\u2068שרה\u2069 and Ada"
    assert english.say("page.table.throws", name="Ada") == "Ada throws"


def test_a_line_is_the_same_in_no_language() -> None:
    said = line("box", row=Term("row.red"), number=7)
    assert [load_phrases(each).tell(said) for each in LANGUAGES] == [
        "red 7",
        "Rot 7",
        "rouge 7",
        "rosso 7",
    ]


def test_a_missing_entry_is_an_error() -> None:
    with pytest.raises(ValueError, match="expected en or de or fr or it, got 'nl'"):
        load_phrases("nl")
    with pytest.raises(KeyError):
        Phrases("en", {"a": "{b}"}).say("a")
