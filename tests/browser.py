"""A real browser without a screen, driven through the WebDriver protocol with the standard library alone.

Tests skip where Chromium and its driver are not installed (or not named by EMBCLI_CHROMIUM, EMBCLI_CHROMEDRIVER).
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

_BROWSERS, _DRIVERS = ("chromium", "chromium-browser", "google-chrome"), ("chromedriver", "chromium.chromedriver")
_QUIET = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
          "--disable-background-networking", "--disable-component-update", "--disable-sync")  # fmt: skip
#: keys that have no character
ENTER, DOWN, ESCAPE = "\ue007", "\ue015", "\ue00c"


def _program(setting: str, names: tuple[str, ...]) -> str:
    found = os.environ.get(setting) or next((path for name in names if (path := shutil.which(name))), None)
    if not found:
        pytest.skip(f"no {names[0]} here ({setting})")
    return found


class Browser:
    """One window. ``profile`` is an empty folder; ``more`` are further arguments of the browser."""

    def __init__(self, profile: Path, size: tuple[int, int] = (1280, 800), more: tuple[str, ...] = ()) -> None:
        browser, driver = _program("EMBCLI_CHROMIUM", _BROWSERS), _program("EMBCLI_CHROMEDRIVER", _DRIVERS)
        self._driver = subprocess.Popen(
            [driver, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        try:
            self._url = f"http://127.0.0.1:{self._port()}/session"
            options = {
                "binary": browser,
                "args": [*_QUIET, f"--user-data-dir={profile}", f"--window-size={size[0]},{size[1]}", *more],
            }
            wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
            made = self._ask("POST", "", {"capabilities": {"alwaysMatch": wanted}})
            self._url += "/" + made["sessionId"]
        except BaseException:
            self._driver.kill()
            raise

    def _port(self) -> int:
        assert self._driver.stdout is not None
        for line in self._driver.stdout:
            if "successfully on port" in line:
                return int(line.rstrip().rstrip(".").rsplit(" ", 1)[1])
        raise RuntimeError("chromedriver did not start")

    def _ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        sent = json.dumps(body or {}).encode() if method == "POST" else None
        request = urllib.request.Request(self._url + path, sent, {"Content-Type": "application/json"}, method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as e:
            raise AssertionError(e.read().decode()[:800]) from None

    def open(self, path: Path, after: str = "") -> None:
        """Open a file."""
        self._ask("POST", "/url", {"url": path.as_uri() + after})

    def run(self, script: str, *args: Any) -> Any:
        """Run a script and return what it returns."""
        return self._ask("POST", "/execute/sync", {"script": script, "args": list(args)})

    def wait(self, script: str, *args: Any) -> Any:
        """Run a script that calls its last argument when it is done, and return what that was called with."""
        return self._ask("POST", "/execute/async", {"script": script, "args": list(args)})

    def until(self, script: str, seconds: float = 20) -> Any:
        """Wait until a script returns something true, and return it."""
        end = time.monotonic() + seconds
        while not (found := self.run(script)):
            assert time.monotonic() < end, f"never true: {script}"
            time.sleep(0.05)
        return found

    def type(self, selector: str, text: str) -> None:
        """Type into an element."""
        element = next(iter(self._ask("POST", "/element", {"using": "css selector", "value": selector}).values()))
        self._ask("POST", f"/element/{element}/value", {"text": text})

    def mouse(self, x: int, y: int, *, click: bool = False) -> None:
        """Move the mouse to a place of the window, and click."""
        steps: list[dict[str, Any]] = [{"type": "pointerMove", "duration": 0, "x": x, "y": y, "origin": "viewport"}]
        if click:
            steps += [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        mouse = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": steps}
        self._ask("POST", "/actions", {"actions": [mouse]})

    def prefer(self, scheme: str) -> None:
        """Say that the reader's system is light or dark."""
        asked = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        self._ask("POST", "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": asked})

    def shot(self, path: Path) -> bytes:
        """Save a picture of the window and return its bytes."""
        path.write_bytes(raw := base64.b64decode(self._ask("GET", "/screenshot")))
        return raw

    def console(self) -> list[str]:
        """Return what the page said since it was asked last: errors, warnings, refused requests."""
        return [f"{line['level']} {line['message']}" for line in self._ask("POST", "/se/log", {"type": "browser"})]

    def close(self) -> None:
        """End the browser and its driver."""
        try:
            self._ask("DELETE", "")
        finally:
            self._driver.terminate()
            self._driver.wait(timeout=20)
