"""Backups: written while the table runs, restored whole or not at all."""

from __future__ import annotations

import ctypes
import errno
import io
import json
import os
import signal
import sqlite3
import tarfile
import tempfile
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from companion.cli import dice_companion
from companion.commands.running import ended_by_signals
from companion.errors import ServiceError, StoreError
from companion.eventlog.examine import Examined, examine
from companion.eventlog.store import SqliteStore
from companion.mqtt.club.evening import Evening
from companion.mqtt.club.store import ClubStore
from companion.service import backup
from companion.service.backup import DATA, MANIFEST, last_backup, restore_backup, write_backup
from companion.service.update import Places
from tests.session.fakes import Stage

NOW = datetime(2026, 11, 20, 21, 30, tzinfo=UTC)


@pytest.fixture
def table(tmp_path: Path) -> Stage:
    """A table in the middle of a game, with a measured tray and a picture."""
    stage = Stage(tmp_path / "data")
    stage.seat("Ada", "Ben")
    assert stage.session.start() is None
    stage.roll(3, 4)
    stage.answer(0, "R7")
    (stage.directory / "tray.toml").write_text("measured = 1\n")
    (stage.directory / "pictures").mkdir()
    (stage.directory / "pictures" / "7.jpg").write_bytes(b"picture")
    (tmp_path / "config.toml").write_text("[table]\nlanguage = 'de'\n")
    return stage


def backed_up(table: Stage, tmp_path: Path) -> Path:
    file = tmp_path / "friday.tar.gz"
    write_backup(file, table.directory, tmp_path / "config.toml", now=NOW, version="1.0")
    return file


def test_a_running_tables_backup_holds_all_of_it(table: Stage, tmp_path: Path) -> None:
    before = table.session.view().table
    file = backed_up(table, tmp_path)
    fresh = tmp_path / "elsewhere" / "data"
    settings = tmp_path / "elsewhere" / "config.toml"
    restored, kept = restore_backup(file, fresh, settings, now=NOW)
    assert (restored.made_at, restored.files, kept) == ("2026-11-20T21:30:00+00:00", 2, None)
    assert Stage(fresh).session.view().table == before
    assert (fresh / "tray.toml").read_text() == "measured = 1\n"
    assert (fresh / "pictures" / "7.jpg").read_bytes() == b"picture"
    assert settings.read_text() == "[table]\nlanguage = 'de'\n"


def test_a_club_that_writes_on_is_copied_whole(
    table: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = table.directory / "club"
    store = ClubStore(folder)
    store.keep_evening(Evening("2026-11-20"))
    with closing(sqlite3.connect(folder / "club.sqlite3")) as club:
        add = tarfile.TarFile.add

        def add_while_the_club_writes(archive: tarfile.TarFile, name: Any, *rest: Any) -> None:
            add(archive, name, *rest)
            club.execute("CREATE TABLE IF NOT EXISTS more (x)")
            club.executemany("INSERT INTO more VALUES (?)", [("x" * 500,)] * 4_000)
            club.commit()

        monkeypatch.setattr(tarfile.TarFile, "add", add_while_the_club_writes)
        file = backed_up(table, tmp_path)
    store.close()
    restore_backup(file, tmp_path / "data2", tmp_path / "config2.toml", now=NOW)
    assert [p.name for p in (tmp_path / "data2" / "club").iterdir()] == ["club.sqlite3"]
    with closing(sqlite3.connect(tmp_path / "data2" / "club" / "club.sqlite3")) as club:
        assert club.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    again = ClubStore(tmp_path / "data2" / "club")
    assert [evening.id for evening in again.evenings()] == ["2026-11-20"]
    again.close()


def test_the_services_games_are_where_its_settings_say(
    table: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "etc").mkdir()
    settings = tmp_path / "etc" / "config.toml"
    settings.write_text(f"data_dir = {str(table.directory)!r}\n")
    (tmp_path / "unit").touch()
    monkeypatch.setattr("companion.service.install.UNIT_PATH", tmp_path / "unit")
    monkeypatch.setattr("companion.service.unit.CONFIG_PATH", settings)
    monkeypatch.setattr("companion.service.unit.DATA_DIR", tmp_path / "lib")
    file = str(tmp_path / "friday.tar.gz")
    made = CliRunner().invoke(dice_companion, ["backup", file])
    assert "0 records" not in made.output
    running = CliRunner().invoke(dice_companion, ["restore", file])
    assert isinstance(running.exception, ServiceError)
    assert "a table is running there" in str(running.exception)
    table.store.close()
    restored = CliRunner().invoke(dice_companion, ["restore", file])
    assert restored.output.startswith(f"{table.directory}: ")
    places: list[Places] = []
    monkeypatch.setattr("companion.service.install.is_root", lambda: True)
    monkeypatch.setattr(
        "companion.service.update.plan", lambda _installation, _table, there: places.append(there)
    )
    CliRunner().invoke(dice_companion, ["update", "--dry-run"])
    assert [each.data_dir for each in places] == [table.directory]


def test_a_database_that_cannot_be_copied_keeps_its_log(table: Stage, tmp_path: Path) -> None:
    folder = table.directory / "club"
    folder.mkdir()
    (folder / "club.sqlite3").write_bytes(b"not a database" * 999)
    (folder / "club.sqlite3-wal").write_bytes(b"what was written last")
    (folder / "club.sqlite3-shm").write_bytes(b"of a program")
    file = backed_up(table, tmp_path)
    restore_backup(file, tmp_path / "data2", tmp_path / "config2.toml", now=NOW)
    restored = {path.name: path.read_bytes() for path in (tmp_path / "data2" / "club").iterdir()}
    assert restored == {
        "club.sqlite3": b"not a database" * 999,
        "club.sqlite3-wal": b"what was written last",
    }


def test_a_picture_deleted_meanwhile_does_not_end_a_backup(
    table: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture = table.directory / "pictures" / "7.jpg"
    add = tarfile.TarFile.add

    def add_after_the_picture_is_gone(archive: tarfile.TarFile, name: Any, *rest: Any) -> None:
        picture.unlink(missing_ok=True)
        add(archive, name, *rest)

    monkeypatch.setattr(tarfile.TarFile, "add", add_after_the_picture_is_gone)
    file = backed_up(table, tmp_path)
    restore_backup(file, tmp_path / "data2", tmp_path / "config2.toml", now=NOW)
    assert (tmp_path / "data2" / "tray.toml").is_file()
    assert not (tmp_path / "data2" / "pictures").exists()


def test_the_time_of_the_last_backup_is_remembered(table: Stage, tmp_path: Path) -> None:
    assert last_backup(table.directory) is None
    backed_up(table, tmp_path)
    assert last_backup(table.directory) == NOW


def test_only_a_plain_file_is_replaced(table: Stage, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(ServiceError, match="expected a file"):
        write_backup(pipe, table.directory, tmp_path / "none", now=NOW, version="1")
    assert pipe.is_fifo()


def test_a_link_stays_and_its_file_gets_the_backup(table: Stage, tmp_path: Path) -> None:
    stick = tmp_path / "stick"
    stick.mkdir()
    (tmp_path / "friday.tar.gz").symlink_to(stick / "friday.tar.gz")
    assert backed_up(table, tmp_path).is_symlink()
    assert [path.name for path in stick.iterdir()] == ["friday.tar.gz"]


def test_a_backup_does_not_touch_the_part_of_another(
    table: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = backed_up(table, tmp_path).read_bytes()
    whole = tarfile.TarFile.add

    def add(archive: tarfile.TarFile, *args: Any) -> None:
        monkeypatch.setattr(tarfile.TarFile, "add", whole)
        monkeypatch.setattr(os, "getpid", lambda: 1)
        backed_up(table, tmp_path)  # begins and ends meanwhile
        archive.add(*args)

    monkeypatch.setattr(tarfile.TarFile, "add", add)
    file = backed_up(table, tmp_path)
    with tarfile.open(file) as first, tarfile.open(fileobj=io.BytesIO(other)) as second:
        assert first.getnames() == second.getnames()
    assert not list(tmp_path.glob(".*"))


def test_an_interrupted_backup_leaves_nothing(
    table: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def add(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(tarfile.TarFile, "add", add)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = sorted(tmp_path.iterdir())
    with ended_by_signals(), pytest.raises(KeyboardInterrupt):
        backed_up(table, tmp_path)
    assert sorted(tmp_path.iterdir()) == before


def test_restoring_keeps_the_former_data_beside_it(table: Stage, tmp_path: Path) -> None:
    file = backed_up(table, tmp_path)
    table.answer(1, None)
    records = len(list(table.store.load()))
    table.store.close()
    _, kept = restore_backup(file, table.directory, tmp_path / "config.toml", now=NOW)
    assert kept == tmp_path / "data.before-20261120-213000"
    reopened = SqliteStore(kept)
    assert len(list(reopened.load())) == records
    reopened.close()


def test_a_running_table_is_never_replaced(table: Stage, tmp_path: Path) -> None:
    file = backed_up(table, tmp_path)
    with pytest.raises(ServiceError, match="stop it before"):
        restore_backup(file, table.directory, tmp_path / "config.toml", now=NOW)


def test_only_its_owner_reads_a_restored_pin(table: Stage, tmp_path: Path) -> None:
    (table.directory / "access.json").touch(mode=0o600)
    file = backed_up(table, tmp_path)
    fresh = tmp_path / "elsewhere"
    restore_backup(file, fresh, tmp_path / "config.toml", now=NOW)
    assert (fresh / "access.json").stat().st_mode & 0o777 == 0o600


def test_a_linked_folder_is_replaced_where_it_lies(table: Stage, tmp_path: Path) -> None:
    file = backed_up(table, tmp_path)
    table.store.close()
    link = tmp_path / "link"
    link.symlink_to(table.directory)
    _, kept = restore_backup(file, link, tmp_path / "config.toml", now=NOW)
    assert link.is_symlink()
    assert kept == tmp_path / "data.before-20261120-213000"


def test_the_root_is_no_folder_for_games(table: Stage, tmp_path: Path) -> None:
    file = backed_up(table, tmp_path)
    with pytest.raises(ServiceError, match="expected a folder"):
        restore_backup(file, Path("/"), tmp_path / "config.toml", now=NOW)


@pytest.mark.parametrize("code", [errno.EBUSY, errno.EINVAL])
def test_settings_are_replaced_with_the_data_or_not_at_all(
    table: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    """A mounted folder cannot be replaced (EBUSY); some disks cannot exchange names (EINVAL)."""
    file = backed_up(table, tmp_path)
    table.store.close()
    settings = tmp_path / "config.toml"
    settings.write_text("# newer")
    before = sorted(tmp_path.iterdir())
    refusing = SimpleNamespace(renameat2=lambda *_: -1)
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: refusing)
    monkeypatch.setattr(ctypes, "get_errno", lambda: code)
    if code == errno.EBUSY:
        with pytest.raises(ServiceError, match="busy"):
            restore_backup(file, table.directory, settings, now=NOW)
        assert (settings.read_text(), sorted(tmp_path.iterdir())) == ("# newer", before)
    else:
        _, kept = restore_backup(file, table.directory, settings, now=NOW)
        assert kept is not None
        assert (kept / "games.lock").is_file()
        assert not (table.directory / "games.lock").exists()
        assert settings.read_text().startswith("[table]")


def test_settings_that_a_killed_restore_left_are_not_taken(table: Stage, tmp_path: Path) -> None:
    file = tmp_path / "without.tar.gz"
    write_backup(file, table.directory, tmp_path / "none.toml", now=NOW, version="1")
    settings = tmp_path / "config.toml"
    settings.write_text("# mine")
    (tmp_path / ".config.toml.restored").write_text("# left")
    restore_backup(file, tmp_path / "elsewhere", settings, now=NOW)
    assert settings.read_text() == "# mine"


def test_two_restores_do_not_mix(
    table: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = backed_up(table, tmp_path)
    fresh, settings = tmp_path / "elsewhere", tmp_path / "config.toml"

    def meanwhile(directory: Path) -> Examined:
        with pytest.raises(ServiceError, match="another restore"):
            restore_backup(file, fresh, settings, now=NOW)
        return examine(directory)

    monkeypatch.setattr(backup, "examine", meanwhile)
    restored, _ = restore_backup(file, fresh, settings, now=NOW)
    assert examine(fresh).records == restored.records


def packed(file: Path, members: dict[str, bytes]) -> Path:
    with tarfile.open(file, "w:gz") as archive:
        for name, data in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return file


def manifest(**changes: object) -> bytes:
    told = {"form": 1, "made_at": "2026", "version": "1", "records": 1, "files": 0}
    return json.dumps(told | changes).encode()


@pytest.mark.parametrize(
    ("members", "complaint"),
    [
        pytest.param({}, "no manifest", id="an empty archive"),
        pytest.param({"../evil": b""}, "'../evil'", id="a way out"),
        pytest.param({"/etc/passwd": b""}, "'/etc/passwd'", id="an absolute path"),
        pytest.param({MANIFEST: b"[1"}, "cannot be read", id="a manifest that is no JSON"),
        pytest.param({MANIFEST: b"{}"}, "cannot be read", id="a manifest without keys"),
        pytest.param({MANIFEST: manifest(form=2)}, "newer version", id="a newer form"),
        pytest.param({MANIFEST: manifest()}, "damaged", id="no games"),
        pytest.param(
            {MANIFEST: manifest(), f"{DATA}/games.sqlite3": b"noise" * 999},
            "damaged",
            id="games that are noise",
        ),
    ],
)
def test_what_is_no_whole_backup_changes_nothing(
    table: Stage, tmp_path: Path, members: dict[str, bytes], complaint: str
) -> None:
    table.store.close()
    before = {p.name: p.read_bytes() for p in table.directory.iterdir() if p.is_file()}
    file = packed(tmp_path / "bad.tar.gz", members)
    with pytest.raises(ServiceError, match=complaint):
        restore_backup(file, table.directory, tmp_path / "config.toml", now=NOW)
    assert {p.name: p.read_bytes() for p in table.directory.iterdir() if p.is_file()} == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.tar.gz", "config.toml", "data"]


def test_a_backup_that_was_cut_short_changes_nothing(table: Stage, tmp_path: Path) -> None:
    file = backed_up(table, tmp_path)
    table.store.close()
    file.write_bytes(file.read_bytes()[:-200])
    with pytest.raises(ServiceError, match="cannot be restored"):
        restore_backup(file, table.directory, tmp_path / "config.toml", now=NOW)
    assert (table.directory / "tray.toml").exists()


def test_a_backup_with_a_changed_byte_changes_nothing(table: Stage, tmp_path: Path) -> None:
    noise = np.random.default_rng(1).bytes(60_000)
    (table.directory / "pictures" / "8.jpg").write_bytes(noise)
    file = backed_up(table, tmp_path)
    table.store.close()
    whole = file.read_bytes()
    for place in range(len(whole) // 2, len(whole) // 2 + 20_000, 1_000):  # in the picture
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        with pytest.raises(ServiceError):
            restore_backup(file, table.directory, tmp_path / "config.toml", now=NOW)
    assert (table.directory / "tray.toml").read_text() == "measured = 1\n"


def test_damaged_games_are_not_backed_up_as_if_they_were_whole(
    table: Stage, tmp_path: Path
) -> None:
    table.store.close()
    path = table.directory / "games.sqlite3"
    path.write_bytes(path.read_bytes().replace(b'"Ada"', b'"Eda"', 1))
    with pytest.raises(ServiceError, match="a start of the table repairs them"):
        backed_up(table, tmp_path)
    Stage(table.directory).store.close()
    assert backed_up(table, tmp_path).is_file()


def test_without_games_there_is_nothing_to_back_up(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="expected saved games"):
        write_backup(tmp_path / "b", tmp_path, tmp_path / "config.toml", now=NOW, version="1")
    assert list(tmp_path.iterdir()) == []


def test_both_commands_say_what_they_did(table: Stage, tmp_path: Path) -> None:
    runner = CliRunner(env={"HOME": str(tmp_path)})
    file, data = str(tmp_path / "b.tar.gz"), str(table.directory)
    written = runner.invoke(dice_companion, ["backup", file, "--data-dir", data])
    assert written.exit_code == 0, written.output
    assert "records and 2 other files" in written.output
    table.store.close()
    restored = runner.invoke(dice_companion, ["restore", file, "--data-dir", data])
    assert restored.exit_code == 0, restored.output
    assert "the former data are in" in restored.output


def test_only_whoever_made_a_backup_can_read_the_pin_in_it(table: Stage, tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        file = backed_up(table, tmp_path)
    finally:
        os.umask(before)
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_backup_by_sudo_belongs_to_its_caller(table: Stage, tmp_path: Path) -> None:
    caller = {"SUDO_UID": "4711", "SUDO_GID": "4712"}
    runner = CliRunner(env={"HOME": str(tmp_path), **caller})
    file, data = tmp_path / "b.tar.gz", str(table.directory)
    written = runner.invoke(dice_companion, ["backup", str(file), "--data-dir", data])
    assert written.exit_code == 0, written.output
    assert (file.stat().st_uid, file.stat().st_gid) == (4711, 4712)


def test_a_running_club_is_not_replaced(table: Stage, tmp_path: Path) -> None:
    file = backed_up(table, tmp_path)
    table.store.close()
    club = ClubStore(table.directory / "club")
    with pytest.raises(ServiceError, match="a club is running there"):
        restore_backup(file, table.directory, tmp_path / "config.toml", now=NOW)
    club.close()
    _, kept = restore_backup(file, table.directory, tmp_path / "config.toml", now=NOW)
    assert kept is not None
    assert (kept / "club" / "club.sqlite3").is_file()


def test_settings_that_are_replaced_are_kept_beside_the_new_ones(
    table: Stage, tmp_path: Path
) -> None:
    file = backed_up(table, tmp_path)
    settings = tmp_path / "config.toml"
    aside = tmp_path / "config.toml.before-20261120-213000"
    restore_backup(file, tmp_path / "one", settings, now=NOW)
    assert not aside.exists(), "they are the same"
    settings.write_text("# hours of work")
    restore_backup(file, tmp_path / "two", settings, now=NOW)
    assert (aside.read_text(), settings.read_text()[:7]) == ("# hours of work", "[table]")


def test_a_backup_says_what_it_lacks(table: Stage, tmp_path: Path) -> None:
    runner = CliRunner(env={"HOME": str(tmp_path)})
    settings, file, data = tmp_path / "s.toml", str(tmp_path / "b.tar.gz"), str(table.directory)
    args = ["backup", file, "--data-dir", data, "--config", str(settings)]
    lacking = runner.invoke(dice_companion, args)
    assert lacking.exit_code == 1
    assert "s.toml: cannot be read" in str(lacking.exception)
    settings.write_text("[camera]\ncalibration = '~nobody-here/tray.toml'\n")
    assert runner.invoke(dice_companion, args).exit_code == 0
    for name, is_said in (("mine.toml", True), ("data/tray.toml", False)):
        (tmp_path / name).touch()
        settings.write_text(f"[camera]\ncalibration = '{tmp_path / name}'\n")
        written = runner.invoke(dice_companion, args)
        assert written.exit_code == 0, written.output
        assert (f"not in it: {tmp_path / name}" in written.output) is is_said
    secret = tmp_path / "broker-password"
    secret.touch()
    settings.write_text(f"[mqtt]\npassword_file = '{secret}'\n")
    (table.directory / "photos").symlink_to(tmp_path)
    (table.directory / "inside").symlink_to(table.directory / "mine")
    (table.directory / "loop").symlink_to(table.directory / "loop")
    written = runner.invoke(dice_companion, args)
    assert f"not in it: {secret} (mqtt.password_file)" in written.output
    assert f"not in it: {tmp_path} (link photos)" in written.output
    assert written.output.count("(link ") == 1


def test_restored_settings_are_read_by_the_same_people(table: Stage, tmp_path: Path) -> None:
    settings = tmp_path / "config.toml"
    file = backed_up(table, tmp_path)
    settings.write_text("# newer")
    settings.chmod(0o640)
    if os.geteuid() == 0:
        os.chown(settings, 0, 65_534)
    before = settings.stat()
    restore_backup(file, tmp_path / "fresh", settings, now=NOW)
    after = settings.stat()
    assert settings.read_text() != "# newer"
    assert (after.st_mode, after.st_uid, after.st_gid) == (
        before.st_mode,
        before.st_uid,
        before.st_gid,
    )


def test_a_backup_in_the_data_folder_does_not_hold_the_one_before(
    table: Stage, tmp_path: Path
) -> None:
    first = write_backup(
        table.directory / "1.tar.gz", table.directory, tmp_path / "none", now=NOW, version="1"
    )
    second = write_backup(
        table.directory / "2.tar.gz", table.directory, tmp_path / "none", now=NOW, version="1"
    )
    assert second.files == first.files
