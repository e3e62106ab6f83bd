"""Kill Dropline at random instants, again and again, in one home: what was committed stays, exactly once.

    python tests/torture/torture.py --kills 320 --seed 1

Each round starts one command of the command line on a home with a history, kills it at a random instant of its usual
duration, and looks: every file that was committed is there, in one current version, with all its trials and none
twice; a call's files are all there or none; nobody is left running; the warehouse opens and is the old one or the new
one, whole. Then the same command runs to its end, as the next person would type it.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import duckdb

ROOT = Path(__file__).parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from dropline.ingest.lake import Lake  # noqa: E402
from dropline.paths import Home  # noqa: E402

EXAMPLE = ROOT / "examples" / "kea-2.2-ha"
RUN = "runs/v4_st_memfile_hot-standby"
SHARES = {"ingest": 40, "compact": 25, "reparse": 15, "rollback": 10, "build": 10}  # of 100 kills

# Every call finds that the reader of perfdhcp has learned something, so that each trial is written again.
REPARSE = """
import sys
from dropline.ingest.formats import perfdhcp
parse, seen = perfdhcp.parse, sys.argv[2]
def parse_better(data):
    for part in parse(data):
        if hasattr(part, "warnings"):
            part.warnings.append("read again: " + seen)
        yield part
perfdhcp.parse = parse_better
sys.argv = ["dropline", "--home", sys.argv[1], "reparse"]
from dropline.cli import main
main()
"""

# The newest version of every file, its trials, and how many it is said to have.
CURRENT = """
    with files as (
        select campaign, source_path, batch, trials, count(*) over (partition by campaign, source_path, batch) as copies
        from raw_files
        qualify row_number() over (partition by campaign, source_path order by batch desc) = 1
    ),
    found as (
        select campaign, source_path, batch, count(*) as found, count(distinct trial_id) as different
        from trials group by all
    )
    select campaign || '/' || source_path, trials, coalesce(found, 0), coalesce(different, 0), copies
    from files left join found using (campaign, source_path, batch)
"""


class Damage(AssertionError):
    """Something was lost, doubled, half there, or left running."""


class Instant(NamedTuple):
    """What a home held at one moment: trials by file, and the warehouse's identity."""

    files: dict[str, int]
    built_at: str | None


@dataclass
class Torture:
    """One home under torture."""

    root: Path
    chance: random.Random
    kills: Counter[str] = field(default_factory=Counter)
    committed: Counter[str] = field(default_factory=Counter)
    usual_s: dict[str, float] = field(default_factory=dict)
    rounds: int = 0

    def __post_init__(self) -> None:
        self.home = Home(self.root / "home")
        self.grow()
        for command in ("ingest", "build", "build", "compact", "reparse", "rollback"):
            self.run(command)

    def grow(self) -> None:
        """Add a campaign to what there is to ingest, and change a file of another."""
        self.rounds += 1
        tree = self.root / "tree" / f"campaign{self.rounds:03}"
        shutil.copytree(EXAMPLE / RUN / "rep1", tree / RUN / "rep1")
        shutil.copytree(EXAMPLE / "configs", tree / "configs")
        described = (EXAMPLE / "campaign.yaml").read_text("utf-8").replace("kea-2.2-ha", tree.name)
        (tree / "campaign.yaml").write_text(described, "utf-8")
        known = sorted((self.root / "tree").glob("*/runs/**/rate*.txt"))
        with self.chance.choice(known).open("ab") as file:
            file.write(b"\n")

    def command(self, name: str) -> list[str]:
        home = str(self.home.root)
        if name == "reparse":
            return [sys.executable, "-c", REPARSE, home, str(self.rounds)]
        rest = [str(self.root / "tree")] if name == "ingest" else []
        return [sys.executable, "-m", "dropline", "--home", home, name, *rest]

    def run(self, name: str) -> None:
        """Let a command run to its end; it must succeed, and leave the home sound."""
        began = time.perf_counter()
        done = subprocess.run(self.command(name), cwd=ROOT, capture_output=True, text=True, timeout=300)
        if name == "rollback" and "no earlier warehouse is kept" in done.stderr:
            return
        if done.returncode:
            raise Damage(f"{name} failed with {done.returncode}: {done.stdout}\n{done.stderr}")
        self.usual_s[name] = time.perf_counter() - began
        self.look()

    def kill(self, name: str) -> None:
        """Start a command, kill it at a random instant, look, and let it run to its end."""
        if name == "ingest":
            self.grow()
        before = self.look()
        process = subprocess.Popen(
            self.command(name), cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        try:
            process.wait(self.chance.uniform(0, 1.05) * self.usual_s[name])
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self._nobody_left(process.pid)
        after = self.look()
        self.kills[name] += process.returncode == -signal.SIGKILL
        self.committed[name] += after != before
        self._nothing_lost(name, before, after)
        self.run(name)

    def look(self) -> Instant:
        """Return what the home holds; raise Damage when any file is not there exactly once and whole."""
        lake = Lake(self.home.lake)
        files: dict[str, int] = {}
        if lake.batches():
            with duckdb.connect() as connection:
                for table in ("raw_files", "trials"):
                    listed = ", ".join(f"'{file}'" for file in lake.files(table))
                    connection.execute(f"create view {table} as from read_parquet([{listed}], union_by_name = true)")
                for path, said, found, different, copies in connection.execute(CURRENT).fetchall():
                    if not said == found == different or copies != 1:
                        raise Damage(
                            f"{path}: {said} trials said, {found} found, {different} different, {copies} copies"
                        )
                    files[path] = said
        built_at = None
        if self.home.warehouse.exists():
            with duckdb.connect(str(self.home.warehouse), read_only=True) as connection:
                built_at, trials, steps = connection.execute(
                    "select built_at::varchar, (select count(*) from trials), (select count(*) from run_steps) "
                    "from build_info"
                ).fetchone()
            if not trials or not steps:
                raise Damage(f"the warehouse of {built_at} is not whole")
        return Instant(files, built_at)

    def _nobody_left(self, group: int) -> None:
        for _ in range(100):
            try:
                os.killpg(group, 0)
            except ProcessLookupError:
                return
            time.sleep(0.1)
        os.killpg(group, signal.SIGKILL)
        raise Damage("a process outlived the killed one for ten seconds")

    def _nothing_lost(self, name: str, before: Instant, after: Instant) -> None:
        lost = {path for path, trials in before.files.items() if after.files.get(path) != trials}
        if lost:
            raise Damage(f"{name} lost or changed {sorted(lost)}")
        new = after.files.keys() - before.files.keys()
        there = {path.split("/")[0] for path in new}
        if new and there != {f"campaign{self.rounds:03}"}:
            raise Damage(f"{name} brought {sorted(new)}")
        whole = sum(1 for file in (self.root / "tree" / f"campaign{self.rounds:03}").rglob("*") if file.is_file())
        if new and len(new) != whole:
            raise Damage(f"{name} brought {len(new)} of {whole} files")


def torture(root: Path, kills: int, seed: int, shares: dict[str, int] = SHARES, *, say=print) -> Torture:
    """Kill so many commands, in random order but with these shares; raise Damage at the first fault.

    A command that ended before its instant came does not count.
    """
    tortured = Torture(root, random.Random(seed))
    while (killed := tortured.kills.total()) < kills:
        name = tortured.chance.choices(list(shares), weights=list(shares.values()))[0]
        tortured.kill(name)
        if killed % 10 == 9 and tortured.kills.total() > killed:
            say(
                f"{killed + 1} of {kills}: {dict(tortured.kills)}; {dict(tortured.committed)} after the commit",
                flush=True,
            )
    tortured.run("build")
    done = subprocess.run(tortured.command("verify"), cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise Damage(f"verify: {done.stdout}{done.stderr}")
    return tortured


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=320, help="how many")
    parser.add_argument("--seed", type=int, default=20261121)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dropline-torture-") as folder:
        began = time.perf_counter()
        found = torture(Path(folder), options.kills, options.seed)
        trials = sum(found.look().files.values())
    print(
        f"{found.kills.total()} kills survived in {time.perf_counter() - began:.0f} s: {dict(found.kills)}; "
        f"after the commit: {dict(found.committed)}. "
        f"{trials} trials, none lost, none twice."
    )


if __name__ == "__main__":
    main()
