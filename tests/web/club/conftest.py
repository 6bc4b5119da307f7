"""The pages of a club on disk, served, and a browser of another device."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.mqtt.club.build import ClubOnDisk
from web.access import Access
from web.club import create_club_app

ELSEWHERE = {"REMOTE_ADDR": "192.168.1.77"}
"""A request from another device."""


@pytest.fixture
def club(tmp_path: Path) -> Iterator[ClubOnDisk]:
    club = ClubOnDisk(tmp_path / "club")
    yield club
    club.store.close()


@pytest.fixture
def place() -> dict[str, str]:
    """Where phones find the club."""
    return {"url": "http://192.168.1.4:8001/"}


@pytest.fixture
def app(club: ClubOnDisk, place: dict[str, str]) -> Flask:
    return create_club_app(
        club.club,
        name="Dice <Club>",
        access=Access(pin="123456"),
        version="1",
        join_url=lambda: place["url"],
    )


@pytest.fixture
def phone(app: Flask) -> FlaskClient:
    """A browser of another device."""
    client = app.test_client()
    client.environ_base.update(ELSEWHERE)
    assert client.get("/").status_code == 200
    return client
