"""Hostile files: nested, huge, endless or waiting ones are refused in a line, at once."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from companion.cli import dice_companion
from companion.errors import NotationError, ServiceError
from companion.service.restore import restore_backup
from companion.wire.files import MOST_TOML_BYTES, read_text, read_toml

NOW = datetime(2026, 11, 25)
ZERO = Path("/dev/zero")
CONTENTS = {
    "deep": "a = " + "[" * 5000,
    "closed": "a = " + "[" * 50_000 + "]" * 50_000,
    "number": "[web]\nport = " + "9" * 5000,
    "dots": ".".join(["a"] * 20_000) + " = 1",
    "long": "a = '" + "x" * MOST_TOML_BYTES + "'",
}


def hostile(folder: Path) -> list[Path]:
    """Files of settings that nobody can read."""
    for name, text in CONTENTS.items():
        (folder / f"{name}.toml").write_text(text)
    os.mkfifo(folder / "pipe.toml")
    return [*sorted(folder.glob("*.toml")), ZERO, folder]


def test_toml_that_nobody_can_read_is_refused_in_a_line(tmp_path: Path) -> None:
    files = hostile(tmp_path)
    assert len(files) == len(CONTENTS) + 3
    for path in files:
        with pytest.raises((OSError, ValueError)) as caught:
            read_toml(path)
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 200


def test_a_file_of_just_the_length_is_read(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("x" * 1000)
    assert len(read_text(path, 1000)) == 1000
    with pytest.raises(ValueError, match="expected 0 kB at most"):
        read_text(path, 999)


def test_a_file_in_another_encoding_is_told_with_its_line_and_a_cure(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes("[club]\nname = 'Würfel'\n".encode("cp1252"))
    with pytest.raises(ValueError, match="line 2 is not UTF-8; save the file as UTF-8"):
        read_toml(path)


def _endless_header() -> bytes:
    """A header of the pax form, which tarfile reads as a whole, with a length of 8 GB."""
    header = tarfile.TarInfo("x")
    header.type, header.size = tarfile.XHDTYPE, 8 * 1024**3 - 1
    return header.tobuf(tarfile.USTAR_FORMAT) + bytes(5_000_000)


def _endless_map() -> bytes:
    """A sparse file whose map of holes always goes on in the next block."""
    header = tarfile.TarInfo("x")
    header.type = tarfile.GNUTYPE_SPARSE
    block = bytearray(header.tobuf(tarfile.GNU_FORMAT))
    block[482] = 1
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block) + (b"00000000001\0" * 42 + b"\1" + bytes(7)) * 10_000


def _endless_list() -> bytes:
    """A sparse file of the pax form, with a list of millions of holes."""
    header = tarfile.TarInfo("x")
    header.size = 3_000_000
    header.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0"}
    return header.tobuf(tarfile.PAX_FORMAT) + b"1500000\n" + b"1\n" * 1_500_000


@pytest.mark.parametrize("archive", [_endless_header, _endless_map, _endless_list])
def test_a_backup_with_an_endless_header_is_refused(
    tmp_path: Path, archive: Callable[[], bytes]
) -> None:
    file = tmp_path / "b.tar.gz"
    file.write_bytes(gzip.compress(archive(), 1))
    with pytest.raises(ServiceError, match="a header is longer than any of a backup"):
        restore_backup(file, tmp_path / "data", tmp_path / "config.toml", now=NOW)


def test_a_backup_with_a_wrong_map_of_holes_is_refused(tmp_path: Path) -> None:
    header = tarfile.TarInfo("x")
    header.size = 512
    header.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0"}
    file = tmp_path / "b.tar.gz"
    file.write_bytes(gzip.compress(header.tobuf(tarfile.PAX_FORMAT) + b"many\n" + bytes(507)))
    with pytest.raises(ServiceError, match="no backup, or a damaged one"):
        restore_backup(file, tmp_path / "data", tmp_path / "config.toml", now=NOW)


@pytest.mark.parametrize("line", [b"\n", b'{"t":"x"}\n', b"{%990000d}\n" % 0])
def test_a_record_without_end_is_refused_before_it_fills_the_memory(
    tmp_path: Path, line: bytes
) -> None:
    file = tmp_path / "endless.jsonl.gz"
    file.write_bytes(gzip.compress(line * (32_000_000 // len(line) + 1), 1))
    done = CliRunner().invoke(dice_companion, ["games", "import", str(file)])
    assert isinstance(done.exception, NotationError)
    most = "at most 32 MB and 1,000,000 lines"
    assert str(done.exception) == f"{file}: expected {most}; split it"


PROGRAM = (sys.executable, "-m", "companion")
MEASURED = """
import pathlib, resource, subprocess, sys
ran = subprocess.run(sys.argv[2:])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
pathlib.Path(sys.argv[1]).write_text(str(used.ru_maxrss))
sys.exit(ran.returncode)
"""
"""Runs a command and writes its most memory in kB. A child of the tests' own process would begin
with the memory of that."""


COMMANDS = (
    ("play", "--port", "0", "--camera", "none", "--config"),
    ("doctor", "--config"),
    ("read", "no.png", "--calibration"),
    ("bench", "read"),
    ("read",),
    ("games", "import"),
    ("restore",),
)


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_refuses_them_in_a_line(tmp_path: Path, command: tuple[str, ...]) -> None:
    environ = os.environ | {"HOME": str(tmp_path / "home"), "XDG_STATE_HOME": str(tmp_path / "s")}
    environ["DICE_COMPANION_SOUND_ENABLED"] = "false"
    most_kb = tmp_path / "most_kb"
    for path in hostile(tmp_path)[:-1]:
        run = subprocess.run(
            [sys.executable, "-c", MEASURED, most_kb, *PROGRAM, *command, str(path)],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            env=environ,
            timeout=60,
        )
        assert run.returncode == 1, (path, run.stderr)
        told = run.stderr or run.stdout  # doctor's findings are on stdout
        assert "Traceback" not in told
        if command[0] != "doctor":
            assert len(run.stderr.splitlines()) <= 2, "one for the file, one for a missing picture"
            assert max(map(len, run.stderr.splitlines())) < 300
        assert int(most_kb.read_text()) < 300 * 1024
