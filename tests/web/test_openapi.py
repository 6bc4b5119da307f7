"""The description of the API against the routes there are and the answers they give."""

from __future__ import annotations

import re
from typing import Any

import pytest
from flask import Flask

from tests.session.fakes import Stage
from tests.web.stand_in import a_roll, dice_in_tray, seat
from vision.simulation.camera import ALL_MISHAPS, TROUBLES
from web.connection import error_answer
from web.openapi import document

Json = dict[str, Any]

SCHEMAS: Json = document("1")["components"]["schemas"]


def complaints(value: object, schema: Json, where: str = "$") -> list[str]:
    """What in a value does not follow a schema (the keywords used here, no others)."""
    if "$ref" in schema:
        beside = {key: each for key, each in schema.items() if key != "$ref"}
        named = SCHEMAS[schema["$ref"].rpartition("/")[2]]
        return complaints(value, named, where) + (
            complaints(value, beside, where) if beside else []
        )
    if "anyOf" in schema:
        tried = [complaints(value, option, where) for option in schema["anyOf"]]
        return [] if [] in tried else tried[0]
    kinds: Json = {
        "object": dict,
        "array": list,
        "string": str,
        "integer": int,
        "number": (int, float),
        "boolean": bool,
        "null": type(None),
    }
    if "type" in schema:
        is_flag = isinstance(value, bool) and schema["type"] in ("integer", "number")
        if not isinstance(value, kinds[schema["type"]]) or is_flag:
            return [f"{where}: expected {schema['type']}, got {value!r}"]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{where}: {value!r} is none of {schema['enum']}"]
    if "pattern" in schema and not re.search(schema["pattern"], str(value)):
        return [f"{where}: {value!r} is not like {schema['pattern']}"]
    if isinstance(value, str):
        if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", 9999):
            return [f"{where}: {len(value)} characters"]
    elif isinstance(value, int) and not schema.get("minimum", value) <= value <= schema.get(
        "maximum", value
    ):
        return [f"{where}: {value} is out of range"]
    found: list[str] = []
    if isinstance(value, list):
        for i, item in enumerate(value):
            parts = schema.get("prefixItems", [])
            part = parts[i] if i < len(parts) else schema.get("items") or {}
            found += complaints(item, part, f"{where}[{i}]")
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", 999):
            found.append(f"{where}: {len(value)} items")
    if isinstance(value, dict):
        fields = schema.get("properties", {})
        more = schema.get("additionalProperties", True)
        found += [
            f"{where}: {name} is missing"
            for name in schema.get("required", [])
            if name not in value
        ]
        for name, item in value.items():
            if name in fields:
                found += complaints(item, fields[name], f"{where}.{name}")
            elif more is False:
                found.append(f"{where}: {name} is not described")
            elif isinstance(more, dict):
                found += complaints(item, more, f"{where}.{name}")
    return found


def test_the_schema_checker_finds_errors() -> None:
    wrong = {"white": [3, 9, 1], "colour": {"red": True}, "more": 1}
    assert len(complaints(wrong, SCHEMAS["Roll"])) == 4


def test_only_the_preview_of_a_correction_needs_dice() -> None:
    post = document("1")["paths"]["/api/preview"]["post"]
    schema = post["requestBody"]["content"]["application/json"]["schema"]
    assert complaints({"what": "undo"}, schema) == []
    assert complaints({"what": "correct", "white": None, "colour": None}, schema) != []
    assert complaints({"what": "correct", "white": [3, 4], "colour": {"red": 1}}, schema) == []


def test_mishaps_and_troubles_are_those_of_the_simulated_tray() -> None:
    mishap, _ = SCHEMAS["Throw"]["properties"]["mishap"]["anyOf"]
    assert mishap["enum"] == list(ALL_MISHAPS)
    assert SCHEMAS["Trouble"]["properties"]["trouble"]["enum"] == list(TROUBLES)


def test_every_route_is_described_and_every_description_has_a_route(app: Flask) -> None:
    routes = {
        (re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", str(rule)), method.lower())
        for rule in app.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
        if rule.endpoint != "static"
    }
    described = {(path, m) for path, item in document("1")["paths"].items() for m in item}
    assert described == routes


def test_every_reference_leads_somewhere() -> None:
    names = set(re.findall(r"#/components/schemas/(\w+)", str(document("1"))))
    assert names == set(SCHEMAS)


def test_what_the_server_itself_answers_is_described() -> None:
    media, _, _ = dict(error_answer(413).headers)["Content-Type"].partition(";")
    answers = [
        operation["responses"]["413"]
        for path in document("1")["paths"].values()
        for operation in path.values()
        if "413" in operation["responses"]
    ]
    assert len(answers) > 20
    assert all({media, "application/json"} == set(each["content"]) for each in answers)


def test_every_link_names_an_operation() -> None:
    paths = document("1")["paths"]
    names = [each["operationId"] for item in paths.values() for each in item.values()]
    assert len(set(names)) == len(names)
    linked = set(
        re.findall(
            r"'operationId': '(\w+)'",
            str(
                [
                    answer["links"]
                    for item in paths.values()
                    for each in item.values()
                    for answer in each["responses"].values()
                    if "links" in answer
                ]
            ),
        )
    )
    assert {"answer", "undo", "get_game"} <= linked <= set(names)


def test_it_is_served(app: Flask) -> None:
    assert app.test_client().get("/api/openapi.json").get_json() == document("0.1")


@pytest.mark.parametrize("variant", ["base", "big_points"])
def test_snapshots_are_as_described(app: Flask, stage: Stage, variant: str) -> None:
    client = app.test_client()
    seen: list[Json] = [client.get("/api/state").get_json()]
    seat(stage, "Ada")
    seat(stage, "Ben")
    stage.session.start(variant, 0)
    stage.session.see(dice_in_tray(a_roll(3, 4), tilted="red"))
    seen.append(client.get("/api/state").get_json())
    stage.session.see(dice_in_tray(a_roll(3, 4)))
    stage.session.press()
    seen.append(client.get("/api/state").get_json())
    stage.answer(0, "R7")
    stage.answer(1, None, done=False)
    seen.append(client.get("/api/state").get_json())
    stage.time.pass_s(5)
    seen.append(client.get("/api/state").get_json())
    stage.session.end()
    seen.append(client.get("/api/state").get_json())
    for state in seen:
        assert complaints(state, SCHEMAS["Snapshot"]) == []
    assert [s["game"] and s["game"]["phase"] for s in seen] == [
        None,
        "roll",
        "action1",
        "action1",
        "action2",
        "over",
    ]


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        ("/api/join", {"name": ""}),
        ("/api/join", {}),
        ("/api/start", {}),
        ("/api/leave", {}),
        ("/api/press", {}),
        ("/api/nothing", {}),
    ],
)
def test_problems_are_as_described(app: Flask, path: str, sent: Json) -> None:
    got = app.test_client().post(path, json=sent)
    assert got.status_code >= 400
    assert complaints(got.get_json(), SCHEMAS["Problem"]) == []


@pytest.mark.parametrize(
    "name",
    ["Ada", "é", "🦊", "👩\u200d🚀", "#12", "1", "-", "ᄀ", "\U0005b080", "x" * 20],
)
def test_the_schema_accepts_names(app: Flask, name: str) -> None:
    assert complaints({"name": name}, SCHEMAS["Join"]) == []
    assert app.test_client().post("/api/join", json={"name": name}).status_code == 200


@pytest.mark.parametrize(
    "name",
    [
        "x" * 21,
        "A" + " " * 20,
        "",
        " \n",
        "\x1f",
        "#1",
        " #3\n",
        "\u2800",
        "\u0301",
        "\u200d",
        "\u3164",
        "\ufffc",
    ],
)
def test_the_schema_declines_what_is_no_name(app: Flask, name: str) -> None:
    assert complaints({"name": name}, SCHEMAS["Join"]) != []
    assert app.test_client().post("/api/join", json={"name": name}).status_code == 422


def test_the_table_refuses_what_fits_the_schema_with_409(app: Flask, stage: Stage) -> None:
    seat(stage, "Ada")
    client = app.test_client()
    stage.session.start("base", 0)
    three = {"white": [3, 4], "colour": {"red": 1, "yellow": 2, "green": 3}}
    six = {"white": [3, 4], "colour": {**three["colour"], "blue": 4}}
    answer = {"seat": 0, "turn": 1, "action": 1}
    for call, kind, sent in (
        ("roll", "Entered", three),
        ("player", "RenamePlayer", {"name": "", "to": "Zoe"}),
        ("roll", "Entered", six),
        ("answer_for", "AnswerFor", answer | {"box": "R8"}),
        ("answer_for", "AnswerFor", answer | {"box": "RY7"}),
        ("answer_for", "AnswerFor", answer | {"box": "RLOCK"}),
        ("answer_for", "AnswerFor", answer | {"box": "P5"}),
    ):
        fits = complaints(sent, SCHEMAS[kind]) == []
        got = client.post(f"/api/{call}", json=sent)
        assert got.status_code == (200 if sent is six else 409 if fits else 422), sent
    assert (
        client.post("/api/host", json={}, environ_base={"REMOTE_ADDR": "192.168.1.77"}).status_code
        == 403
    )
