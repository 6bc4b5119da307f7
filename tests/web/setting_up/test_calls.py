"""The calls of the set-up wizard."""

from __future__ import annotations

import pytest
from flask import Flask
from flask.testing import FlaskClient

from companion.errors import CalibrationError, ConfigError
from companion.messages.catalogue import LANGUAGES
from tests.session.fakes import Stage
from tests.web.setting_up.conftest import PLAYS, StandInSetup
from tests.web.test_openapi import SCHEMAS, complaints
from web import create_app


class TestCalls:
    def test_each_step_answers_as_described(
        self, client: FlaskClient, wizard: StandInSetup
    ) -> None:
        corners = [[1, 2], [600, 2.5], [600, 470], [3, 470]]
        for path, sent, schema in (
            ("propose", {}, "Proposed"),
            ("corners", {"corners": corners}, "Setup"),
            ("exposure", {}, "Setup"),
            ("look", {}, "Looked"),
            ("dice", {"plays": PLAYS}, "Setup"),
        ):
            answer = client.post(f"/api/setup/{path}", json=sent)
            assert answer.status_code == 200, answer.text
            assert complaints(answer.get_json(), SCHEMAS[schema]) == []
        wizard.faults, wizard.change = ["dark", "blurred", "overexposed"], "moved"
        told = client.get("/api/setup").get_json()
        assert complaints(told, SCHEMAS["Setup"]) == []
        assert told["corners"] == [[1.0, 2.0], [600.0, 2.5], [600.0, 470.0], [3.0, 470.0]]
        assert [die["plays"] for die in told["dice"]] == PLAYS
        assert told["held"] is True
        assert client.post("/api/setup/forget", json={}).get_json()["corners"] is None

    @pytest.mark.parametrize(
        ("path", "sent"),
        [
            ("corners", {}),
            ("corners", {"corners": [[1, 2], [3], [4, 5]]}),
            ("corners", {"corners": [[1, 2], ["a", 3], [4, 5]]}),
            ("corners", {"corners": [[1, 2], [True, 3], [4, 5]]}),
            ("corners", {"corners": [[1e400, 2], [3, 4], [4, 5]]}),
            ("corners", {"corners": [[1, 2]] * 30}),
            ("dice", {"plays": "red"}),
            ("dice", {"plays": ["purple"]}),
            ("dice", {"plays": [["red"]]}),
        ],
    )
    def test_nonsense_is_refused_by_name(
        self, client: FlaskClient, path: str, sent: dict[str, object]
    ) -> None:
        answer = client.post(f"/api/setup/{path}", json=sent)
        assert answer.status_code == 400
        assert answer.get_json()["message"]

    @pytest.mark.parametrize("language", LANGUAGES)
    def test_a_step_that_cannot_be_done_is_refused_with_a_sentence(
        self, client: FlaskClient, wizard: StandInSetup, language: str
    ) -> None:
        reasons = ("not_six", "other_dice", "no_picture", "outside")
        for reason in reasons:
            wizard.trouble = CalibrationError("for programs", reason=reason, count=1)
            answer = client.post(f"/api/setup/look?language={language}", json={})
            assert answer.status_code == 409
            assert answer.get_json()["error"] == reason.upper()
            assert "for programs" not in answer.get_json()["message"]
        wizard.trouble = ConfigError("no room")
        assert client.post("/api/setup/look", json={}).status_code == 503

    def test_only_the_host_sets_up(self, app: Flask, client: FlaskClient) -> None:
        client.get("/host")
        assert client.post("/api/host", json={}).status_code == 200
        guest = app.test_client()
        assert guest.get("/setup").status_code == 200
        for call in (guest.get("/api/setup"), guest.post("/api/setup/forget", json={})):
            assert call.status_code == 403
        assert client.get("/api/setup").status_code == 200

    def test_without_a_camera_the_page_says_so(self, stage: Stage) -> None:
        client = create_app(stage.session).test_client()
        answer = client.get("/api/setup")
        assert (answer.status_code, answer.get_json()["error"]) == (409, "NO_CAMERA")
