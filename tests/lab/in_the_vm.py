"""What the lab's virtual machine does after each start, printed on its console.

First start: install the service, play until a mark is acknowledged, then `reboot -f`, which ends
everything at once without syncing. Second start: the table must be up by itself with that mark.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

TABLE = "http://127.0.0.1:8000"
KEPT = Path("/var/lib/lab.json")
SETTINGS = Path("/etc/dice-companion/config.toml")
PATIENCE_S = 600.0
"""Emulated machines are slow."""

cookies: dict[str, str] = {}


def tell(*words: object) -> None:
    print("LAB", *words, flush=True)


def shell(command: str) -> str:
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    return " | ".join((done.stdout + done.stderr).strip().splitlines())


def get(path: str) -> Any:
    return json.load(urllib.request.urlopen(TABLE + path, timeout=60))


def post(path: str, who: str = "", **body: object) -> Any:
    headers = {"Content-Type": "application/json"}
    if who in cookies:
        headers["Cookie"] = cookies[who]
    request = urllib.request.Request(TABLE + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        if cookie := answer.headers.get("Set-Cookie"):
            cookies[who] = cookie.split(";")[0]
        return json.load(answer)


def wait_for(what: str, path: str, is_there: Any) -> float:
    """Seconds until an answer of the table is as wanted."""
    began_s = time.monotonic()
    while time.monotonic() - began_s < PATIENCE_S:
        try:
            if is_there(get(path)):
                return time.monotonic() - began_s
        except OSError:
            pass
        time.sleep(0.3)
    tell("FAILED:", what, shell("systemctl status dice-companion --no-pager -l"))
    sys.exit(1)


def first_start() -> None:
    SETTINGS.parent.mkdir()
    SETTINGS.write_text('[camera]\nsource = "none"\n')  # drawing a tray takes the emulator minutes
    tell(shell("/opt/dice/bin/dice-companion service install"))
    wait_for("up", "/healthz", lambda health: health["status"] == "ok")
    unit = "/etc/systemd/system/dice-companion.service"
    tell("verify:", shell(f"systemd-analyze verify {unit}") or "clean")
    tell(shell("systemd-analyze security --no-pager dice-companion.service | tail -n 1"))
    for name in ("Ada", "Ben"):
        post("/api/join", name, name=name)
    post("/api/start", "Ada", variant="base", first=0)
    coloured = {"red": 1, "yellow": 2, "green": 3, "blue": 4}
    game = post("/api/roll", "Ada", white=[3, 4], colour=coloured)["game"]
    box = game["players"][0]["legal"][0]
    with KEPT.open("w") as file:
        json.dump({"box": box, "roll": game["roll"]}, file)
        file.flush()
        os.fsync(file.fileno())
    post("/api/answer", "Ada", turn=1, action=1, box=box, done=True, key="once")
    tell("acknowledged:", box, "of", game["roll"], "now: reboot -f")
    shell("reboot -f")


def elsewhere(roll: Any) -> None:
    """The games move to a folder of the owner's choice, and come back there from a backup."""
    place, program = "/srv/my games", "/opt/dice/bin/dice-companion"
    stop = "systemctl stop dice-companion"
    shell(f"{stop}; cp --archive /var/lib/dice-companion '{place}'")
    SETTINGS.write_text(f'data_dir = "{place}"\n[camera]\nsource = "none"\n')
    tell("doctor before:", shell(f"{program} doctor | grep 'may not write'"))
    tell("games elsewhere:", shell(f"{program} service install | tail -n 1"))
    wait_for("up elsewhere", "/healthz", lambda health: health["status"] == "ok")
    tell("doctor after:", shell(f"{program} doctor | grep 'may not write'") or "clean")
    tell("roll kept there:", get("/api/state")["game"]["roll"] == roll)
    shell(f"{program} backup /srv/friday.tar.gz; {stop}; rm -r '{place}'")
    SETTINGS.write_text('[camera]\nsource = "none"\n')
    tell("restored:", shell(f"{program} restore /srv/friday.tar.gz"))
    shell("systemctl start dice-companion")
    wait_for("up from the backup", "/healthz", lambda health: health["status"] == "ok")
    owner = shell(f"stat --format %U '{place}'/games.sqlite3")
    tell("roll kept in the backup:", get("/api/state")["game"]["roll"] == roll, "user:", owner)
    SETTINGS.write_text('[camera]\nsource = "none"\n')
    shell(f"{program} service install")
    wait_for("up in the usual place", "/healthz", lambda health: health["status"] == "ok")


def camera() -> None:
    """A webcam that is plugged in after the start, pulled out, and plugged in again."""
    SETTINGS.write_text('[camera]\nsource = "/dev/video0"\n')
    shell("systemctl restart dice-companion")
    wait_for("up without its webcam", "/healthz", lambda health: health["camera"] == "lost")
    for which in ("late", "again"):
        # one colour and no text: nothing to read, which takes the emulator minutes
        plain = "v4l2-ctl -d /dev/video0 -c osd_text_mode=2 -c test_pattern=6"
        shell(f"modprobe vivid n_devs=1 node_types=0x1 && {plain}")
        since_s = wait_for(which, "/healthz", lambda health: health["camera"] == "ok")
        tell(f"webcam {which}: seen after {since_s:.1f} s")
        pull = "v4l2-ctl -d /dev/video0 -c disconnect=1"
        shell(pull)
        since_s = wait_for("pulled", "/healthz", lambda health: health["camera"] == "lost")
        tell(f"webcam pulled out: said after {since_s:.1f} s")
        # the driver lets the table in again once it has let go
        shell(f"until modprobe -r vivid; do {pull}; sleep 0.2; done")
        time.sleep(30)  # the reading under way takes the emulator long
    SETTINGS.write_text('[camera]\nsource = "none"\n')
    shell("systemctl restart dice-companion")
    wait_for("up again", "/healthz", lambda health: health["status"] == "ok")


def hotspot() -> None:
    """The service's user opens the Wi-Fi; a second radio joins it and asks what phones ask."""
    shell("modprobe mac80211_hwsim radios=2; ip netns add phone; mkdir -p /etc/netns/phone")
    shell("echo nameserver 10.42.0.1 >/etc/netns/phone/resolv.conf")
    shell("until nmcli -t device | grep -q wlan0:wifi:disconnected; do sleep 1; done")
    radio = "phy$(iw dev wlan1 info | sed -n 's/.*wiphy //p')"
    shell(f"nmcli device set wlan1 managed no; iw phy {radio} set netns name phone")
    as_service = "systemd-run -q --pipe --wait -p User=dice-companion -p NoNewPrivileges=yes"
    said = shell(f"{as_service} /opt/dice/bin/dice-companion hotspot on")
    tell("hotspot:", said)
    wifi = f'network={{\n ssid="Dice Companion"\n psk="{said.split()[-1]}"\n}}\n'
    Path("/run/phone.conf").write_text(wifi)
    script = Path("/opt/dhcp")  # nothing in /run may be executed
    script.write_text("#!/bin/sh\n[ $1 != bound ] || ip addr add $ip/24 dev $interface\n")
    script.chmod(0o755)
    phone = "ip netns exec phone"
    shell(f"{phone} wpa_supplicant -B -i wlan1 -c /run/phone.conf")
    shell(f"until {phone} iw dev wlan1 link | grep -q Connected; do sleep 1; done")
    tell("phone:", shell(f"{phone} busybox udhcpc -i wlan1 -n -q -s {script}").split(" | ")[-1])
    shell("timeout 120 sh -c 'until ss -ltn | grep -q 10.42.0.1:80; do sleep 1; done'")
    for asked in (
        "connectivitycheck.gstatic.com/generate_204",
        "captive.apple.com/hotspot-detect.html",
        "www.msftconnecttest.com/connecttest.txt",
        "detectportal.firefox.com/canonical.html",
        "nmcheck.gnome.org/check_network_status.txt",
        "10.42.0.1/anything",
    ):
        answer = "%{http_code} %{redirect_url}"
        ask = f"{phone} curl -s -m 30 -o /run/said -w '{answer}' http://{asked}"
        tell(asked, shell(ask), shell("head -c 60 /run/said; rm -f /run/said"))
    tell("hotspot:", shell(f"{as_service} /opt/dice/bin/dice-companion hotspot off"))


def second_start() -> None:
    kept = json.loads(KEPT.read_text())
    wait_for("up by itself", "/healthz", lambda health: health["status"] == "ok")
    tell("up by itself", Path("/proc/uptime").read_text().split()[0], "s after the kernel")
    game = get("/api/state")["game"]
    answer = game["players"][0]["answer"]
    tell("roll kept:", game["roll"] == kept["roll"], "mark kept:", answer["box"] == kept["box"])
    pid = shell("systemctl show --property MainPID --value dice-companion")
    time.sleep(30)
    memory = next(
        line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if "VmRSS" in line
    )
    tell("memory:", memory.split()[1], "kB; user:", shell(f"stat --format %U /proc/{pid}"))
    tell("watchdog:", shell("systemctl show dice-companion -p StatusText,NRestarts"))
    shell("ip link add lab0 type dummy; ip addr add 192.168.77.5/24 dev lab0")
    shell("ip link set lab0 up; ip route add default dev lab0")
    since_s = wait_for(
        "the new address",
        "/api/state",
        lambda state: "192.168.77.5" in state["table"]["join_url"],
    )
    tell(f"new address shown after {since_s:.1f} s")
    shell(f"kill -KILL {pid}")
    time.sleep(1)
    since_s = wait_for("back", "/healthz", lambda health: health["status"] == "ok")
    is_kept = get("/api/state")["game"]["roll"] == kept["roll"]
    tell(f"killed: back after {since_s + 1:.1f} s; roll kept: {is_kept}")
    elsewhere(kept["roll"])
    camera()
    hotspot()
    wait_for("the right to switch off", "/api/state", lambda state: state["table"]["can_power"])
    tell("switching off:", post("/api/power", step="off")["faults"])
    time.sleep(PATIENCE_S)
    tell("FAILED: still on")


if __name__ == "__main__":
    first_start() if not KEPT.exists() else second_start()
