"""The error and the careful conversions of all readers of machine facts.

A conversion returns None for what is no value of its kind, so that a single odd field costs only
itself; FactError is for a file that is not what it should be.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final, TypeVar

Facts = dict[str, Any]
Found = TypeVar("Found")

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_NO_VALUE: Final = frozenset({"", "-", "none", "unknown", "unknown!", "not specified", "not provided", "n/a", "(null)"})
_SIZE: Final = re.compile(r"([0-9]{1,15}(?:[.,][0-9]{1,6})?)\s*([KMGTPE]?)(?:i?B)?", re.IGNORECASE)
_MAX_TEXT_BYTES: Final = 8 * 1024 * 1024
_MAX_LINE: Final = 2000
_MAX_COUNT: Final = 2**31 - 1
_MAX_BYTES: Final = 2**62


class FactError(ValueError):
    """A file of machine facts that cannot be read; its text says what was expected."""


def require(found: Found | None, what: str) -> Found:
    """Return what was found; FactError says that `what` was expected where it was not."""
    if not found:
        message = f"expected {what}"
        raise FactError(message)
    return found


def text(data: bytes) -> str:
    """Return `data` as text without a BOM, carriage returns and control characters; FactError when it is too much."""
    too_much = f"what one machine says of itself, found more than {_MAX_TEXT_BYTES // 1024**2} MiB"
    require(len(data) <= _MAX_TEXT_BYTES, too_much)
    return _CONTROL.sub("", data.decode("utf-8-sig", "replace"))


def lines(data: bytes) -> list[str]:
    """Return the lines of `data` that are not blank, stripped, and cut where nobody reads on."""
    stripped = (line.strip() for line in text(data).split("\n"))
    return [line[:_MAX_LINE] for line in stripped if line]


def fields(content: str) -> dict[str, str]:
    """Return the values of all lines `name: value`."""
    pairs = (line.partition(":") for line in content.split("\n"))
    return {name.strip(): value.strip() for name, colon, value in pairs if colon}


def document(data: bytes, command: str) -> Any:
    """Return the JSON that `command` printed; FactError when it is none."""
    try:
        return json.loads(text(data), strict=False)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else error
        message = f"expected the JSON of `{command}`: {reason}"
        raise FactError(message) from None


def entries(value: Any) -> list[Facts]:
    """Return the objects of a JSON list; nothing for anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def word(value: Any, longest: int = 200) -> str | None:
    """Return a text in one line; None for the words that programs print for no value."""
    if not isinstance(value, str):
        return None
    # Escapes in JSON can spell what the bytes cannot hold.
    clean = _CONTROL.sub("", value).encode("utf-8", "replace").decode()
    clean = " ".join(clean.split())
    return None if clean.lower() in _NO_VALUE else clean[:longest]


def whole(value: Any, most: int = _MAX_COUNT) -> int | None:
    """Return a whole number from 0 to `most`, given as such or in decimal digits."""
    if isinstance(value, str) and re.fullmatch(r"\s*[0-9]{1,20}\s*", value, re.ASCII):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        return None
    return int(value)


def number(value: Any) -> float | None:
    """Return a finite number above 0, with a decimal point or, as some locales print, a comma."""
    try:
        found = float(value.replace(",", ".") if isinstance(value, str) else value)
    except (TypeError, ValueError, OverflowError, AttributeError):
        return None
    return found if 0 < found < math.inf and not isinstance(value, bool) else None


def size_bytes(value: Any) -> int | None:
    """Return bytes from a count of them, or from `256G` or `16 GB` (powers of 1024)."""
    if not isinstance(value, str):
        return whole(value, _MAX_BYTES)
    match = _SIZE.fullmatch(value.strip())
    if match is None:
        return None
    found = float(match[1].replace(",", ".")) * 1024 ** " KMGTPE".index(match[2].upper() or " ")
    return int(found) if found <= _MAX_BYTES else None


def nominal_mhz(cpu_model: str | None) -> float | None:
    """Return the clock that a processor's name tells, in MHz: `... @ 2.40GHz` is 2400."""
    match = re.search(r"@\s*([0-9]{1,2}(?:\.[0-9]{1,3})?)\s*GHz", cpu_model or "", re.IGNORECASE)
    return round(float(match[1]) * 1000, 3) if match else None


def disk_text(name: str, size: int, model: str | None) -> str:
    """Return one disk in words, e.g. `nvme0n1 931.5 GiB (Samsung SSD 980 PRO)`."""
    return f"{name} {size / 2**30:.5g} GiB" + (f" ({model})" if model else "")


def known(**facts: Any) -> Facts:
    """Return those facts that are known."""
    return {name: value for name, value in facts.items() if value not in (None, {}, [])}
