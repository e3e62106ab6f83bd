"""JSON parsing for readers: whole documents, JSON lines, appended documents, truncated ones."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import partial
from typing import Any, Final

from dropline.ingest.formats import Parse, Reject, Sniff
from dropline.ingest.formats.text import Part, in_head, instant, items, mapping, quote
from dropline.ingest.formats.throughput import Fields, Trial, accounted, concluded

_MAX_FAULTS: Final = 100
_MAX_VALUES: Final = 3_000_000  # a value of two or three bytes may take 200 bytes of memory
_NEXT: Final = re.compile(r"\s*(?=[\[{])")
_ONLY: Final = "keep only the JSON of the tool in the file"
_DOCUMENT: Final = re.compile(r"^(?=[\[{])", re.MULTILINE)


def documents(data: bytes) -> Iterator[tuple[int, Node] | Reject]:
    """Yield (line, value) of each JSON document of a text, which may be one, JSON lines, or several appended.

    Invalid text is one reject, and parsing continues at the next line on which a document begins.
    """
    text = data.decode("utf-8", "replace")
    if sum(map(text.count, "{[,")) > _MAX_VALUES:
        yield Reject(1, f"more than {_MAX_VALUES} values", "split the file into one file per test")
        return
    decoder = json.JSONDecoder(parse_int=lambda digits: int(digits) if len(digits) <= 18 else float(digits))
    place, line, faults = 0, 1, 0
    while start := _NEXT.match(text, place) or _DOCUMENT.search(text, place):
        begin = start.end()
        if skipped := text[place:begin].strip():
            yield Reject(line, f"not JSON: {quote(skipped)}", _ONLY)
        line += text.count("\n", place, begin)
        try:
            value, end = decoder.raw_decode(text, begin)
        except (ValueError, RecursionError) as error:
            faults += 1
            why = "nested too deeply" if isinstance(error, RecursionError) else str(error)
            yield Reject(line, f"damaged JSON: {why}", "copy the whole file again; it may be cut off")
            following = _DOCUMENT.search(text, begin + 1)
            # Otherwise a hostile text would be decoded from each of its lines to its end.
            if not following or faults == _MAX_FAULTS:
                return
            end = following.start()
        else:
            yield line, Node(value)
        line += text.count("\n", begin, end)
        place = end
    if rest := text[place:].strip():
        yield Reject(line, f"not JSON: {quote(rest)}", _ONLY)


def in_documents(text: bytes, read: Callable[[int, Node], Iterable[Part | Reject]]) -> Iterator[Part | Reject]:
    """Yield the results of `read` for each (line, JSON document) of a text, and rejects for invalid JSON."""
    for document in documents(text):
        yield from [document] if isinstance(document, Reject) else read(*document)


class Node(Fields):
    """A value of a JSON document; names are paths within it, such as `stats.overall`. Missing values are empty."""

    def __init__(self, value: object) -> None:
        self.value = value

    def get(self, *names: str, unit: str | None = None) -> Any:
        """Return the first non-empty value at these paths."""
        for path in names:
            value = self.value
            for name in path.split(".") if "." in path else (path,):
                value = value.get(name) if isinstance(value, dict) else None
            if value is not None and value != "":
                return value
        return None

    def of(self, path: str) -> Node:
        """Return the value at a path."""
        return Node(self.get(path))

    def members(self, path: str = "") -> dict[str, Node]:
        """Return the values of an object by name; empty for anything else."""
        return {str(name): Node(value) for name, value in mapping(self.get(path) if path else self.value).items()}

    def items(self, path: str = "") -> list[Node]:
        """Return the items of a list; empty for anything else."""
        return [Node(item) for item in items(self.get(path) if path else self.value)]

    def values(self, path: str) -> list[Any]:
        """Return the items of a list unwrapped; empty for anything else."""
        return items(self.get(path))

    def instant(self, *names: str) -> datetime | None:
        """Return `get` as a time in UTC, or None."""
        return instant(self.get(*names))


def has_strings(*strings: str) -> Sniff:
    """Return a reader's `sniff`: whether a file begins like JSON and has strings that match these patterns."""
    marks = [re.compile(rf'"(?:{string})"') for string in strings]
    return in_head(lambda text: text.lstrip()[:1] in {"{", "["} and all(mark.search(text) for mark in marks))


def of_documents(trials: Callable[[int, Node], Iterable[Trial | Reject]], expected: str) -> Parse:
    """Return a reader's `parse`: the results of `trials` for each JSON document, given its line."""
    return accounted(partial(in_documents, read=lambda line, root: map(concluded, trials(line, root))), expected)
