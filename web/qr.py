"""The page's address as a QR code, for a screen and for a terminal."""

from __future__ import annotations

import io

import segno
from segno import helpers


def as_svg(url: str) -> bytes:
    """A QR code as SVG, dark on light with its quiet zone: cameras need both."""
    return _svg(segno.make(url, error="m", micro=False))


def wifi_as_svg(name: str, password: str) -> bytes:
    """The code that lets a phone join a Wi-Fi: WPA with a password, open without."""
    security = "WPA" if password else None
    return _svg(helpers.make_wifi(ssid=name, password=password or None, security=security))


def _svg(code: segno.QRCode) -> bytes:
    out = io.BytesIO()
    code.save(
        out, kind="svg", xmldecl=False, svgclass=None, lineclass=None, omitsize=True, light="#fff"
    )
    return out.getvalue()


def as_text(url: str) -> str:
    """A QR code in block characters, two modules to a character, for a dark or light terminal."""
    out = io.StringIO()
    segno.make(url, error="l", micro=False).terminal(out, compact=True, border=2)
    return out.getvalue()
