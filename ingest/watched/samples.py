"""What the readers of watched files share: how a file is accounted for, and the instants and numbers in it."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING, Final

from dropline.ingest.formats import Reject
from dropline.ingest.formats.json_documents import documents
from dropline.ingest.formats.text import LONGEST, MAX_TEXT_BYTES, lines, quote, unpack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from dropline.ingest.watched import Sample

MAX_REJECTS: Final = 20  # told one by one; of the rest, how many there are
MAX_SAMPLES: Final = 2_000_000

_SPLIT: Final = "split the file by time, or watch less often"
_WHOLE: Final = "copy the whole file again; all before it is kept"
_NUMBER: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_EARLIEST_S: Final = 1e8  # 1973: anything smaller is a counter, or the begin of a time
_LATEST_S: Final = 1e11  # 5138


def account(
    data: bytes, read: Callable[[bytes], Iterator[Sample | Reject]], expected: str
) -> Iterator[Sample | Reject]:
    """Yield what `read` finds in the text of `data`: UTF-8 or UTF-16, perhaps in gzip.

    A text without samples is one reject. Of more than MAX_REJECTS the rest is counted in one; more than MAX_SAMPLES
    or MAX_TEXT_BYTES is one reject, too.
    """
    text, fault = unpack(data, MAX_TEXT_BYTES + 1)
    if len(text) > MAX_TEXT_BYTES:
        yield Reject(1, f"more than {MAX_TEXT_BYTES // 1024**2} MiB of text", _SPLIT)
        return
    samples = rejects = 0
    waiting: list[Reject] = []  # for the next sample: without any, the file is one reject
    last = None
    for part in chain(read(text), [fault] if fault else []):
        if isinstance(part, Reject):
            rejects, last = rejects + 1, part
            if rejects <= MAX_REJECTS:
                waiting.append(part)
            elif rejects == MAX_SAMPLES:
                break  # whatever it is, it is no such file any more
        elif samples == MAX_SAMPLES:
            waiting.append(Reject(1, f"more than {MAX_SAMPLES} values: the rest is left out", _SPLIT))
            break
        else:
            samples += 1
            yield from waiting
            waiting.clear()
            yield part
    if not samples:
        yield _only(waiting, rejects, expected)
        return
    yield from waiting
    if last and rejects > MAX_REJECTS:
        reason = f"{rejects - MAX_REJECTS} more parts are unusable, the last one: {last.reason}"
        yield Reject(last.line, reason, last.hint)


def _only(waiting: list[Reject], rejects: int, expected: str) -> Reject:
    """Return the one reject of a text without samples."""
    if not waiting:
        return Reject(1, "there is no value in it", expected)
    first = waiting[0]
    more = f"; {rejects - 1} more parts are unusable, and none is of use" if rejects > 1 else ""
    return Reject(first.line, first.reason + more, first.hint)


def each_line(text: bytes, read: Callable[[str], Iterable[Sample] | None], expected: str) -> Iterator[Sample | Reject]:
    """Yield the samples of every line; `read` returns None for a line that it cannot use.

    A last line that has not ended is cut off: a number in it may lack digits.
    """
    for number, line, ended in lines(text):
        found = read(line) if ended else None
        if found is not None:
            yield from found
        elif ended:
            yield Reject(number, f"not understood: {quote(line)}", expected)
        else:
            yield Reject(number, f"the last line is cut off: {quote(line)}", _WHOLE)


def each_document(text: bytes, read: Callable[[int, Any], Iterator[Sample | Reject]]) -> Iterator[Sample | Reject]:
    """Yield what `read` makes of each (line, JSON document) of a text, and what of the text is no JSON."""
    for document in documents(text.decode("utf-8", "replace")):
        if isinstance(document, Reject):
            yield document
        else:
            yield from read(*document)


def real(value: object) -> float | None:
    """Return a finite number, of a number or its text; None for NaN, infinity and what is none."""
    if isinstance(value, str):
        value = float(value) if len(value) <= LONGEST and _NUMBER.fullmatch(value) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        result = float(value)
    except OverflowError:
        return None
    return result if math.isfinite(result) else None


def instant(value: object) -> datetime | None:
    """Return the time that `value` tells, in UTC: ISO 8601 with a zone, or a count since 1970.

    Counts are of s, ms, us or ns: from 1973 to 5138 their sizes tell them apart. None for a time without a zone.
    """
    if (count := real(value)) is not None:
        return _counted(count)
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else None
        return found.astimezone(UTC) if found and found.tzinfo else None
    except (ValueError, OverflowError):
        return None


def _counted(count: float) -> datetime | None:
    for per_s in (1, 1e3, 1e6, 1e9):
        if _EARLIEST_S * per_s <= count < _LATEST_S * per_s:
            return datetime.fromtimestamp(count / per_s, UTC)
    return None


def words(value: object) -> str | None:
    """Return a text that the lake can hold: JSON can spell halves of characters, UTF-8 cannot."""
    return value.encode("utf-8", "replace").decode() or None if isinstance(value, str) else None
