"""The page's address as a QR code, for a screen and for a terminal."""

from __future__ import annotations

import io

import segno


def as_svg(url: str) -> bytes:
    """A QR code as SVG, dark on light with its quiet zone: cameras need both."""
    out = io.BytesIO()
    segno.make(url, error="m", micro=False).save(
        out, kind="svg", xmldecl=False, svgclass=None, lineclass=None, omitsize=True, light="#fff"
    )
    return out.getvalue()


def as_text(url: str) -> str:
    """A QR code in block characters, two modules to a character, for a dark or light terminal."""
    out = io.StringIO()
    segno.make(url, error="l", micro=False).terminal(out, compact=True, border=2)
    return out.getvalue()
