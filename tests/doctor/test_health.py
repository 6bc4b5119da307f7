"""Health: each fault is named with its reason, and without waiting for the part that hangs."""

from __future__ import annotations

import shutil
import threading
import time
from collections import namedtuple
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from companion.doctor.health import LOCK_S, Monitor, Part, State
from companion.errors import StoreError
from companion.tray import CameraState
from tests.session.fakes import Stage
from tests.web.test_people import phone, post
from web import create_app
from web.access import Access
from web.metrics import Requests, exposition

Usage = namedtuple("Usage", "total used free")


@dataclass
class StandInLive:
    frame_age_s: float = 0.1
    camera: CameraState = CameraState.OK


@dataclass
class Free:
    """A table without a step under way."""

    faults: Mapping[str, str] = field(default_factory=dict)

    def is_free(self, timeout_s: float) -> bool:
        return True


def free_mb(monkeypatch: pytest.MonkeyPatch, megabytes: float) -> None:
    usage = Usage(1, 1, int(megabytes * 1e6))
    monkeypatch.setattr("companion.doctor.health.shutil.disk_usage", lambda _: usage)


@pytest.fixture(autouse=True)
def _roomy(monkeypatch: pytest.MonkeyPatch) -> None:
    free_mb(monkeypatch, 5000)


def found(monitor: Monitor) -> tuple[State, dict[str, Part]]:
    """The state of the whole, and the parts that are not well."""
    health = monitor.health()
    return health.state, {k: p for k, p in health.parts.items() if p.state is not State.OK}


class TestParts:
    def test_all_is_well(self, tmp_path: Path) -> None:
        assert found(Monitor(Free(), tmp_path, live=StandInLive(), sound=lambda: None)) == (
            State.OK,
            {},
        )

    @pytest.mark.parametrize(
        ("part", "fault", "reason"),
        [
            ("camera", "lost", "The camera isn’t responding"),
            ("camera", "dark", "picture is black"),
            ("button", "lost", "The button isn’t responding"),
            ("repeat", "lost", "The second button isn’t responding"),
        ],
    )
    def test_equipment_gives_its_reason(
        self, tmp_path: Path, part: str, fault: str, reason: str
    ) -> None:
        state, parts = found(Monitor(Free({part: fault}), tmp_path))
        assert (state, list(parts)) == (State.IMPAIRED, [part])
        assert reason in parts[part].reason

    def test_a_camera_without_pictures_is_reported(self, tmp_path: Path) -> None:
        state, parts = found(Monitor(Free(), tmp_path, live=StandInLive(frame_age_s=12)))
        assert (state, list(parts)) == (State.IMPAIRED, ["camera"])
        assert parts["camera"].reason.startswith("no picture for 12 s")

    def test_a_silent_voice_gives_its_reason(self, tmp_path: Path) -> None:
        _, parts = found(Monitor(Free(), tmp_path, sound=lambda: "espeak-ng is not installed"))
        assert parts == {"sound": Part(State.IMPAIRED, "espeak-ng is not installed")}

    def test_a_thread_that_ended_is_named(self, tmp_path: Path) -> None:
        ended = threading.Thread(target=lambda: None, name="camera")
        ended.start()
        ended.join()
        _, parts = found(Monitor(Free(), tmp_path, threads=[ended, threading.current_thread()]))
        assert parts["threads"].reason.startswith("ended: camera;")

    @pytest.mark.parametrize(("free", "state"), [(19, State.FAILED), (150, State.IMPAIRED)])
    def test_disk_space_is_told(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: float, state: State
    ) -> None:
        free_mb(monkeypatch, free)
        assert found(Monitor(Free(), tmp_path)) == (
            state,
            {"disk": Part(state, f"only {free} MB free")},
        )

    def test_a_deleted_data_directory_is_a_failure(self, tmp_path: Path) -> None:
        monitor = Monitor(Free(), tmp_path / "data")
        (tmp_path / "data").mkdir()
        assert found(monitor)[0] is State.OK
        shutil.rmtree(tmp_path / "data")
        assert found(monitor)[1]["storage"].reason == "the data directory is gone"


class TestTheTable:
    def test_a_step_that_hangs_is_a_failure_and_delays_no_answer(
        self, stage: Stage, tmp_path: Path
    ) -> None:
        monitor, done, begun = (
            Monitor(stage.session, tmp_path),
            threading.Event(),
            threading.Event(),
        )

        def hang() -> None:
            with stage.session._notifier.transaction():
                begun.set()
                done.wait(30)

        step = threading.Thread(target=hang)
        step.start()
        assert begun.wait(10)
        before = time.monotonic()
        state, parts = found(monitor)
        elapsed_s = time.monotonic() - before
        done.set()
        step.join()
        assert (state, list(parts)) == (State.FAILED, ["steps"])
        assert elapsed_s < LOCK_S + 5
        assert found(monitor)[0] is State.OK

    @pytest.mark.logs_errors
    def test_a_failing_disk_is_told_everywhere_and_heals(
        self, stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        app = create_app(
            stage.session,
            access=Access(code="QWX7"),
            health=Monitor(stage.session, tmp_path).health,
        )
        ada, append = phone(app, "127.0.0.1"), stage.store.append

        def refuse(records: object) -> None:
            raise StoreError("games.sqlite3: disk full")

        with monkeypatch.context() as full:
            full.setattr(stage.store, "append", refuse)
            assert post(ada, "join", name="Ada")[0] == 503
            answer = ada.get("/healthz")
            assert (answer.status_code, answer.get_json()["status"]) == (503, "failed")
            assert answer.get_json()["parts"]["storage"]["reason"]
            assert [each["part"] for each in ada.get("/api/state").get_json()["faults"]] == [
                "storage"
            ]
        assert stage.store.append == append
        assert post(ada, "join", name="Ada")[0] == 200
        assert ada.get("/healthz").status_code == 200
        assert ada.get("/api/state").get_json()["faults"] == []


class TestMetrics:
    def test_they_are_served_only_where_they_are_wanted(self, stage: Stage) -> None:
        assert phone(create_app(stage.session), "127.0.0.1").get("/metrics").status_code == 404

    def test_every_line_is_a_sample_and_no_secret(self, stage: Stage, tmp_path: Path) -> None:
        monitor = Monitor(stage.session, tmp_path, live=StandInLive())
        app = create_app(
            stage.session,
            access=Access(code="QWX7", pin="471147"),
            health=monitor.health,
            frames=lambda: 7,
        )
        ada = phone(app, "127.0.0.1")
        assert post(ada, "join", name="Ada")[0] == 200
        answer = ada.get("/metrics")
        assert answer.content_type == "text/plain; version=0.0.4; charset=utf-8"
        samples = dict(
            line.rsplit(" ", 1) for line in answer.text.splitlines() if not line.startswith("#")
        )
        assert all(float(value) >= 0 for value in samples.values())
        assert samples["dice_companion_frames_total"] == "7"
        assert samples['dice_companion_part_state{part="storage"}'] == "0"
        assert samples['dice_companion_requests_total{kind="step",status="2xx"}'] == "1"
        assert not {"Ada", "QWX7", "471147"} & set(answer.text.replace('"', " ").split())

    def test_a_request_refused_at_once_is_refused_and_counted(
        self, stage: Stage, tmp_path: Path
    ) -> None:
        app = create_app(stage.session, frames=lambda: 7)
        ada = phone(app, "127.0.0.1")
        assert ada.get("/api/state", headers={"Host": "evil.example"}).status_code == 400
        assert ada.post("/api/join", data="name=Ada").status_code == 415
        assert ada.get("/metrics").text.count('status="4xx"} 1') == 2, "a page and a step"

    def test_labels_are_escaped(self, tmp_path: Path) -> None:
        health = Monitor(Free(), tmp_path).health()
        text = exposition(health, Requests(), version='1"\\\n2', frames=None, revision=1, streams=0)
        assert 'dice_companion_info{version="1\\"\\\\\\n2"} 1\n' in text
        assert "frames_total" not in text


def test_a_broker_that_is_away_gives_its_reason(tmp_path: Path) -> None:
    away = Monitor(Free(), tmp_path, broker=lambda: "Connection refused")
    assert found(away) == (
        State.IMPAIRED,
        {"broker": Part(State.IMPAIRED, "Connection refused")},
    )
    assert found(Monitor(Free(), tmp_path, broker=lambda: None)) == (State.OK, {})
