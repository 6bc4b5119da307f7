"""The table as a device of Home Assistant, found by MQTT discovery (pure).

One retained document lists all entities with what they share. Every entity only reads: none has a
command topic. Source: https://www.home-assistant.io/integrations/mqtt/#device-discovery-payload
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from companion.engine import MOST_PLAYERS, Phase
from companion.messages.catalogue import Phrases
from companion.mqtt.payloads import EventType
from companion.mqtt.topics import OFFLINE, ONLINE, Kind, TableTopics

PREFIX = "homeassistant"

IDLE = "idle"
"""State of the sensor `phase` while no game is on the table."""

Entity = dict[str, Any]

_PLAYERS = "value_json.game.players"


def device_topic(prefix: str, table: str) -> str:
    """Where the document of a table belongs; an empty payload there removes the device."""
    return f"{prefix}/device/{_id(table)}/config"


def birth_topic(prefix: str) -> str:
    """Where Home Assistant says `online` when it has started."""
    return f"{prefix}/status"


def device(
    topics: TableTopics,
    phrases: Phrases,
    *,
    name: str,
    version: str,
    url: str,
    shows_pictures: bool,
) -> bytes:
    """The document.

    Args:
        phrases: Of the table's language; entities are named in it.
        name: Of the table.
        url: Where its page is.
        shows_pictures: Without, the image is removed where it was.
    """
    entities = _entities(topics, phrases)
    if not shows_pictures:
        entities["picture"] = {"platform": "image"}  # without more, it removes the entity
    for key, entity in entities.items():
        if len(entity) > 1:
            entity |= {"unique_id": f"{_id(topics.table)}_{key}"}
    document = {
        "device": {
            "identifiers": [_id(topics.table)],
            "name": name,
            "manufacturer": "Dice Companion",
            "model": phrases.say("house.model"),
            "sw_version": version,
        }
        | ({"configuration_url": url} if url else {}),
        "origin": {"name": "Dice Companion", "sw_version": version},
        "availability_topic": topics.of(Kind.STATUS),
        "payload_available": ONLINE.decode(),
        "payload_not_available": OFFLINE.decode(),
        "state_topic": topics.of(Kind.STATE),
        "qos": 1,
        "components": entities,
    }
    return json.dumps(document, ensure_ascii=False).encode()


def _entities(topics: TableTopics, phrases: Phrases) -> dict[str, Entity]:
    def named(key: str, platform: str, template: str, **more: Any) -> Entity:
        return {
            "platform": platform,
            "name": phrases.say(f"house.{key}"),
            "value_template": template,
            **more,
        }

    rows = "{{ {'rows': value_json.game.closed | map(attribute='colour') | list} | tojson }}"
    entities = {
        "phase": named(
            "phase",
            "sensor",
            f"{{{{ value_json.game.phase if value_json.game else '{IDLE}' }}}}",
            device_class="enum",
            options=[IDLE, *(phase.value for phase in Phase)],
            icon="mdi:dice-multiple",
        ),
        "active": named("active", "sensor", _label("[value_json.game.active]"), icon="mdi:account"),
        "leader": named("leader", "sensor", _label("value_json.game.leaders"), icon="mdi:trophy"),
        "white_sum": named(
            "white_sum",
            "sensor",
            "{{ value_json.game.roll.sum if value_json.game and value_json.game.roll else None }}",
            icon="mdi:sigma",
        ),
        "closed_rows": named(
            "closed_rows",
            "sensor",
            "{{ value_json.game.closed | length if value_json.game else 0 }}",
            icon="mdi:lock",
            json_attributes_topic=topics.of(Kind.STATE),
            json_attributes_template=(
                f"{{% if value_json.game %}}{rows}{{% else %}}{{}}{{% endif %}}"
            ),
        ),
        "asked": named(
            "asked",
            "sensor",
            "{{ value_json.asked }}",
            unit_of_measurement="%",
            state_class="measurement",
            suggested_display_precision=1,
            entity_category="diagnostic",
            icon="mdi:camera-flip",
        ),
        "game": {
            "platform": "event",
            "name": phrases.say("house.game"),
            "state_topic": topics.of(Kind.EVENT),
            "event_types": [each.value for each in EventType],
            "icon": "mdi:dice-6",
        },
        "picture": {
            "platform": "image",
            "name": phrases.say("house.picture"),
            "image_topic": topics.of(Kind.PICTURE),
            "content_type": "image/jpeg",
        },
        "camera_problem": named(
            "camera_problem",
            "binary_sensor",
            "{{ 'ON' if 'camera' in value_json.faults else 'OFF' }}",
            device_class="problem",
        ),
        "waiting": named(
            "waiting",
            "binary_sensor",
            "{{ 'ON' if value_json.game and value_json.game.waiting_for else 'OFF' }}",
            icon="mdi:account-clock",
        ),
    }
    for seat in range(MOST_PLAYERS):
        entities[f"score_{seat + 1}"] = {
            "platform": "sensor",
            "name": phrases.say("house.score", number=seat + 1),
            "value_template": f"{{{{ {_first(seat, 'total')} }}}}",
            "state_class": "measurement",
            "icon": "mdi:numeric",
            "json_attributes_topic": topics.of(Kind.STATE),
            "json_attributes_template": (
                f"{{{{ {{'player': {_first(seat, 'label')}}} | tojson }}}}"
            ),
        }
    return entities | _diagnostics(topics, phrases)


def _diagnostics(topics: TableTopics, phrases: Phrases) -> dict[str, Entity]:
    measured: Mapping[str, Entity] = {
        "version": {"icon": "mdi:tag"},
        "reading_ms": {"device_class": "duration", "unit_of_measurement": "ms"},
        "processor": {"unit_of_measurement": "%", "icon": "mdi:cpu-64-bit"},
        "temperature": {"device_class": "temperature", "unit_of_measurement": "°C"},
    }
    return {
        key: {
            "platform": "sensor",
            "name": phrases.say(f"house.{key}"),
            "state_topic": topics.of(Kind.DIAGNOSTICS),
            "value_template": f"{{{{ value_json.{key} }}}}",
            "entity_category": "diagnostic",
        }
        | ({} if key == "version" else {"state_class": "measurement"})
        | more
        for key, more in measured.items()
    }


def _label(seats: str) -> str:
    """Template of the labels of some seats; None, which means unknown, without a game."""
    found = f"{_PLAYERS} | selectattr('seat', 'in', {seats}) | map(attribute='label')"
    return f"{{{{ {found} | join(', ') if value_json.game else None }}}}"


def _first(seat: int, attribute: str) -> str:
    """Expression of an attribute of the player at a seat, else of who gave it up, or None."""
    players = f"({_PLAYERS} if value_json.game else [])"
    found = f"{players} | selectattr('seat', 'in', {[seat, MOST_PLAYERS + seat]})"
    one = f"{found} | sort(attribute='seat') | map(attribute='{attribute}') | list"
    return f"(({one}) + [None]) | first"


def _id(table: str) -> str:
    return f"dice_companion_{table}"
