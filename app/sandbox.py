"""Subprocesses for untrusted input, with limits of time and memory.

Each process does one job. As imports take longer than the job, `prepare` starts a process in advance.

DuckDB's own limits are not enough: `memory_limit` covers neither long texts nor the conversion to Arrow, and a
function at work on a single value ignores interrupts. The limits of the operating system cover everything.
"""

import json
import os
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
REFUSED: Final = 3  # exit code: input refused, with the reason on standard error
# Reserved address space counts towards the limit: Arrow's own pool reserves 1 GB, each malloc arena 64 MB.
_SPARING: Final = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "2"}
_TURNS: Final = threading.BoundedSemaphore(AT_ONCE)
_PREPARED: Final[dict[str, subprocess.Popen[bytes]]] = {}
_PREPARING: Final = threading.Lock()


class Refused(DroplineError):
    """The process refused its input; the message gives the reason."""


class TooMuch(DroplineError):
    """The job was stopped or not started; the message names the limit and what to do."""


def prepare(module: str) -> None:
    """Start a process for the next `run` of a module unless one is waiting already; it ends with this process."""
    with _PREPARING:
        waiting = _PREPARED.get(module)
        if waiting is None or waiting.poll() is not None:
            _PREPARED[module] = _started(module)


def run(module: str, *arguments: str, given: bytes = b"", seconds: float) -> bytes:
    """Run one of our modules on `given` and return its output; at most `AT_ONCE` run at a time.

    The process calls the module's `ready()`, which calls `confine` and imports, then its `main(*arguments)`, with
    `given` on standard input. It does not inherit our environment. Raise Refused if the process exited with the code
    `REFUSED`; TooMuch if it ran longer than `seconds`, hit a limit of `confine`, or waited longer than `WAIT_S`.
    """
    if not _TURNS.acquire(timeout=WAIT_S):
        raise TooMuch(f"{AT_ONCE} other requests are being processed; wait a few seconds and try again.")
    try:
        with _taken(module) as process:
            try:
                written, errors = process.communicate(json.dumps(arguments).encode() + b"\n" + given, seconds)
            finally:
                process.kill()
    except subprocess.TimeoutExpired:
        raise TooMuch(f"This took longer than {seconds:g} s and was stopped; ask for less.") from None
    finally:
        _TURNS.release()
    message = errors.decode("utf-8", "replace").strip()
    if process.returncode == REFUSED:
        raise Refused(message)
    if process.returncode < 0 or "MemoryError" in message:
        raise TooMuch("This needed more memory than one request may use and was stopped; ask for less.")
    if process.returncode:
        raise Refused(
            f"This failed: {message.splitlines()[-1]}. This is a bug in Dropline: please report it, with the input."
        )
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
    """Serve as the process of `run`: prepare the module that the command line names, and run its job on arrival.

    Imports start when the job arrives or after a pause, in which the browser draws the previous answer.
    """
    select.select([sys.stdin], [], [], PAUSE_S)
    module = import_module(sys.argv[1])
    module.ready()
    if arguments := sys.stdin.buffer.readline():  # empty if the parent process has ended
        module.main(*json.loads(arguments))
        sys.stdout.flush()
        os._exit(0)  # tearing down the imported libraries would take longer than the job


def confine(memory_bytes: int) -> None:
    """Irrevocably limit this process to `memory_bytes` of address space and no file writes."""
    for kind, most in ((resource.RLIMIT_AS, memory_bytes), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(kind, (most, most))


def refuse(reason: object) -> NoReturn:
    """End this process, and pass the reason to `run`."""
    print(reason, file=sys.stderr)
    raise SystemExit(REFUSED)
