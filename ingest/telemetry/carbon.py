"""Reader of Carbon's plaintext protocol (Graphite manual, "Feeding In Your Data"): lines `path value seconds`.

A PowerDNS path, `pdns.<host>.<instance>.<counter>` with `_` for the dots of the host name (Authoritative Server manual,
`carbon-ourname`), gives the metric `pdns.<counter>` with its unit, and the host; the label is the instance unless it is
the default. Any other path is the metric, and its tags (`;name=value`) are the label.
"""

import re
from functools import partial
from typing import Final

from dropline.ingest.formats.text import head_text, instant, real
from dropline.ingest.telemetry import Sample, pdns
from dropline.ingest.telemetry.samples import accounted, each_line

NAME = "carbon"

_EXPECTED: Final = "expected `path value seconds`, a line for each value"
_LINE: Final = re.compile(r"([\w-]+(?:\.[^\s.;]+)+)((?:;[^\s;=]+=[^\s;]*)*)[ \t]+(\S+)[ \t]+(\d{9,10}(?:\.\d+)?)")


def sniff(head: bytes) -> bool:
    """Return whether `head`, the first 64 KiB of a file or all of it, holds Carbon lines."""
    lines = head_text(head).splitlines(keepends=True)[:10]
    whole = [line.strip() for line in lines if line.endswith(("\n", "\r")) and line.strip()]
    return bool(whole) and all(map(_LINE.fullmatch, whole))


def _samples(line: str) -> list[Sample] | None:
    match = _LINE.fullmatch(line)
    value, at = (real(match[3]), instant(match[4])) if match else (None, None)
    if not match or value is None or not at:
        return None
    path, tags = match[1], match[2].removeprefix(";") or None
    names = path.split(".", 3)
    if names[0] != "pdns" or len(names) < 4:
        return [Sample(at, path, value, None, tags)]
    _, host, instance, counter = names
    label = None if instance == "auth" else instance
    return [Sample(at, f"pdns.{counter}", value, pdns.unit(counter), label, host)]


parse = accounted(partial(each_line, read=_samples, expected=_EXPECTED), _EXPECTED)
