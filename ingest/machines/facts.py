"""Sources of machine facts, how each is recognised, and the tolerant conversions that their parsers share.

Content takes precedence over the name, which matters only for ambiguous content or an empty file. A conversion returns
None for an invalid value, so that an odd field affects only itself; FactError is for files of another kind.
"""

import json
import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple, TypeVar

from dropline import beside
from dropline.ingest.formats.text import count, items, real

Facts = dict[str, Any]
Parser = Callable[[bytes], Facts]  # may raise FactError
Found = TypeVar("Found")

MESSAGES: Final = "messages"  # a command's stderr
TRANSCRIPT: Final = "transcript"  # several commands with their outputs
_NAMED: Final = b"NAME="  # in every os-release; a cheap pre-check for the slow line-by-line pattern
_HEAD_BYTES: Final = 65_536
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_NO_VALUE: Final = frozenset({"", "-", "none", "unknown", "unknown!", "not specified", "not provided", "n/a", "(null)"})
_SIZE: Final = re.compile(r"([0-9]{1,15}(?:[.,][0-9]{1,6})?)\s*([KMGTPE]?)(?:i?B)?", re.IGNORECASE)
_MAX_TEXT_BYTES: Final = 8 * 1024 * 1024
_MAX_LINE: Final = 2000
_MAX_COUNT: Final = 2**31 - 1
_MAX_BYTES: Final = 2**62


class FactError(ValueError):
    """A file of machine facts is unreadable; the message says what was expected."""


class Source(NamedTuple):
    """A kind of file with machine facts, as described in sources.yml."""

    kind: str
    content: bytes  # pattern of its beginning, if that identifies it
    name: re.Pattern[str]
    command: str
    parse: Parser | None = None  # None for files that are stored unparsed, for people to read


DECLARED: Final[dict[str, Any]] = beside.words(__file__, "sources")
SOURCES: Final = {
    kind: Source(
        kind, "".join(declared.get("content", "")).encode(), re.compile(declared["name"], re.I), declared["command"]
    )
    for kind, declared in DECLARED.items()
}


def source(parse: Parser) -> Parser:
    """Register a parser for the kind of the same name."""
    SOURCES[parse.__name__] = SOURCES[parse.__name__]._replace(parse=parse)
    return parse


@cache
def _contents(*left_out: str) -> re.Pattern[bytes]:
    """Return a pattern for all contents, whose last group is the kind of the first matching source."""
    contents = ((each.kind, each.content) for each in SOURCES.values() if each.content and each.kind not in left_out)
    return re.compile(b"|".join(b"(?P<%b>%b)" % (kind.encode(), content) for kind, content in contents), re.MULTILINE)


def stem(name: str) -> str:
    """Return the name of a file without folders and extension: `ip-link` of `a/ip-link.json`."""
    return re.sub(r"\.(?:txt|json|out|log)$", "", re.split(r"[/\\]", name)[-1], flags=re.IGNORECASE)


def recognise(name: str, data: bytes) -> str | None:
    """Return the kind of machine facts in a file (all or its beginning), by its content, else by its name.

    Call this only for files in a folder of machine facts, as ambiguous content is judged by its name.
    """
    if name.endswith(".err"):
        return MESSAGES if _by_name(name.removesuffix(".err")) else None
    head = data[:_HEAD_BYTES].removeprefix(b"\xef\xbb\xbf").lstrip()
    found = (_contents() if _NAMED in head else _contents("os_release")).match(head)
    kind = found.lastgroup if found else _by_name(name)
    return None if kind == TRANSCRIPT and not any(outputs(head)) else kind


def outputs(transcript: bytes) -> Iterator[tuple[str, str, bytes]]:
    """Yield kind, command and output of each source in a transcript, whose commands follow the same prompt."""
    begin = re.match(SOURCES[TRANSCRIPT].content, transcript.lstrip(), re.MULTILINE)
    prompt = re.escape(begin["prompt"]) if begin else b"(?!)"
    parts = re.split(rb"^%b(?!dmidecode [0-9])(.*)\n" % prompt, transcript, flags=re.MULTILINE)
    for line, output in zip(parts[1::2], parts[2::2], strict=True):
        words = [word for word in re.split(r"[^\w.-]+", line.decode("utf-8", "replace")) if word.strip("-")]
        named = (kind for kind in map(_by_name, words) if kind and not SOURCES[kind].content)
        found = _contents(TRANSCRIPT).match(output.lstrip())
        if kind := found.lastgroup if found else next(named, None):
            yield kind, "-".join(words), output


@lru_cache(maxsize=4096)  # the repetitions of a ramp have the same names
def _by_name(name: str) -> str | None:
    own = stem(name)
    return next((each.kind for each in SOURCES.values() if each.name.fullmatch(own)), None)


def require(found: Found | None, what: str) -> Found:
    """Return a value; if it is missing, raise FactError with `what` was expected."""
    if not found:
        raise FactError(f"expected {what}")
    return found


def text(data: bytes) -> str:
    """Decode `data` without BOM, carriage returns and control characters; raise FactError if it is too large."""
    too_much = f"the facts of one machine, found more than {_MAX_TEXT_BYTES // 1024**2} MiB"
    require(len(data) <= _MAX_TEXT_BYTES, too_much)
    return _CONTROL.sub("", data.decode("utf-8-sig", "replace"))


def once(data: bytes, begin: str) -> str:
    """Return the first output in a file; raise FactError if further ones differ in more than numbers."""
    content = text(data)
    starts = [match.start() for match in re.finditer(f"^(?:{begin})", content, re.MULTILINE)]
    ends = [*starts[1:], len(content)]
    alike = {re.sub("[0-9.]+", "0", content[start:end]).strip() for start, end in zip(starts, ends, strict=False)}
    require(len(alike) < 2, f"the facts of one machine, found the output of {len(starts)} calls that differ")
    return content[: ends[0]]


def lines(data: bytes) -> list[str]:
    """Return the non-blank lines of `data`, stripped and truncated."""
    stripped = (line.strip() for line in text(data).split("\n"))
    return [line[:_MAX_LINE] for line in stripped if line]


def fields(content: str) -> dict[str, str]:
    """Parse all lines `name: value`."""
    pairs = (line.partition(":") for line in content.split("\n"))
    return {name.strip(): value.strip() for name, colon, value in pairs if colon}


def document(data: bytes, command: str) -> Any:
    """Parse the JSON that `command` printed; raise FactError if it is invalid."""
    try:
        return json.loads(text(data), strict=False)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else error
        raise FactError(f"expected the JSON of `{command}`: {reason}") from None


def entries(value: Any) -> list[Facts]:
    """Return the objects of a JSON list; empty for any other value."""
    return [item for item in items(value) if isinstance(item, dict)]


def word(value: Any, longest: int = 200) -> str | None:
    """Return a text on one line, or None for programs' placeholders for missing values."""
    if not isinstance(value, str):
        return None
    # JSON escapes can encode lone surrogates, which UTF-8 cannot.
    clean = _CONTROL.sub("", value).encode("utf-8", "replace").decode()
    clean = " ".join(clean.split())
    return None if clean.lower() in _NO_VALUE else clean[:longest]


def whole(value: Any, most: int = _MAX_COUNT) -> int | None:
    """Return a whole number from 0 to `most`, from a number or decimal digits."""
    found = count(value.strip() if isinstance(value, str) else value)
    return found if found is not None and found <= most else None


def number(value: Any) -> float | None:
    """Return a finite number above 0, with a decimal point or, in some locales, a comma."""
    found = real(value.replace(",", ".") if isinstance(value, str) else value)
    return found if found and found > 0 else None


def size_bytes(value: Any) -> int | None:
    """Return a size in bytes, from a number of bytes or from `256G` or `16 GB` (powers of 1024)."""
    if not isinstance(value, str):
        return whole(value, _MAX_BYTES)
    match = _SIZE.fullmatch(value.strip())
    if match is None:
        return None
    found = float(match[1].replace(",", ".")) * 1024 ** " KMGTPE".index(match[2].upper() or " ")
    return int(found) if found <= _MAX_BYTES else None


def nominal_mhz(cpu_model: str | None) -> float | None:
    """Return the clock in a processor's name in MHz, e.g. 2400 for `... @ 2.40GHz`."""
    match = re.search(r"@\s*([0-9]{1,2}(?:\.[0-9]{1,3})?)\s*GHz", cpu_model or "", re.IGNORECASE)
    return round(float(match[1]) * 1000, 3) if match else None


def joined(maker: Any, product: Any) -> str | None:
    """Return the name of a product with its maker."""
    return " ".join(filter(None, (word(maker), word(product)))) or None


def added_up(processors: list[Facts], key: str) -> int | None:
    """Return the sum of a count over all processors, or None if one is unknown."""
    counts = [whole(each.get(key)) for each in processors]
    return whole(sum(count or 0 for count in counts)) if counts and all(counts) else None


def known(**facts: Any) -> Facts:
    """Return the facts that are not None."""
    return {name: value for name, value in facts.items() if value not in (None, {}, [])}
