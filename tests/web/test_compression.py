"""Long texts travel compressed, and only to browsers that can read them."""

from __future__ import annotations

import gzip

import pytest
from flask.testing import FlaskClient

from tests.web.browsing import MODULES
from web import compression

ZIPPED = {"Accept-Encoding": "gzip, deflate"}


@pytest.mark.parametrize(
    "path", ["/", f"{MODULES}/lib/sheet.js", f"{MODULES}/css/base.css", "/api/state"]
)
def test_a_text_is_the_same_once_unpacked(client: FlaskClient, path: str) -> None:
    with client.get(path) as plain, client.get(path, headers=ZIPPED) as zipped:
        assert "Content-Encoding" not in plain.headers
        assert plain.headers["Vary"] == zipped.headers["Vary"] == "Accept-Encoding"
        if zipped.headers.get("Content-Encoding"):
            assert gzip.decompress(zipped.data) == plain.data
            assert int(zipped.headers["Content-Length"]) == len(zipped.data) < len(plain.data)
        else:
            assert len(plain.data) < 1_000


def test_a_long_text_is_not_kept_in_memory(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = compression._kept.cache_info().currsize
    monkeypatch.setattr(compression, "MOST_KEPT_BYTES", 1_000)
    path = f"{MODULES}/css/base.css"
    with client.get(path) as plain, client.get(path, headers=ZIPPED) as zipped:
        assert gzip.decompress(zipped.data) == plain.data
    assert compression._kept.cache_info().currsize == kept


def test_pictures_and_streams_travel_as_they_are(client: FlaskClient) -> None:
    for path in (f"{MODULES}/icon-192.png", "/api/events", "/api/frame.jpg"):
        with client.get(path, headers=ZIPPED) as answer:
            assert answer.status_code == 200
            assert "Content-Encoding" not in answer.headers
