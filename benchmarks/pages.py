"""How soon a page of the dashboard is readable and reacts to a visitor, in a real Chromium.

    python -m benchmarks.pages HOME                    every page, 10 times; writes benchmarks/results/pages.*
    python -m benchmarks.pages HOME --times 5 run sql  some pages; writes nothing

The page measures itself (pages.js) from browser events; each time is that of a visible frame. The server has rendered
the page before.

Paint: from the navigation until the first figure is visible: a mark of a chart, a word of a table, a metric, or the
page's input field. Whole: until nothing on the page changes any more. Interaction: from the visitor's last key or
button press, or choice of a file, until the script has ended and nothing changes any more. A change is one of the
document, a chart mark or text that moves, or a word that a table did not show at that place. Not counted are the copy
of a table for screen readers, which follows 0.2 s later, and fading colours.

Shift: how much of the visible content moves while the page opens, times the distance (Cumulative Layout Shift of the
W3C's Layout Instability API; web.dev calls up to 0.1 good), a number without a unit.

The dashboard caches answers. Typed text differs each time and is never cached. Choices repeat after five others, as
they may for visitors, so the slow values of a row are the uncached ones.

All results are for this machine under its current load, which is reported.
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

from benchmarks.plots import COLOURS, dots, machine, p95, publish, table
from dropline.app.serve import ADDRESS, ROOT, command, environment
from dropline.app.warehouse import Warehouse
from dropline.paths import Home

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

FLAGS: Final = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
FIGURES: Final = ", ".join(
    f"[data-testid={name}]" for name in ("stDataFrame", "stVegaLiteChart", "stMetric", "stTextInput", "stFileUploader")
)
STARTS_WITHIN_S: Final = 60
PAINT, WHOLE, SHIFT = "paint", "whole", "shift"
LIMITS: Final = {PAINT: "1", WHOLE: "", SHIFT: "0.1"}  # promised 95th percentiles; of an interaction:
FOLLOWS_WITHIN_S: Final = "0.5"
FILE: Final = ROOT / "examples/kea-2.2-backends/runs/v4_mt4_memfile_none/rep1/rate10000.txt"
PAUSE_MS: Final = 2000  # between two actions: no visitor drops a file the moment the last one is shown
SCROLLED_MS: Final = 300  # scrolling closes an open list
OPTIONS: Final = 5  # of a list, chosen in turn
# No word repeats within a measurement of twenty: the dashboard caches answers.
WORDS: Final = tuple(f"{backend} {what}" for backend in ("memfile", "mysql", "kea", "v4") for what in range(6))


class Measured(NamedTuple):
    """The seconds of one page, or its shifts, one entry per repetition."""

    page: str
    what: str
    values: list[float]


def _fill(label: str, value: Callable[[int], str]) -> Callable[[Page, int], None]:
    def fill(page: Page, turn: int) -> None:
        field = page.get_by_label(label, exact=True)
        field.fill(value(turn))
        field.press("Enter")

    return fill


def _open_tab(names: tuple[str, str]) -> Callable[[Page, int], None]:
    def open_the_other(page: Page, _turn: int) -> None:
        tabs = [page.get_by_role("tab", name=name, exact=True) for name in names]
        next(tab for tab in tabs if tab.get_attribute("aria-selected") != "true").click()

    return open_the_other


def _toggle(label: str) -> Callable[[Page, int], None]:
    return lambda page, _turn: page.get_by_text(label, exact=True).click()


def _press(name: str) -> Callable[[Page, int], None]:
    return lambda page, _turn: page.get_by_role("button", name=name, exact=True).click()


def _choose(label: str) -> Callable[[Page, int], None]:
    def choose(page: Page, turn: int) -> None:
        box = page.get_by_role("combobox", name=label, exact=True)
        box.scroll_into_view_if_needed()
        page.wait_for_timeout(SCROLLED_MS)
        box.click()
        page.get_by_role("option").nth(1 + turn % OPTIONS).click()

    return choose


def _filter(label: str) -> Callable[[Page, int], None]:
    def add_or_clear(page: Page, turn: int) -> None:
        page.keyboard.press("Escape")  # the list stays open after a choice
        box = page.get_by_role("combobox", name=label, exact=True)
        box.click()
        if turn % 2:
            box.press("Backspace")
        else:
            page.get_by_role("option").nth(1 + turn // 2 % OPTIONS).click()  # the first is all

    return add_or_clear


def _ask(page: Page, turn: int) -> None:
    page.get_by_role("textbox", name="One SELECT (DuckDB's SQL)", exact=True).focus()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(f"from capacity limit {100 + turn}")
    _press("Run")(page, turn)


def _give_file(page: Page, turn: int) -> None:
    content = FILE.read_bytes() + b"\n" * turn
    page.locator("input[type=file]").set_input_files({"name": FILE.name, "mimeType": "text/plain", "buffer": content})


# A visitor's repeated actions on a page; the address opens the page in the right state.
PAGES: Final[dict[str, tuple[str, dict[str, Callable[[Page, int], None]]]]] = {
    "results": ("", {"published figures": _toggle("Published figures")}),
    "explore": ("", {"search": _fill("Search", lambda turn: WORDS[turn % len(WORDS)]), "filter": _filter("Backend")}),
    "compare": ("", {"another limit": _fill("Limit (%)", lambda turn: f"{3 + turn / 10:g}")}),
    "run": (
        "",
        {
            "another trial": _choose("Trial"),
            "show the text": _toggle("Raw text beside the charts"),
        },
    ),
    "speedups": ("", {"open another tab": _open_tab(("Backends", "Threads"))}),
    "trends": ("", {"another series": _choose("Series")}),
    "planner": ("clients=350000", {"more clients": _fill("Clients", lambda turn: f"{350_001 + turn}")}),
    "machines": ("", {"another host": _choose("Host")}),
    "claims": ("", {"filter": _toggle("Only where rule and maintainers differ")}),
    "quality": ("", {"filter": _filter("Finding")}),
    "sql": ("", {"ask": _ask}),
    "try_file": ("", {"give a file": _give_file}),
}


def main() -> None:
    """Measure, print the table, and write it to benchmarks/results if it covers all pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("home", type=Path)
    parser.add_argument("pages", nargs="*", metavar="page", help=", ".join(PAGES))
    parser.add_argument("--times", type=int, default=10, help="2 or more")
    arguments = parser.parse_intermixed_args()
    if arguments.times < 2:
        parser.error("--times: one alone has no percentile; name 2 or more")
    if unknown := set(arguments.pages) - set(PAGES):
        parser.error(f"no page is called {', '.join(sorted(unknown))}; there are {', '.join(PAGES)}")
    home = arguments.home.absolute()
    with served(home) as address, chromium() as page:
        page.add_init_script(path=Path(__file__).with_suffix(".js"))
        found = [each for name in arguments.pages or PAGES for each in measure(page, address, name, arguments.times)]
    text = _as_markdown(home, found, arguments.times) + "\n"
    if not arguments.pages:
        publish("pages", text, plot(found))
    else:
        print(text, end="")


@contextmanager
def served(home: Path) -> Iterator[str]:
    """Serve a home while the block runs; yield the address."""
    with socket.socket() as probe:
        probe.bind((ADDRESS, 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        command(port, open_browser=False),
        cwd=ROOT,
        env=environment(Home(home)),
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
    """Open a page in Debian's Chromium, or in the browser named by CHROMIUM."""
    program = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 1000})
        page.set_default_timeout(STARTS_WITHIN_S * 1000)
        yield page
        browser.close()


def measure(page: Page, address: str, name: str, times: int) -> Iterator[Measured]:
    """Yield the seconds until a page is painted and whole, and until it has reacted to a visitor."""
    query, acts = PAGES[name]
    url = f"{address}/{'' if name == 'results' else name}?{query}"
    _open(page, url)  # warm
    opened = [_open(page, url) for _ in range(times)]
    yield Measured(name, PAINT, [each["painted"] / 1000 for each in opened])
    yield Measured(name, WHOLE, [each["last"] / 1000 for each in opened])
    yield Measured(name, SHIFT, [each["shifted"] for each in opened])
    for what, act in acts.items():
        _act(page, act, 0)  # warm: the page loads some parts on first use
        yield Measured(name, what, [_act(page, act, turn) for turn in range(1, times + 1)])


def _open(page: Page, url: str) -> dict[str, float]:
    page.goto(url)
    return _rest(page)


def _act(page: Page, act: Callable[[Page, int], None], turn: int) -> float:
    page.wait_for_timeout(PAUSE_MS)
    page.evaluate("measured.forget()")
    act(page, turn)
    seen = _rest(page)
    return (seen["last"] - seen["pressed"]) / 1000


def _rest(page: Page) -> dict[str, float]:
    return dict(page.evaluate("measured.rest()"))


def plot(found: Sequence[Measured]) -> str:
    """Return an SVG of the seconds until each page is painted or has reacted: median and 95th percentile."""
    rows = {
        f"{each.page}: {each.what}": {"p50": statistics.median(each.values), "p95": p95(each.values)}
        for each in found
        if each.what not in (WHOLE, SHIFT)
    }
    return dots(rows, dict(zip(("p50", "p95"), COLOURS, strict=False)), "s", range(-2, 2))


def _as_markdown(home: Path, found: list[Measured], times: int) -> str:
    counts = Warehouse.open(home / "warehouse.duckdb").query(
        "select (select count(*) from trials) as trials, (select count(*) from configurations) as configurations"
    )
    trials, configurations = (counts[name][0].as_py() for name in ("trials", "configurations"))
    head = (
        f"A warehouse of {trials:,} trials and {configurations:,} configurations; n = {times} each, warm, Chromium at "
        f"1280 x 1000; {machine()}. Seconds; a shift has no unit."
    )
    rows = []
    for each in found:
        middle, slow = statistics.median(each.values), p95(each.values)
        limit = LIMITS.get(each.what, FOLLOWS_WITHIN_S)
        rows.append([each.page, each.what, f"{middle:.2f}", f"{slow:.2f}", limit])
    return f"{head}\n\n{table(['page', 'what', 'p50', 'p95', 'limit'], rows, words=2)}"


if __name__ == "__main__":
    main()
