"""What the lab's container does: `make pi`, the service's commands, and updates.

Versions are published into the repository that the clone follows. A broken one works when it is
tried, and deletes all games once it runs as the service.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

TABLE = "http://127.0.0.1:8000"
CLONE, SOURCES = Path("~pi/dice-companion").expanduser(), Path("/opt/sources")
GAMES = Path("/var/lib/dice-companion")
SETTINGS = Path("/etc/dice-companion/config.toml")
KEPT = Path("/opt/kept.json")
APT = Path("/var/log/apt/history.log")
COMMAND = CLONE / ".venv/bin/dice-companion"

BROKEN = """
import os, pathlib
if os.environ.get("NOTIFY_SOCKET"):
    [f.unlink() for f in pathlib.Path("/var/lib/dice-companion").glob("games.*")]
    raise SystemExit("this version deletes games")
"""
SICK = """def healthz() -> Response:
        import os
        if os.environ.get("NOTIFY_SOCKET"):
            return Response("{}", 503)
"""

cookies: dict[str, str] = {}


def tell(*words: object) -> None:
    print("LAB", *words, flush=True)


def expect(is_well: bool, *words: object) -> None:
    tell(*words)
    if not is_well:
        tell("FAILED")
        sys.exit(1)


def run(command: str, user: str = "root") -> tuple[int, str]:
    as_user = ["runuser", "-u", user, "--", "sh", "-c", command]
    home = CLONE if user == "pi" and CLONE.exists() else Path("/")
    done = subprocess.run(as_user, capture_output=True, text=True, check=False, cwd=home)
    return done.returncode, done.stdout + done.stderr


def must(command: str, user: str = "root") -> str:
    status, text = run(command, user)
    if status:
        expect(False, f"{command}: {text}")
    return text


def post(path: str, who: str, **body: object) -> Any:
    headers = {"Content-Type": "application/json"}
    if who in cookies:
        headers["Cookie"] = cookies[who]
    request = urllib.request.Request(TABLE + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        if cookie := answer.headers.get("Set-Cookie"):
            cookies[who] = cookie.split(";")[0]
        return json.load(answer)


def get(path: str) -> Any:
    return json.load(urllib.request.urlopen(TABLE + path, timeout=60))


def play() -> None:
    """Two players, a roll, and a mark."""
    for name in ("Ada", "Ben"):
        post("/api/join", name, name=name)
    post("/api/start", "Ada", variant="base", first=0)
    coloured = {"red": 1, "yellow": 2, "green": 3, "blue": 4}
    game = post("/api/roll", "Ada", white=[3, 4], colour=coloured)["game"]
    box = game["players"][0]["legal"][0]
    post("/api/answer", "Ada", turn=1, action=1, box=box, done=True, key="once")
    KEPT.write_text(json.dumps({"roll": game["roll"], "box": box}))


def expect_game(after: str) -> None:
    kept, game = json.loads(KEPT.read_text()), get("/api/state")["game"]
    is_kept = game and game["roll"] == kept["roll"]
    is_kept = is_kept and game["players"][0]["answer"]["box"] == kept["box"]
    expect(bool(is_kept), f"{after}: roll and mark kept")


def publish(name: str, path: str, change: Any) -> None:
    """Put a new version into the repository that the clone follows."""
    must(f"rm -rf {SOURCES}; git clone --quiet /srv/dice.git {SOURCES}")
    must(f"git -C {SOURCES} checkout --quiet first -- companion web pyproject.toml")
    file = SOURCES / path
    file.write_text(change(file.read_text()))
    who = "-c user.name=lab -c user.email=lab@example.org"
    must(f"cd {SOURCES}; git {who} commit --quiet --all -m '{name}'; git push --quiet")
    must("chown -R pi:pi /srv/dice.git")


def version_of(text: str) -> str:
    return text.replace('version = "0.1.0"', f'version = "0.2.{int(time.time())}"', 1)


def update(name: str, should_work: bool) -> None:
    before = must("git rev-parse HEAD", "pi")
    began_s = time.monotonic()
    status, text = run(f"sudo {COMMAND} update", "pi")
    took_s = time.monotonic() - began_s
    is_well = (status == 0) is should_work
    is_well = is_well and (must("git rev-parse HEAD", "pi") != before) is should_work
    is_well = is_well and get("/healthz")["status"] == "ok"
    expect(is_well, f"update to a version that {name}, {took_s:.0f} s:", text.splitlines()[-1])
    expect(must(f"find {CLONE} ! -user pi") == "", "no file of root's in the clone")
    expect_game("after it")


def first() -> None:
    must("git config --system safe.directory '*'; git -C /srv/dice.git tag first")
    must(f"git clone --quiet /srv/dice.git {CLONE}; chown -R pi:pi {CLONE} /srv/dice.git")
    planned = must("make pi DRY_RUN=1", "pi")
    words = ("would install from Debian: ", "useradd", "SupplementaryGroups=", "Type=notify",
             "write   /etc/polkit-1", "systemctl restart")  # fmt: skip
    expect(all(word in planned for word in words), "a dry run names packages, user, groups, files")
    expect(not GAMES.exists() and not (CLONE / ".venv").exists(), "and changes nothing")
    began_s = time.monotonic()
    said = must("make pi", "pi").splitlines()
    tell(f"make pi, {time.monotonic() - began_s:.0f} s:", said[-2])
    expect(get("/healthz")["status"] == "ok", "the table answers")
    shown = must("systemctl show -p Type,WatchdogUSec,User,NRestarts dice-companion").split()
    expect("Type=notify" in shown and "User=dice-companion" in shown, *shown)
    unit = "/etc/systemd/system/dice-companion.service"
    expect(must(f"systemd-analyze verify {unit}") == "", "systemd-analyze verify: nothing")
    tell(must("systemd-analyze security --no-pager dice-companion | tail -n 1").strip())
    asked = APT.read_text()
    began_s = time.monotonic()
    must("make pi", "pi")
    expect(APT.read_text() == asked, f"again, {time.monotonic() - began_s:.0f} s: apt untouched")
    SETTINGS.write_text('[camera]\nsource = "none"\n')
    must("systemctl restart dice-companion")
    play()
    expect_game("before all updates")
    publish("good", "pyproject.toml", version_of)
    update("works", True)
    publish("broken", "companion/commands/play.py", lambda text: text + BROKEN)
    update("deletes games", False)
    publish("sick", "web/views/health.py",
            lambda text: text.replace("def healthz() -> Response:\n", SICK))  # fmt: skip
    update("is not healthy", False)
    expect("Active: active" in must(f"{COMMAND} service status"), "service status: active")
    expect("listening on" in must(f"{COMMAND} service logs"), "service logs: listening")
    expect(GAMES.as_posix() in must(f"{COMMAND} doctor --camera none"), "doctor checks its games")
    must(f"{COMMAND} service remove")
    gone = not Path(unit).exists() and run(f"{COMMAND} service status")[0] == 1
    expect(gone and (GAMES / "games.sqlite3").exists(), "service remove: gone, games stay")
    must(f"{COMMAND} service install")
    expect_game("installed again")


def cut() -> None:
    publish("good", "pyproject.toml", version_of)
    must(f"{COMMAND} update >/opt/update.log 2>&1")


def after_the_cut() -> None:
    give_up_s = time.monotonic() + 120
    while run(f"curl --silent --fail {TABLE}/healthz")[0] and time.monotonic() < give_up_s:
        time.sleep(0.5)
    expect_game("plug pulled in an update")
    said = must(f"sudo {COMMAND} update", "pi").splitlines()
    expect("cut off" in said[0] and "updated to" in said[-1], said[0], "|", said[-1])
    expect_game("after it")
    must(f"{COMMAND} service remove --purge")
    expect(not list(GAMES.parent.glob("dice-companion*")), "purged: no games, no copies")


if __name__ == "__main__":
    {"first": first, "cut": cut, "after_the_cut": after_the_cut}[sys.argv[1]]()
