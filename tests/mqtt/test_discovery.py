"""The device's document: the documented schema, and what its templates make of real boards.

Keys and required options are those of Home Assistant's documentation of the MQTT integration
(device discovery, sensor, binary sensor, event, image) and of its schemas in
homeassistant/components/mqtt. Home Assistant renders templates by Jinja, as here.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from jinja2 import Environment

from companion.messages.catalogue import LANGUAGES, load_phrases
from companion.mqtt.discovery import birth_topic, device, device_topic
from companion.mqtt.payloads import Diagnostics, GameEvent, encoded
from companion.mqtt.topics import Kind, TableTopics, of_kind
from tests.conftest import ROOT as PROJECT
from tests.mqtt.test_board import board
from tests.session.fakes import Stage

TOPICS = TableTopics("house", "0123456789abcdef")

ROOT = {"device", "origin", "components"}
SHARED = {
    *("availability", "availability_mode", "availability_template", "availability_topic"),
    *("payload_available", "payload_not_available"),
    *("command_topic", "state_topic", "qos", "encoding"),
}
DEVICE = {
    *("identifiers", "connections", "manufacturer", "model", "model_id", "name", "hw_version"),
    *("serial_number", "sw_version", "via_device", "suggested_area", "configuration_url"),
}
ORIGIN = {"name", "sw_version", "support_url"}
COMMON = {
    *("platform", "unique_id", "name", "icon", "entity_category", "enabled_by_default"),
    *("json_attributes_topic", "json_attributes_template", "state_topic", "value_template"),
}
OWN = {
    "sensor": {
        *("device_class", "state_class", "unit_of_measurement", "options", "expire_after"),
        *("force_update", "suggested_display_precision", "last_reset_value_template"),
    },
    "binary_sensor": {"device_class", "payload_on", "payload_off", "off_delay", "expire_after"},
    "event": {"device_class", "event_types"},
    "image": {"content_type", "image_encoding", "image_topic", "url_template", "url_topic"},
}
REQUIRED = {
    "sensor": set(),
    "binary_sensor": set(),
    "event": {"event_types", "state_topic"},
    "image": {"image_topic"},
}


def document(language: str = "en", *, shows_pictures: bool = True) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(
        device(
            TOPICS,
            load_phrases(language),
            name="Table 1",
            version="0.1.0",
            url="http://table1.local:8000/",
            shows_pictures=shows_pictures,
        )
    )
    return made


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_document_keeps_to_the_documented_schema(language: str) -> None:
    made = document(language)
    assert ROOT <= made.keys() <= ROOT | SHARED
    assert made["device"].keys() <= DEVICE
    assert made["device"]["identifiers"]
    assert re.match("https?://", made["device"]["configuration_url"])
    assert {"name"} <= made["origin"].keys() <= ORIGIN
    entities = made["components"]
    assert len({each["unique_id"] for each in entities.values()}) == len(entities)
    assert len({each["name"] for each in entities.values()}) == len(entities)
    for key, entity in entities.items():
        platform = entity["platform"]
        assert entity.keys() <= COMMON | OWN[platform], key
        assert {"unique_id", *REQUIRED[platform]} <= entity.keys(), key
        assert ("options" in entity) == (entity.get("device_class") == "enum"), key
        assert entity.get("entity_category") in (None, "diagnostic"), key
        assert entity.get("state_class") in (None, "measurement"), key


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_word_for_the_house_names_an_entity(language: str) -> None:
    named = {key.rstrip("_12345") for key in document(language)["components"]}
    assert load_phrases(language).under("house.").keys() == named | {"model", "player"}


def test_its_topics_are_those_home_assistant_listens_to() -> None:
    topic = device_topic("homeassistant", TOPICS.table)
    assert re.fullmatch(r"homeassistant/device/[a-zA-Z0-9_-]+/config", topic)
    assert birth_topic("homeassistant") == "homeassistant/status"


def test_nothing_of_it_can_be_commanded() -> None:
    assert "command" not in json.dumps(document())


def test_an_image_that_is_not_shared_is_removed() -> None:
    """A component with nothing but its platform removes the entity."""
    assert document(shows_pictures=False)["components"]["picture"] == {"platform": "image"}


def rendered(key: str, payload: bytes, option: str = "value_template") -> str:
    template = document()["components"][key][option]
    return Environment().from_string(template).render(value_json=json.loads(payload))


STATES = (
    *("phase", "active", "leader", "white_sum", "closed_rows", "waiting", "camera_problem"),
    *("score_1", "score_2", "score_3", "asked"),
)


def test_templates_make_states_of_every_stage_of_a_game(stage: Stage) -> None:
    def states() -> list[str]:
        return [rendered(key, encoded(board(stage))) for key in STATES]

    idle = ["idle", "None", "None", "None", "0", "OFF", "OFF", "None", "None", "None", "None"]
    assert states() == idle
    stage.seat("Ada", "Ben")
    stage.session.change_settings({"share_names": True})
    assert states() == idle
    stage.session.start()
    stage.roll(3, 4)
    stage.session.part_is("camera", "lost")
    stage.answer(1, "R7")
    shown = [*("action1", "Ada", "Ada, Ben", "7", "0", "ON", "ON", "0", "0"), "None", "None"]
    assert states() == shown
    stage.session.close_action()
    assert states()[2] == "Ben"
    assert states()[8] == "1"
    attributes = rendered("score_2", encoded(board(stage)), "json_attributes_template")
    assert json.loads(attributes) == {"player": "Ben"}
    stage.play_out()
    assert states()[0] == "over"


def test_who_leaves_keeps_the_points(two: Stage) -> None:
    two.roll(3, 4)
    two.answer(1, "R7")
    two.session.close_action()

    def points() -> list[str]:
        payload = encoded(board(two))
        return [rendered(f"score_{number}", payload) for number in (1, 2, 3)]

    assert two.session.let_go(1) is None
    assert points() == ["0", "1", "None"]
    two.play_out()
    assert two.session.let_go(0) is None
    assert points() == ["-20", "1", "None"]
    attributes = rendered("score_2", encoded(board(two)), "json_attributes_template")
    assert json.loads(attributes) == {"player": "Player 2"}
    two.seat("Cleo", "Dora")
    assert points() == ["-20", "1", "None"], "until the next game"
    assert two.session.rematch() is None
    assert points() == ["0", "0", "None"]


def test_closed_rows_are_counted_and_named(two: Stage) -> None:
    two.close_red()
    two.answer(1, None)
    two.time.pass_s(10)
    now = encoded(board(two))
    assert rendered("closed_rows", now) == "1"
    attributes = rendered("closed_rows", now, "json_attributes_template")
    assert json.loads(attributes) == {"rows": ["red"]}


def test_diagnostics_are_read_from_their_own_topic() -> None:
    measured = encoded(Diagnostics("0.1.0", reading_ms=41.5, processor=None, temperature=52.1))
    for key, state in [
        ("version", "0.1.0"),
        ("reading_ms", "41.5"),
        ("processor", "None"),
        ("temperature", "52.1"),
    ]:
        assert document()["components"][key]["state_topic"] == TOPICS.of(Kind.DIAGNOSTICS)
        assert rendered(key, measured) == state


def test_the_documented_automations_use_what_is_published() -> None:
    """They listen to the events' topic: two states within a millisecond are one to a trigger."""
    page = (PROJECT / "docs" / "home-assistant.md").read_text(encoding="utf-8")
    automations = page.split("    alias: ")[1:]
    for each in automations:
        assert re.findall(r"trigger: (\w+)", each) == ["mqtt"]
        assert re.findall(r"topic: (\S+)", each) == [of_kind("house", Kind.EVENT)]
    fields = set(re.findall(r"(?:trigger\.payload|value)_json\.(\w+)", page))
    assert fields == {"event_type", "colour", "text"}
    assert fields <= set(GameEvent.__struct_fields__)
    compared = set(re.findall(r"payload: (\w+)", page))
    assert compared == {"row_closed", "game_over"}
    assert compared <= set(document()["components"]["game"]["event_types"])
    entities = document()["components"]
    for key in ("phase", "active", "leader", "white_sum", "closed_rows", "asked", "waiting"):
        assert entities[key]["name"] in page
