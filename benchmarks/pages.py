"""How soon a page of the dashboard can be read, and how soon it follows a visitor, in a real Chromium.

    python -m benchmarks.pages HOME                    every page, 10 times: a table as Markdown
    python -m benchmarks.pages HOME --times 5 run sql  some pages

Paint: from the navigation until the page's first figures (table, chart, metric or text field) are in sight, with a
server that has drawn the page before. Interaction: from a visitor's doing until the page is at rest. Both are of this
machine and whatever else it does meanwhile: the load is told.
"""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import statistics
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from playwright.sync_api import Page, sync_playwright

from app.serve import ADDRESS, ROOT, command
from app.warehouse import Warehouse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FLAGS: Final = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
FIGURES: Final = ", ".join(
    f"[data-testid={name}]" for name in ("stDataFrame", "stVegaLiteChart", "stMetric", "stTextInput", "stFileUploader")
)
AT_REST: Final = "[data-testid=stApp][data-test-script-state=notRunning]"
STARTS_WITHIN_S: Final = 60
LIMITS_S: Final = {"paint": 2.0, "interaction": 0.5}  # what is promised, at the 95th percentile


class Measured(NamedTuple):
    """Seconds of one page, one entry each time."""

    page: str
    what: str
    seconds: list[float]


def _fill(label: str, values: tuple[str, str]) -> Callable[[Page, int], None]:
    def fill(page: Page, turn: int) -> None:
        field = page.get_by_label(label, exact=True)
        field.fill(values[turn % 2])
        field.press("Enter")

    return fill


def _open_tab(names: tuple[str, str]) -> Callable[[Page, int], None]:
    return lambda page, turn: page.get_by_role("tab", name=names[turn % 2], exact=True).click()


def _toggle(label: str) -> Callable[[Page, int], None]:
    return lambda page, _turn: page.get_by_text(label, exact=True).click()


# What a visitor does on a page, again and again; the address brings the page to where that can be done.
PAGES: Final[dict[str, tuple[str, str, Callable[[Page, int], None] | None]]] = {
    "overview": ("", "open another tab", _open_tab(("Queries per second", "Leases per second"))),
    "explore": ("", "search", _fill("Search", ("memfile", "mysql"))),
    "compare": ("", "another limit", _fill("Limit (%)", ("3", "4"))),
    "run": ("", "show the text", _toggle("Show its text")),
    "speedups": ("", "open another tab", _open_tab(("Backends", "Threads"))),
    "trends": ("", "", None),
    "planner": ("clients=350000", "more clients", _fill("Clients", ("350001", "350002"))),
    "machines": ("", "", None),
    "claims": ("", "", None),
    "quality": ("", "", None),
    "sql": ("", "", None),
    "try_file": ("", "", None),
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("home", type=Path)
    parser.add_argument("pages", nargs="*", metavar="page", help=", ".join(PAGES))
    parser.add_argument("--times", type=int, default=10)
    arguments = parser.parse_intermixed_args()
    if unknown := set(arguments.pages) - set(PAGES):
        parser.error(f"no page is called {', '.join(sorted(unknown))}; there are {', '.join(PAGES)}")
    home = arguments.home.absolute()
    with served(home) as address, chromium() as page:
        found = [each for name in arguments.pages or PAGES for each in measure(page, address, name, arguments.times)]
    print(_as_markdown(home, found, arguments.times))


@contextmanager
def served(home: Path) -> Iterator[str]:
    """Serve a home for as long as the block runs; yields the address."""
    with socket.socket() as probe:
        probe.bind((ADDRESS, 0))
        port = probe.getsockname()[1]
    environment = os.environ | {"DROPLINE_HOME": str(home), "PYTHONPATH": str(ROOT)}
    server = subprocess.Popen(
        command(port, open_browser=False),
        cwd=ROOT,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
    )
    try:
        for _ in range(10 * STARTS_WITHIN_S):
            try:
                socket.create_connection((ADDRESS, port), 1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield f"http://{ADDRESS}:{port}"
    finally:
        server.terminate()
        server.wait(10)


@contextmanager
def chromium() -> Iterator[Page]:
    """Open a page in Debian's Chromium, or in the one named by CHROMIUM."""
    program = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 1000})
        page.set_default_timeout(STARTS_WITHIN_S * 1000)
        yield page
        browser.close()


def measure(page: Page, address: str, name: str, times: int) -> Iterator[Measured]:
    """Yield the seconds until a page is painted, and until it has followed a visitor."""
    query, what, act = PAGES[name]
    url = f"{address}/{'' if name == 'overview' else name}?{query}"
    _opened(page, url)  # warm
    yield Measured(name, "paint", [_opened(page, url) for _ in range(times)])
    if name == "compare":
        page.get_by_role("button", name="Single against multi").click()
        page.locator(".stVegaLiteChart").first.wait_for()
        _rest(page)
    if act is not None:
        yield Measured(name, what, [_acted(page, act, turn) for turn in range(times)])


def _opened(page: Page, url: str) -> float:
    begin = time.perf_counter()
    page.goto(url)
    page.locator(FIGURES).first.wait_for()
    painted = time.perf_counter() - begin
    _rest(page)
    return painted


def _acted(page: Page, act: Callable[[Page, int], None], turn: int) -> float:
    page.wait_for_timeout(500)
    begin = time.perf_counter()
    act(page, turn)
    page.wait_for_timeout(20)  # until the browser has told the server
    _rest(page)
    return time.perf_counter() - begin


def _rest(page: Page) -> None:
    page.wait_for_selector(AT_REST)


def _as_markdown(home: Path, found: list[Measured], times: int) -> str:
    counts = Warehouse.open(home / "warehouse.duckdb").query(
        "select (select count(*) from trials) as trials, (select count(*) from configurations) as configurations"
    )
    trials, configurations = (counts[name][0].as_py() for name in ("trials", "configurations"))
    rows = [
        f"A warehouse of {trials:,} trials and {configurations:,} configurations; n = {times} each, warm, Chromium at "
        f"1280 x 1000; {os.cpu_count()} cores at a load of {os.getloadavg()[0]:.1f}. Seconds.",
        "",
        "| page | what | p50 | p95 | limit |",
        "|---|---|---:|---:|---:|",
    ]
    for each in found:
        median = statistics.median(each.seconds)
        slow = statistics.quantiles(each.seconds, n=20, method="inclusive")[-1]
        limit = LIMITS_S["paint" if each.what == "paint" else "interaction"]
        rows.append(f"| {each.page} | {each.what} | {median:.2f} | {slow:.2f} | {limit:g} |")
    return "\n".join(rows)


if __name__ == "__main__":
    main()
