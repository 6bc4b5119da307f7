"""A table whose data are backed up."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from companion.service.backup import write_backup
from tests.session.fakes import Stage

NOW = datetime(2026, 11, 20, 21, 30, tzinfo=UTC)


def backed_up(table: Stage, tmp_path: Path) -> Path:
    """Write a backup of it."""
    file = tmp_path / "friday.tar.gz"
    write_backup(file, table.directory, tmp_path / "config.toml", now=NOW, version="1.0")
    return file
