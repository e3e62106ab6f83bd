"""A real Chromium before the real app; without Chromium the tests are skipped, except in CI."""

from __future__ import annotations

import csv
import json
import os
import shutil
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import pytest

from benchmarks import soak
from dropline.app import planner
from dropline.app.serve import ADDRESS, ROOT
from dropline.app.warehouse import Warehouse
from tests.homes import built

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Locator, Page

# Markup for HTML and Markdown, what Streamlit makes of it, control characters, and text that turns its direction.
STRANGE = (
    "<b class=injected>b</b><img src=x class=injected onerror=window.pwned=1>[a](javascript:window.pwned=1)"
    "![i](http://evil.example/i.png) :red[r] :material/bolt: $x$ `c` \x1b[31m\x07\u202e"
)
FIGURE = {
    "product": "ISC Kea",
    "protocol": "DHCPv4",
    "threading": "single",
    "metric": "leases_per_second",
    "value": "1000",
    "unit": "leases/s",
    "loss_limit_ratio": "0.025",
    **dict.fromkeys(("source_id", "source_title", "source_publisher", "location", "backend", "testbed"), STRANGE),
    **dict.fromkeys(("product_version", "scenario", "scenario_detail", "tool", "note"), STRANGE),
}
PAIR = [f"ISC Kea 2.2.0 DHCPv4 memfile {threads} (kea-2.2-backends)" for threads in ("multi x4", "single")]
# The pages by the name in their address.
PAGES = [file.stem for file in sorted((ROOT / "app" / "views").glob("*.py"))]
EXAMPLE = ROOT / "examples" / "kea-2.2-backends"
PICTURES = ROOT / "target" / "pictures"  # ignored by git; `make pictures` writes all of them
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


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
        self.page.wait_for_selector("[data-testid=stSkeleton]", state="detached")
        heights = [-1, self._height()]
        while heights[-1] != heights[-2]:  # charts and tables are drawn after the script has ended
            self.page.wait_for_timeout(500)
            heights.append(self._height())
            assert len(heights) < 40, f"the page never comes to rest: {heights}"

    def _height(self) -> int:
        return int(self.page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight"))

    def shoot(self, name: str, patience_ms: int) -> Path:
        """Save a picture of the whole page, whose own scroll bar would hide the rest, and return its file."""
        size = self.page.viewport_size
        PICTURES.mkdir(parents=True, exist_ok=True)
        self.page.set_viewport_size({"width": size["width"], "height": min(max(self._height(), 700), 4500)})
        self.page.wait_for_timeout(patience_ms)
        file = PICTURES / f"{name}.png"
        self.page.screenshot(path=str(file))
        self.page.set_viewport_size(size)
        return file

    def cells(self, alt: str) -> list[list[str]]:
        """Return the visible rows of a table, as screen readers find it."""
        grid = self.page.get_by_label(alt).locator("table[role=grid]").first
        grid.wait_for(state="attached")
        rows = grid.evaluate("grid => [...grid.rows].map(row => [...row.cells].map(cell => cell.textContent))")
        return [[str(cell) for cell in row] for row in rows]

    def chart(self, said: str) -> Locator:
        """Return the chart whose text alternative holds what is said."""
        return self.page.locator(f"[aria-label*={json.dumps(said, ensure_ascii=False)}]").first


@contextmanager
def watch(chromium: Browser, address: str, **options: Any) -> Iterator[Watched]:
    """Open a browser session; it fails in the end if a request left the app or an error reached the console.

    The address is that of an app, or of a folder.
    """
    still: dict[str, Any] = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"}  # saves CPU
    context = chromium.new_context(**still | options)
    page = context.new_page()
    watched = Watched(page, address)
    own = (address, address.replace("http:", "ws:"), f"blob:{address}", "data:")

    def trouble(what: str, *, is_one: bool = True) -> None:
        if is_one:
            watched.troubles.append(what)

    page.on("console", lambda said: trouble(f"console: {said.text}", is_one=said.type == "error"))
    page.on("pageerror", lambda error: trouble(f"script: {error}"))
    page.on("request", lambda asked: trouble(f"left: {asked.url}", is_one=not asked.url.startswith(own)))
    page.on("websocket", lambda asked: trouble(f"left: {asked.url}", is_one=not asked.url.startswith(own)))
    try:
        yield watched
    finally:
        context.close()
    assert watched.troubles == []


def write_sql(page: Page, sql: str) -> None:
    """Replace the text in the editor of the SQL page."""
    page.wait_for_selector(".monaco-editor .view-line")
    page.get_by_role("textbox", name="One SELECT (DuckDB's SQL)", exact=True).focus()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(sql)


def written_sql(page: Page) -> str:
    """Return the text in the editor of the SQL page."""
    page.wait_for_selector(".monaco-editor .view-line")
    return str(page.evaluate("monaco.editor.getEditors()[0].getValue()"))


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Debian's Chromium, or the one named by CHROMIUM; while it runs, no other test of its process can use asyncio."""
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
    logs = tmp_path_factory.mktemp("streamlit")
    with ExitStack() as running:

        def start(home: Path) -> str:
            log = logs / f"{len(list(logs.iterdir()))}.log"
            port, _ = running.enter_context(soak.served(home, log))
            return f"http://{ADDRESS}:{port}"

        yield start


@pytest.fixture(scope="session")
def address(serve_home: Callable[[Path], str], warehouse_home: Path) -> str:
    """The app over the bundled examples."""
    return serve_home(warehouse_home)


@pytest.fixture(scope="module")
def watched(chromium: Browser, address: str) -> Iterator[Watched]:
    """A browser session before the app over the examples, one for all tests of a module."""
    with watch(chromium, address) as watched:
        yield watched


@pytest.fixture(scope="session")
def warehouse(warehouse_home: Path) -> Warehouse:
    """What the pages show, to compute from it what they have to say."""
    return Warehouse.open(warehouse_home / "warehouse.duckdb")


@pytest.fixture(scope="session")
def addresses(warehouse: Warehouse) -> dict[str, str]:
    """The path of every page, with choices that make it show all that it has."""
    finding = warehouse.query("select finding_id from quality_findings where subject = 'trial' order by all limit 1")
    return {
        "results": "",
        "explore": "explore?origin=measured",
        "compare": "compare?" + urlencode({"configurations": PAIR}, doseq=True),
        "run": "run?" + urlencode({"configuration": PAIR[0]}),
        "versions": "versions",
        "speedups": "speedups",
        "trends": "trends",
        "planner": "planner?" + urlencode({"preset": planner.PRESETS["power-cut"].title}),
        "machines": "machines",
        "measuring": "measuring",
        "claims": "claims?claim=C01",
        "quality": f"quality?chosen={finding['finding_id'][0].as_py()[:12]}",
        "sql": "sql?" + urlencode({"sql": "select lps, backend, configuration from leases_per_second limit 20"}),
        "try_file": "try_file",
    }


@pytest.fixture(scope="session")
def strange_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home of files in which every text that somebody else writes tries to be markup; some files are refused."""
    return built(tmp_path_factory.mktemp("strange"), strange_files(tmp_path_factory.mktemp("strange-files"))).root


@pytest.fixture(scope="session")
def strange(strange_home: Path) -> Warehouse:
    """The warehouse of the strange files."""
    return Warehouse.open(strange_home / "warehouse.duckdb")


def strange_files(root: Path) -> Path:
    """Write a campaign of real outputs, whose files say `STRANGE` wherever a word of their own may stand."""
    folder = root / "evil" / STRANGE.replace("/", "\\")
    for runs in ("v4_st_memfile_none", "v4_mt4_memfile_none"):
        for run in ("rep1", "rep2"):
            shutil.copytree(EXAMPLE / "runs" / runs / run, folder / runs / run)
    for file in folder.rglob("*.txt"):
        text = file.read_text("utf-8").replace(" -l c0 ", f" -l c0 -z {STRANGE} ", 1)
        file.write_text(f"{text.replace('Scenario: basic.', f'Scenario: {STRANGE}.')}{STRANGE}\n", "utf-8")
    for file in folder.rglob("*.json"):
        sidecar = dict.fromkeys(("host", "kernel", "product_version", "backend_version", "scenario"), STRANGE)
        file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | sidecar), "utf-8")
    campaign = root / "evil"
    (campaign / "configs").mkdir()
    for file in (EXAMPLE / "configs").glob("v4_*_memfile_none.json"):
        settings = json.loads(file.read_text("utf-8"))
        settings["Dhcp4"] |= {
            "server-tag": STRANGE,
            "client-classes": [{"name": STRANGE, "test": STRANGE}],
            "hooks-libraries": [{"library": f"/usr/lib/{STRANGE}.so"}],
            "interfaces-config": {"interfaces": [STRANGE]},
            "user-context": {STRANGE: STRANGE},
        }
        (campaign / "configs" / file.name).write_text(json.dumps(settings), "utf-8")
    shutil.copytree(EXAMPLE / "machine", campaign / "machine")
    lscpu = campaign / "machine" / "lscpu.json"
    processor = json.dumps(STRANGE)[1:-1]
    lscpu.write_text(lscpu.read_text("utf-8").replace("Intel(R) Xeon(R) Processor", processor), "utf-8")
    (campaign / "machine" / "os-release.txt").write_text(f'PRETTY_NAME="{STRANGE}"\nNAME="{STRANGE}"\n', "utf-8")
    described = {
        "campaign": "evil",
        "title": STRANGE,
        "description": STRANGE,
        "tags": [STRANGE[:100]],
        "path": "**/{protocol}_{threading}_{backend}_{ha_mode}/rep{repetition}/rate{offered_rate}.txt",
        "defaults": {"testbed": STRANGE},
        "machines": {"machine": "server"},
    }
    (campaign / "campaign.yaml").write_text(json.dumps(described), "utf-8")
    (campaign / f"{folder.name}.txt").write_text(f"no output of anything\n{STRANGE}\n", "utf-8")
    (campaign / "killed.txt").write_text(f"Running: perfdhcp {STRANGE}\n", "utf-8")
    with (campaign / "figures.csv").open("w", encoding="utf-8", newline="") as figures:
        table = csv.DictWriter(figures, fieldnames=[*FIGURE, "figure_id", "source_url"])
        table.writeheader()
        for url in ("https://example.org/'onclick='window.pwned=1", "javascript:window.pwned=1"):
            table.writerow({**FIGURE, "figure_id": url.partition(":")[0], "source_url": url})
    return root
