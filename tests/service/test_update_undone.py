"""Updates that fail: games, program and settings are back as they were."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

import companion
from companion.errors import ServiceError
from companion.eventlog.store import SqliteStore
from companion.service import installation
from companion.service.update import Places, update
from tests.service.backups import NOW
from tests.service.sources import Sources, Table


def test_an_update_that_fails_before_it_begins_leaves_all_as_it_was(
    sources: Sources, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise ServiceError("disk full")

    for version in ("two", "three"):  # the first update ever, and one after a good one
        sources.publish(version)
        before, table = sources.installed, Table()
        with monkeypatch.context() as patch:
            patch.setattr("companion.service.update.write_backup", full)
            with pytest.raises(ServiceError, match="disk full"):
                update(sources.installation, table, places, now=NOW, try_out=lambda *_: None)
        assert sources.installed == before
        assert table.calls[-1] == "start"
        update(sources.installation, Table(), places, now=NOW, try_out=lambda *_: None)
        assert sources.installed == (version, version, [".venv"])


def test_new_files_that_filled_the_disk_do_not_bar_the_way_back(
    sources: Sources, places: Places
) -> None:
    (sources.origin / "fresh").write_text("large")
    sources.publish("two")
    run = sources.installation._run

    def full(command: Sequence[str]) -> str:
        if command[:2] in (["git", "merge"], ["git", "reset"]):
            if command[1] == "merge":
                (sources.clone / "version").write_text("two")
                (sources.clone / "fresh").write_text("lar")
            if (sources.clone / "fresh").exists():
                raise ServiceError("no space left on device")
        return run(command)

    sources.installation._run = full
    with pytest.raises(ServiceError, match=r"no space left on device; .* is back"):
        update(sources.installation, Table(), places, now=NOW, try_out=lambda *_: None)
    assert sources.installed == ("one", "one", [".venv"])
    assert not (sources.clone / "fresh").exists()


def test_the_table_starts_even_if_the_way_back_fails(
    sources: Sources, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ServiceError("no way")

    sources.publish("two")
    table = Table()
    monkeypatch.setattr(sources.installation, "go_back", broken)
    with pytest.raises(ServiceError, match="no way; and the way back failed: no way"):
        update(sources.installation, table, places, now=NOW, try_out=broken)
    assert table.calls[-1] == "start"


def test_a_table_that_starts_with_neither_version_hides_no_other_fault(
    sources: Sources, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        raise ServiceError("no way")

    sources.publish("two")
    before = sources.installed
    for faults, way_back, said in (
        (["no camera"] * 2, None, "is back; the table does not start: no camera"),
        (["no pin", "no camera"], broken, "back failed: no way; the table does not start: no pin"),
    ):
        if way_back is not None:
            monkeypatch.setattr(sources.installation, "go_back", way_back)
        with pytest.raises(ServiceError, match=said):
            update(sources.installation, Table(faults), places, now=NOW, try_out=lambda *_: None)
        assert way_back or sources.installed == before


def test_a_version_that_cannot_be_installed_goes_back(sources: Sources, places: Places) -> None:
    sources.publish("broken")
    table = Table()
    with pytest.raises(ServiceError, match=r"setup.*is back$"):
        update(sources.installation, table, places, now=NOW)
    assert sources.installed == ("one", "one", [".venv"])
    assert table.calls == ["stop", "stop", "start"]


def test_a_version_that_spoils_the_games_goes_back_to_games_and_program(
    sources: Sources, places: Places
) -> None:
    sources.publish("two")
    table = Table(fails_with=["nobody can play"])

    def spoil(_python: str, _backup: Path | None) -> None:
        (places.data_dir / "games.sqlite3").write_bytes(b"of a newer version")

    with pytest.raises(ServiceError, match=r"nobody can play; .* is back"):
        update(sources.installation, table, places, now=NOW, try_out=spoil)
    assert sources.installed == ("one", "one", [".venv"])
    assert table.calls == ["stop", "start", "stop", "start"]
    with closing(SqliteStore(places.data_dir)) as store:
        assert len(list(store.load())) == 2


def test_failed_updates_leave_one_copy_of_the_games_beside_them(
    sources: Sources, places: Places
) -> None:
    sources.publish("two")
    for day in (1, 2, 3):
        (places.data_dir / "day").write_text(str(day))
        with pytest.raises(ServiceError, match="nobody can play"):
            update(
                sources.installation,
                Table(fails_with=["nobody can play"]),
                places,
                now=NOW.replace(day=day),
                try_out=lambda *_: None,
            )
    (kept,) = places.data_dir.parent.glob("data.before-*")
    assert (kept.name, (kept / "day").read_text()) == ("data.before-failed-update", "3")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_games_that_come_back_belong_to_whom_they_did(sources: Sources, places: Places) -> None:
    sources.publish("two")
    for path in (places.data_dir, *places.data_dir.iterdir()):
        os.chown(path, 65534, 65534)
    table = Table(fails_with=["nobody can play"])
    with pytest.raises(ServiceError, match="nobody can play"):
        update(sources.installation, table, places, now=NOW, try_out=lambda *_: None)
    assert {path.stat().st_uid for path in (places.data_dir, *places.data_dir.iterdir())} == {65534}


def test_games_beside_the_venv_come_back_too(sources: Sources, places: Places) -> None:
    places.data_dir.rename(sources.clone / "games")
    places = replace(places, data_dir=sources.clone / "games")
    sources.publish("two")
    table = Table(fails_with=["nobody can play"])
    with pytest.raises(ServiceError, match="is back"), sources.installation.only_one():
        update(sources.installation, table, places, now=NOW, try_out=lambda *_: None)


@pytest.mark.parametrize("number", [errno.EINVAL, errno.EXDEV], ids=["disk", "overlay"])
def test_a_disk_that_cannot_exchange_names_has_a_way_back(
    sources: Sources, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    refusing = SimpleNamespace(renameat2=lambda *_: -1)
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: refusing)
    monkeypatch.setattr(ctypes, "get_errno", lambda: number)
    sources.publish("two")
    assert sources.installation.newer()
    sources.installation.change()
    sources.installation.go_back()
    assert sources.installed == ("one", "one", [".venv"])


PIP = """#!/bin/sh
venv=$(dirname "$0")/..
case "$*" in
    *" show "*) echo "Version: $(cat "$venv/version")" ;;
    *--dry-run*) echo '{"install": [{"metadata": {"version": "two"}}]}' ;;
    *) echo two >"$venv/new" && mv "$venv/new" "$venv/version" && exit 1 ;;
esac
"""


def test_a_wheel_that_cannot_be_installed_leaves_the_venv_as_it_was(
    tmp_path: Path, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    venv = tmp_path / "venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "version").write_text("one\n")
    (venv / "bin" / "python").write_text(PIP)
    (venv / "bin" / "python").chmod(0o755)
    monkeypatch.setattr(companion, "__file__", str(venv / "lib" / "companion" / "__init__.py"))
    monkeypatch.setattr(sys, "prefix", str(venv))
    table = Table()
    with pytest.raises(ServiceError, match="one is back"):
        update(installation.this_installation(Path("two.whl")), table, places, now=NOW)
    assert (venv / "version").read_text() == "one\n"
    assert table.calls == ["stop", "stop", "start"]
    assert sorted(path.name for path in tmp_path.glob("venv*")) == ["venv"]
