"""Banners: a line with a time and a name before a report, as `2021-02-09 11:29:46 - primary`.

Scripts that ask several servers in turn print them. The time says nothing of the set-up, the name does.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from dropline.ingest.formats.prefixes import TIME
from dropline.ingest.formats.text import MAX_TEXT_BYTES, unpack

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dropline.ingest.formats import Report

_TIMED: Final = rf"[ \t#=*-]*[\[(]?{TIME}[\])]?"
_BANNER: Final = re.compile(
    rf"^{_TIMED}[ \t]*[-:|,]?[ \t]*([^\W\d_](?:[\w.-]{{0,61}}\w)?)[ \t#=*:-]*$".encode(), re.MULTILINE
)
_NO_NAMES: Final = frozenset({"begin", "run", "running", "start", "started", "starting", "test"})
_LOGGED: Final = re.compile(_TIMED.encode())


def names(data: bytes, reports: Sequence[Report]) -> Iterator[str | None]:
    """Yield for each report of a file the name in the banner right before it, None where there is none."""
    text = unpack(data, MAX_TEXT_BYTES)[0].replace(b"\r\r\n", b"\n").replace(b"\r\n", b"\n")
    lines = text.splitlines() if _BANNER.search(text) else []
    for report in reports:
        above = (lines[number] for number in range(min(report.line, len(lines)) - 2, -1, -1) if lines[number].strip())
        banner = _BANNER.fullmatch(next(above, b""))
        name = banner[1].decode("utf-8", "replace") if banner else None
        # Where every line of a log has a time, none of them is a banner.
        logged = name is not None and _LOGGED.match(lines[report.line - 1])
        yield None if logged or str(name).lower() in _NO_NAMES else name
