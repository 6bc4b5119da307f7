"""A simulated table in a process of its own, which a test kills in the middle of a game."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from companion.commands.simulated_table import SimulatedTable
from companion.mqtt.broker import Broker

if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    table = SimulatedTable(
        Path(asked["directory"]),
        Broker("127.0.0.1", asked["port"]),
        asked["club"],
        asked["name"],
        seed=2,
    )
    table.start()
    names = json.loads(sys.stdin.readline())
    table.begin(names)
    table.play(turns=3)
    print("in the middle", flush=True)
    sys.stdin.read()
