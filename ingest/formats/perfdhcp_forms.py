"""Columnar parsing of usual perfdhcp reports: texts that differ only in digits are parsed together.

A usual report is of one process, complete, without `-x`. A skeleton is a text with one `0` for each run of digits.
Reports with the same skeleton have the same form: the patterns are matched once, against the skeleton, and the numbers
of all reports become one matrix. Reports that need a remark go to `perfdhcp.parse`, whose results for others are equal.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import compress
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dropline.ingest.formats import Row
from dropline.ingest.formats.perfdhcp_lines import COUNTERS, DELAY_KEYS, DELAYS, INTERIM, PLACES
from dropline.ingest.formats.perfdhcp_lines import START as FIRST
from dropline.ingest.formats.perfdhcp_options import NEARLY_WHOLE, Options, parse_command

START: Final = b"Running: perfdhcp -"

_COMMAND: Final = len("Running: ")
_DIGITS: Final = bytes(ord("0") if byte in b"0123456789" else byte for byte in range(256))
_NUMBERS: Final = bytes(byte if byte in b"0123456789." else ord(" ") for byte in range(256))
_NUMBER: Final = re.compile("[0.]+")
_LONGEST: Final = 64 * 1024  # bytes of a report
_LONGEST_NUMBER: Final = 15  # characters; such an integer is exact as a double
_COUNTS: Final = (*COUNTERS.values(), "collected")

_SUMMARY: Final = "***Rate statistics***\n"
_HEAD: Final = re.compile(rf"{FIRST} -[ -~]*[!-~]\nScenario: basic\.\n(?:Multi-thread mode enabled\.\n)?")
_LINE: Final = re.compile(
    f"{INTERIM[0]}: (0(?:/0)*)" + "".join(rf"; {kind}: \1" for kind in INTERIM[1:3]) + rf"(; {INTERIM[3]}: \1)?\n"
)
_RATE: Final = re.compile(
    rf"{re.escape(_SUMMARY)}Rate: (?P<rate>0(?:\.0)?)(?: [ -.0-~]+/second)?"
    r"(?:, expected rate: (?P<expected>0)(?: exchanges/second)?)?\n\n"
    r"\*\*\*Malformed Packets\*\*\*\nMalformed packets: (?P<malformed>0)\n"
)
_RATIO: Final = r"drops ratio: (?P<drop_ratio_printed>0(?:\.0)?) %\n"  # after the drops
_EXCHANGE: Final = re.compile(
    r"\*\*\*Statistics for: (?P<exchange>[^*\n]+)\*\*\*\n"
    + "".join(rf"{key}: (?P<{name}>0)\n" + _RATIO * (name == "drops") for key, name in COUNTERS.items())
    + "\n"
    + "".join(rf"{key}: (?P<{name}>0\.0) ms\n" for key, name in DELAY_KEYS.items())
    + r"collected packets: (?P<collected>0)\n\n*"
)
_FIGURES: Final = tuple(name for name in _EXCHANGE.groupindex if name != "exchange")


FACTS: Final = ("command", "offered_rate", "achieved_rate", "sent", "received", "dropped")


@dataclass(frozen=True, slots=True, eq=False)
class Figures:
    """Figures of n reports of one form, with E exchanges and L interim lines."""

    usual: list[bool]  # whether a report needs no remark; the other attributes are valid only for those
    facts: list[tuple[Any, ...]]  # the values of FACTS of each report
    # The other columns of schema.TRIALS of each report; equal ones share an object.
    settings: list[tuple[tuple[str, Any], ...]]
    report_s: list[float | None]  # the nominal seconds between two interim lines of each report
    exchanges: dict[str, pa.Array]  # columns of schema.EXCHANGES -> n * E values, report by report
    interims: NDArray[np.int64]  # the cumulative counters INTERIM, of shape (kinds, n, L, E)

    def row(self, number: int) -> Row:
        """Return the facts of a report, equal to those of `perfdhcp.parse`."""
        own = zip(FACTS, self.facts[number], strict=True)
        return {"tool": "perfdhcp", "tool_version": None, **dict(self.settings[number]), **dict(own)}


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """Positions of the figures in reports with one skeleton, as indices among all numbers of a report."""

    exchanges: tuple[str, ...]  # their names, E in order
    positions: tuple[int, ...]  # positions of the exchanges in the protocol
    rate: int  # index of the achieved rate
    malformed: int  # index of the number of malformed packets
    expected: int | None  # index of the offered rate, if printed
    figures: NDArray[np.int64]  # of the exchanges' figures, in the order of _FIGURES; shape (figures, E)
    interims: NDArray[np.int64]  # of the interim lines' counters; shape (kinds, L, E)

    def read(self, texts: Sequence[bytes]) -> Figures:
        """Return the figures of reports of this form."""
        n, width = len(texts), len(self.exchanges)
        places = [self.rate, self.malformed, self.malformed if self.expected is None else self.expected]
        places += self.figures.ravel().tolist() + self.interims.ravel().tolist()
        tokens = _numbers(texts)
        by_place = np.arange(len(tokens), dtype=np.int32).reshape(n, -1).T[places]
        words = tokens.take(pa.array(by_place.ravel()))
        fits = (pc.binary_length(words).to_numpy().reshape(len(places), n) <= _LONGEST_NUMBER).all(axis=0)
        values = np.where(fits, words.cast(pa.float64()).to_numpy().reshape(len(places), n), 0)
        rate, malformed, expected = values[:3]
        figures = dict(zip(_FIGURES, values[3 : 3 + self.figures.size].reshape(-1, width, n), strict=True))
        interims = values[3 + self.figures.size :].reshape(*self.interims.shape, n).transpose(0, 3, 1, 2)
        fits &= (malformed == 0) & (rate > 0)
        if interims.shape[2] > 1:
            fits &= (np.diff(interims[0, :, :, 0], axis=1) >= 0).all(axis=1)
        commands = [_command(text[_COMMAND : text.index(b"\n")]) for text in texts]
        planned_s = np.array([each.options.duration_s or 0.0 for each in commands])
        fits &= figures["received"][min(1, width - 1)] >= NEARLY_WHOLE * planned_s * rate
        by_report = np.arange(n * width).reshape(width, n).T.ravel()
        printed = words.slice((3 + _FIGURES.index("drop_ratio_printed") * width) * n, width * n)
        columns = {name: found.T.ravel() for name, found in figures.items()}
        totals = (figures[name].sum(axis=0).astype(np.int64).tolist() for name in ("sent", "received", "drops"))
        offered = expected.tolist() if self.expected is not None else [None] * n
        rates = [each.options.offered_rate or printed for each, printed in zip(commands, offered, strict=True)]
        return Figures(
            [each and self._expects(by, rate) for each, by, rate in zip(fits.tolist(), commands, offered, strict=True)],
            [*zip([each.command for each in commands], rates, rate.tolist(), *totals, strict=True)],
            [each.facts for each in commands],
            [each.options.report_s for each in commands],
            {
                **{name: pa.array(columns[name].astype(np.int64)) for name in _COUNTS},
                **{name: pa.array(columns[name]) for name in DELAYS},
                "exchange": pa.array(self.exchanges * n, pa.string()),
                "position": pa.array(np.tile(np.array(self.positions, np.int32), n)),
                "drop_ratio": pa.array(columns["drop_ratio_printed"] / 100),
                "drop_ratio_printed": printed.take(pa.array(by_report)),
            },
            interims.astype(np.int64),
        )

    def _expects(self, command: _Command, offered: float | None) -> bool:
        """Return whether a command line produces such a report and offered rate, without need for a remark."""
        options = command.options
        if offered and options.offered_rate not in {None, offered}:
            return False
        if options.exchanges != self.exchanges or (self.interims.shape[1] and not options.report_s):
            return False
        return not (options.most_drops or options.ignored)


class _Command(NamedTuple):
    """A command line, its options, and the columns of schema.TRIALS other than FACTS that it determines."""

    command: str
    options: Options
    facts: tuple[tuple[str, Any], ...]


@lru_cache(maxsize=4096)  # the repetitions of a ramp have the same commands
def _command(command: bytes) -> _Command:
    text = command.decode()
    options = parse_command(text)
    facts = {**options.facts(), "scenario": "basic", "malformed": 0, "completed": True}
    return _Command(text, options, tuple(each for each in facts.items() if each[0] not in FACTS))


def _numbers(texts: Sequence[bytes]) -> pa.Array:
    """Return all numbers of these texts in order, each as printed."""
    text = b" ".join((b"", *texts)).translate(_NUMBERS)
    blank = np.frombuffer(text, np.uint8) == ord(" ")
    begins = np.flatnonzero(blank[:-1] & ~blank[1:]) + 1
    offsets = np.append(begins, len(text)).astype(np.int32)  # each number includes the blanks after it
    return pc.ascii_trim_whitespace(pa.StringArray.from_buffers(len(begins), pa.py_buffer(offsets), pa.py_buffer(text)))


def forms(texts: Sequence[bytes]) -> list[Form | None]:
    """Return the form of each text, None if it is not a usual report."""
    usual = [text.startswith(START) and len(text) < _LONGEST and b"\0" not in text for text in texts]
    letters = np.frombuffer(b"\0".join(compress(texts, usual)).translate(_DIGITS), np.uint8)
    kept = letters != ord("0")
    kept[1:] |= kept[:-1]  # the first digit of each run
    kept[:1] = True
    skeletons = iter(letters[kept].tobytes().split(b"\0"))
    return [_form(next(skeletons)) if each else None for each in usual]


@lru_cache(maxsize=256)
def _form(skeleton: bytes) -> Form | None:
    """Return the form of all reports with this skeleton; None if they are not usual."""
    text = skeleton.decode("ascii", "replace")
    head, summary = _HEAD.match(text), text.find(_SUMMARY)
    rate = _RATE.match(text, summary) if summary > 0 else None
    if not head or not rate or text.count(FIRST) > 1:
        return None
    numbers = {found.start(): number for number, found in enumerate(_NUMBER.finditer(text))}
    load, exchanges = text[head.end() : summary], _exchanges(text, rate.end())
    line = _LINE.match(load)
    lines = load.count("\n")
    if not exchanges or (load and (not line or load != line[0] * lines)):
        return None
    names = tuple(each["exchange"] for each in exchanges)
    if line and line[1].count("0") != len(names):
        return None
    counters = [number for place, number in numbers.items() if head.end() <= place < summary]
    interims = np.array(counters, np.int64).reshape(lines, 4 if line and line[2] else 3, len(names))
    return Form(
        names,
        tuple(PLACES[name][1] for name in names),
        numbers[rate.start("rate")],
        numbers[rate.start("malformed")],
        numbers[rate.start("expected")] if rate["expected"] else None,
        np.array([[numbers[each.start(name)] for each in exchanges] for name in _FIGURES], np.int64),
        interims.transpose(1, 0, 2),
    )


def _exchanges(text: str, begin: int) -> list[re.Match[str]]:
    """Return the statistics from `begin` to the end; none if there is other text or the order differs."""
    found: list[re.Match[str]] = []
    position = -1
    while begin < len(text):
        match = _EXCHANGE.match(text, begin)
        _, place = PLACES.get(match["exchange"], ("", -1)) if match else ("", -1)
        if not match or place <= position:
            return []
        begin, position = match.end(), place
        found.append(match)
    return found
