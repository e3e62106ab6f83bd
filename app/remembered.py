"""Answers that were given before: a publication never changes, so the same question has the same answer."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


class Answers:
    """The questions that were asked last with their answers, at most so many bytes of both; for several threads."""

    def __init__(self, most_bytes: int) -> None:
        """Remember nothing yet; what takes more than a quarter of `most_bytes` is never kept."""
        self._most_bytes = most_bytes
        self._bytes = 0
        self._lock = Lock()
        self._answers: OrderedDict[str, pa.Table] = OrderedDict()

    def find(self, question: str) -> pa.Table | None:
        """Return the answer to a question, or None."""
        with self._lock:
            if question in self._answers:
                self._answers.move_to_end(question)
            return self._answers.get(question)

    def keep(self, question: str, answer: pa.Table) -> None:
        """Remember an answer, and forget those that were not asked for longest."""
        if 4 * _size(question, answer) > self._most_bytes:
            return
        with self._lock:
            if question in self._answers:
                return
            self._answers[question] = answer
            self._bytes += _size(question, answer)
            while self._bytes > self._most_bytes:
                self._bytes -= _size(*self._answers.popitem(last=False))


def _size(question: str, answer: pa.Table) -> int:
    return len(question) + int(answer.nbytes)
