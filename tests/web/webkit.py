"""WebKit, the engine of every browser on an iPhone, driven by WebDriver on a screen of its own."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from typing import Any

import pytest

from tests.waiting import PATIENCE_S, until

DRIVER, SCREEN = "WebKitWebDriver", "Xvfb"


def is_here() -> bool:
    """Whether this machine has WebKit: apt-get install webkit2gtk-driver xvfb."""
    return all(map(shutil.which, (DRIVER, SCREEN)))


class WebKit:
    """A window of WebKit."""

    def __init__(self, port: int) -> None:
        self._port = port
        asked = {"capabilities": {"alwaysMatch": {}}}
        self._session = f"/session/{self._call('POST', '/session', asked)['sessionId']}"

    def _call(self, method: str, path: str, body: object = None) -> Any:
        line = HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE_S)
        line.request(method, path, json.dumps(body) if method == "POST" else None)
        answer = line.getresponse()
        value = json.load(answer)["value"]
        line.close()
        assert answer.status == 200, value
        return value

    def resize(self, size_wh: tuple[int, int]) -> None:
        """Give the page, not the window, a size: until it has settled, the difference changes."""

        def fits() -> bool:
            rect = self._call("GET", f"{self._session}/window/rect")
            width, height = self.run("return [innerWidth, innerHeight]")
            if (width, height) == size_wh:
                return True
            wanted = rect["width"] + size_wh[0] - width, rect["height"] + size_wh[1] - height
            body = dict(zip(("width", "height"), wanted, strict=True))
            self._call("POST", f"{self._session}/window/rect", body)
            time.sleep(0.2)
            return False

        until(fits)

    def open(self, url: str) -> None:
        self._call("POST", f"{self._session}/url", {"url": url})

    def back(self) -> None:
        self._call("POST", f"{self._session}/back", {})

    def run(self, script: str) -> Any:
        body = {"script": script, "args": []}
        return self._call("POST", f"{self._session}/execute/sync", body)

    def wait_for(self, condition: str) -> None:
        """Wait until a condition in JavaScript holds."""
        until(lambda: self.run(f"return Boolean({condition})"), condition)

    def forget(self) -> None:
        """Delete the cookies of the table that is shown."""
        self._call("DELETE", f"{self._session}/cookie")

    def close(self) -> None:
        self._call("DELETE", self._session)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _listens(port: int) -> bool:
    with socket.socket() as line:
        return line.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def _running(*command: str, **env: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={"PATH": "/usr/bin:/bin", **env} if env else None,
    )
    try:
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE_S)


@contextmanager
def window(home: str) -> Iterator[WebKit]:
    """A window that remembers nothing of others; its programs keep their files in `home`.

    Skips the test on a machine where WebKit cannot start, such as one without shared memory.
    """
    with ExitStack() as stack:
        wanted = (SCREEN, "-displayfd", "1", "-screen", "0", "2200x1500x24")
        screen = stack.enter_context(_running(*wanted))
        assert screen.stdout is not None
        display = f":{screen.stdout.readline().strip()}"
        port = _free_port()
        env = {"DISPLAY": display, "HOME": home, "XDG_RUNTIME_DIR": home, "NO_AT_BRIDGE": "1"}
        stack.enter_context(_running(DRIVER, f"--port={port}", **env))
        until(lambda: _listens(port), "the driver does not start")
        try:
            shown = WebKit(port)
        except (AssertionError, OSError) as error:
            pytest.skip(f"WebKit does not start here: {error}")
        stack.callback(shown.close)
        yield shown
