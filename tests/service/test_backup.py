"""Backups: complete although the table runs, and each says what it holds and what it lacks."""

from __future__ import annotations

import errno
import io
import os
import signal
import sqlite3
import sys
import tarfile
import tempfile
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from companion.cli import dice_companion
from companion.commands.running import ended_by_signals
from companion.errors import ServiceError, StoreError
from companion.eventlog import examine
from companion.mqtt.club.evening import Evening
from companion.mqtt.club.store import ClubStore
from companion.service.backup import last_backup, write_backup
from companion.service.restore import restore_backup
from companion.service.update import Places
from tests.rights import run_bound
from tests.service.backups import NOW, backed_up
from tests.session.fakes import Stage


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
    for module in ("install", "unit"):
        monkeypatch.setattr(f"companion.service.{module}.UNIT_PATH", tmp_path / "unit")
    monkeypatch.setattr("companion.service.unit.CONFIG_PATH", settings)
    monkeypatch.setattr("companion.service.unit.DATA_DIR", tmp_path / "lib")
    file = str(tmp_path / "friday.tar.gz")
    monkeypatch.setattr("companion.service.install.is_root", lambda: False)
    refused = CliRunner().invoke(dice_companion, ["backup", file])
    assert "backup: the table is a service; run this with sudo" in str(refused.exception)
    monkeypatch.setattr("companion.service.install.is_root", lambda: True)
    made = CliRunner().invoke(dice_companion, ["backup", file])
    assert "0 records" not in made.output
    running = CliRunner().invoke(dice_companion, ["restore", file])
    assert isinstance(running.exception, ServiceError)
    assert "a table is running there" in str(running.exception)
    table.store.close()
    restored = CliRunner().invoke(dice_companion, ["restore", file])
    assert restored.exit_code == 0, restored.exception
    assert restored.output.startswith(f"{table.directory}: ")
    assert "may not write" in restored.stderr, "the unit knows nothing of that place"
    places: list[Places] = []
    any_installation = SimpleNamespace(python=Path(sys.executable))
    monkeypatch.setattr(
        "companion.service.installation.this_installation", lambda _: any_installation
    )
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


def test_no_half_copy_of_a_club_is_taken_where_there_is_no_room(
    table: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ClubStore(table.directory / "club").close()

    class Full(sqlite3.Connection):
        def backup(self, *_args: Any, **_named: Any) -> None:
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise error

    def connect(path: Path) -> sqlite3.Connection:
        return sqlite3.connect(
            path, factory=Full if path.name == "club.sqlite3" else sqlite3.Connection
        )

    monkeypatch.setattr(examine, "connect_to_read", connect)
    with pytest.raises(StoreError, match=r"club\.sqlite3: cannot be copied into /.*disk is full"):
        backed_up(table, tmp_path)
    assert not list(tmp_path.glob("*.tar.gz"))


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


def test_a_link_in_the_place_of_that_time_is_replaced(table: Stage, tmp_path: Path) -> None:
    """Root may make a backup of a folder that belongs to the service's user."""
    foreign = tmp_path / "shadow"
    foreign.write_text("secret")
    (table.directory / "last-backup").symlink_to(foreign)
    backed_up(table, tmp_path)
    assert foreign.read_text() == "secret"
    assert last_backup(table.directory) == NOW


def test_a_time_that_finds_no_room_leaves_nothing(
    table: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = Path.replace

    def unless_full(part: Path, to: Path) -> Path:
        if to.name == "last-backup":
            raise OSError(errno.ENOSPC, "No space left on device")
        return replace(part, to)

    monkeypatch.setattr(Path, "replace", unless_full)
    backed_up(table, tmp_path)
    assert list(table.directory.glob(".last-backup*")) == []


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


def test_a_backup_deletes_what_a_killed_one_left(table: Stage, tmp_path: Path) -> None:
    if not (child := os.fork()):
        tempfile.tempdir = str(tmp_path)
        tarfile.TarFile.add = lambda *_: os._exit(0)  # type: ignore[method-assign]
        backed_up(table, tmp_path)
    os.waitpid(child, 0)
    assert list(tmp_path.glob(".friday*.part"))
    (tmp_path / ".saturday.tar.gz.7.part").touch()
    backed_up(table, tmp_path)
    assert [path.name for path in tmp_path.glob(".*")] == [".saturday.tar.gz.7.part"]


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


def test_a_backup_leaves_out_what_the_sound_system_keeps(table: Stage, tmp_path: Path) -> None:
    """The data directory is the home of the service's user, whose voice makes these."""
    hidden = table.directory / ".config" / "pulse"
    hidden.mkdir(parents=True)
    (hidden / "cookie").write_bytes(b"secret")
    (hidden / "4ec8-runtime").symlink_to(tmp_path)
    file, data = tmp_path / "b.tar.gz", str(table.directory)
    written = CliRunner().invoke(dice_companion, ["backup", str(file), "--data-dir", data])
    assert written.exit_code == 0, written.output
    assert "not in it" not in written.output
    with tarfile.open(file) as archive:
        assert not [name for name in archive.getnames() if "pulse" in name]


def test_a_backup_holds_a_hidden_file_and_names_a_hidden_folder(
    table: Stage, tmp_path: Path
) -> None:
    tray, clips = table.directory / ".tray.toml", table.directory / ".sounds" / "clips"
    tray.write_text("measured = 1\n")
    clips.mkdir(parents=True)
    settings, file = tmp_path / "s.toml", tmp_path / "b.tar.gz"
    settings.write_text(f"[camera]\ncalibration = '{tray}'\n[sound]\nclips = '{clips}'\n")
    args = ["backup", str(file), "--data-dir", str(table.directory), "--config", str(settings)]
    written = CliRunner().invoke(dice_companion, args)
    assert f"not in it: {clips} (sound.clips)" in written.output
    assert written.output.count("not in it") == 1
    with tarfile.open(file) as archive:
        assert "data/.tray.toml" in archive.getnames()


def test_a_backup_names_a_file_that_its_user_may_not_look_at(table: Stage, tmp_path: Path) -> None:
    closed, file, settings = (tmp_path / name for name in ("closed", "b.tar.gz", "s.toml"))
    settings.write_text(f"[mqtt]\nhost = 'b'\npassword_file = '{closed / 'password'}'\n")
    closed.mkdir()
    closed.chmod(0)
    code = (
        "import sys; from companion.cli import main; sys.stderr = sys.stdout;"
        "main(['backup', *sys.argv[1:]])"
    )
    said = run_bound(code, file, "--data-dir", table.directory, "--config", settings)
    closed.chmod(0o700)
    assert said.startswith(f"{file}: ")
    assert f"not in it: {closed / 'password'} (mqtt.password_file)" in said


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
