"""Settings: who wins, and what a wrong one says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from companion.adapters.gpio import check_pins
from companion.config import Config, default_config_path, default_data_dir, load, setting_names
from companion.errors import ConfigError, PinsUnavailable


def test_flags_win_over_environment_over_file_over_defaults(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("[web]\nport = 1001\nhost = '::1'\n[panel]\npin = 5\nhold_s = 2\n")
    environ = {"DICE_COMPANION_WEB_PORT": "1002", "DICE_COMPANION_PANEL_PIN": "6", "HOME": "/h"}
    config = load(path, environ, {"web.port": 1003, "panel.pin": None})
    assert (config.web.port, config.web.host) == (1003, "::1")
    assert (config.panel.pin, config.panel.hold_s) == (6, 2.0)
    assert config.camera == Config().camera
    assert config.data_dir == Path("/h/.local/state/dice-companion")


def test_a_port_beside_the_brokers_name_is_refused_where_it_was_given() -> None:
    with pytest.raises(ConfigError, match=r"--broker: expected a name or address \(mqtt.port"):
        load(None, {}, {"mqtt.host": "broker.local:1883"})
    assert load(None, {}, {"mqtt.host": "fe80::1"}).mqtt.host == "fe80::1"


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("[web]\nport = 1001\n", encoding="utf-8-sig")  # as Notepad saves it
    assert load(path, {}, {}).web.port == 1001


def test_systemd_names_the_directories(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[sound]\nenabled = false\n")
    config = load(None, {"CONFIGURATION_DIRECTORY": str(tmp_path), "STATE_DIRECTORY": "/s"}, {})
    assert config.sound.enabled is False
    assert config.data_dir == Path("/s")
    assert default_data_dir({"XDG_STATE_HOME": "/x"}) == Path("/x/dice-companion")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("web = 3", "web: expected a table, got 3"),
        ("[wbe]\nport = 1", "did you mean 'web'"),
        ("[web]\nprot = 1", "did you mean 'port'"),
        ("[web]\nPORT = 1", "did you mean 'port'"),
        ("[table]\nvolume = 1", "did you mean 'sound.volume'"),
        ("port = 1", "unknown setting 'port'; did you mean 'web.port' or 'mqtt.port'?"),
        ("[web]\nport = 'x'", "web.port: expected a whole number, got 'x'"),
        ("[web]\nport = true", "expected a whole number, got True"),
        ("[web]\nport = 70000", "expected 0 to 65535, got 70000"),
        ("[web]\nhost = ''", "web.host: expected an address such as 0.0.0.0, got ''"),
        ("[web]\nhost = '*'", "web.host: expected an address such as 0.0.0.0, got '*'"),
        ("[web]\nhost = '0'", "web.host: expected an address such as 0.0.0.0, got '0'"),
        ("[web]\nhost = '1.2.3.4:80'", "web.host: expected an address such as 0.0.0.0, got"),
        ('[web]\nhost = "\\u0000"', "web.host: expected an address such as 0.0.0.0, got"),
        (
            "[mqtt]\nhost = '192.0.2.5:1883'",
            "mqtt.host: expected a name or address (mqtt.port has the port), got '192.0.2.5:1883'",
        ),
        ("[panel]\nhold_s = 'long'", "panel.hold_s: expected a number, got 'long'"),
        ("[panel]\ndebounce_s = nan", "panel.debounce_s: expected 0 to 0.2, got nan"),
        ("[panel]\npin = 28", "panel.pin: expected 0 to 27, got 28"),
        ("[panel]\npin = true", "panel.pin: expected a whole number, got True"),
        ("[panel]\nfactory = 'x'", "expected auto or lgpio or mock or none"),
        ("[sound]\nvolume = 201", "sound.volume: expected 0 to 200, got 201"),
        ("[sound]\nwords_per_minute = 79", "expected 80 to 450, got 79"),
        ("[table]\nlanguage = 'xx'", "expected en"),
        ("[web\n", "is not TOML"),
        ("data_dir = 5", "expected a directory"),
        ('data_dir = "a\\u0000b"', "expected a directory"),
        ('data_dir = "~nosuchuser/x"', "expected a directory"),
        ('data_dir = "games"', "expected a whole path such as /mnt/games, got 'games'"),
        ("[panel]\nhold_s = " + "9" * 400, "too many digits"),
    ],
)
def test_a_wrong_setting_is_named(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load(path, {}, {})
    assert said in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[buzzer]\npin = 17", "buzzer.pin: expected a pin of its own, panel.pin has 17 too"),
        ("[panel]\npin = 5\nrepeat_pin = 5", "panel.repeat_pin: expected a pin of its own"),
        ("[lamp]\nred_pin = 5", "lamp: expected led_pin alone, or red_pin, green_pin and blue_pin"),
        ("[panel]\nhold_s = 5.0\npower_off_s = 5.0", r"panel.power_off_s: expected above .*5\.0"),
        ("[lamp]\nled_pin = 4\nred_pin = 5\ngreen_pin = 6\nblue_pin = 7", "expected led_pin alone"),
    ],
)
def test_pins_that_do_not_go_together_are_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text)
    config = load(path, {}, {})  # who lists games needs no pins
    with pytest.raises((ConfigError, PinsUnavailable), match=said):
        check_pins(config)


def test_pins_are_judged_when_all_is_put_together(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("[lamp]\nred_pin = 5\ngreen_pin = 6\n[buzzer]\npin = 17\n")
    environ = {"DICE_COMPANION_LAMP_BLUE_PIN": "7", "DICE_COMPANION_PANEL_PIN": "27"}
    check_pins(load(path, environ, {}))


def test_a_pipe_is_no_file_of_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    monkeypatch.setattr(Path, "open", lambda *_, **__: pytest.fail("it would wait"))
    with pytest.raises(ConfigError, match=r"pipe\.toml: .* named pipe"):
        load(tmp_path / "pipe.toml", {}, {})
    monkeypatch.undo()
    assert load(Path("/dev/null"), {"HOME": str(tmp_path)}, {}).web.port == 8000


def test_a_directory_that_cannot_be_is_named_as_it_was_given() -> None:
    with pytest.raises(ConfigError) as caught:
        load(None, {"HOME": "/nowhere"}, {"data_dir": Path("~nosuchuser/x")})
    assert "--data-dir: expected a directory, got '~nosuchuser/x'" in str(caught.value)


def test_a_named_file_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nix\.toml: cannot be read"):
        load(tmp_path / "nix.toml", {}, {})
    assert load(None, {"HOME": str(tmp_path)}, {}).web.port == 8000


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        ({"DICE_COMPANION_WEB_PROT": "1"}, "did you mean 'DICE_COMPANION_WEB_PORT'?"),
        ({"DICE_COMPANION_BOGUS": "1"}, "'DICE_COMPANION_BOGUS'; known are DICE_COMPANION_CAMERA_"),
        ({"DICE_COMPANION_WEB_PORT": "many"}, "expected a whole number, got 'many'"),
        ({"DICE_COMPANION_SOUND_VOLUME": "201"}, "expected 0 to 200, got '201'"),
        ({"DICE_COMPANION_LAMP_BRIGHTNESS": "2"}, "expected 0.05 to 1, got '2'"),
        ({"DICE_COMPANION_LAMP_BRIGHTNESS": "dim"}, "expected a number, got 'dim'"),
        ({"DICE_COMPANION_SOUND_ENABLED": "perhaps"}, "expected true or false"),
        ({"DICE_COMPANION_WEB_PORT": "\udcff"}, "WEB_PORT: expected a text in UTF-8"),
        ({"DICE_COMPANION_WEB_WIFI_NAME": "Caf\udce9"}, "WIFI_NAME: expected a text in UTF-8"),
        ({"DICE_COMPANION_DATA_DIR": "games"}, "DATA_DIR: expected a whole path"),
    ],
)
def test_a_wrong_variable_is_named(environ: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        load(None, {**environ, "HOME": "/nowhere"}, {})


def test_setting_names_are_section_and_key() -> None:
    assert {"web.port", "camera.source", "data_dir"} <= set(setting_names())


def test_settings_that_cannot_be_read_are_not_passed_over(tmp_path: Path) -> None:
    usual = default_config_path({"HOME": str(tmp_path)})
    usual.parent.mkdir(parents=True)
    usual.symlink_to(tmp_path / "a disk that is not there" / "config.toml")
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        load(None, {"HOME": str(tmp_path)}, {})
    usual.unlink()
    usual.mkdir()
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        load(None, {"HOME": str(tmp_path)}, {})


def test_a_flag_may_name_a_folder_of_the_current_one() -> None:
    assert load(None, {"HOME": "/nowhere"}, {"data_dir": Path("games")}).data_dir == Path("games")
