"""How fast the ingest is, as ratios to the floor of the same run: walking, reading and hashing the same files.

Run it with `make bench`. The tree is made of the example's real outputs and sidecars, numbers varied, so that no file
has the bytes of another.
"""

from __future__ import annotations

import hashlib
import random
import re
import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ingest.intake import ingest
from ingest.lake import Lake

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "kea-2.2-backends"
RESULT = Path(__file__).parent / "results" / "ingest.md"
COPIES = 10


def main() -> None:
    """Measure, print the table, and write it to benchmarks/results/ingest.md."""
    with tempfile.TemporaryDirectory() as folder:
        tree, lake = Path(folder, "tree"), Lake.create(Path(folder, "lake"))
        render(tree)
        files = sum(path.is_file() for path in tree.rglob("*"))
        megabytes = sum(path.stat().st_size for path in tree.rglob("*") if path.is_file()) / 1e6
        floor = seconds(lambda: hash_all(tree))
        first = seconds(lambda: ingest([tree], lake))
        again = seconds(lambda: ingest([tree], lake))
    rows = {"floor: walk, read, SHA-256": floor, "ingest": first, "ingest again, nothing new": again}
    lines = [
        f"{files:,} files, {megabytes:.0f} MB, one process, one run each.",
        "",
        "| what | seconds | files/s | times the floor |",
        "|---|---|---|---|",
        *(f"| {what} | {took:.2f} | {files / took:,.0f} | {took / floor:.1f} |" for what, took in rows.items()),
    ]
    text = "\n".join(lines) + "\n"
    RESULT.write_text(text)
    print(text, end="")


def render(tree: Path) -> None:
    """Write COPIES campaigns like the example's, each with its own numbers."""
    vary = random.Random(2544)  # noqa: S311 - noise, no secret
    for copy in range(COPIES):
        shutil.copytree(EXAMPLE, tree / str(copy))
        description = tree / str(copy) / "campaign.yaml"
        description.write_text(description.read_text().replace("campaign: ", f"campaign: copy-{copy}-", 1))
        for output in (tree / str(copy)).rglob("rate*.txt"):
            noise = f"max delay: {vary.uniform(100, 999):.3f} ms"
            output.write_text(re.sub(r"max delay: [\d.]+ ms", noise, output.read_text()))


def hash_all(tree: Path) -> None:
    """Do what no ingest can do without."""
    for path in sorted(tree.rglob("*")):
        if path.is_file():
            hashlib.sha256(path.read_bytes()).hexdigest()


def seconds(work: Callable[[], object]) -> float:
    """Return how long `work` takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
