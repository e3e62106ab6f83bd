"""Soak test of the dashboard with many visitors during ingests: errors, latency, memory, and new publications.

Run it with `make soak`. The visitors speak Streamlit's own protocol over websockets, like its page: they open pages
with the choices in an address, run timed fragments, and read all replies. Browser work is not measured; one real
Chromium watches, if it is installed.

It fails, with exit code 1, if a page or a connection has an error, if the server writes to its log, or if memory is not
shown to be flat: see `faults`.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import http.client
import math
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import quote

import numpy as np
import pandas as pd
from scipy import stats
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException
from websockets.typing import Origin, Subprotocol

from benchmarks import plots
from benchmarks.processes import dropline
from dropline.app.serve import ADDRESS, ROOT, command, environment
from dropline.ingest.lake import Lake
from dropline.paths import Home

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

    from websockets.asyncio.client import ClientConnection

EXAMPLE: Final = ROOT / "examples" / "kea-2.2-backends"
WARM_UP: Final = 0.3  # of a soak: everything is opened once, and Streamlit keeps closed pages for two minutes
MOST_GROWTH: Final = 0.1  # of the memory, after the warm-up
PARTS: Final = 6  # of the time after the warm-up
THINK_S: Final = (1.0, 6.0)
PATIENCE_S: Final = 60.0
BATCH: Final = re.compile(rb"\b\d{8}-\d{8}T\d{6}Z")
TOP: Final = "select * from leases_per_second order by lps desc limit 20"
HEAVY: Final = "select sum(a.range * b.range) from range(200000) as a, range(200000) as b"
LOST: Final = (OSError, TimeoutError, http.client.HTTPException, WebSocketException)
PAGES: Final = (
    ("", ""),
    ("", "tab=Queries+per+second"),
    ("explore", ""),
    ("compare", ""),
    ("run", ""),
    ("speedups", ""),
    ("trends", ""),
    ("planner", "clients=350000&lease_s=7200"),
    ("machines", ""),
    ("claims", ""),
    ("quality", ""),
    ("sql", f"sql={quote(TOP)}"),
    ("try_file", ""),
)


@dataclass
class Seen:
    """The visitors' observations.

    Attributes:
        took: for each interaction its page, start time (s since 1970), and duration in s.
        troubles: error messages.
        batches: when a page first showed a batch, in s since 1970.
        heavy: durations of the heavy questions, in s.
        browser: number of batches that an untouched real page showed in sequence; None without a browser.
    """

    took: list[tuple[str, float, float]] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)
    batches: dict[str, float] = field(default_factory=dict)
    heavy: list[float] = field(default_factory=list)
    browser: int | None = None


class Visitor:
    """One open page of the app."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.repeats: dict[str, tuple[float, float]] = {}  # fragment -> interval in s, and next time

    async def open(self, page: str, query: str, fragment: str = "") -> list[ForwardMsg]:
        """Request a page, and return all messages until its script has ended.

        Raises:
            TimeoutError: it takes longer than `PATIENCE_S`.
        """
        asked = BackMsg()
        asked.rerun_script.query_string = query
        asked.rerun_script.page_name = page
        asked.rerun_script.fragment_id = fragment
        asked.rerun_script.is_auto_rerun = bool(fragment)
        if not fragment:
            self.repeats.clear()
        await self.socket.send(asked.SerializeToString())
        messages: list[ForwardMsg] = []
        async with asyncio.timeout(PATIENCE_S):
            while not messages or not is_last(messages[-1]):
                messages.append(self._read(await self.socket.recv(decode=False)))
        return messages

    def _read(self, data: bytes) -> ForwardMsg:
        message = ForwardMsg()
        message.ParseFromString(data)
        if message.WhichOneof("type") == "auto_rerun":
            every = message.auto_rerun.interval
            self.repeats[message.auto_rerun.fragment_id] = every, time.time() + every
        return message

    async def think(self, seconds: float, page: str, query: str) -> None:
        """Stay on the page for a while, running its timed fragments."""
        end = time.time() + seconds
        while (now := time.time()) < end:
            due = min(self.repeats.items(), key=lambda item: item[1][1], default=None)
            if due is None or due[1][1] > end:
                await asyncio.sleep(end - now)
                return
            fragment, (every, at) = due
            await asyncio.sleep(max(at - now, 0))
            self.repeats[fragment] = every, time.time() + every
            await self.open(page, query, fragment)


def is_last(message: ForwardMsg) -> bool:
    """Return whether a page is idle after a message: a run that is superseded by another is followed by that."""
    ended = message.WhichOneof("type") == "script_finished"
    return ended and message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN


def exceptions(messages: Sequence[ForwardMsg]) -> list[str]:
    """Return the exceptions of a page's scripts."""
    shown = [each.delta.new_element for each in messages if each.WhichOneof("type") == "delta"]
    return [f"{one.exception.type}: {one.exception.message}" for one in shown if one.WhichOneof("type") == "exception"]


@contextlib.asynccontextmanager
async def visiting(port: int, cookies: dict[str, str] | None = None) -> AsyncIterator[Visitor]:
    """Connect like a page of the app: with its origin and the CSRF token."""
    token = await asyncio.to_thread(forgery_token, port)
    sent = {**(cookies or {}), "_streamlit_xsrf": token}
    async with connect(
        f"ws://{ADDRESS}:{port}/_stcore/stream",
        origin=Origin(f"http://{ADDRESS}:{port}"),
        subprotocols=[Subprotocol("streamlit"), Subprotocol(token)],
        additional_headers={"Cookie": "; ".join(f"{name}={value}" for name, value in sent.items())},
        max_size=None,
        proxy=None,
    ) as opened:
        yield Visitor(opened)


def forgery_token(port: int) -> str:
    """Return the CSRF token that the app sets as a cookie and expects back."""
    asking = http.client.HTTPConnection(ADDRESS, port, timeout=PATIENCE_S)
    asking.request("GET", "/_stcore/health")
    cookie = asking.getresponse().headers["Set-Cookie"]
    asking.close()
    return str(cookie).partition("=")[2].partition(";")[0]


async def visit(port: int, seen: Seen, end: float, chance: random.Random) -> None:
    """Visit page after page until the end."""
    await asyncio.sleep(chance.uniform(0, 3))
    while time.time() < end:
        try:
            async with visiting(port) as visitor:
                for _ in range(chance.randint(5, 25)):  # then close the page and reconnect
                    if time.time() > end:
                        return
                    page, query = chance.choice(PAGES)
                    began, clock = time.time(), time.perf_counter()
                    messages = await visitor.open(page, query)
                    seen.took.append((page or "results", began, time.perf_counter() - clock))
                    seen.troubles += [f"{page or 'results'}: {each}" for each in exceptions(messages)]
                    if not page:
                        page_bytes = b"".join(each.SerializeToString() for each in messages)
                        for batch in set(BATCH.findall(page_bytes.replace(b"\\", b""))):  # Markdown escapes a dash
                            seen.batches.setdefault(batch.decode(), time.time())
                    await visitor.think(min(chance.uniform(*THINK_S), max(end - time.time(), 0)), page, query)
        except LOST as error:
            seen.troubles.append(f"connection: {type(error).__name__} {error}")
            await asyncio.sleep(1)


async def burden(port: int, seen: Seen, end: float) -> None:
    """Ask heavy questions, which the console must abort, one after the other."""
    while time.time() < end:
        try:
            async with visiting(port) as visitor:
                clock = time.perf_counter()
                await visitor.open("sql", f"sql={quote(HEAVY)}")
                seen.heavy.append(time.perf_counter() - clock)
        except LOST as error:
            seen.troubles.append(f"heavy question: {type(error).__name__} {error}")
        await asyncio.sleep(5)


async def stand_by(port: int, seen: Seen, end: float) -> None:
    """Keep the home page open in a real Chromium, and record its errors and the batches it shows."""
    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        from playwright.async_api import async_playwright
    except ImportError:
        return
    if program is None:
        return
    shown: set[bytes] = set()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        page = await browser.new_page()
        page.on("pageerror", lambda error: seen.troubles.append(f"Chromium: {error}"))
        await page.goto(f"http://{ADDRESS}:{port}/", timeout=1000 * PATIENCE_S)
        while time.time() < end:
            shown |= set(BATCH.findall((await page.inner_text("body")).encode()))
            await asyncio.sleep(2)
        await browser.close()
    seen.browser = len(shown)


def publish(home: Path, copy: Path) -> tuple[str, float, float]:
    """Ingest a campaign with all results changed, and build.

    The lake grows but the warehouse does not, so any growth of the app is its own.

    Returns:
        The batch, when it was published (s since 1970), and the duration of both steps in s.
    """
    began = time.time()
    for result in copy.glob("runs/**/*.txt"):
        with result.open("ab") as file:
            file.write(b"\n")
    for step in ("ingest", str(copy)), ("build",):
        dropline(home, *step)
    newest = Lake(home / "lake").batches()[-1]
    return newest, (home / "warehouse.duckdb").stat().st_mtime, time.time() - began


def memory_mb(pid: int) -> float:
    """Return the resident memory of a process without its children, in MB."""
    (line,) = re.findall(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(line) / 1000


@contextlib.contextmanager
def served(home: Path, log: Path) -> Iterator[tuple[int, int]]:
    """Serve a home; yield the port and the process."""
    with socket.socket() as probe:
        probe.bind((ADDRESS, 0))
        port = probe.getsockname()[1]
    program, given = command(port, open_browser=False), environment(Home(home))
    with log.open("wb") as out:
        server = subprocess.Popen(program, cwd=ROOT, env=given, stdout=out, stderr=out)
    try:
        wait_for(port)
        yield port, server.pid
    finally:
        server.terminate()
        server.wait(20)


def wait_for(port: int) -> None:
    """Wait until the app responds on a port, or 30 s have passed."""
    for _ in range(300):
        with contextlib.suppress(OSError):
            forgery_token(port)
            return
        time.sleep(0.1)


@dataclass
class Soak:
    """The result of a soak.

    Attributes:
        users: number of visitors.
        seconds: duration.
        seen: the visitors' observations.
        memory: time (s from the start) and the server's memory, in MB.
        published: for each publication its batch, time (s since 1970), and the duration of ingest and build, in s.
        load: one-minute load average of the machine, at every memory sample.
        log: the server's log.
    """

    users: int
    seconds: float
    seen: Seen
    memory: list[tuple[float, float]]
    published: list[tuple[str, float, float]]
    load: list[float]
    log: str


async def soak(home: Path, users: int, seconds: float, *, publications: bool = True) -> Soak:
    """Let visitors use the app of an otherwise unused home during ingests."""
    seen, memory, published, load = Seen(), [], [], []
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "server.log")
        with served(home, log) as (port, pid):
            began = time.time()
            end = began + seconds

            async def look() -> None:
                while time.time() < end:
                    memory.append((time.time() - began, memory_mb(pid)))
                    load.append(os.getloadavg()[0])
                    await asyncio.sleep(min(5, seconds / 100))

            async def bring() -> None:
                copy = Path(shutil.copytree(EXAMPLE, Path(folder, "campaign")))
                while publications and time.time() < end - min(30, seconds / 2):
                    try:
                        published.append(await asyncio.to_thread(publish, home, copy))
                    except RuntimeError as error:
                        seen.troubles.append(f"publication: {str(error).strip().splitlines()[-1]}")
                    await asyncio.sleep(10)

            visitors = [visit(port, seen, end, random.Random(seed)) for seed in range(users)]  # noqa: S311 - no secret
            await asyncio.gather(look(), bring(), burden(port, seen, end), stand_by(port, seen, end), *visitors)
        return Soak(users, seconds, seen, memory, published, load, log.read_text())


class Growth(NamedTuple):
    """The growth rate of memory after the warm-up, in MB per minute, with its 95 % confidence interval.

    Attributes:
        slope: the estimate.
        low: the lower end.
        high: the upper end.
        share: growth at rate `high` over the measured time, as a share of the memory; 0 if it fell.
    """

    slope: float
    low: float
    high: float
    share: float


def growth(memory: Sequence[tuple[float, float]]) -> Growth:
    """Return the growth rate of memory after the warm-up.

    Neighbouring samples are correlated, which would make the interval too narrow. So a least squares line is fitted
    through the means of `PARTS` parts of equal length, with Student's t.

    Args:
        memory: time (s from the start) and MB, at equal intervals.

    Raises:
        ValueError: there are fewer than two samples per part.
    """
    size = int((1 - WARM_UP) * len(memory)) // PARTS
    if size < 2:
        message = f"expected some {math.ceil(2 * PARTS / (1 - WARM_UP))} looks at the memory, got {len(memory)}"
        raise ValueError(message)
    late = np.array(memory[-size * PARTS :])
    minutes, sizes = (late.reshape(PARTS, size, 2).mean(axis=1) / (60, 1)).T
    line = stats.linregress(minutes, sizes)
    half = stats.t.ppf(0.975, PARTS - 2) * line.stderr
    share = max(line.slope + half, 0) * (late[-1, 0] - late[0, 0]) / 60 / sizes.mean()
    return Growth(line.slope, line.slope - half, line.slope + half, share)


def faults(done: Soak) -> list[str]:
    """Return the broken promises: errors, lines in the log, memory whose growth cannot be ruled out."""
    share = growth(done.memory).share
    found = [
        (len(done.seen.troubles), f"errors: {len(done.seen.troubles)}"),
        (len(done.log), f"the server wrote to its log: {done.log[-1000:]}"),
        (share > MOST_GROWTH, f"memory may have grown by {share:.0%}; at most {MOST_GROWTH:.0%} is taken for flat"),
    ]
    return [words for broken, words in found if broken]


def percentiles(values: Sequence[float], *percents: float) -> list[float]:
    """Return the smallest values that so many percent of all do not exceed."""
    return [float(each) for each in np.percentile(values, percents, method="inverted_cdf")]


def report(done: Soak) -> str:
    """Return the result of a soak as Markdown."""
    pages = pd.DataFrame(done.seen.took, columns=["page", "began", "seconds"]).groupby("page")["seconds"]
    times = [took for _, _, took in done.seen.took]
    rows = [[page, f"{len(own):,}", *(f"{took:.2f}" for took in percentiles(own, 50, 95))] for page, own in pages]
    marks = [done.memory[int(tenth / 10 * (len(done.memory) - 1))] for tenth in range(11)]
    grew = growth(done.memory)
    lags = [done.seen.batches[batch] - at for batch, at, _ in done.published if batch in done.seen.batches]
    took = [seconds for _, _, seconds in done.published]
    shown = f"- A page in Chromium that nobody touched showed {done.seen.browser} batches, one after the other."
    watched = [] if done.seen.browser is None else [shown]
    lines = [
        f"{done.users} visitors for {done.seconds / 60:.1f} min, each opening a page every {THINK_S[0]:g} to "
        f"{THINK_S[1]:g} s; {os.cpu_count()} cores; load of the machine {min(done.load):.1f} to {max(done.load):.1f}.",
        "",
        f"- Interactions: {len(times):,}; errors: {len(done.seen.troubles)}; lines in the log: "
        f"{len(done.log.splitlines())}.",
        "- Time of an interaction: p50 {:.2f} s, p95 {:.2f} s, p99 {:.2f} s, longest {:.2f} s.".format(
            *percentiles(times, 50, 95, 99, 100)
        ),
        f"- Questions that the console had to end, meanwhile: {len(done.seen.heavy)}.",
        f"- Publications: {len(done.published)}; shown to somebody: {len(lags)}"
        + (f", at the latest {max(lags):.1f} s after the file was replaced" if lags else "")
        + (f"; an ingest and a build took {min(took):.0f} to {max(took):.0f} s." if took else "."),
        *watched,
        f"- Growth of the app's memory after the first {WARM_UP:.0%} of the time: {grew.slope:+.1f} MB a minute, 95 % "
        f"interval {grew.low:+.1f} to {grew.high:+.1f}: at most {grew.share:.0%} of it. "
        f"Above {MOST_GROWTH:.0%} the soak fails.",
        "",
        plots.table(["minute", "memory of the app, MB"], [[f"{at / 60:.1f}", f"{size:.0f}"] for at, size in marks]),
        "",
        plots.table(["page", "opened", "p50, s", "p95, s"], rows),
        *([""] if done.seen.troubles else []),
        *(f"- {times} x {trouble}" for trouble, times in Counter(done.seen.troubles).most_common(20)),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Soak a home, print the result, and write it to benchmarks/results/soak.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=30)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--home", type=Path, help="what to soak a copy of; the examples, if nothing is said")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        if asked.home:
            shutil.copytree(asked.home, home)
        else:
            dropline(home, "ingest", "examples")
            dropline(home, "build")
        done = asyncio.run(soak(home, asked.users, 60 * asked.minutes))
    plots.publish("soak", report(done))
    if found := faults(done):
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
