"""Text helpers for all readers: decoding, lines, numbers and times."""

import bz2
import gzip
import io
import json
import lzma
import math
import re
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from itertools import chain, groupby
from typing import Any, Final, TypeVar, cast

from dropline.ingest.formats import Reject, Report, Row, Sniff

Part = TypeVar("Part")

MAX_TEXT_BYTES: Final = 128 * 1024 * 1024
MAX_LINES: Final = 1_000_000
MAX_SERIES: Final = 200_000  # values kept per report: two days at one line per second
MAX_ROWS: Final = 500_000  # of all reports of a text
MAX_REJECTS: Final = 1000
LONGEST: Final = 4000  # characters of a line; longer ones are not matched

_PACKED: Final[dict[bytes, Callable[[Any], Any]]] = {
    b"\x1f\x8b": gzip.open,
    b"\xfd7zXZ\x00": lzma.open,
    b"BZh": bz2.open,
}
_UTF8_MARK: Final = b"\xef\xbb\xbf"
_UTF16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")
_SEPARATOR: Final = re.compile(rb"\"?sep=.\"?\r?(?=\n)")  # the separator, for spreadsheets
HEAD_BYTES: Final = 64 * 1024
_CHUNK_BYTES: Final = 1024 * 1024
_BLANK: Final = " \t\r\n\0"  # after a crash the file system may leave NULs for a lost block
_ESCAPE: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*\x07?|[^\[\]])")
_THOUSANDS: Final = re.compile(r"(?<![\d,.])\d{1,3}(?:,\d{3})+(?!\d|,\d)", re.ASCII)
_NUMBER: Final = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_EARLIEST_S: Final = 1e8  # 1973: anything smaller is a counter, or a truncated time
_LATEST_S: Final = 1e11  # 5138
_QUOTED: Final = 80
_REAL: Final = (int, float)  # isinstance is faster with a tuple than with a union


@lru_cache(maxsize=1)  # every reader gets the same head
def head_text(head: bytes) -> str:
    """Decode the head of a file, without colour codes."""
    return uncoloured(unpack(head, HEAD_BYTES)[0].decode("utf-8", "replace"))


def uncoloured(text: str) -> str:
    """Return `text` without colour codes."""
    return _ESCAPE.sub("", text) if "\x1b" in text else text


def is_marked(text: str, mark: re.Pattern[str], *clues: str) -> bool:
    """Return whether `text` matches `mark`; `clues` are substrings of every match, used as a cheap pre-check."""
    return any(map(text.__contains__, clues)) and mark.search(text) is not None


def in_head(is_ours: Callable[[str], object]) -> Sniff:
    """Return a reader's `sniff`: whether `is_ours` accepts the text at the head of a file."""
    return lambda head: bool(is_ours(head_text(head)))


def marked(mark: re.Pattern[str], *clues: str) -> Sniff:
    """Return a reader's `sniff`: whether the head of a file contains `mark`, by `is_marked`."""
    return in_head(lambda text: is_marked(text, mark, *clues))


def either(*sniffs: Sniff) -> Sniff:
    """Return a reader's `sniff`: whether one of `sniffs` accepts the head of a file."""
    return lambda head: any(sniff(head) for sniff in sniffs)


def is_packed(data: bytes) -> bool:
    """Return whether data begins as gzip, xz or bzip2 does."""
    return data.startswith((*_PACKED,))


def decompressed(raw: Any, head: bytes) -> Any:
    """Return the decompressed binary stream of a file that begins with `head`."""
    return next((opened(raw) for magic, opened in _PACKED.items() if head.startswith(magic)), raw)


def unpack(data: bytes, limit: int = MAX_TEXT_BYTES + 1) -> tuple[bytes, Reject | None]:
    """Return at most `limit` bytes of text as UTF-8, and the reject for damaged compression, if any."""
    fault = None
    if is_packed(data):
        text = bytearray()
        with decompressed(io.BytesIO(data), data) as file:
            try:
                while len(text) < limit and (chunk := file.read1(min(limit, _CHUNK_BYTES))):
                    text += chunk
            except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
                reason = f"compressed file is damaged after {len(text)} bytes of text: {error}"
                fault = Reject(1, reason, "copy the file again; what could be read is kept")
        data = bytes(text)
    if data.startswith(_UTF16_MARKS):
        data = data[: 2 * limit].decode("utf-16", "replace").encode()
    data = data.removeprefix(_UTF8_MARK)
    if hint := _SEPARATOR.match(data):
        data = data[hint.end() :]
    return data[:limit], fault


def within(
    data: bytes,
    read: Callable[[bytes], Iterator[Part | Reject]],
    advice: str,
    limit: int = MAX_TEXT_BYTES,
    most_lines: float = MAX_LINES,
) -> Iterator[Part | Reject]:
    """Yield the results of `read` for the text of `data`, and a reject for damaged compression.

    Accepts UTF-8 and UTF-16 with a byte order mark, also compressed by gzip, xz or bzip2. A text of more than `limit`
    bytes or `most_lines` lines is one reject with `advice`.
    """
    text, fault = unpack(data, limit + 1)
    if len(text) > limit:
        yield Reject(1, f"more than {limit // 1024**2} MiB of text", advice)
        return
    # Parsing a line may take a hundred times its size in memory.
    if max(text.count(b"\n"), text.count(b"\r")) > most_lines:
        yield Reject(1, f"more than {most_lines} lines", advice)
        return
    if text or not fault:
        yield from read(text)
    if fault:
        yield fault


def parts(
    data: bytes, read: Callable[[bytes], Iterator[Report | Reject]], advice: str, limit: int = MAX_TEXT_BYTES
) -> Iterator[Report | Reject]:
    """Yield the results of `read`, like `within`; all after MAX_ROWS rows or MAX_REJECTS rejects is one reject."""

    def few_rows(text: bytes) -> Iterator[Report | Reject]:
        rows = 0
        for part in read(text):
            if rows > MAX_ROWS:
                yield Reject(part.line, f"{rows} values come before this: from here on the file is not read", advice)
                return
            if not isinstance(part, Reject):
                rows += len(part.exchanges) + len(part.intervals.get("position", ())) + len(part.observations)
            yield part

    return within(data, lambda text: few_rejects(few_rows(text), advice), advice, limit)


def lines(text: bytes, first: int = 1) -> Iterator[tuple[int, str, bool]]:
    """Yield (number, line, whether it has an end) of non-blank lines; a CR is an end, too; numbers start at `first`."""
    # Terminals and their recorders convert \n to \r\n, sometimes twice.
    stream = io.TextIOWrapper(io.BytesIO(text.replace(b"\r\r\n", b"\r\n")), encoding="utf-8", errors="replace")
    for number, raw in enumerate(stream, first):
        if line := raw.strip(_BLANK):
            if "\x1b" in line and not (line := clean(line)):
                continue
            yield number, line, raw[-1] == "\n"


def clean(raw: str) -> str:
    """Return a line without surrounding blanks and colour codes."""
    line = raw.strip(_BLANK)
    return _ESCAPE.sub("", line).strip(_BLANK) if "\x1b" in line else line


def count(value: object) -> int | None:
    """Return a counter, or None if it is invalid or exceeds a 64-bit integer."""
    if isinstance(value, str) and value.isdecimal() and value.isascii() and len(value) <= 18:
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**18:
        return value
    return None


def without_thousands(text: str) -> str:
    """Return `text` without thousands separators, with 8815510 for 8,815,510."""
    return _THOUSANDS.sub(lambda found: found[0].replace(",", ""), text) if "," in text else text


def number(value: object, scale: float = 1.0) -> float | None:
    """Return a finite number times `scale`, or None for -nan, inf and invalid values."""
    parsed = real(value)
    result = None if parsed is None else parsed * scale
    # Round off floating-point noise from the conversion of seconds to milliseconds.
    return round(result, 9) if result is not None and math.isfinite(result) else None


def real(value: object) -> float | None:
    """Return a finite number from a number or text, or None for NaN, infinity and invalid values."""
    if isinstance(value, str):
        value = float(value) if len(value) <= LONGEST and _NUMBER.fullmatch(value) else None
    if isinstance(value, bool) or not isinstance(value, _REAL):
        return None
    try:
        result = float(value)
    except OverflowError:
        return None
    return result if math.isfinite(result) else None


def instant(value: object) -> datetime | None:
    """Return a time in UTC: ISO 8601 with a zone, or a count since 1970 in s, ms, us or ns, distinguished by size.

    None for a time without a zone.
    """
    if (count := real(value)) is not None:
        fits = (per_s for per_s in (1, 1e3, 1e6, 1e9) if _EARLIEST_S * per_s <= count < _LATEST_S * per_s)
        per_s = next(fits, None)
        return datetime.fromtimestamp(count / per_s, UTC) if per_s else None
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else None
        return found.astimezone(UTC) if found and found.tzinfo else None
    except (ValueError, OverflowError):
        return None


def json_object(line: str) -> Row | None:
    """Parse a line as a JSON object; return None if it is not one."""
    if not line.startswith("{") or not line.rstrip().endswith("}"):
        return None
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def mapping(value: object) -> Row:
    """Return a JSON object, or an empty one for any other value."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    """Return a JSON list, or an empty one for any other value."""
    return value if isinstance(value, list) else []


def words(value: object, longest: int = LONGEST) -> str | None:
    """Return a text or number as text that the lake can store: unlike JSON, UTF-8 has no lone surrogates."""
    if not isinstance(value, str):
        if not isinstance(value, int | float) or isinstance(value, bool):
            return None
        value = str(value)
    text = value[:longest].strip()
    return (text if text.isascii() else text.encode("utf-8", "replace").decode()) or None


def quote(text: str) -> str:
    """Return `text` in quotes, shortened to fit a message."""
    return repr(text if len(text) <= _QUOTED else text[:_QUOTED] + "...")


def plural(amount: float, noun: str) -> str:
    """Return an amount with its noun, `1 client`, `2 clients`, or its unit, `0.5 s`."""
    return f"{amount:.15g} {noun}" + "s" * (amount != 1 and len(noun) > 1)


def without_runs_of_rejects(found: Iterable[Part | Reject], expected: str) -> Iterator[Part | Reject]:
    """Yield all parts, with consecutive rejects as one; if there are none, a reject with the hint `expected`."""
    parts = iter(found)
    every = chain([next(parts, Reject(1, "there is no result in it", expected))], parts)
    for are_rejects, run in groupby(every, lambda part: isinstance(part, Reject)):
        if not are_rejects:
            yield from run
            continue
        rejects = cast("Iterator[Reject]", run)
        first, last = next(rejects), deque(enumerate(rejects, 1), maxlen=1)
        more = "".join(f"; and {number} more up to line {reject.line}" for number, reject in last)
        yield replace(first, reason=first.reason + more)


def few_rejects(found: Iterator[Part | Reject], advice: str) -> Iterator[Part | Reject]:
    """Yield all parts up to MAX_REJECTS rejects, then the number of further rejects."""
    rejects, last = 0, 1
    for part in found:
        if isinstance(part, Reject):
            rejects, last = rejects + 1, part.line
            if rejects > MAX_REJECTS:
                continue
        yield part
    if rejects > MAX_REJECTS:
        yield Reject(last, f"{rejects - MAX_REJECTS} more parts up to here cannot be used", advice)
