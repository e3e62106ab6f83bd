"""Damage to a file: what happens to files on their way, and what somebody may put into them on purpose.

Every mutation takes a source of chance, the bytes, and what else there is to put in; it returns other bytes. The same
seed gives the same damage.
"""

from __future__ import annotations

import gzip
import json
import re
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from random import Random

MAX_BYTES: Final = 900_000

_NEWLINE: Final = re.compile(rb"\r\n|\n|\r")
_NUMBER: Final = re.compile(rb"-?\d+(?:\.\d+)?")
_VALUE: Final = re.compile(rb"[^\s,:=|;\"\[\]{}]+")
_NEWLINES: Final = (
    *(b"\n", b"\r", b"\r\n", b"\r\r\n", b"\n\n", b"", b" ", b"\0", b"\x0b", b"\x0c"),
    *(b"\xc2\x85", b"\xe2\x80\xa8"),
)
_NUMBERS: Final = (
    *(b"", b"-", b"-1", b"0", b"-0.0", b"+5", b"NaN", b"-nan", b"inf", b"-Infinity", b"1e400", b"-1e308", b"1e308"),
    *(b"5e-324", b"9" * 20, b"9" * 400, b"9" * 5000, b"0" * 30 + b"1", b"1_000", b"0x10", b"1,5", b"1.2.3", b"1e"),
    *(str(edge).encode() for edge in (2**31 - 1, 2**31, 2**32, 2**53 + 1, 2**63 - 1, 2**63, 2**64)),
    *(digits.encode() for digits in ("٣٤", "１２", "²", "½", "1\u00a0000", "\u22125")),  # noqa: RUF001 - digits, no letters
)
_HOSTILE: Final = (
    *(b"\0", b"\0" * 4096, b"\x07", b"\x1b[2J", b"\x1b]0;", b"\x1b[", b"\x7f", b"\x85", b"^C", b"\r", b"\t", b"\x1a"),
    *(b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"\x80", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2("),
    *(mark.encode() for mark in ("\u2028", "\u202e", "\ufeff", "\u0130", "\U0001f980", "e" + "\u0301" * 50)),
    *(b"<script>alert(1)</script>", b"<!--", b"]]>", b"'; drop table trials; --", b"{{7*7}}", b"%s%n", b"=1+1"),
    *(b"${x}", b"$(x)", b"`x`", b"../../etc/passwd", b'"', b"'", b'"""', b"\\", b"\\ud800", b"\\u0000", b"\\x"),
    *(b"---\n", b"...\n", b"&a [*a, *a]\n", b"<<: *a\n", b"!!python/name:os.system\n", b"? ", b"- ", b"%YAML 9.9\n"),
    *(b"{", b"}", b"[", b"]", b",", b":", b": ", b"=", b"#", b"/*", b"//", b"|", b">", b"\x1f\x8b", b"PAR1"),
    *(b"SQLite format 3\0", b" " * 5000, b"a" * 5000, b"\n" * 5000),
)
_OPENINGS: Final = (b"[", b'{"a":', b"{a: ", b"- ", b"? ", b"(", b"((", b'[{"', b"\n " + b" ", b"{ ")
_ANYTHING: Final[tuple[Any, ...]] = (
    *(None, True, False, 0, -1, 0.5, 1e308, 2**31, 2**63, 10**30, 10**400, float("nan"), float("inf")),
    *("", " ", "x" * 5000, "\ud800", "\0", "<b>", "1", "-1", "1e400", "NaN", "9" * 5000, "٣", "2026-13-45T99:99:99Z"),
    *("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "../x", "4.5.6", "true", "null"),
    *([], {}, [[]], [None], {"": None}, {"a": {"b": []}}, [1] * 1000, [{}] * 100, [["a"]] * 3, [1, "2", None, {}]),
)
_CODECS: Final = ("utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "utf-32", "utf-7", "cp037")


class Material(NamedTuple):
    """What else a mutation may put in: another file, and words that readers look for."""

    other: bytes
    words: Sequence[bytes]


def damage(chance: Random, data: bytes, material: Material) -> tuple[bytes, list[str]]:
    """Return damaged `data`, at most MAX_BYTES of it, and the names of what was done."""
    mutations = chance.choices(tuple(_MUTATIONS), tuple(_MUTATIONS.values()), k=chance.choice((1, 1, 1, 2, 2, 3, 5)))
    for mutate in mutations:
        data = mutate(chance, data, material)[:MAX_BYTES]
    return data, [mutate.__name__ for mutate in mutations]


def cut(chance: Random, data: bytes, _: Material) -> bytes:
    """End anywhere, or begin anywhere."""
    place = chance.randint(0, len(data))
    return data[:place] if chance.random() < 0.8 else data[place:]


def rearrange(chance: Random, data: bytes, _: Material) -> bytes:
    """Leave out some lines or bytes, write them again, or put them elsewhere."""
    begin, end = _span(chance, data)
    piece, rest = data[begin:end], data[:begin] + data[end:]
    place, times = chance.choice(((0, 0), (begin, 1 + _times(chance, piece)), (_span(chance, rest)[0], 1)))
    return rest[:place] + piece * times + rest[place:]


def flip(chance: Random, data: bytes, _: Material) -> bytes:
    """Turn single bits over."""
    flipped = bytearray(data)
    for _bit in range(chance.choice((1, 1, 4, 32)) if data else 0):
        flipped[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(flipped)


def insert(chance: Random, data: bytes, material: Material) -> bytes:
    """Put in noise, something hostile, or a word that readers look for, with or without a line of its own."""
    for _ in range(chance.choice((1, 1, 3))):
        noise = (chance.randbytes(chance.randint(1, 20)),)
        text = chance.choice(chance.choice((noise, _HOSTILE, material.words or noise)))
        place, _end = _span(chance, data)
        data = data[:place] + text * _times(chance, text) + chance.choice((b"", b"\n")) + data[place:]
    return data


def values(chance: Random, data: bytes, material: Material) -> bytes:
    """Write odd numbers in the place of some numbers, or those, hostile text or known words in that of some words."""
    pattern, by = chance.choice(((_NUMBER, _NUMBERS), (_VALUE, (*_NUMBERS, *_HOSTILE, *material.words))))
    found = list(pattern.finditer(data))
    for match in sorted(chance.sample(found, min(len(found), chance.choice((1, 1, 2, 5)))), key=lambda m: -m.start()):
        data = data[: match.start()] + chance.choice(by) + data[match.end() :]
    return data


def newlines(chance: Random, data: bytes, _: Material) -> bytes:
    """Change the ends of all lines, or of some."""
    ending, share = chance.choice(_NEWLINES), chance.choice((1.0, 0.5, 0.05))
    return _NEWLINE.sub(lambda found: ending if chance.random() < share else found[0], data)


def join(chance: Random, data: bytes, material: Material) -> bytes:
    """Put another file before, behind or into this one."""
    place = chance.choice((0, len(data), chance.randint(0, len(data)), _span(chance, data)[0]))
    return data[:place] + material.other + data[place:]


def encode(chance: Random, data: bytes, _: Material) -> bytes:
    """Write the text in another encoding, cp037 is that of mainframes, or compress it."""
    if chance.random() < 0.5:
        return gzip.compress(data, compresslevel=1, mtime=0)
    return data.decode("utf-8", "replace").encode(chance.choice(_CODECS), "replace")


def nest(chance: Random, data: bytes, _: Material) -> bytes:
    """Open brackets, objects or blocks, many times; sometimes nothing else is left."""
    opening = chance.choice(_OPENINGS) * chance.choice((20, 200, 2000, 20_000))
    place = chance.choice((0, len(data), chance.randint(0, len(data)), _span(chance, data)[0], data.find(b":") + 1))
    return opening if chance.random() < 0.1 else data[:place] + opening + data[place:]


def retype(chance: Random, data: bytes, material: Material) -> bytes:
    """Put something of another type in the place of a value of a JSON document or a database."""
    if data.startswith(b"SQLite format 3\0"):
        return _retyped_database(chance, data)
    lines = data.splitlines(keepends=True)
    for place, text in ((None, data), (chance.randrange(len(lines)), b"") if lines else (None, b"")):
        try:
            document = json.loads(text if place is None else lines[place])
        except (ValueError, RecursionError):
            continue
        changed = json.dumps(_retyped(chance, document)).encode()
        return changed if place is None else b"".join([*lines[:place], changed, b"\n", *lines[place + 1 :]])
    return values(chance, data, material)


_MUTATIONS: Final[dict[Callable[[Random, bytes, Material], bytes], float]] = {
    **{cut: 3, rearrange: 6, flip: 2, insert: 4, values: 8, newlines: 1},
    **{join: 2, encode: 1, nest: 0.5, retype: 4},
}


def _times(chance: Random, piece: bytes) -> int:
    """Return how often to write a piece: seldom so often that whoever needs more than linear time shows it."""
    times = chance.choices((1, 2, 50, MAX_BYTES), (85, 8, 6, 1))[0]
    return min(times, MAX_BYTES // max(len(piece), 1))


def _span(chance: Random, data: bytes) -> tuple[int, int]:
    """Return where some lines, or some bytes, begin and end."""
    if chance.random() < 0.5:
        ends = [0, *(found.end() for found in _NEWLINE.finditer(data)), len(data)]
        first = chance.randrange(len(ends))
        return ends[first], ends[min(first + chance.choice((1, 1, 1, 2, 3, 10)), len(ends) - 1)]
    begin = chance.randint(0, len(data))
    return begin, min(begin + chance.choice((1, 2, 8, 64, 512)), len(data))


def _retyped(chance: Random, document: Any) -> Any:
    node = document
    while isinstance(node, dict | list) and node:
        key = chance.choice(list(node) if isinstance(node, dict) else range(len(node)))
        if chance.random() < 0.25 or not isinstance(node[key], dict | list):
            if chance.random() < 0.2:
                del node[key]
            else:
                node[key] = chance.choice(_ANYTHING)
            return document
        node = node[key]
    return chance.choice(_ANYTHING)


def _retyped_database(chance: Random, data: bytes) -> bytes:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        try:
            connection.deserialize(data)
            tables = [row[0] for row in connection.execute("select name from sqlite_master where type = 'table'")]
            table = chance.choice(tables)
            columns = [row[1] for row in connection.execute(f'pragma table_info("{table}")')]
            value = chance.choice((*_NUMBERS, *_HOSTILE, None, 1e308, float("inf"), -1, 2**63 - 1, "x", "9" * 30))
            rows = chance.choice(("1", "rowid % 2", "rowid = 1"))
            connection.execute(f'update "{table}" set "{chance.choice(columns)}" = ? where {rows}', [value])
            return connection.serialize()
        except (sqlite3.Error, IndexError, UnicodeDecodeError):
            return data
