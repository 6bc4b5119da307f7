"""Style sheets and the manifest, which every site's pages load besides their scripts."""

from __future__ import annotations

from typing import cast

from flask import Blueprint, Response, jsonify, request

from companion.messages.catalogue import line
from web.modules import static_path, style_of
from web.security import Refused


def install(pages: Blueprint, name: str) -> None:
    """Add them to a blueprint; the name is that of the site."""

    @pages.get("/style/<names>.css")
    def style(names: str) -> Response:
        text = style_of(names)
        if text is None:
            raise Refused(404, "NO_STYLE", line("page.http.404"))
        response = Response(text, mimetype="text/css", headers={"Cache-Control": "no-cache"})
        response.add_etag()
        return cast(Response, response.make_conditional(request))

    @pages.get("/manifest.webmanifest")
    def manifest() -> Response:
        response = jsonify(
            {
                "name": name,
                "short_name": name,
                "start_url": "/",
                "display": "standalone",
                "background_color": "#fbf4e6",
                "theme_color": "#fbf4e6",
                "icons": [
                    {
                        "src": f"{static_path()}/icon-{size}.png",
                        "sizes": f"{size}x{size}",
                        "type": "image/png",
                        "purpose": purpose,
                    }
                    for size in (192, 512)
                    for purpose in ("any", "maskable")
                ],
            }
        )
        response.mimetype = "application/manifest+json"
        return response
