"""Log of the SQL behind a chart, ready to paste and run."""

import re
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from dropline.quoting import quoted

_asked: Final[ContextVar[dict[str, None] | None]] = ContextVar("asked", default=None)
_PARAMETER: Final = re.compile(r"\$([a-z_]+)\b|'(?:[^']|'')*'")


@contextmanager
def recorded() -> Iterator[dict[str, None]]:
    """Collect the distinct queries of this thread, in order."""
    questions: dict[str, None] = {}
    token = _asked.set(questions)
    try:
        yield questions
    finally:
        _asked.reset(token)


def note(question: str) -> None:
    """Add a query, as returned by `pasteable`, to the open collection, if any."""
    if (asked := _asked.get()) is not None:
        asked[question] = None


def pasteable(sql: str, params: Mapping[str, Any]) -> str:
    """Return the query with the values of its parameters inserted."""
    text = textwrap.dedent(sql).strip()
    return _PARAMETER.sub(lambda match: _literal(params[match[1]]) if match[1] in params else match[0], text)


def _literal(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool | int | float):
        return str(value).lower()
    if isinstance(value, str):
        return quoted(value)
    return "[" + ", ".join(map(_literal, value)) + "]"
