"""Pool of forked processes that yields results in the order of the tasks."""

import ctypes
import gc
import os
import pickle
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from tempfile import TemporaryFile
from typing import IO, Any, Final, TypeVar

from dropline.errors import DroplineError

Task = TypeVar("Task")
Result = TypeVar("Result")

_PR_SET_PDEATHSIG: Final = 1  # prctl(2)
_LIBC: Final = ctypes.CDLL(None)  # loaded here, as a fork must not load it


def in_order(work: Callable[[Task], Result], tasks: Sequence[Task], workers: int | None = None) -> Generator[Result]:
    """Yield `work(task)` for every task, in order; a single task, or a single worker, runs in this process.

    The workers, by default one per core, are forks: they inherit the tasks and cannot change state here. Each runs at
    most one task ahead of the caller, and ends with the iterator or with this process. Exceptions of a task are raised
    here. Outside the main thread, as in a server, nothing is forked.
    """
    # Fork only on Linux: on other systems, their libraries make forks unsafe.
    forks = sys.platform == "linux" and threading.current_thread() is threading.main_thread()
    workers = min(workers or (len(os.sched_getaffinity(0)) if forks else 1), len(tasks))
    if workers < 2:
        yield from map(work, tasks)
        return
    # Each running task returns its result through a file: the pool's pipe would copy it five times.
    slots = [TemporaryFile() for _ in range(workers + 1)]  # noqa: SIM115 - closed below
    pool = ProcessPoolExecutor(workers, get_context("fork"), _prepare, (os.getpid(), work, tasks, slots))
    waiting: deque[Future[None]] = deque()
    try:
        for number in range(len(tasks) + workers):
            if number < len(tasks):
                waiting.append(pool.submit(_do, number))
            if number >= workers:
                yield _taken(waiting.popleft(), slots, number - workers)
    except BrokenProcessPool:
        message = "a process that read files was killed, perhaps because memory ran out; ingest again"
        raise DroplineError(message) from None
    finally:
        pool.shutdown(cancel_futures=True)
        for slot in slots:
            slot.close()


def end_with_parent(how: signal.Signals, parent: int) -> None:
    """Make the kernel send this process a signal when its parent dies; Linux only."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, how)
    if os.getppid() != parent:  # the parent has died already
        os.kill(os.getpid(), how)


@contextmanager
def uncollected() -> Iterator[None]:
    """Disable the cyclic garbage collector, which takes a tenth of an ingest's time to find few cycles."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _prepare(parent: int, *job: Any) -> None:
    """Prepare a fork: end with the parent, and leave Ctrl-C to it."""
    global _job
    _job = job
    end_with_parent(signal.SIGKILL, parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.freeze()  # the collector would write to inherited pages, and so copy them
    gc.disable()  # collections take a tenth of a task's time


def _do(number: int) -> None:
    work, tasks, slots = _job
    result = work(tasks[number])
    with _opened(slots, number, "wb") as file:
        pickle.dump(result, file, 5)


def _taken(done: Future[None], slots: Sequence[IO[bytes]], number: int) -> Any:
    done.result()
    with _opened(slots, number, "rb") as file:
        return pickle.load(file)  # noqa: S301 -- a fork wrote it


@contextmanager
def _opened(slots: Sequence[IO[bytes]], number: int, mode: str) -> Iterator[IO[bytes]]:
    """Open the file of a task at its beginning; forks share the position."""
    with open(slots[number % len(slots)].fileno(), mode, closefd=False) as file:
        file.seek(0)
        yield file


_job: tuple[Any, Any, Any]
