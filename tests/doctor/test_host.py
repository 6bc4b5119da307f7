"""The board and its system, as doctor judges what they report."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from companion.doctor.finding import Finding, Ran, Verdict
from companion.doctor.host import (
    check_backup,
    check_camera_node,
    check_file_system,
    check_hotspot,
    check_pin_factory,
    check_power,
    check_service,
    check_service_place,
    check_sound_rights,
    check_temperature,
)
from companion.service.unit import DATA_DIR, unit_text


@pytest.mark.parametrize(
    ("said", "texts"),
    [
        (Ran(None), []),
        (Ran(255, "", "VCHI initialization failed"), []),
        (Ran(0, "nonsense"), []),
        (Ran(0, "throttled=0x0\n"), ["enough voltage, cool enough"]),
        (Ran(0, "throttled=0x50005\n"), ["the Pi gets too little voltage"]),
        (Ran(0, "throttled=0x50000\n"), ["the Pi got too little voltage since it was started"]),
        (Ran(0, "throttled=0xe0008\n"), ["the Pi is close to its heat limit"]),
    ],
)
def test_power(said: Ran, texts: list[str]) -> None:
    assert [finding.text for finding in check_power(said)] == texts


@pytest.mark.parametrize(
    ("bits", "text"),
    [
        (0x2, "the Pi's clock is capped"),
        (0x20000, "the Pi's clock was capped since it was started"),
        (0x40000, "the Pi was slowed down by heat since it was started"),
        (0x80000, "the Pi was close to its heat limit since it was started"),
    ],
)
def test_past_heat_and_a_capped_clock_are_not_called_cool(bits: int, text: str) -> None:
    assert [f.text for f in check_power(Ran(0, f"throttled={bits:#x}\n"))] == [text]


@pytest.mark.parametrize(
    ("read", "verdicts"),
    [
        (None, []),
        ("nonsense", []),
        ("51540\n", [Verdict.OK]),
        ("79000\n", [Verdict.NOTE]),
    ],
)
def test_a_hot_processor_is_named(read: str | None, verdicts: list[Verdict]) -> None:
    assert [f.verdict for f in check_temperature(read)] == verdicts


MOUNTS = """\
/dev/mmcblk0p2 / ext4 rw,noatime 0 0
tmpfs /run tmpfs rw,nosuid 0 0
overlay /games overlay rw,lowerdir=/lower 0 0
/dev/sda1 /media/usb\\040stick vfat ro,nosuid 0 0
/dev/sdb1 /media/worn ext4 rw,emergency_ro 0 0
"""


@pytest.mark.parametrize(
    ("directory", "part"),
    [
        ("/var/lib/dice-companion", None),
        ("/run/dice", "games are lost at power-off"),
        ("/games/dice", "kept in memory (overlay)"),
        ("/media/usb stick/dice", "is read-only"),
        ("/media/worn/dice", "is read-only"),
        ("/runner", None),
    ],
)
def test_a_disk_that_forgets_games_is_named(directory: str, part: str | None) -> None:
    found = check_file_system(Path(directory), MOUNTS)
    assert (part in found[0].text) if part else found == []


def test_games_behind_a_link_are_where_it_leads(tmp_path: Path) -> None:
    (tmp_path / "stick").mkdir()
    (tmp_path / "games").symlink_to(tmp_path / "stick")
    mounts = f"{MOUNTS}/dev/sdb1 {tmp_path}/stick vfat ro 0 0\n"
    (finding,) = check_file_system(tmp_path / "games", mounts)
    assert "is read-only" in finding.text


def test_a_sound_card_without_permission_names_the_group() -> None:
    node = "/dev/snd/pcmC0D0p"
    assert check_sound_rights([], []) == []
    assert check_sound_rights([node], [node]) == []
    (finding,) = check_sound_rights([node], [])
    assert "usermod -aG audio" in finding.cure


def test_a_pin_factory_of_gpiozero_is_said_to_be_ignored() -> None:
    environ = {"GPIOZERO_PIN_FACTORY": "pigpio"}
    assert check_pin_factory({}, "auto") == []
    (finding,) = check_pin_factory(environ, "auto")
    assert "pigpio is not used" in finding.text
    assert check_pin_factory(environ, "lgpio") == [], "it was chosen here, as the cure says"


@pytest.mark.parametrize(
    ("source", "is_pi", "count"),
    [("/dev/video10", True, 1), ("/dev/video31", True, 1), ("/dev/video0", True, 0),
     ("/dev/video10", False, 0), ("auto", True, 0)],
)  # fmt: skip
def test_a_codec_is_not_taken_for_a_camera(source: str, is_pi: bool, count: int) -> None:
    assert len(check_camera_node(source, is_pi)) == count


def shown(state: str, restarts: int = 0, watchdog: str = "30s") -> Ran:
    lines = ("LoadState=loaded", f"ActiveState={state}", f"NRestarts={restarts}",
             f"WatchdogUSec={watchdog}")  # fmt: skip
    return Ran(0, "\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (Ran(None), None),
        (Ran(0, "LoadState=not-found\nActiveState=inactive\n"), None),
        (shown("active"), "running"),
        (shown("failed"), "installed, but failed"),
        (shown("active", 3), "running; started again 3 times by itself"),
        (shown("active", watchdog="0"), "running without a watchdog"),
    ],
)
def test_a_service_that_is_not_well_is_named(answer: Ran, text: str | None) -> None:
    assert [f.text for f in check_service(answer, True)] == ([text] if text else [])


def test_whose_games_are_checked_is_told_to_those_who_may_not_see_them() -> None:
    (finding,) = check_service(Ran(0, "LoadState=loaded\nActiveState=active\n"), False)
    assert (finding.verdict, "with sudo" in finding.text) == (Verdict.OK, True)


@pytest.mark.parametrize(
    ("wanted", "wifi", "text"),
    [
        ("never", None, None),
        ("never", "", None),
        ("never", "Cabin", "on: 'Cabin'"),
        ("alone", "", "off; opens when no network is there"),
        ("alone", None, "web.hotspot is 'alone', but NetworkManager is not installed"),
    ],
)
def test_the_hotspot_that_is_wanted_is_reported(
    wanted: str, wifi: str | None, text: str | None
) -> None:
    assert [f.text for f in check_hotspot(wanted, wifi)] == ([text] if text else [])


NOW = datetime(2026, 11, 25, tzinfo=UTC)


@pytest.mark.parametrize(
    ("age_days", "records", "text"),
    [
        (None, None, None),
        (None, 0, None),
        (None, 12, "none yet"),
        (0, 12, "today"),
        (1, 12, "yesterday"),
        (2, 12, "2 days ago"),
        (30, 12, "30 days ago"),
        (31, 12, "the last one is 31 days old"),
        (-400, 12, "the last one is from 2027-12-30, when a clock was wrong"),
        (20_786, 12, "the last one is from 1969-12-28, when a clock was wrong"),
    ],
)
def test_games_without_a_recent_backup_are_named(
    age_days: int | None, records: int | None, text: str | None
) -> None:
    last = None if age_days is None else NOW - timedelta(days=age_days)
    found: list[Finding] = check_backup(last, NOW, records)
    assert [f.text for f in found] == ([text] if text else [])


def test_a_clock_that_was_never_set_judges_no_backup() -> None:
    now = datetime(1970, 1, 1, 0, 8, tzinfo=UTC)
    assert [check_backup(last, now, 12) for last in (None, NOW, now)] == [[], [], []]


def test_a_place_that_the_service_was_not_told_of_is_named() -> None:
    place = Path("/mnt/my disk/dice")
    told = unit_text(("play",), (), 257, data_dir=place)
    assert check_service_place(place, told) == []
    assert check_service_place(DATA_DIR, unit_text(("play",), (), 257)) == []
    assert check_service_place(place, None) == [], "it is no service"
    assert check_service_place(DATA_DIR / "friday", unit_text(("play",), (), 257)) == []
    assert len(check_service_place(place.parent, told)) == 1
    (finding,) = check_service_place(place, unit_text(("play",), (), 257))
    assert finding.cure == "sudo dice-companion service install"
