"""A sandbox for untrusted input: a process of its own with limits of time and memory.

Such a process does one piece of work. It takes longer to import what it needs than to do that, so one may be started
before there is any (`prepare`); it knows nothing of the work until then.

DuckDB's own limits are not enough: rows on their way to Arrow and long texts do not count towards `memory_limit`,
and a function that works on one value does not hear an interrupt. The limits of the operating system hold for all.
"""

from __future__ import annotations

import json
import resource
import select
import subprocess
import sys
import threading
from importlib import import_module
from typing import Final, NoReturn

from dropline.errors import DroplineError

AT_ONCE: Final = 2
WAIT_S: Final = 5.0
PAUSE_S: Final = 0.4
REFUSED: Final = 3  # exit code: what was given is refused; why stands on standard error
# Reserved address space counts towards the limit: Arrow's own pool takes 1 GB of it, each arena of malloc 64 MB.
_SPARING: Final = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "2"}
_TURNS: Final = threading.BoundedSemaphore(AT_ONCE)
_PREPARED: Final[dict[str, subprocess.Popen[bytes]]] = {}
_PREPARING: Final = threading.Lock()


class Refused(DroplineError):
    """The process says why it does nothing with what it was given."""


class TooMuch(DroplineError):
    """The work was ended, or not begun; the text says at which limit and what to do."""


def prepare(module: str) -> None:
    """Start a process for the next `run` of a module, unless one waits; it ends with this process."""
    with _PREPARING:
        waiting = _PREPARED.get(module)
        if waiting is None or waiting.poll() is not None:
            _PREPARED[module] = _started(module)


def run(module: str, *arguments: str, given: bytes = b"", seconds: float) -> bytes:
    """Let a module of ours work on `given` and return what it writes; at most `AT_ONCE` work at a time.

    Its `ready()` is called first, to `confine` the process and to import; then its `main(*arguments)`, which finds
    `given` on standard input. The process has nothing of our environment.

    Raises:
        Refused: it ended with the exit code `REFUSED`.
        TooMuch: it took longer than `seconds`, ended at a limit of `confine`, or had no turn for `WAIT_S`.
    """
    if not _TURNS.acquire(timeout=WAIT_S):
        message = f"{AT_ONCE} other requests are being worked on; wait a few seconds and try again."
        raise TooMuch(message)
    try:
        with _taken(module) as process:
            try:
                written, errors = process.communicate(json.dumps(arguments).encode() + b"\n" + given, seconds)
            finally:
                process.kill()
    except subprocess.TimeoutExpired:
        message = f"This took longer than {seconds:g} s and was ended; ask for less."
        raise TooMuch(message) from None
    finally:
        _TURNS.release()
    said = errors.decode("utf-8", "replace").strip()
    if process.returncode == REFUSED:
        raise Refused(said)
    if process.returncode < 0 or "MemoryError" in said:
        message = "This needed more memory than one request may have and was ended; ask for less."
        raise TooMuch(message)
    if process.returncode:
        message = f"This failed: {said.splitlines()[-1]}. That is a fault of Dropline: report it with what was given."
        raise Refused(message)
    return written


def _taken(module: str) -> subprocess.Popen[bytes]:
    with _PREPARING:
        waiting = _PREPARED.pop(module, None)
    return waiting if waiting and waiting.poll() is None else _started(module)


def _started(module: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - ourselves
        [sys.executable, "-B", "-c", "from dropline.app import sandbox; sandbox.wait()", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"PYTHONUTF8": "1", "TZ": "UTC", **_SPARING},
    )


def wait() -> None:
    """Be the process of `run`: make ready for the module that the command line names, and do its work when it comes.

    It imports when there is work, or after a pause: the browser of whoever had the last answer draws meanwhile.
    """
    select.select([sys.stdin], [], [], PAUSE_S)
    module = import_module(sys.argv[1])
    module.ready()
    if arguments := sys.stdin.buffer.readline():  # nothing, when whoever started this has ended
        module.main(*json.loads(arguments))


def confine(memory_bytes: int) -> None:
    """Let this process have so much address space, and no file to write to, for as long as it lives."""
    for kind, most in ((resource.RLIMIT_AS, memory_bytes), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(kind, (most, most))


def refuse(reason: object) -> NoReturn:
    """End this process, telling `run` why."""
    print(reason, file=sys.stderr)
    raise SystemExit(REFUSED)
