"""A real Chromium before the real app; without Chromium the tests are skipped, except in CI."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from app.serve import ADDRESS, ROOT, command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, ConsoleMessage, Page

SHOTS = Path(__file__).parent / "shots"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
# Streamlit asks for these below the path of a page first, and falls back to the root.
PROBES = ("/_stcore/health", "/_stcore/host-config")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@dataclass
class Watched:
    """A page together with everything that went wrong in it."""

    page: Page
    address: str
    troubles: list[str] = field(default_factory=list)

    def go(self, path: str = "") -> Page:
        self.page.goto(f"{self.address}/{path}")
        self.settle()
        return self.page

    def settle(self) -> None:
        self.page.wait_for_selector("h1")
        self.page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")
        heights = [-1, self._height()]
        while heights[-1] != heights[-2]:  # charts and tables are drawn after the script has ended
            self.page.wait_for_timeout(500)
            heights.append(self._height())
            assert len(heights) < 40, f"the page never comes to rest: {heights}"

    def _height(self) -> int:
        return int(self.page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight"))

    def shoot(self, name: str) -> None:
        self.page.set_viewport_size({"width": 1440, "height": min(max(self._height(), 700), 3200)})
        self.page.wait_for_timeout(700)
        self.page.screenshot(path=str(SHOTS / f"{name}.png"))


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Debian's Chromium, or the one named by CHROMIUM."""
    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        program, reason = None, "playwright is not installed: pip install -e .[browser]"
    else:
        reason = "no chromium on the PATH: apt-get install chromium"
    if program is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def serve_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Path], str]]:
    """Return a function that serves a home and gives the address."""
    running: list[subprocess.Popen[bytes]] = []
    logs = tmp_path_factory.mktemp("streamlit")

    def start(home: Path) -> str:
        with socket.socket() as probe:
            probe.bind((ADDRESS, 0))
            port = probe.getsockname()[1]
        log = logs / f"{port}.log"
        with log.open("wb") as out:
            environment = os.environ | {"DROPLINE_HOME": str(home), "PYTHONPATH": str(ROOT)}
            server = subprocess.Popen(
                command(port, open_browser=False), cwd=ROOT, env=environment, stdout=out, stderr=out
            )
        running.append(server)
        for _ in range(300):
            if server.poll() is not None:
                pytest.fail(f"the app ended: {log.read_text()}")
            try:
                socket.create_connection((ADDRESS, port), 1).close()
            except OSError:
                time.sleep(0.1)
            else:
                return f"http://{ADDRESS}:{port}"
        return pytest.fail(f"the app did not start within 30 s: {log.read_text()}")

    yield start
    for server in running:
        server.terminate()
        server.wait(10)


@pytest.fixture(scope="session")
def address(serve_home: Callable[[Path], str], warehouse_home: Path) -> str:
    """The app over the bundled examples."""
    return serve_home(warehouse_home)


@pytest.fixture(params=["light"])
def watched(request: pytest.FixtureRequest, chromium: Browser, address: str) -> Iterator[Watched]:
    """A page of the app; the test fails if anything leaves the machine or an error reaches the console."""
    SHOTS.mkdir(exist_ok=True)
    context = chromium.new_context(color_scheme=request.param, viewport={"width": 1440, "height": 1000})
    page = context.new_page()
    watched = Watched(page, address)

    def listen(message: ConsoleMessage) -> None:
        if message.type == "error" and not message.location.get("url", "").endswith(PROBES):
            watched.troubles.append(f"console: {message.text}")

    page.on("console", listen)
    page.on("pageerror", lambda error: watched.troubles.append(f"script: {error}"))
    page.on(
        "request",
        lambda asked: (
            None
            if asked.url.startswith((f"{watched.address}/", "data:", "blob:"))
            else watched.troubles.append(f"left the machine: {asked.url}")
        ),
    )
    page.on(
        "websocket",
        lambda socket: (
            None
            if socket.url.startswith(watched.address.replace("http", "ws", 1))
            else watched.troubles.append(f"left the machine: {socket.url}")
        ),
    )
    yield watched
    context.close()
    assert watched.troubles == []
