"""Updates of a real git clone or a wheel: what is kept, refused and told."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from companion.cli import dice_companion
from companion.errors import ServiceError
from companion.eventlog.store import SqliteStore
from companion.service import installation
from companion.service.installation import Clone, Wheel, run_as_owner
from companion.service.restore import restore_backup
from companion.service.update import (
    NoService,
    Places,
    plan,
    update,
)
from tests.service.backups import NOW
from tests.service.sources import Sources, Table, git


def test_a_clone_takes_the_newest_commit_and_keeps_a_backup(
    sources: Sources, places: Places
) -> None:
    table, tried = Table(), []
    assert update(sources.installation, table, places, now=NOW) == ""
    assert table.calls == []
    sources.publish("two")
    new = update(
        sources.installation, table, places, now=NOW, try_out=lambda *what: tried.append(what)
    )
    assert new == git(sources.origin, "rev-parse", "HEAD")[:10]
    assert sources.installed == ("two", "two", [".venv"])
    assert table.calls == ["stop", "start"]
    (backup,) = places.backups.iterdir()
    assert tried == [(sources.installation.python, backup)]
    restored, _ = restore_backup(
        backup, places.data_dir.with_name("a"), places.config_path, now=NOW
    )
    assert restored.records == 2


def test_an_update_over_files_changed_by_hand_is_refused(sources: Sources, places: Places) -> None:
    (sources.clone / "version").write_text("by hand")
    sources.publish("two")
    table = Table()
    with pytest.raises(ServiceError, match="version' not uptodate"):
        update(sources.installation, table, places, now=NOW, try_out=lambda *_: None)
    assert sources.installed == ("by hand", "one", [".venv"])
    assert table.calls == []  # it has gone on all the time


def test_an_update_of_a_clone_with_commits_of_its_own_says_what_helps(
    sources: Sources, places: Places
) -> None:
    (sources.clone / "notes").write_text("mine")
    git(sources.clone, "add", "notes")
    git(sources.clone, "commit", "--quiet", "-m", "notes")
    table = Table()
    assert update(sources.installation, table, places, now=NOW) == ""
    sources.publish("two")
    with pytest.raises(ServiceError, match=r"1 of this clone's commits .* git rebase"):
        update(sources.installation, table, places, now=NOW)
    assert table.calls == []


def test_a_followed_branch_that_is_gone_is_no_newest_version(
    sources: Sources, places: Places
) -> None:
    branch = git(sources.origin, "branch", "--show-current").strip()
    git(sources.origin, "branch", "--move", "trunk")
    sources.publish("two")
    with pytest.raises(ServiceError, match=f"git fetch.*refs/heads/{branch}"):
        update(sources.installation, Table(), places, now=NOW, try_out=lambda *_: None)


def test_the_new_version_is_on_the_disk_before_the_old_one_is_deleted(
    sources: Sources, places: Places
) -> None:
    """A plug pulled after an update must not leave empty files and no way back."""
    done = commands_of_an_update(sources, places)
    last = len(done) - done[::-1].index("sync")
    assert set(done[last:]) == {"rm", "mv"}


def test_the_new_version_is_on_the_disk_before_it_is_tried(
    sources: Sources, places: Places
) -> None:
    """A plug pulled meanwhile must not empty the file that lets Python find the program."""
    done = commands_of_an_update(sources, places)
    assert done[done.index("tried") - 2 : done.index("tried")] == [".ci/setup", "sync"]


def commands_of_an_update(sources: Sources, places: Places) -> list[str]:
    """The programs that an update runs, and when the new version was tried."""
    sources.publish("two")
    run, done = sources.installation._run, list[str]()

    def noted(command: Sequence[str]) -> str:
        done.append(command[0])
        return run(command)

    sources.installation._run = noted
    update(sources.installation, Table(), places, now=NOW, try_out=lambda *_: done.append("tried"))
    return done


def test_what_git_writes_in_an_update_is_on_the_disk_at_once(
    sources: Sources, places: Places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plug pulled after a fetch must leave no empty objects, at which every later fetch fails."""
    sources.publish("two")
    trace = tmp_path / "trace"
    monkeypatch.setenv("GIT_TRACE2_EVENT", str(trace))
    clone = Clone(sources.clone, run_as_owner(sources.clone))
    update(clone, Table(), places, now=NOW, try_out=lambda *_: None)
    events = [json.loads(line) for line in trace.read_text().splitlines()]
    writers = {"unpack-objects", "update-ref", "merge"}
    who = {each["sid"]: each["name"] for each in events if each["event"] == "cmd_name"}
    waited = {
        who[each["sid"]]
        for each in events
        if (each.get("key") == "fsync/hardware-flush" and int(each["value"]))  # git 2.39
        or (each.get("name") == "hardware-flush" and each["count"])  # git 2.55
    }
    assert writers <= waited


def test_only_the_newest_backups_of_updates_are_kept(sources: Sources, places: Places) -> None:
    places.backups.mkdir()
    (places.backups / ".20261101-213000-before-update.tar.gz.7.part").touch()  # its update was cut
    for day in range(1, 6):
        sources.publish(f"day {day}")
        update(
            sources.installation,
            Table(),
            places,
            now=NOW.replace(day=day),
            try_out=lambda *_: None,
        )
    kept = sorted(path.name[:8] for path in places.backups.iterdir())
    assert kept == ["20261103", "20261104", "20261105"]


def test_backups_of_a_clock_that_was_ahead_push_no_new_one_out(
    sources: Sources, places: Places
) -> None:
    days = [NOW.replace(year=2031, day=day) for day in (1, 2, 3)]
    for number, now in enumerate([*days, NOW]):
        sources.publish(f"update {number}")
        update(sources.installation, Table(), places, now=now, try_out=lambda *_: None)
    kept = sorted(path.name[:8] for path in places.backups.iterdir())
    assert kept == [f"{NOW:%Y%m%d}", "20311102", "20311103"]


def test_a_table_that_people_started_must_end_first(sources: Sources, places: Places) -> None:
    sources.publish("two")
    with (
        closing(SqliteStore(places.data_dir)),
        pytest.raises(ServiceError, match="a table is running"),
    ):
        update(sources.installation, NoService(places.data_dir), places, now=NOW)
    assert sources.installed == ("one", "one", [".venv"])


def test_a_dry_run_names_every_step_and_changes_nothing(
    sources: Sources, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources.publish("two")
    steps = list(plan(sources.installation, Table(), places))
    assert steps[0] == "stop"
    assert steps[2:5] == ["git fetch", "git merge --ff-only @{upstream}", ".ci/setup play"]
    assert "go back" in steps[-1]
    assert sources.installed == ("one", "one", [".venv"])
    monkeypatch.setattr(installation, "this_installation", lambda _: sources.installation)
    done = CliRunner().invoke(dice_companion, ["update"], env={"DRY_RUN": "1"})
    assert done.exit_code == 0
    assert "would git fetch\n" in done.output


def test_pip_says_which_wheel_it_would_install(tmp_path: Path) -> None:
    def run(command: Sequence[str]) -> str:
        assert command[1:3] == ["-m", "pip"]
        if "show" in command:
            return "Name: dice-companion\nVersion: 0.1.0\n"
        asked.append(command[-1])
        return answers.pop(0)

    asked: list[str] = []
    answers = ['{"install": [{"metadata": {"version": "0.2.0"}}]}', 'note\n{"install": []}']
    wheel = Wheel(tmp_path, run)
    assert (wheel.version, wheel.newer(), wheel.newer()) == ("0.1.0", "0.2.0", "")
    answers.append('{"install": []}')
    assert Wheel(tmp_path, run, Path("/media/stick/dice.whl")).newer() == ""
    assert asked == ["dice-companion", "dice-companion", "/media/stick/dice.whl"]


def test_a_failed_command_gives_its_reason_and_not_its_last_hint(tmp_path: Path) -> None:
    script = tmp_path / "git"
    script.write_text(
        "#!/bin/sh\nprintf 'fatal: dubious ownership\\n\\n\\tgit config\\n' >&2; exit 128\n"
    )
    script.chmod(0o755)
    with pytest.raises(ServiceError, match=r"^update: git fetch: fatal: dubious ownership$"):
        run_as_owner(tmp_path)([str(script), "fetch"])


def test_two_updates_at_once_do_not_mix(sources: Sources) -> None:
    other = Clone(sources.clone, run_as_owner(sources.clone))
    with (
        sources.installation.only_one(),
        pytest.raises(ServiceError, match="another one"),
        other.only_one(),
    ):
        pass
    with other.only_one():
        pass
