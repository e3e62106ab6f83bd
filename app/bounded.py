"""Work on what strangers gave, in a process of its own: whatever it does, it ends in time and in little memory.

DuckDB's own limits are not enough: rows on their way to Arrow and long texts do not count towards `memory_limit`,
and a function that works on one value does not hear an interrupt. The limits of the operating system hold for all.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import threading
from pathlib import Path
from typing import Final, NoReturn

from errors import DroplineError

AT_ONCE: Final = 2
WAIT_S: Final = 5.0
REFUSED: Final = 3  # exit code: what was given is refused; why stands on standard error
_ROOT: Final = Path(__file__).parent.parent
_TURNS: Final = threading.BoundedSemaphore(AT_ONCE)


class Refused(DroplineError):
    """The process says why it does nothing with what it was given."""


class TooMuch(DroplineError):
    """The work was ended, or not begun; the text says at which limit and what to do."""


def run(module: str, *arguments: str, given: bytes = b"", seconds: float) -> bytes:
    """Run a module of ours on `given` and return what it writes; at most `AT_ONCE` run at a time.

    The process has nothing of our environment. It is expected to call `confine` before it looks at anything.

    Raises:
        Refused: it ended with the exit code `REFUSED`.
        TooMuch: it took longer than `seconds`, ended at a limit of `confine`, or had no turn for `WAIT_S`.
    """
    if not _TURNS.acquire(timeout=WAIT_S):
        message = f"{AT_ONCE} other requests are being worked on; wait a few seconds and try again."
        raise TooMuch(message)
    try:
        done = subprocess.run(  # noqa: S603 - ourselves
            [sys.executable, "-B", "-m", module, *arguments],
            input=given,
            capture_output=True,
            timeout=seconds,
            cwd=_ROOT,
            env={"PYTHONUTF8": "1", "TZ": "UTC"},
            check=False,
        )
    except subprocess.TimeoutExpired:
        message = f"This took longer than {seconds:g} s and was ended; ask for less."
        raise TooMuch(message) from None
    finally:
        _TURNS.release()
    said = done.stderr.decode("utf-8", "replace").strip()
    if done.returncode == REFUSED:
        raise Refused(said)
    if done.returncode < 0 or "MemoryError" in said:
        message = "This needed more memory than one request may have and was ended; ask for less."
        raise TooMuch(message)
    if done.returncode:
        message = f"This failed: {said.splitlines()[-1]}. That is a fault of Dropline: report it with what was given."
        raise Refused(message)
    return done.stdout


def confine(memory_bytes: int) -> None:
    """Let this process have so much address space, and no file to write to, for as long as it lives."""
    for kind, most in ((resource.RLIMIT_AS, memory_bytes), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(kind, (most, most))


def refuse(reason: object) -> NoReturn:
    """End this process, telling `run` why."""
    print(reason, file=sys.stderr)
    raise SystemExit(REFUSED)
