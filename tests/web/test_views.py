"""The pages and what guards every call: headers, hosts, origins, bodies."""

from __future__ import annotations

import json

import pytest
from flask.testing import FlaskClient

from companion.tray import CameraState
from tests.session.fakes import Stage
from tests.web.stand_in import StandInTray
from web import Equipment
from web.access import Access
from web.client import Client
from web.context import AppContext
from web.security import BROWSER_COOKIE, SEAT_COOKIE, is_home_host, is_same_origin

POSTS = [
    "join",
    "leave",
    "start",
    "answer",
    "withdraw",
    "press",
    "throw",
    "roll",
    "end",
    "rematch",
    "say",
    "answer_for",
    "claim",
    "close",
    "correct",
    "free",
    "hand",
    "host",
    "order",
    "preview",
    "settings",
    "undo",
]


class TestPages:
    @pytest.mark.parametrize("path", ["/", "/table", "/host"])
    def test_pages_come_with_the_headers_that_guard_them(
        self, client: FlaskClient, path: str
    ) -> None:
        page = client.get(path)
        assert page.status_code == 200
        assert page.headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert page.headers["X-Content-Type-Options"] == "nosniff"
        assert "Dice" in page.text

    def test_health_reports_each_part(self, client: FlaskClient) -> None:
        assert client.get("/healthz").get_json() == {
            "status": "ok",
            "version": "0.1",
            "camera": "simulated",
            "button": "mock",
            "parts": {},
            "reading_age_s": None,
        }

    @pytest.mark.parametrize(
        ("query", "status"), [("", 200), ("?n=1", 200), ("?n=2", 404), ("?n=x", 400)]
    )
    def test_the_picture_of_the_tray(self, client: FlaskClient, query: str, status: int) -> None:
        got = client.get(f"/api/frame.jpg{query}")
        assert got.status_code == status
        assert (got.mimetype == "image/jpeg") == (status == 200)

    def test_an_unknown_page_has_a_way_back(self, client: FlaskClient) -> None:
        page = client.get("/nothing")
        assert page.status_code == 404
        assert 'href="/"' in page.text

    def test_an_unknown_call_is_answered_in_json(self, client: FlaskClient) -> None:
        got = client.get("/api/nothing")
        assert got.status_code == 404
        assert got.get_json()["error"] == "HTTP_404"

    def test_get_changes_nothing(self, client: FlaskClient, stage: Stage) -> None:
        for name in POSTS:
            got = client.get(f"/api/{name}")
            assert got.status_code == 405, name
            assert "POST" in got.headers["Allow"]
        assert stage.session.view().table.revision == 0


class TestGuard:
    @pytest.mark.parametrize("name", POSTS)
    def test_another_sites_page_is_refused(
        self, client: FlaskClient, stage: Stage, name: str
    ) -> None:
        for origin in ("http://evil.example", "null", "http://localhost:81", "file://"):
            got = client.post(f"/api/{name}", json={"name": "Eve"}, headers={"Origin": origin})
            assert (got.status_code, got.get_json()["error"]) == (403, "BAD_ORIGIN")
        assert stage.session.view().table.revision == 0

    def test_a_malformed_origin_is_refused(self, client: FlaskClient) -> None:
        got = client.post("/api/press", json={}, headers={"Origin": "http://["})
        assert (got.status_code, got.get_json()["error"]) == (403, "BAD_ORIGIN")

    @pytest.mark.parametrize("name", POSTS)
    def test_half_a_character_anywhere_is_no_crash(self, client: FlaskClient, name: str) -> None:
        fields = ["language", "key", "mishap", "trouble", "colour", "say", "variant", "box", "name"]
        for field in fields:
            sent = {"turn": 1, "action": 1, "box": "R7", "frame": 1, "x": 1, "y": 1, "value": 1}
            sent |= {"seat": 0, field: "x\ud800"}
            text = json.dumps(sent)
            got = client.post(f"/api/{name}", data=text, content_type="application/json")
            assert got.status_code < 500, (field, got.text)

    def test_a_cross_site_fetch_is_refused(self, client: FlaskClient) -> None:
        got = client.post("/api/say", json={}, headers={"Sec-Fetch-Site": "cross-site"})
        assert got.status_code == 403

    def test_a_write_to_an_unknown_path_is_told_so(self, client: FlaskClient) -> None:
        assert client.post("/api/nonsense", data="name=Ada").status_code == 404

    def test_the_tables_own_page_may(self, client: FlaskClient) -> None:
        got = client.post("/api/say", json={}, headers={"Origin": "http://localhost"})
        assert got.status_code == 200

    @pytest.mark.parametrize("name", POSTS)
    def test_a_body_that_is_not_json_is_refused(self, client: FlaskClient, name: str) -> None:
        assert client.post(f"/api/{name}", data={"name": "Ada"}).status_code == 415
        assert client.post(f"/api/{name}", data="name=Ada").status_code == 415
        for nonsense in ("", "{", "[]", '"Ada"', "null", "[" * 3000, "\udc00"):
            sent = nonsense.encode("utf-8", "surrogatepass")
            got = client.post(f"/api/{name}", data=sent, content_type="application/json")
            assert (got.status_code, got.get_json()["error"]) == (400, "BAD_JSON"), nonsense[:9]

    def test_a_long_body_is_refused(self, client: FlaskClient) -> None:
        got = client.post("/api/join", json={"name": "x" * 17_000})
        assert (got.status_code, got.get_json()["error"]) == (413, "TOO_LARGE")

    @pytest.mark.parametrize(
        ("host", "is_fine"),
        [
            ("192.168.1.5:8000", True),
            ("[fe80::1]:8000", True),
            ("localhost:8000", True),
            ("raspberrypi", True),
            ("raspberrypi.local:8000", True),
            ("RASPBERRYPI.LOCAL.", True),
            ("table.fritz.box", True),
            ("evil.example", False),
            ("192.168.1.5.evil.example", False),
            ("local", True),
            ("evil.notlocal", False),
            ("", False),
            (":8000", False),
            ("[::1", False),
            ("pi.localdomain", True),
            ("pi.speedport.ip", True),
        ],
    )
    def test_hosts(self, host: str, is_fine: bool) -> None:
        assert is_home_host(host) is is_fine

    def test_a_strangers_name_for_this_address_is_refused(self, client: FlaskClient) -> None:
        got = client.get("/api/state", headers={"Host": "evil.example"})
        assert (got.status_code, got.get_json()["error"]) == (400, "BAD_HOST")

    @pytest.mark.parametrize("host", ["a..local", f"{'a' * 64}.local"])
    def test_a_host_that_is_no_name_is_one_refusal(self, client: FlaskClient, host: str) -> None:
        got = client.get("/", headers={"Host": host})
        assert got.status_code == 400

    @pytest.mark.parametrize(
        ("origin", "is_same"),
        [
            ("http://a:8000", True),
            ("https://a:8000", True),
            ("http://A:8000", True),
            ("http://a", False),
            ("http://a:8000.evil.example", False),
            ("ftp://a:8000", False),
            ("null", False),
        ],
    )
    def test_origins(self, origin: str, is_same: bool) -> None:
        assert is_same_origin(origin, "a:8000") is is_same


def test_the_state_is_the_same_by_every_door(ada: FlaskClient, stage: Stage) -> None:
    by_call = ada.get("/api/state").get_json()
    context = AppContext(
        stage.session,
        (tray := StandInTray()),
        tray,
        lambda: Equipment(CameraState.SIMULATED, "mock"),
        stage.session.press,
        lambda: "http://192.168.1.5:8000/",
        "Dice Companion",
        "0.1",
        by_call["epoch"],
        access=Access(code="QWX7", pin="471147"),
    )
    cookies = [ada.get_cookie(name) for name in (BROWSER_COOKIE, SEAT_COOKIE)]
    device, token = [cookie.value for cookie in cookies if cookie is not None]
    device_client = Client(device, (token,), is_local=True, address="127.0.0.1")
    assert json.loads(context.render(device_client)[1]) == by_call
