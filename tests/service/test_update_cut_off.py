"""Updates that a pulled plug, an interrupt or a closed terminal cut off: no versions are mixed."""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner

from companion.cli import dice_companion
from companion.service import installation
from companion.service.installation import Clone, run_as_owner
from companion.service.update import Places, update
from tests.service.backups import NOW
from tests.service.sources import Sources, Table


@pytest.mark.parametrize("step", ["cp", "rm"])
def test_an_update_that_is_interrupted_mixes_no_versions(
    sources: Sources, places: Places, step: str
) -> None:
    """While the venv is copied, and while the copy is deleted after a good update."""
    sources.publish("two")
    run, cut = sources.installation._run, []

    def interrupted(command: Sequence[str]) -> str:
        is_it = command[0] == step and (step == "cp" or Path(command[-1]).exists())
        if is_it and not cut:
            cut.append(command)
            half = Path(command[-1])
            half.mkdir(exist_ok=True)
            for path in half.iterdir():
                path.unlink()
            raise KeyboardInterrupt
        return run(command)

    sources.installation._run = interrupted
    with pytest.raises(KeyboardInterrupt):
        update(sources.installation, Table(), places, now=NOW, try_out=lambda *_: None)
    assert cut
    version = "one" if step == "cp" else "two"
    assert sources.installed[:2] == (version, version)
    update(sources.installation, Table(), places, now=NOW, try_out=lambda *_: None)
    sources.publish("three")
    update(sources.installation, Table(), places, now=NOW, try_out=lambda *_: None)
    assert sources.installed == ("three", "three", [".venv"])


@pytest.mark.parametrize("written", [(), ("version",), ("version", "fresh", "gone")])
def test_a_merge_that_was_cut_off_is_undone_file_by_file(
    sources: Sources, places: Places, written: tuple[str, ...]
) -> None:
    """A plug was pulled or the disk was full; what somebody changed by hand stays."""
    for name in ("gone", "notes"):
        (sources.origin / name).write_text("of one")
    sources.publish("one again")
    update(sources.installation, Table(), places, now=NOW, try_out=lambda *_: None)
    (sources.clone / "notes").write_text("by hand")
    (sources.origin / "gone").unlink()
    (sources.origin / "fresh").write_text("of two")
    sources.publish("two")
    run = sources.installation._run

    def cut_off(command: Sequence[str]) -> str:
        if command[:2] != ["git", "merge"]:
            return run(command)
        for name in written:
            (sources.clone / name).write_text("" if name != "gone" else "of one")
        for name in ("index", "HEAD", "ORIG_HEAD", "refs/heads/master"):
            (sources.clone / ".git" / f"{name}.lock").touch()
        raise KeyboardInterrupt

    sources.installation._run = cut_off
    with pytest.raises(KeyboardInterrupt):
        update(sources.installation, Table(), places, now=NOW, try_out=lambda *_: None)
    sources.installation._run = run
    sources.installation.go_back()
    assert sources.installed == ("one again", "one again", [".venv"])
    files = {name: (sources.clone / name).exists() for name in ("gone", "fresh")}
    assert files == {"gone": True, "fresh": False}
    update(sources.installation, Table(), places, now=NOW, try_out=lambda *_: None)
    assert sources.installed == ("two", "two", [".venv"])
    assert (sources.clone / "notes").read_text() == "by hand"


@pytest.mark.parametrize(
    "name", ["refs/remotes/origin/master", "refs/dice-companion/before-update", "packed-refs"]
)
def test_a_plug_pulled_while_git_writes_a_name_stops_no_later_update(
    sources: Sources, places: Places, name: str
) -> None:
    lock = sources.clone / ".git" / f"{name}.lock"
    lock.parent.mkdir(exist_ok=True)
    lock.touch()
    sources.publish("two")
    update(sources.installation, Table(), places, now=NOW, try_out=lambda *_: None)
    assert sources.installed == ("two", "two", [".venv"])


def test_a_folder_that_would_become_a_file_stays(sources: Sources, places: Places) -> None:
    """The plug was pulled before the merge got there."""
    (sources.origin / "texts").mkdir()
    (sources.origin / "texts" / "one").write_text("of one")
    sources.publish("one again")
    update(sources.installation, Table(), places, now=NOW, try_out=lambda *_: None)
    (sources.origin / "texts" / "one").unlink()
    (sources.origin / "texts").rmdir()
    (sources.origin / "texts").write_text("of two")
    sources.publish("two")
    run = sources.installation._run

    def cut_off(command: Sequence[str]) -> str:
        if command[:2] == ["git", "merge"]:
            raise KeyboardInterrupt
        return run(command)

    sources.installation._run = cut_off
    with pytest.raises(KeyboardInterrupt):
        update(sources.installation, Table(), places, now=NOW, try_out=lambda *_: None)
    assert sources.installed == ("one again", "one again", [".venv"])
    assert (sources.clone / "texts" / "one").read_text() == "of one"


def test_an_update_that_the_plug_cut_off_is_undone_first(sources: Sources, places: Places) -> None:
    sources.publish("two")
    assert sources.installation.newer()
    sources.installation.change()
    assert sources.installed == ("two", "two", [".venv", ".venv.before-update"])
    told: list[str] = []
    update(
        Clone(sources.clone, run_as_owner(sources.clone)),
        Table(),
        places,
        now=NOW,
        try_out=lambda *_: None,
        tell=told.append,
    )
    assert told[0].startswith("an earlier update was cut off")
    assert sources.installed == ("two", "two", [".venv"])


def test_there_is_a_program_at_every_moment_of_the_way_back(sources: Sources) -> None:
    """A plug pulled at any of them is made good by the next update."""
    venv, run, left = sources.clone / ".venv", sources.installation._run, 0

    def cut_off(command: Sequence[str]) -> str:
        nonlocal left
        left -= 1
        if left < 0:
            raise KeyboardInterrupt
        return run(command)

    sources.publish("two")
    for commands in range(20):
        assert sources.installation.newer()
        sources.installation.change()
        sources.installation._run, left = cut_off, commands
        with suppress(KeyboardInterrupt):
            sources.installation.go_back()
        assert (venv / "version").exists()
        sources.installation._run = run
        sources.installation.go_back()
        assert sources.installed[:2] == ("one", "one")
    assert left > 0
    assert sources.installed[2] == [".venv"]


def test_a_venv_that_was_refused_and_stayed_has_a_way_back_later(sources: Sources) -> None:
    """A way back was cut off before the exchange, and somebody deleted the older venv."""
    (sources.clone / ".venv" / installation.REFUSED).touch()
    sources.publish("two")
    assert sources.installation.newer()
    sources.installation.change()
    sources.installation.go_back()
    assert sources.installed == ("one", "one", [".venv"])


def test_after_a_cut_off_update_the_table_starts_with_the_newest_version(
    sources: Sources, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources.publish("two")
    assert sources.installation.newer()
    sources.installation.change()
    table = Table()
    update(sources.installation, table, places, now=NOW, try_out=lambda *_: None)
    assert table.calls == ["stop", "stop", "start"]
    sources.publish("three")
    assert sources.installation.newer()
    sources.installation.change()
    monkeypatch.setattr(Clone, "newer", lambda _: "")
    table = Table()
    assert update(sources.installation, table, places, now=NOW) == ""
    assert table.calls == ["stop", "start"]


def test_an_update_whose_terminal_goes_is_taken_back(
    sources: Sources, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    def update(*_: object, tell: Callable[[str], None], **__: object) -> str:
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGHUP)
        tell("going back")
        raise KeyboardInterrupt

    outer = signal.signal(signal.SIGHUP, lambda *_: None)
    monkeypatch.setattr(installation, "this_installation", lambda _: sources.installation)
    monkeypatch.setattr("companion.service.update.update", update)
    try:
        done = CliRunner().invoke(dice_companion, ["update"])
    finally:
        signal.signal(signal.SIGHUP, outer)
    assert (done.exit_code, done.output) == (1, "going back\n\nAborted!\n")
