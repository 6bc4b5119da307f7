"""Backups put back: whole or not at all, and what was there is kept."""

from __future__ import annotations

import ctypes
import errno
import io
import json
import os
import shutil
import tarfile
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

from companion.cli import dice_companion
from companion.errors import ServiceError
from companion.eventlog.examine import Examined, examine
from companion.eventlog.store import SqliteStore
from companion.mqtt.club.store import ClubStore
from companion.service import restore
from companion.service.backup import DATA, MANIFEST, write_backup
from companion.service.restore import restore_backup
from tests.service.backups import NOW, backed_up
from tests.session.fakes import Stage


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


def test_without_room_for_the_former_settings_nothing_is_restored(
    table: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config.toml"
    config.write_text("[table]\n", encoding="utf-8")
    file = backed_up(table, tmp_path)
    table.answer(1, None)
    records = list(table.store.load())
    table.store.close()
    config.write_text("[mqtt]\n", encoding="utf-8")
    before = sorted(tmp_path.iterdir())

    def full(_from: Path, to: Path) -> None:
        to.write_bytes(b"[m")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(shutil, "copy2", full)
    with pytest.raises(ServiceError, match="No space left on device"):
        restore_backup(file, table.directory, config, now=NOW)
    assert config.read_text(encoding="utf-8") == "[mqtt]\n"
    assert sorted(tmp_path.iterdir()) == before
    with closing(SqliteStore(table.directory)) as store:
        assert list(store.load()) == records


def test_a_running_table_is_never_replaced(table: Stage, tmp_path: Path) -> None:
    file = backed_up(table, tmp_path)
    with pytest.raises(ServiceError, match="stop it before"):
        restore_backup(file, table.directory, tmp_path / "config.toml", now=NOW)


def test_only_its_owner_reads_a_restored_pin(table: Stage, tmp_path: Path) -> None:
    (table.directory / "access.json").touch(mode=0o600)
    (table.directory / "games.sqlite3").chmod(0o600)
    file = backed_up(table, tmp_path)
    fresh = tmp_path / "elsewhere"
    restore_backup(file, fresh, tmp_path / "config.toml", now=NOW)
    for name in ("access.json", "games.sqlite3"):
        assert (fresh / name).stat().st_mode & 0o777 == 0o600


def test_a_linked_folder_is_replaced_where_it_lies(table: Stage, tmp_path: Path) -> None:
    file = backed_up(table, tmp_path)
    table.store.close()
    link = tmp_path / "link"
    link.symlink_to(table.directory)
    _, kept = restore_backup(file, link, tmp_path / "config.toml", now=NOW)
    assert link.is_symlink()
    assert kept == tmp_path / "data.before-20261120-213000"


@pytest.mark.parametrize("disk", ["/", "/proc"])
def test_a_whole_disk_is_refused_with_a_cure(table: Stage, tmp_path: Path, disk: str) -> None:
    file = backed_up(table, tmp_path)
    with pytest.raises(ServiceError, match="restore into a folder on it"):
        restore_backup(file, Path(disk), tmp_path / "config.toml", now=NOW)


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


@pytest.mark.parametrize("renamed", [2, 3, 4])
def test_a_restore_that_was_killed_between_two_names_stops_no_other(
    table: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, renamed: int
) -> None:
    """On a disk that cannot exchange names. Both restores keep the former data as the same."""
    file, settings = backed_up(table, tmp_path), tmp_path / "config.toml"
    table.store.close()
    (table.directory / "mine").touch()
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: None)
    rename, left = Path.rename, [renamed]

    def killed(path: Path, to: Path) -> Path:
        left[0] -= 1
        if not left[0]:
            os._exit(0)
        return rename(path, to)

    def put_back() -> Path | None:
        return restore_backup(file, table.directory, settings, now=NOW, kept_as="failed")[1]

    if not (child := os.fork()):
        monkeypatch.setattr(Path, "rename", killed)
        put_back()
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    if (kept := tmp_path / "data.before-failed").is_dir() and not table.directory.exists():
        assert (kept / "mine").exists(), "its name tells what it is"
    put_back()
    assert not list(tmp_path.glob("*aside*"))
    assert examine(table.directory).records


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

    monkeypatch.setattr(restore, "examine", meanwhile)
    restored, _ = restore_backup(file, fresh, settings, now=NOW)
    assert examine(fresh).records == restored.records


@pytest.mark.parametrize(
    ("members", "complaint"),
    [
        pytest.param({}, "no manifest", id="an empty archive"),
        pytest.param({"../evil": b""}, "'../evil'", id="a way out"),
        pytest.param({"/etc/passwd": b""}, "'/etc/passwd'", id="an absolute path"),
        pytest.param({MANIFEST: b"[1"}, "cannot be read", id="a manifest that is no JSON"),
        pytest.param({MANIFEST: b"{}"}, "cannot be read", id="a manifest without keys"),
        pytest.param({MANIFEST: manifest(form=2)}, "newer version", id="a newer form"),
        pytest.param({MANIFEST: manifest()}, "damaged: expected 1 records, got 0", id="no games"),
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
    with pytest.raises(ServiceError, match="cannot be restored into"):
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


def test_former_settings_are_on_the_disk_before_others_take_their_place(
    table: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, settings = backed_up(table, tmp_path), tmp_path / "config.toml"
    settings.write_text("# hours of work")
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(os.fstat(handle).st_ino))
    replace = Path.replace

    def check(path: Path, to: Path) -> Path:
        if to == settings:
            (aside,) = tmp_path.glob("config.toml.before-*")
            assert aside.stat().st_ino in synced
        return replace(path, to)

    monkeypatch.setattr(Path, "replace", check)
    restore_backup(file, tmp_path / "fresh", settings, now=NOW)


def test_a_plug_pulled_after_a_restore_brings_nothing_back(
    table: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config.toml"
    config.write_text("port = 8001\n")
    file = backed_up(table, tmp_path)
    table.store.close()
    config.write_text("port = 8002\n")
    shutil.rmtree(table.directory)
    on_disk = []
    monkeypatch.setattr(
        os, "sync", lambda: on_disk.append((table.directory.exists(), config.read_text()))
    )
    restore_backup(file, table.directory, config, now=NOW)
    assert on_disk == [(True, "port = 8001\n")]


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


def test_two_restores_in_one_second_keep_what_each_replaced(table: Stage, tmp_path: Path) -> None:
    file, config = backed_up(table, tmp_path), tmp_path / "config.toml"
    table.store.close()
    kept = [restore_backup(file, table.directory, config, now=NOW)[1] for _ in range(3)]
    names = [f"data.before-20261120-213000{end}" for end in ("", "-2", "-3")]
    assert kept == [tmp_path / name for name in names]
    assert all(examine(tmp_path / name).records for name in names)


def test_the_games_come_back_to_where_the_restored_settings_look_for_them(
    table: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = tmp_path / "usb" / "dice"
    shutil.copytree(table.directory, disk)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "old"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    settings = tmp_path / "old" / "dice-companion" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(f"data_dir = {str(disk)!r}\n")
    file = str(tmp_path / "friday.tar.gz")
    assert CliRunner().invoke(dice_companion, ["backup", file]).exit_code == 0
    shutil.rmtree(disk)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "new"))  # a new card
    restored = CliRunner().invoke(dice_companion, ["restore", file])
    assert restored.output.startswith(f"{disk}: ")
    assert "no game is saved" not in CliRunner().invoke(dice_companion, ["games", "list"]).output
    assert not (tmp_path / "state").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_restored_games_belong_to_whom_the_former_ones_did(table: Stage, tmp_path: Path) -> None:
    file = backed_up(table, tmp_path)
    table.store.close()
    for path in (table.directory, *table.directory.iterdir()):
        os.chown(path, 1234, 1234)
    config = tmp_path / "none.toml"
    where = ["--data-dir", str(table.directory), "--config", str(config)]
    restored = CliRunner().invoke(dice_companion, ["restore", str(file), *where])
    assert restored.exit_code == 0, restored.output
    inside = [table.directory, *table.directory.iterdir()]
    assert {path.stat().st_uid for path in inside} == {1234}


def test_a_pipe_is_no_backup(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    where = ["--data-dir", str(tmp_path / "data"), "--config", str(tmp_path / "none.toml")]
    refused = CliRunner().invoke(dice_companion, ["restore", str(tmp_path / "pipe"), *where])
    assert "expected a backup, got no plain file" in str(refused.exception)


def test_a_folder_of_something_else_is_not_put_aside(table: Stage, tmp_path: Path) -> None:
    file = backed_up(table, tmp_path)
    home = tmp_path / "home"
    (home / "Documents").mkdir(parents=True)
    with pytest.raises(ServiceError, match="holds no table's data"):
        restore_backup(file, home, tmp_path / "none.toml", now=NOW)
    (home / "Documents").rename(home / ".local")  # as in the home of the service's user
    restore_backup(file, home, tmp_path / "none.toml", now=NOW)
    assert examine(home).records


def test_linked_settings_come_back_into_the_file_they_link_to(table: Stage, tmp_path: Path) -> None:
    settings = tmp_path / "config.toml"
    settings.rename(tmp_path / "mine.toml")
    settings.symlink_to("mine.toml")
    write_backup(tmp_path / "b", table.directory, settings, now=NOW, version="1")
    (tmp_path / "mine.toml").write_text("[table]\nlanguage = 'fr'\n")
    table.store.close()
    restore_backup(tmp_path / "b", table.directory, settings, now=NOW)
    assert settings.is_symlink()
    assert "'de'" in (tmp_path / "mine.toml").read_text()
