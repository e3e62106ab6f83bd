"""Processes that die, as when the power fails, at one of their file operations."""

import os
import signal
import subprocess
import sys
from pathlib import Path

# One process that imports once and forks for every copy; it starts no threads before a fork.
KILLER = """
import os, random, shutil, sys
from pathlib import Path
from tests.dying import die_at

code, whole, copies, kills = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])
exec(code)

def run(number, last_step=None):
    root = shutil.copytree(whole, copies / str(number))
    if not (child := os.fork()):
        steps = die_at(last_step)
        act(root)
        if last_step is None:
            (copies / "steps").write_text("\\n".join(steps))
        os._exit(0)
    return os.waitpid(child, 0)[1]

if run(0):
    sys.exit(f"unharmed, it failed in {copies}/0")
steps = (copies / "steps").read_text().split()
renames = [place for place, step in enumerate(steps, start=1) if step in ("os.rename", "os.link")]
chance = random.Random(20261120)
for number in range(kills):
    nth = number // 3
    choices = (renames[nth % len(renames)], chance.randrange(1, len(steps) + 1), len(steps) - 2 * nth)
    run(number + 1, max(1, choices[number % 3]))
"""


def killed(code: str, whole: Path, copies: Path, kills: int) -> list[Path]:
    """Return copies of a folder: in the first, `act(root)` of the code ran to its end, in the others it was killed.

    A third of the kills are at renames, a third at any of its file operations, a third at the last of them.
    """
    command = [sys.executable, "-c", KILLER, code, str(whole), str(copies), str(kills)]
    subprocess.run(command, cwd=Path(__file__).parents[1], check=True, timeout=120)
    return [copies / str(number) for number in range(kills + 1)]


def die_at(last_step: int | None) -> list[str]:
    """Kill this process at its so-manieth file operation from now on, if any; returns those so far, as they come."""
    steps: list[str] = []

    def step(event: str, _: object) -> None:
        if event == "open" or event.startswith(("os.", "shutil.")):
            steps.append(event)
            if len(steps) == last_step:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(step)
    return steps
