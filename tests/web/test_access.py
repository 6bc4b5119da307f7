"""Guests in the house: who sees the secrets, who confirms and who leads."""

from __future__ import annotations

import errno
import stat
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from flask import Flask
from flask.testing import FlaskClient

from companion.commands.pin import pin
from companion.eventlog.store import SqliteStore
from tests.session.fakes import Stage
from tests.web.stand_in import a_roll, dice_in_tray
from tests.web.test_people import me, phone, post
from web import create_app
from web.access import Access, open_access
from web.client import MOST_TRIES, MOST_TRIES_IN_ALL, RateLimiter, is_loopback
from web.modules import static_path
from web.security import BROWSER_COOKIE, SEAT_COOKIE

Sit = Callable[[str], FlaskClient]

SECRETS = ("QWX7", "471147")
EVERYTHING = (
    "/",
    "/table",
    "/watch",
    "/host",
    "/games",
    "/rules",
    "/manifest.webmanifest",
    "/setup",
    "/join.svg",
    "/wifi.svg",
    "/healthz",
    "/api/openapi.json",
    "/api/state",
    "/api/state?view=table",
    "/api/games",
    "/api/export?form=json",
    "/api/frame.jpg",
    "/api/pictures",
    "/api/setup",
    f"{static_path()}/nothing",
    "/nothing",
)


def _disk_full(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def table_view(app: Flask, address: str = "192.168.1.7") -> FlaskClient:
    """A television elsewhere that has opened the table view."""
    television = phone(app, address, "TV")
    television.get("/table")
    return television


def shown(client: FlaskClient) -> dict[str, Any]:
    """What the table view shows of itself."""
    told: dict[str, Any] = client.get("/api/state?view=table").get_json()["me"]
    return told


class TestSecrets:
    @pytest.mark.parametrize("path", EVERYTHING)
    def test_a_stranger_reads_neither_code_nor_pin(self, app: Flask, sit: Sit, path: str) -> None:
        sit("Ada")
        answer = phone(app, "192.168.1.66").get(path)
        assert all(secret not in answer.text for secret in SECRETS)

    def test_the_wifi_is_for_devices_that_were_let_in(self, app: Flask, sit: Sit) -> None:
        sit("Ada")
        assert phone(app, "192.168.1.66").get("/wifi.svg").status_code == 403

    def test_pictures_are_for_devices_that_were_let_in(self, app: Flask, sit: Sit) -> None:
        ada, guest = sit("Ada"), phone(app, "192.168.1.66")
        assert ada.get("/api/frame.jpg").status_code == 200
        assert guest.get("/api/frame.jpg").status_code == 403
        assert post(guest, "join", name="Guest", code="QWX7")[0] == 200
        assert guest.get("/api/frame.jpg").status_code == 200

    def test_the_pin_command_prints_the_kept_pin(self, tmp_path: Path) -> None:
        access = open_access(tmp_path)
        result = CliRunner().invoke(pin, ["--data-dir", str(tmp_path)])
        assert result.output == f"{access.pin}\n"
        assert len(access.pin) == 6
        assert open_access(tmp_path).pin == access.pin
        mode = (tmp_path / "access.json").stat().st_mode
        assert stat.S_IMODE(mode) == 0o600

    @pytest.mark.parametrize("is_root", [True, False])
    def test_the_pin_of_a_service_is_its_own_or_none(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_root: bool
    ) -> None:
        access = open_access(tmp_path)
        monkeypatch.setattr("companion.service.install.is_installed", lambda: True)
        monkeypatch.setattr("companion.service.install.is_root", lambda: is_root)
        monkeypatch.setattr("companion.service.unit.DATA_DIR", tmp_path)
        result = CliRunner().invoke(pin)
        assert (result.output == f"{access.pin}\n") is is_root
        assert is_root or "sudo" in str(result.exception)

    def test_a_damaged_file_of_secrets_is_drawn_anew_with_a_notice(self, tmp_path: Path) -> None:
        first = open_access(tmp_path)
        (tmp_path / "access.json").write_text('{"pin": 7')
        again = open_access(tmp_path)
        assert open_access(tmp_path).pin == again.pin
        assert len(again.pin) == 6
        assert first.notice is None
        assert "access.json was damaged: the host's PIN is new" in (again.notice or "")

    @pytest.mark.parametrize("content", [None, '{"pin": 7'], ids=["lost", "damaged"])
    def test_the_pin_command_prints_no_pin_that_the_table_does_not_accept(
        self, tmp_path: Path, content: str | None
    ) -> None:
        open_access(tmp_path)
        kept = tmp_path / "access.json"
        kept.unlink()
        if content is not None:
            kept.write_text(content)
        with closing(SqliteStore(tmp_path)):
            result = CliRunner().invoke(pin, ["--data-dir", str(tmp_path)])
        assert (result.stdout, kept.exists()) == ("", content is not None)
        assert "no PIN can be read there" in str(result.exception)
        drawn = CliRunner().invoke(pin, ["--data-dir", str(tmp_path)])
        assert drawn.stdout == f"{open_access(tmp_path).pin}\n"
        assert ("damaged" in drawn.stderr) is (content is not None)

    def test_the_pin_command_says_where_no_table_has_run_yet(self, tmp_path: Path) -> None:
        open_access(tmp_path / "club")  # its PIN is wanted, and the folder above was named
        first, second = (CliRunner().invoke(pin, ["--data-dir", str(tmp_path)]) for _ in range(2))
        assert first.stdout == second.stdout == f"{open_access(tmp_path).pin}\n"
        assert f"no table or club has run in {tmp_path} yet" in first.stderr


class TestTheTableView:
    def test_it_receives_the_code_once_a_host_enters_its_own(self, app: Flask, sit: Sit) -> None:
        ada, ben, television = sit("Ada"), sit("Ben"), table_view(app)
        assert shown(television)["door"] is None
        code = shown(television)["pairing"]
        assert post(ben, "pair", code=code)[1]["error"] == "NOT_HOST"
        assert post(ada, "pair", code="????")[1]["error"] == "BAD_CODE"
        assert post(ada, "pair", code=f" {code.lower()}")[0] == 200
        assert shown(television)["door"]["code"] == "QWX7"
        assert shown(television)["door"]["pin"] is None
        assert shown(television)["pairing"] is None
        assert "471147" not in television.get("/api/state?view=table").text
        assert me(ada)["door"]["pin"] == "471147"
        assert post(ada, "pair", code=code)[0] == 409

    def test_its_own_code_takes_no_seat_and_the_refusal_says_whose_it_is(self, app: Flask) -> None:
        guest, code = phone(app, "192.168.1.30"), shown(table_view(app))["pairing"]
        status, refused = post(guest, "join", name="Ada", code=code.lower())
        assert (status, refused["error"]) == (403, "BAD_CODE")
        assert "connects a table view" in refused["message"]
        assert "connects" not in post(guest, "join", name="Ada", code="????")[1]["message"]

    def test_on_the_tables_own_machine_it_is_paired_at_once(
        self, client: FlaskClient, app: Flask
    ) -> None:
        client.get("/table")
        assert shown(client)["door"]["code"] == "QWX7"
        assert shown(client)["door"]["pin"] == "471147"
        assert shown(table_view(app))["door"] is None

    def test_those_on_the_tables_machine_push_no_television_out(self, app: Flask, sit: Sit) -> None:
        television = table_view(app)
        assert post(sit("Ada"), "pair", code=shown(television)["pairing"])[0] == 200
        for number in range(40):
            window = phone(app, "127.0.0.1", f"window {number}")
            window.get("/table")
            assert shown(window)["door"] is not None
        assert shown(television)["door"] is not None

    def test_a_visitor_through_a_proxy_here_is_a_stranger(self, app: Flask) -> None:
        visitor = phone(app, "127.0.0.1")
        headers = ("HTTP_X_FORWARDED_FOR", "HTTP_FORWARDED", "HTTP_X_REAL_IP", "HTTP_VIA")
        for added in (
            *({name: "203.0.113.9"} for name in headers),
            {"SERVER_PROTOCOL": "HTTP/1.0"},
        ):
            passed = visitor.get("/api/state?view=table", environ_overrides=added)
            assert passed.get_json()["me"]["door"] is None
            assert passed.get_json()["me"]["needs_code"]

    def test_it_stays_paired_after_a_restart(self, stage: Stage, tmp_path: Path) -> None:
        app = create_app(stage.session, access=open_access(tmp_path))
        host, television = app.test_client(), table_view(app)
        assert post(host, "pair", code=shown(television)["pairing"])[0] == 200
        cookie = television.get_cookie(BROWSER_COOKIE)
        assert cookie is not None
        again = phone(create_app(stage.session, access=open_access(tmp_path)), "192.168.1.7", "TV")
        again.set_cookie(BROWSER_COOKIE, cookie.value)
        assert shown(again)["door"] is not None

    def test_what_cannot_be_saved_pairs_nobody(
        self, stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        app = create_app(stage.session, access=open_access(tmp_path))
        host, television = app.test_client(), table_view(app)
        code = shown(television)["pairing"]
        with monkeypatch.context() as full:
            full.setattr("web.access.write_whole", _disk_full)
            status, refused = post(host, "pair", code=code)
        assert (status, refused["error"]) == (503, "NOT_KEPT")
        assert "set-up" not in refused["message"]
        assert shown(television)["door"] is None
        assert post(host, "pair", code=code)[0] == 200

    def test_one_device_cannot_take_all_places_to_wait(self) -> None:
        access = Access()
        code = access.pairing_code("television", "192.168.1.7")
        assert all(access.pairing_code("television", "192.168.1.7") == code for _ in range(99))

    def test_of_many_that_wait_the_first_gives_way(self) -> None:
        access = Access()
        codes = [access.pairing_code(f"screen {n}", "192.168.1.8") for n in range(33)]
        assert [access.is_pairing_code(code) for code in codes] == [False] + [True] * 32

    def test_a_stranger_with_many_views_takes_no_televisions_place(self) -> None:
        access = Access()
        code = access.pairing_code("television", "192.168.1.7")
        for number in range(100):
            access.pairing_code(f"screen {number}", "192.168.1.66")
        assert access.is_pairing_code(code)


class TestRoles:
    def test_every_page_lets_a_browser_keep_its_name(self, ada: FlaskClient) -> None:
        known = ada.get_cookie(BROWSER_COOKIE)
        assert known is not None
        for path in ("/", "/host", "/table", "/watch", "/games", "/rules", "/setup"):
            (again,) = ada.get(path).headers.getlist("Set-Cookie")
            assert again.startswith(f"{BROWSER_COOKIE}={known.value};")
            assert f"Max-Age={400 * 86_400};" in again

    def test_a_seat_is_kept_as_long_as_browsers_keep_anything(self, app: Flask) -> None:
        joined = app.test_client().post("/api/join", json={"name": "Ada"})
        seat = [each for each in joined.headers.getlist("Set-Cookie") if SEAT_COOKIE in each]
        assert f"Max-Age={400 * 86_400};" in seat[0]

    def test_a_made_up_cookie_is_nobody(self, app: Flask) -> None:
        guest = phone(app, "192.168.1.66")
        guest.set_cookie(BROWSER_COOKIE, "0" * 32)
        assert not me(guest)["host"]
        assert post(guest, "host")[0] == 403
        assert post(guest, "start")[1]["error"] == "NOT_HOST"

    def test_a_made_up_cookie_is_replaced_by_the_next_page(self, app: Flask) -> None:
        guest = phone(app, "192.168.1.66")
        guest.set_cookie(BROWSER_COOKIE, "0" * 32)
        guest.get("/")
        cookie = guest.get_cookie(BROWSER_COOKIE)
        assert cookie is not None
        assert cookie.value != "0" * 32

    def test_the_first_phone_hosts_by_the_code_of_the_table_view(self, app: Flask) -> None:
        ada, ben = phone(app, "192.168.1.20"), phone(app, "192.168.1.21")
        assert post(ada, "join", name="Ada", code="QWX7")[1]["me"]["host"]
        assert not post(ben, "join", name="Ben", code="QWX7")[1]["me"]["host"]

    @pytest.mark.usefixtures("ada", "ben")
    def test_strangers_neither_confirm_nor_throw(self, app: Flask, ada: FlaskClient) -> None:
        assert post(ada, "start", first=0)[0] == 200
        for guest in (phone(app, "192.168.1.66"), phone(app, "127.0.0.1")):
            for call in ("press", "throw"):
                assert post(guest, call)[1]["error"] == "NOT_HOST"
        assert post(ada, "throw")[0] == 200

    def test_the_machines_own_table_view_confirms(
        self, app: Flask, ada: FlaskClient, stage: Stage
    ) -> None:
        post(ada, "start", first=0)
        stage.session.see(dice_in_tray(a_roll(3, 4)))
        screen = phone(app, "127.0.0.1", "Kiosk")
        assert post(screen, "press")[1]["error"] == "NOT_HOST"
        screen.get("/table")
        assert shown(screen)["confirms"]
        assert post(screen, "press")[1]["game"]["phase"] == "action1"

    def test_a_table_view_on_another_device_only_shows(self, app: Flask, ada: FlaskClient) -> None:
        television = table_view(app)
        assert post(ada, "pair", code=shown(television)["pairing"])[0] == 200
        assert post(ada, "start", first=0)[0] == 200
        assert not shown(television)["confirms"]
        for call in ("press", "throw"):
            assert post(television, call)[1]["error"] == "NOT_HOST"


class TestTries:
    def test_the_whole_table_has_a_limit(self) -> None:
        limiter = RateLimiter(clock=lambda: 0.0)
        taken = [limiter.take(f"192.168.2.{n // 8}") for n in range(254 * 8)]
        assert sum(taken) == MOST_TRIES_IN_ALL

    def test_many_at_once_get_no_more(self) -> None:
        limiter, taken = RateLimiter(clock=lambda: 0.0), []
        start = threading.Barrier(20)

        def attempt() -> None:
            start.wait()
            taken.append(limiter.take("192.168.1.66"))

        threads = [threading.Thread(target=attempt) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sum(taken) == MOST_TRIES

    def test_right_codes_cost_nothing_and_time_heals(self) -> None:
        now = [0.0]
        limiter = RateLimiter(clock=lambda: now[0])
        for _ in range(99):
            assert limiter.take("a")
            limiter.give_back("a")
        assert all(limiter.take("a") for _ in range(MOST_TRIES))
        assert not limiter.take("a")
        now[0] = 61.0
        assert limiter.take("a")


class TestKeys:
    @pytest.mark.usefixtures("in_action1")
    def test_a_key_counts_for_its_seat_and_content_only(
        self, ada: FlaskClient, ben: FlaskClient
    ) -> None:
        def answer(client: FlaskClient, box: str | None) -> dict[str, Any]:
            sent = {"turn": 1, "action": 1, "box": box, "key": "k"}
            told = client.post("/api/answer", json=sent)
            assert told.status_code == 200
            players = told.get_json()["game"]["players"]
            return {player["name"]: (player["answer"] or {}).get("box") for player in players}

        assert answer(ada, "R7") == {"Ada": "R7", "Ben": None}
        assert answer(ada, "Y7") == {"Ada": "Y7", "Ben": None}
        assert answer(ben, "G7") == {"Ada": "Y7", "Ben": "G7"}

    @pytest.mark.usefixtures("in_action1")
    def test_two_undos_need_two_previews(self, ada: FlaskClient) -> None:
        moment = post(ada, "preview", what="undo")[1]["moment"]
        assert post(ada, "undo", moment=moment)[0] == 200
        assert post(ada, "undo", moment=moment)[1]["error"] == "GONE_ON"

    @pytest.mark.usefixtures("in_action1")
    def test_an_undo_needs_a_preview_of_the_step_that_is_the_last_now(
        self, ada: FlaskClient, stage: Stage
    ) -> None:
        stage.answer(0, "R7")
        stage.answer(1, None)
        moment = post(ada, "preview", what="undo")[1]["moment"]
        stage.session.undo()
        stage.answer(1, "Y7")
        assert stage.state.action == 2
        assert post(ada, "undo", moment=moment)[1]["error"] == "GONE_ON"

    @pytest.mark.usefixtures("in_action1")
    def test_a_correction_needs_a_preview_in_the_same_action(
        self, ada: FlaskClient, stage: Stage
    ) -> None:
        dice = {"white": [3, 5], "colour": dict.fromkeys(("red", "yellow", "green", "blue"), 3)}
        moment = post(ada, "preview", what="correct", **dice)[1]["moment"]
        stage.session.close_action()
        assert stage.state.action == 2
        assert post(ada, "correct", moment=moment, **dice)[1]["error"] == "GONE_ON"


@pytest.mark.parametrize(
    ("address", "is_own"),
    [
        ("127.0.0.1", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),  # as a server on :: sees it
        ("::ffff:192.168.1.9", False),
        ("fe80::1%eth0", False),
        ("nonsense", False),
    ],
)
def test_the_machine_is_known_by_every_own_address(address: str, is_own: bool) -> None:
    assert is_loopback(address) is is_own
