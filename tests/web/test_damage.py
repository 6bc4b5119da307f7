"""Damaged files: what could not be read is said on the pages, and the files are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from companion.doctor.machine import check_games
from companion.eventlog.journal import JOURNAL_NAME
from companion.eventlog.store import FILE_NAME
from tests.session.fakes import Stage
from tests.web.browsing import OpenPage, drawn, ready, violations


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    """A table that lost the records of two players, in both files."""
    stage = Stage(tmp_path)
    stage.seat("Ada", "Ben", "Cleo")
    stage.session.start()
    stage.store.close()
    for name in (FILE_NAME, JOURNAL_NAME):
        path = tmp_path / name
        data = path.read_bytes()
        assert data.count(b'"name": "Ben"') == data.count(b'"name": "Cleo"') == 1
        path.write_bytes(
            data.replace(b'"name": "Ben"', b'"name": "B?n"').replace(
                b'"name": "Cleo"', b'"name": "Cl?o"'
            )
        )
    return Stage(tmp_path)


def test_lost_steps_are_counted_on_the_pages_and_files_kept(
    stage: Stage, open_page: OpenPage, tmp_path: Path
) -> None:
    host = stage.session.join("Dan", "host")
    assert host
    for path in ("/table", "/host"):
        page = ready(open_page(path, device="host"))
        page.get_by_text("2 steps could not be read").wait_for()
        assert violations(page) == []
    assert len(list(tmp_path.glob("games.*damaged-1"))) == 2
    finding = check_games(tmp_path)
    assert "lost to earlier damage: 2; damaged files are kept: games.damaged-1" in finding.text


def test_it_is_said_until_the_next_start(stage: Stage) -> None:
    assert stage.session.view().lost == 2
    assert stage.again().session.view().lost == 0


def test_the_host_reads_that_the_second_copy_is_missing(
    stage: Stage, open_page: OpenPage, tmp_path: Path
) -> None:
    assert stage.session.join("Dan", "host")
    host, table = ready(open_page("/host", device="host")), ready(open_page("/table"))
    sentence = "the second copy that protects them can’t be written"
    assert sentence not in host.locator("#faults").inner_text()
    (tmp_path / JOURNAL_NAME).unlink()
    (tmp_path / JOURNAL_NAME).mkdir()
    assert stage.session.join("Eve")
    host.get_by_text(sentence).wait_for()
    assert violations(host) == []
    drawn(table, stage)
    assert sentence not in table.locator("#faults").inner_text()  # nobody at the table can help
