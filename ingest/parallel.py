"""Work that several processes share: its results come in the order of the tasks, whoever did them."""

from __future__ import annotations

import copyreg
import gc
import os
import pickle
import sys
import threading
import traceback
from importlib import import_module
from multiprocessing import get_context
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from dropline.errors import DroplineError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from multiprocessing.connection import Connection

Task = TypeVar("Task")
Result = TypeVar("Result")


copyreg.pickle(ModuleType, lambda module: (import_module, (module.__name__,)))  # readers are modules


class WorkerError(DroplineError):
    """A process that ended without a word."""


def in_order(work: Callable[[Task], Result], tasks: Sequence[Task], workers: int | None = None) -> Generator[Result]:
    """Yield `work(task)` for every task, in their order; a single task, or a single worker, needs no other process.

    The workers are forks, one for each core unless told otherwise: they find all that stands in memory, and change
    nothing of it here. Each has every n-th task, and waits with a result until it is taken, so that few results exist
    at a time. What a task raises is raised here. The forks end with the iterator, and when this process is killed. In a
    thread beside the main one there are none, for it may be that of a server.
    """
    workers = min(workers or _cores(), len(tasks))
    if workers < 2:
        yield from (_done(work, task) for task in tasks)
        return
    context = get_context("fork")
    ends, processes = [], []
    try:
        for first in range(workers):
            end, other = context.Pipe(duplex=False)
            ends.append(end)
            process = context.Process(target=_serve, args=(work, tasks[first::workers], other, ends), daemon=True)
            process.start()
            processes.append(process)
            other.close()
        for number in range(len(tasks)):
            try:
                result, error = _receive(ends[number % workers])
            except (EOFError, OSError):  # before a result, or within one
                message = "a process that read files was killed, perhaps for want of memory; ingest again"
                raise WorkerError(message) from None
            if error is not None:
                raise error
            yield result
    finally:
        for process in processes:
            process.terminate()
            process.join()


def _cores() -> int:
    # Elsewhere than on Linux, forks are not safe with the libraries of the system.
    forks = sys.platform == "linux" and threading.current_thread() is threading.main_thread()
    return len(os.sched_getaffinity(0)) if forks else 1


def _send(end: Connection, told: tuple[object, Exception | None]) -> None:
    """Send what `_receive` returns; the memory that Arrow's tables have goes as it lies, without a copy on the way."""
    buffers: list[pickle.PickleBuffer] = []
    rest = pickle.dumps(told, pickle.HIGHEST_PROTOCOL, buffer_callback=buffers.append)
    end.send((rest, len(buffers)))
    for buffer in buffers:
        end.send_bytes(buffer.raw())


def _receive(end: Connection) -> Any:
    rest, buffers = end.recv()
    return pickle.loads(rest, buffers=[end.recv_bytes() for _ in range(buffers)])  # noqa: S301 -- of our own fork


def _done(work: Callable[[Task], Result], task: Task) -> Result:
    """Return what a task comes to; cycles are looked for afterwards, which takes a tenth of its time otherwise."""
    wanted = gc.isenabled()
    gc.disable()
    try:
        return work(task)
    finally:
        if wanted:
            gc.enable()


def _serve(work: Callable[[Task], Result], tasks: Sequence[Task], end: Connection, ends: Sequence[Connection]) -> None:
    gc.freeze()  # what is looked at for cycles is copied, and all that was there before stays
    for other in ends:  # of the parent alone: without them, writing fails when it is gone
        other.close()
    try:
        for task in tasks:
            _send(end, (_done(work, task), None))
    except (KeyboardInterrupt, BrokenPipeError):  # the parent knows, or is no more
        return
    except Exception as error:
        error.add_note("".join(traceback.format_exception(error)))  # the other process has another
        _send(end, (None, error))
