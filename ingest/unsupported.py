"""Common unsupported files, recognised by content, so that a reject can say what to do.

They are tried last, after all readers; unsupported.yml has what they begin with.
"""

import re
from itertools import islice
from typing import Any, Final

from dropline import beside
from dropline.ingest.archives import is_tar
from dropline.ingest.formats.text import HEAD_BYTES, head_text, unpack

_DECLARED: Final = beside.words(__file__)
_ADVICE: Final[dict[str, str]] = _DECLARED["advice"]


def _kind(declared: dict[str, Any], patterns: list[str], flags: int) -> tuple[re.Pattern[str], int, str, str]:
    return re.compile("|".join(patterns), flags), declared.get("alike", 1), declared["is"], _ADVICE[declared["advice"]]


_BINARY: Final = [_kind(declared, declared["begins"], re.DOTALL) for declared in _DECLARED["binary"]]
_LONGEST: Final = 64  # bytes by which a binary file is recognised
_TEXTS: Final = [_kind(declared, declared["lines"], re.MULTILINE) for declared in _DECLARED["texts"]]
_MOST_ALIKE: Final = 2
_LINE: Final = re.compile(r"^[ \t]*(?=\S)(?!#(?![!i])|;(?! <<>>|; ->>)|//)", re.MULTILINE)


def describe(head: bytes) -> tuple[str, str] | None:
    """Return the kind of an unsupported file and what to do, None if unknown; `head` is its first 64 KiB."""
    data, fault = unpack(head, HEAD_BYTES)
    if fault and not data:  # damaged, or bzip2 in blocks larger than the head
        return "a compressed file of which nothing can be read", "copy it again, or compress it with gzip"
    begin = data[:_LONGEST].decode("latin-1")
    for pattern, _, reason, hint in _BINARY:
        if pattern.match(begin):
            return reason, hint
    if is_tar(data):
        return "an archive or a compressed file", _ADVICE["rename"]
    text = head_text(head)
    starts = [match.end() for match in islice(_LINE.finditer(text), _MOST_ALIKE)]
    for pattern, alike, reason, hint in _TEXTS:
        if len(starts) >= alike and all(pattern.match(text, start) for start in starts[:alike]):
            return reason, hint
    return None
