"""Memory that a busy moment needed goes back to the system."""

from __future__ import annotations

import subprocess
import sys

from companion.service.memory import EVERY_S, FIRST_S, Trimmer

NEEDED = """
import re
from companion.service.memory import give_back

def resident_mb():
    return int(re.search(r"VmRSS:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024

kept = [bytearray(50_000) for _ in range(2_000)]
kept = kept[::200]
before = resident_mb()
print(give_back(), before - resident_mb())
"""


def test_freed_memory_is_returned_to_the_system() -> None:
    ran = subprocess.run([sys.executable, "-c", NEEDED], capture_output=True, text=True, check=True)
    can, returned_mb = ran.stdout.split()
    if can == "True":  # glibc
        assert float(returned_mb) > 50.0


HOLES = """
import re, sys
from companion.service.memory import return_large_blocks

can = sys.argv[1] == "bounded" and return_large_blocks()
del_later = [bytearray(3_000_000) for _ in range(30)]
kept = []
while del_later:
    del_later.pop()
    kept.append([bytearray(3_000_000), bytearray(900_000)])
for each in kept:
    each[0] = None
resident = re.search(r"VmRSS:\\s+(\\d+)", open("/proc/self/status").read())
print(can, int(resident[1]) / 1024)
"""


def test_large_blocks_leave_no_holes() -> None:
    def resident_mb(mode: str) -> tuple[str, float]:
        command = [sys.executable, "-c", HOLES, mode]
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
        can, resident = ran.stdout.split()
        return can, float(resident)

    can, bounded = resident_mb("bounded")
    if can == "True":  # glibc
        assert bounded < resident_mb("as it is")[1] - 40.0


def test_it_is_returned_after_the_start_and_then_now_and_again() -> None:
    now_s, times = [0.0], []
    trim = Trimmer(lambda: now_s[0], lambda: times.append(now_s[0]))
    for second in range(200):
        now_s[0] = float(second)
        trim()
    assert times == [FIRST_S, FIRST_S + EVERY_S, FIRST_S + 2 * EVERY_S, FIRST_S + 3 * EVERY_S]
