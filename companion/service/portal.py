"""Answer the questions by which phones find out whether a Wi-Fi leads anywhere.

A phone leaves a Wi-Fi without internet, or hides it behind its mobile network. On the table's own
hotspot each system gets the answer that it takes for a good network, so it stays; any other page
of the hosts that it asks leads to the table. Nothing is answered while there is no hotspot.

Sources: Android's NetworkMonitor (`generate_204`), Apple's Captive Network Assistant, Microsoft's
Network Connectivity Status Indicator, Firefox's `captivedetect.canonicalURL` and its content,
NetworkManager.conf(5) "connectivity".
"""

from __future__ import annotations

import logging
import socket
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread, Timer

from companion.service.unit import HOTSPOT_ADDRESS

LOGGER = logging.getLogger(__name__)

PORT = 80
"""Phones ask nowhere else. The service may bind it by a capability of its unit."""

PATIENCE_S = 2.0
"""Seconds for a phone to send its whole question."""

_AT_ONCE = 8
"""Connections of one phone; browsers open some in advance. Further ones are closed."""

_APPLE = b"<HTML><HEAD><TITLE>Success</TITLE></HEAD><BODY>Success</BODY></HTML>"
_FIREFOX = (
    b'<meta http-equiv="refresh" content="0;url=https://support.mozilla.org/kb/captive-portal"/>'
)

ANSWERS: Mapping[str, tuple[int, str, bytes]] = {
    "/generate_204": (204, "", b""),
    "/gen_204": (204, "", b""),
    "/hotspot-detect.html": (200, "text/html", _APPLE),
    "/library/test/success.html": (200, "text/html", _APPLE),
    "/connecttest.txt": (200, "text/plain", b"Microsoft Connect Test"),
    "/ncsi.txt": (200, "text/plain", b"Microsoft NCSI"),
    "/success.txt": (200, "text/plain", b"success\n"),
    "/canonical.html": (200, "text/html", _FIREFOX),
    "/check_network_status.txt": (200, "text/plain", b"NetworkManager is online\n"),
    "/nm": (200, "text/plain", b"NetworkManager is online\n"),
}
"""Status, media type and body by path, whatever host was asked."""


class _Answering(BaseHTTPRequestHandler):
    """Answers one request and closes the connection."""

    server: _Server

    def handle(self) -> None:
        patience = Timer(PATIENCE_S, self._hang_up)
        patience.daemon = True
        patience.start()
        try:
            super().handle()
        finally:
            patience.cancel()

    def _hang_up(self) -> None:
        with suppress(OSError):  # it has just ended
            self.connection.shutdown(socket.SHUT_RDWR)

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        status, kind, body = ANSWERS.get(path, (302, "", b""))
        self.send_response_only(status)
        if status == 302:
            self.send_header("Location", self.server.table_url)
        if kind:
            self.send_header("Content-Type", kind)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_HEAD = do_GET

    def log_message(self, *_: object) -> None:
        """No line for each question of a phone."""


class _Server(ThreadingHTTPServer):
    request_queue_size = 64

    def __init__(self, address: tuple[str, int], table_url: str) -> None:
        self.table_url = table_url
        self._open: Counter[str] = Counter()  # connections by phone
        self._mutex = Lock()
        super().__init__(address, _Answering)

    def verify_request(self, request: object, client_address: tuple[str, int]) -> bool:
        with self._mutex:
            if self._open[client_address[0]] >= _AT_ONCE:
                return False
            self._open[client_address[0]] += 1
            return True

    def process_request_thread(
        self, request: socket.socket | tuple[bytes, socket.socket], client_address: tuple[str, int]
    ) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._mutex:
                self._open[client_address[0]] -= 1

    def handle_error(self, request: object, client_address: object) -> None:
        """A phone that hangs up is no error."""


class Portal:
    """The answers, while the hotspot is on."""

    def __init__(self, table_url: str, address: tuple[str, int] = (HOTSPOT_ADDRESS, PORT)) -> None:
        """Nothing is answered before `follow`.

        Args:
            table_url: Of the page, by the hotspot's address.
            address: Where phones ask.
        """
        self._url, self._address = table_url, address
        self._mutex = Lock()
        self._server: _Server | None = None
        self._has_complained = False

    def follow(self, is_on: bool) -> None:
        """Begin to answer, or stop; without the right to, phones ask in vain.

        Called again, it tries again: a hotspot that is about to come up has no address yet.
        """
        with self._mutex:
            if is_on and self._server is None:
                try:
                    self._server = _Server(self._address, self._url)
                except OSError as error:
                    if not self._has_complained:
                        LOGGER.info("hotspot: phones may leave: %s:%d: %s", *self._address, error)
                    self._has_complained = True
                    return
                Thread(target=self._server.serve_forever, name="portal", daemon=True).start()
            elif not is_on and self._server is not None:
                self._server.shutdown()
                self._server.server_close()
                self._server = None

    def close(self) -> None:
        """Stop answering; may be called twice."""
        self.follow(False)
