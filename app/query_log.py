"""The SQL behind a page, ready to paste and run."""

import re
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final, Self

from dropline.quoting import quoted

_asked: Final[ContextVar[dict[str, None] | None]] = ContextVar("asked", default=None)
_PARAMETER: Final = re.compile(r"\$([a-z_]+)\b|'(?:[^']|'')*'")


@contextmanager
def recorded() -> Iterator[dict[str, None]]:
    """Collect the distinct queries of this thread, in order; at the end pass them on to the enclosing collection."""
    questions: dict[str, None] = {}
    outer = _asked.get()
    token = _asked.set(questions)
    try:
        yield questions
    finally:
        _asked.reset(token)
        if outer is not None:
            outer.update(questions)


@dataclass
class Part:
    """The queries of a part of a page that may run again alone: they replace those of its run before."""

    page: dict[str, None]
    asked: dict[str, None] = field(default_factory=dict)
    runs: int = 0

    @classmethod
    def of_page(cls) -> Self:
        """Return a part of the page whose queries are being collected."""
        page = _asked.get()
        return cls({} if page is None else page)

    @contextmanager
    def recorded(self) -> Iterator[None]:
        """Collect the queries of this run of the part."""
        with recorded() as asked:
            yield
        for question in self.asked:
            self.page.pop(question, None)
        self.page.update(asked)
        self.asked, self.runs = asked, self.runs + 1


def note(*questions: str) -> None:
    """Add queries, as returned by `pasteable`, to the open collection, if any."""
    if (asked := _asked.get()) is not None:
        asked.update(dict.fromkeys(questions))


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
