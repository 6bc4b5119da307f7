"""Pictures and sentences of a game, and the fairness of dice."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from xml.etree import ElementTree

import pytest

from companion.coach.advice import decision, results
from companion.coach.charts import (
    WIDTH,
    Picture,
    course_of,
    decided_chart,
    dice_chart,
    scores_chart,
)
from companion.coach.fairness import Fairness, fairness_of
from companion.coach.policies import GREEDY, SKIP_TWO
from companion.coach.proof import recorded
from companion.coach.report import told
from companion.coach.review import Review, review
from companion.engine import (
    BASE,
    COLOURED,
    ActionClosed,
    DieColour,
    EndedEarly,
    Event,
    Played,
    Roll,
    RollCorrected,
    Rolled,
    SeatClosed,
    fold,
    new_game,
)
from companion.history.archive import SavedGame
from companion.history.export import text_of
from companion.history.results import Result
from companion.history.statistics import LuckShare
from companion.messages.catalogue import LANGUAGES, load_phrases
from tests.engine.build import game as game_of
from tests.engine.build import roll

NAMES = ("Ada", "Ben & <Co>", "Zoé")


@cache
def a_game(seed: int = 1) -> SavedGame:
    start, events = recorded("base", [SKIP_TWO, GREEDY, SKIP_TWO], 1, seed)[0]
    state = fold(start, events)
    return SavedGame(1, "2026-01-01T20:00:00+00:00", NAMES, start, tuple(events), state)


@cache
def its_review() -> Review:
    found = review(a_game().start, a_game().events, rollouts=20)
    assert found is not None
    return found


def texts_of(picture: Picture) -> list[str]:
    root = ElementTree.fromstring(picture.svg)
    return [element.text or "" for element in root.iter() if element.tag.endswith("text")]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_report_names_everybody_in_every_language(language: str) -> None:
    game = a_game()
    report = told(game, its_review(), load_phrases(language))
    assert report.luck is not None
    for picture in (report.scores, report.luck):
        root = ElementTree.fromstring(picture.svg)
        assert root.get("role") == "img"
        label = root.get("aria-label") or ""
        assert all(name in label for name in NAMES)
        assert any(NAMES[1] in text for text in texts_of(picture))
    for player, name in enumerate(NAMES):
        assert any(name in sentence for sentence in report.mistakes)
        total = str(game.state.total(player)).replace("-", "−")
        assert total in report.scores.text


def test_turning_points_are_marked_and_told_with_their_parts() -> None:
    game, phrases, found = a_game(), load_phrases("en"), its_review()
    report = told(game, found, phrases)
    turns = found.turning_points()
    assert len(turns) == len(report.turning) == report.scores.svg.count("<polygon") == 3
    for turn, sentence in zip(turns, report.turning, strict=True):
        said = re.fullmatch(
            r"Turn (\d+): from then on (.+) could expect (\d+) points? (more|less) "
            r"\(luck (\S+)\s±\s\d+, own choices (\S+)\s±\s\d+, the others (\S+)\)\.",
            sentence,
        )
        assert said, sentence
        player = NAMES.index(said[2])
        change = found.leads[turn][player] - found.leads[turn - 1][player]
        assert (int(said[1]), said[4]) == (turn, "more" if change > 0 else "less")
        parts = sum(int(said[n].replace("−", "-")) for n in (5, 6, 7))
        assert int(said[3]) == abs(round(change))
        assert abs(parts - change) <= 2  # each is rounded


def test_the_told_parts_of_a_lead_add_up_and_the_others_have_theirs_only() -> None:
    ((start, events),) = recorded("base", [SKIP_TWO] * 5, 1, 3)
    phrases, names = load_phrases("en"), ["Ada", "Ben", "Cleo", "Dan", "Eve"]
    for played in (events, (*events[:12], EndedEarly())):
        found = review(start, played, rollouts=20)
        assert found is not None
        for player, each in enumerate(results(found, names)):
            sentence = phrases.tell(each).replace("−", "-")
            figures = re.findall(r"(?:roll|luck|choices|others) ([+-]?\d+)", sentence)
            assert sum(map(int, figures)) == pytest.approx(found.leads[-1][player], abs=2)
            others = sum(turn[player].others for turn in found.parts)
            assert int(figures[-1]) == round(others)
        is_early = found.leads[-1] != found.final
        assert is_early is (decision(found)[0].key == "coach.early")


def test_a_report_says_what_decided_the_game() -> None:
    game, phrases = a_game(), load_phrases("en")
    report = told(game, review(game.start, game.events, rollouts=20), phrases)
    assert report.luck is not None
    assert report.luck.lines[-1] == phrases.say(f"coach.decided.{report.decided}")
    start, events = recorded("base", [SKIP_TWO], 1, 3)[0]
    alone = SavedGame(1, game.at, ("Ada",), start, tuple(events), fold(start, events))
    alone_report = told(alone, review(start, events, rollouts=5), phrases)
    assert alone_report.luck is not None
    assert len(alone_report.luck.lines) == 1
    assert alone_report.turning
    assert not any("others" in sentence for sentence in alone_report.turning)


def test_how_often_luck_decided_is_a_bar_with_its_numbers() -> None:
    picture = decided_chart(LuckShare(games=40, luck=6, choices=3, close=1), load_phrases("en"))
    assert picture is not None
    assert picture.text == (
        "How often luck decided\nLuck decided 6 of 10 reviewed games, choices 3; 1 cannot be"
        " told. Games with two or more players: 40."
    )
    assert texts_of(picture) == ["luck: 6", "choices: 3", "cannot be told: 1"]
    bars = [
        each for each in ElementTree.fromstring(picture.svg).iter() if each.get("height") == "32.0"
    ]
    widths = [float(each.attrib["width"]) for each in bars]
    assert widths == pytest.approx([0.6 * sum(widths), 0.3 * sum(widths), 0.1 * sum(widths)])
    assert decided_chart(LuckShare(40, 0, 0, 0), load_phrases("en")) is None


def test_a_course_ends_with_the_final_totals() -> None:
    for seed in range(5):
        game = a_game(seed)
        course = course_of(game.start, game.events)
        assert list(course.totals[-1]) == [game.state.total(p) for p in range(3)]
        assert len(course.totals) == game.state.turn + 1
        assert len(course.misses) == sum(game.state.misses)
        assert len(course.closings) == len(game.state.closed)


def test_names_in_the_course_are_read_as_any_other_text() -> None:
    names = ["Großmutter Hildegard", "Wwwwwwwwww", "Ben"]
    game = a_game(3)
    course = course_of(game.start, game.events)
    svg = ElementTree.fromstring(scores_chart(course, names, load_phrases("de")).svg)
    tag = svg.tag.removesuffix("svg")
    texts = [
        each for each in svg.iter(f"{tag}text") if (each.text or "")[:3] in ("Gro", "Www", "Ben")
    ]
    assert [each.get("fill") for each in texts] == ["currentColor"] * 3
    keys = [each.get("stroke") for each in svg.iter(f"{tag}line")][-3:]
    assert len(set(keys)) == 3
    assert all(float(each.get("x", "0")) + 10 * 11 <= WIDTH for each in texts)


def test_a_game_that_goes_on_shows_its_scores_only() -> None:
    game = a_game()
    begun = SavedGame(1, game.at, NAMES, game.start, game.events[:6], game.start)
    report = told(begun, review(begun.start, begun.events), load_phrases("en"))
    assert (report.luck, report.turning, report.mistakes) == (None, (), ())
    assert "polygon" not in report.scores.svg


def test_nothing_decided_a_game_that_was_ended_early() -> None:
    game, phrases, whole = a_game(), load_phrases("en"), its_review()
    sentence = phrases.say(f"coach.decided.{whole.decided}")
    early = replace(whole, leads=whole.leads[:-1])
    for each, is_told in ((whole, True), (early, False)):
        luck = told(game, each, phrases).luck
        assert luck is not None
        assert (sentence in luck.lines) is is_told


def test_one_player_has_a_picture() -> None:
    start, events = recorded("base", [SKIP_TWO], 1, 3)[0]
    picture = scores_chart(course_of(start, events), ["Ada"], load_phrases("en"))
    assert "Ada" in texts_of(picture)


def test_a_turn_whose_player_left_before_the_roll_keeps_its_number() -> None:
    start = game_of(3)
    passes = (ActionClosed(1), ActionClosed(2))
    events = (roll(1, 2), *passes, SeatClosed(1), roll(1, 2), *passes)
    course = course_of(start, events)
    assert course.totals == ((0, 0, 0), (-5, 0, 0), (-5, 0, 0), (-5, 0, -5))
    assert course.misses == ((1, 0), (3, 2))
    after = Played(1, (None, None, "R3")), Played(2, (None, None, None)), EndedEarly()
    whole = (*events[:-2], *after)
    state = fold(start, whole)
    found = review(start, whole, rollouts=5)
    assert found is not None
    assert len(found.leads) == state.turn == 4
    assert [part.luck.value for part in found.parts[1]] == [0.0, 0.0, 0.0]
    assert {each.turn for each in found.decisions} <= {1, 3}
    game = SavedGame(1, "2026-01-01T20:00:00+00:00", NAMES, start, whole, state)
    assert game.after_turn(1) == game.after_turn(2) != game.after_turn(3)
    assert "Turn 3: Zoé" in text_of(game, load_phrases("en"))


def test_a_written_game_names_its_closed_rows_with_their_article() -> None:
    start = game_of(2, sheets={0: {"R": [2, 3, 4, 5, 6]}})
    whole = (roll(6, 6), Played(1, ("R12", None)), Played(2, (None, None)), EndedEarly())
    game = SavedGame(1, "2026-01-01T20:00:00+00:00", NAMES[:2], start, whole, fold(start, whole))
    assert "La rangée rouge a été clôturée par " in text_of(game, load_phrases("fr"))
    assert "La fila rossa è stata chiusa da " in text_of(game, load_phrases("it"))


def test_a_row_that_a_corrected_roll_opened_again_is_not_closed() -> None:
    start = game_of(2, sheets={0: {"R": [2, 3, 4, 5, 6]}})
    closed = (roll(6, 6), Played(1, ("R12", None)))
    assert course_of(start, closed).closings == ((1, "red", (0,)),)
    corrected = (*closed, RollCorrected(roll(5, 6).roll), Played(1, (None, None)))
    assert course_of(start, corrected).closings == ()


# -- dice -----------------------------------------------------------------------------------


def result(events: Sequence[Event]) -> Result:
    """The result of a game of one player."""
    start = new_game(BASE, 1)
    state = fold(start, events)
    return SavedGame(1, "2026-01-01T20:00:00+00:00", ("Ada",), start, tuple(events), state).result


def evening(throws: int, seed: int, weights: Sequence[int] = (1,) * 6) -> list[Result]:
    """Games of one turn each; the weights are those of the blue die."""
    source = random.Random(seed)
    roll = Roll.of((1, 1), dict.fromkeys(COLOURED, 1))
    game = result([Rolled(roll), Played(1, (None,)), Played(2, (None,))])
    games = []
    for _ in range(throws):
        faces = [source.randint(1, 6) for _ in range(5)]  # two white, red, yellow, green
        blue = source.choices(range(1, 7), weights)[0]
        games.append(replace(game, rolls=("".join(map(str, (*faces, blue))),)))
    return games


def verdict(found: Fairness) -> str:
    return load_phrases("en").tell(found.verdict())


def test_few_throws_allow_no_verdict() -> None:
    assert verdict(fairness_of(evening(20, 1))) == "Not enough rolls yet: 20 of 60."


def test_fair_dice_are_nothing_unusual() -> None:
    alarms = [fairness_of(evening(400, seed)).odds >= 100 for seed in range(60)]
    assert sum(alarms) <= 3
    assert verdict(fairness_of(evening(212, 2))) == "Nothing unusual in 212 rolls."


def test_a_loaded_die_is_named_with_its_face() -> None:
    found = fairness_of(evening(800, 3, weights=(2, 2, 2, 2, 2, 5)))
    assert verdict(found).startswith("The blue die shows 6 too often: one fair set of dice in ")
    blue = found.dice[-1]
    assert blue.counts[5] > blue.high
    assert sum(blue.counts) == 800


def test_two_white_dice_are_not_told_apart() -> None:
    games = [
        replace(each, rolls=("66" + each.rolls[0][2:],)) if number % 4 == 0 else each
        for number, each in enumerate(evening(400, 3))
    ]
    assert verdict(fairness_of(games)).startswith("The white dice show 6 too often: one fair ")


def test_a_face_the_reader_misread_is_no_face_of_the_die() -> None:
    shown = Roll.of((1, 2), dict.fromkeys(COLOURED, 6))
    right = Roll.of((1, 2), dict.fromkeys(COLOURED, 5))
    events = [Rolled(shown), RollCorrected(right), Played(1, (None,)), Played(2, (None,))]
    found = fairness_of([result(events)])
    for each in found.dice[1:]:
        assert each.counts == (0, 0, 0, 0, 1, 0)
        assert each.misread == (0, 0, 0, 0, 0, 1)
    assert found.dice[0].misread == (0,) * 6
    picture = dice_chart(found, load_phrases("en"))
    assert "orange: red 6: 1, yellow 6: 1, green 6: 1, blue 6: 1." in picture.text
    assert picture.svg.count("#d9660b") == 4


def test_the_picture_of_dice_says_what_it_shows() -> None:
    picture = dice_chart(fairness_of(evening(100, 4)), load_phrases("de"))
    assert "Nichts Ungewöhnliches in 100 Würfen." in picture.text
    assert "blau" in texts_of(picture)


@pytest.mark.parametrize(("shown", "misread"), [(6, (("red", 6),)), (2, ())])
def test_a_slip_of_whoever_corrects_a_roll_is_no_misread_die(
    shown: int, misread: tuple[tuple[str, int], ...]
) -> None:
    def roll(red: int) -> Roll:
        return Roll.of((1, 2), {**dict.fromkeys(COLOURED, 5), DieColour.RED: red})

    events = [Rolled(roll(shown)), RollCorrected(roll(3)), RollCorrected(roll(2))]
    assert result([*events, Played(1, (None,)), Played(2, (None,))]).misread == misread


def test_a_face_that_hardly_ever_comes_is_called_seldom() -> None:
    found = fairness_of(evening(800, 3, weights=(5, 5, 5, 5, 5, 1)))
    assert verdict(found).startswith("The blue die shows 6 too seldom: one fair set of dice in ")
