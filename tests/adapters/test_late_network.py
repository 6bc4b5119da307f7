"""The network comes after the table has started, as at most boots."""

from __future__ import annotations

import json
import time
import urllib.request
from dataclasses import replace
from pathlib import Path

import pytest

import companion.app
from companion.config import Config
from companion.service import network
from companion.service.network import Address

PATIENCE_S = 20.0


def test_pages_are_told_when_the_address_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = [Address("127.0.0.1")]
    monkeypatch.setattr(network, "own_address", lambda bound: place[0])
    monkeypatch.setattr(network, "reachable_host", lambda bound: "127.0.0.1")
    monkeypatch.setattr(network, "ADDRESS_EVERY_S", 0.02)
    config = Config(data_dir=tmp_path)
    config = replace(
        config,
        camera=replace(config.camera, source="none"),
        panel=replace(config.panel, factory="none"),
        web=replace(config.web, host="127.0.0.1", port=0),
        sound=replace(config.sound, enabled=False),
    )
    app = companion.app.build(config)
    port = app.address[1]

    def shown() -> tuple[str, str]:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/state", timeout=10) as reply:
            table = json.load(reply)["table"]
        return table["join_url"], table["join_name"]

    try:
        version = app.session.view().version
        assert shown() == (f"http://127.0.0.1:{port}/", "")
        place[0] = Address("192.168.1.7", "dice.local")
        give_up_s = time.monotonic() + PATIENCE_S
        while app.session.view().version == version and time.monotonic() < give_up_s:
            app.session.wait(version, 0.1)
        assert app.session.view().version > version, "streams wake at a new version"
        assert shown() == (f"http://192.168.1.7:{port}/", f"http://dice.local:{port}/")
    finally:
        app.close()
