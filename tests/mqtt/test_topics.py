"""Topics: what a club's name becomes, and which topics are a table's."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.mqtt.topics import HOUSE, Kind, Parsed, TableTopics, club_level, parse

TABLE = "0123456789abcdef"


@pytest.mark.parametrize(
    ("name", "level"),
    [
        ("", HOUSE),
        ("  ", HOUSE),
        ("Würfelclub Zürich ", "würfelclub-zürich"),
        ("Wu\u0308rfelclub  ZÜRICH", "würfelclub-zürich"),
        ("#/+/$SYS", "sys"),
        ("a/../b\0c", "a-b-c"),
    ],
)
def test_a_clubs_name_becomes_one_harmless_level(name: str, level: str) -> None:
    assert club_level(name) == level


@settings(max_examples=40)
@given(st.text(max_size=80))
def test_any_clubs_topics_are_found_again(name: str) -> None:
    topics = TableTopics(club_level(name), TABLE)
    for kind in set(Kind) - {Kind.RESULT}:
        assert parse(topics.of(kind)) == Parsed(topics.club, TABLE, kind)
    game = "12-20261120191500"
    assert parse(topics.result(game)) == Parsed(topics.club, TABLE, Kind.RESULT, game)


@pytest.mark.parametrize(
    "topic",
    [
        "",
        "dice/2/house/tables/0123456789abcdef/state",
        "dice/1/House/tables/0123456789abcdef/state",
        "dice/1/house/tables/0123456789ABCDEF/state",
        "dice/1/house/tables/0123456789abcdef/results",
        "dice/1/house/tables/0123456789abcdef/results/12/x",
        "dice/1/house/tables/0123456789abcdef/results/../../x",
        "dice/1/house/tables/0123456789abcdef/state\n",
        "dice/1/house/tables/0123456789abcdef/command",
    ],
)
def test_other_topics_are_no_tables(topic: str) -> None:
    assert parse(topic) is None
