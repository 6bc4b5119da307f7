"""Nothing leaves the house: what a whole table asks of the network, and what it leaves behind."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tests.commands.test_play import PATIENCE_S, Play, command
from tests.conftest import ROOT

QUIET = ("192.0.2.1", "2001:db8::1")
"""Addresses for documentation (RFC 5737, RFC 3849). Connecting a datagram socket to one looks up
the own address in the routing table; nothing is sent."""

ADDRESS = re.compile(r'inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)"')
SENDING = "connect,sendto,sendmsg,sendmmsg"


def outside(trace: str) -> list[str]:
    """Calls of a trace that reach for another machine."""
    found = []
    for line in trace.splitlines():
        told = ADDRESS.search(line)
        host = (told[1] or told[2]) if told else ""
        is_quiet = host in QUIET and " connect(" in f" {line}"
        if host and not host.startswith("127.") and host != "::1" and not is_quiet:
            found.append(line)
    return found


@pytest.mark.skipif(shutil.which("strace") is None, reason="no strace: apt-get install strace")
def test_a_table_with_its_eye_open_asks_nothing_of_the_outside(tmp_path: Path) -> None:
    trace, home = tmp_path / "trace", tmp_path / "home"
    home.mkdir()
    # -D: the table is this process's child, and strace its grandchild
    spied = ["strace", "-D", "-f", "--seccomp-bpf", "-o", str(trace), "-e", f"trace={SENDING}"]
    with subprocess.Popen(
        [*spied, *command(tmp_path / "data", "--camera", "simulated", "--host", "0.0.0.0")],
        cwd=ROOT,
        env={**os.environ, "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            said = process.stdout.readline()
            if not said:
                pytest.skip("this machine does not let a process be traced")
            table = Play(process, said.split()[-1].replace("0.0.0.0", "127.0.0.1"))
            give_up_s = time.monotonic() + PATIENCE_S
            while table.get("/api/state")["tray"]["status"] in ("waiting", "reading"):
                assert time.monotonic() < give_up_s
                time.sleep(0.1)
        finally:
            process.terminate()
            process.wait(PATIENCE_S)
    ended = re.compile(rf"^{process.pid} +\+\+\+ ", re.MULTILINE)  # strace pads short numbers
    while not ended.search(seen := trace.read_text()):
        assert time.monotonic() < give_up_s + PATIENCE_S
        time.sleep(0.05)
    assert any(host in seen for host in QUIET), "the trace has the look into the routing table"
    assert outside(seen) == []
    assert [path for path in home.rglob("*") if path.is_file()] == []


def test_a_call_to_another_machine_would_be_found() -> None:
    name_server = (
        "7 connect(9, {sa_family=AF_INET, sin_port=htons(53), "
        'sin_addr=inet_addr("192.168.1.1")}, 16) = 0'
    )
    sent = (
        "7 sendto(9, ..., {sa_family=AF_INET, sin_port=htons(9), "
        'sin_addr=inet_addr("192.0.2.1")}, 16) = 4'
    )
    own = (
        "7 connect(9, {sa_family=AF_INET, sin_port=htons(9), "
        'sin_addr=inet_addr("192.0.2.1")}, 16) = 0'
    )
    home = (
        "7 connect(9, {sa_family=AF_INET6, sin6_port=htons(80), "
        'inet_pton(AF_INET6, "::1", &sin6_addr)}, 28) = 0'
    )
    assert outside("\n".join([name_server, sent, own, home])) == [name_server, sent]
