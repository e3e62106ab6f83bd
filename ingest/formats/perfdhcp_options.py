"""Command line in perfdhcp's header, from 1.4 to 3.x (perfdhcp(8)), and the load that its options define.

It is not printed as typed: each option is printed as ` -x value`, values are not quoted, the server comes last, and
before 2.3.8 `--scenario` is printed as `-,`.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import compress
from typing import Any, Final

from dropline import beside
from dropline.ingest.formats.text import plural, real

Pair = tuple[str, str]

UNKNOWN_OPTIONS: Final = "There is no `Running:` line, so the options of this trial are not known."

# In the order of their statistics: present always, without -i, with -f, with -F.
EXCHANGES: Final[dict[str, tuple[str, str, str, str]]] = {
    "DHCPv4": ("DISCOVER-OFFER", "REQUEST-ACK", "REQUEST-ACK (renewal)", "RELEASE"),
    "DHCPv6": ("SOLICIT-ADVERTISE", "REQUEST-REPLY", "RENEW-REPLY", "RELEASE-REPLY"),
}

ADDRESS: Final = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]*:[0-9a-f:.]+", re.ASCII | re.IGNORECASE)
_FLAGS: Final = frozenset("hvV46iBc1u")
_DEFAULT_DROP_TIME_S: Final = 1.0
NEARLY_WHOLE: Final = 0.95  # share of its period; a trial that ran for less was stopped
_IGNORED_BY_AVALANCHE: Final = ("r", "p", "n", "t", "d", "W")

_WORDS: Final = beside.words(__file__)
_ORDERED: Final = frozenset("DTXO")  # their second value applies to the second exchange
_REPEATED: Final = frozenset({*_ORDERED, "o", "or"})


@dataclass(frozen=True, slots=True)
class Options:
    """The load that one command line defines."""

    protocol: str
    scenario: str
    exchanges: tuple[str, ...]  # exchanges of the report, in order
    rate_unit: str
    offered_rate: float | None  # `-r` in exchanges per second
    duration_s: float | None  # how long load is offered: `-p`, or `-n` requests at `-r`, whichever ends first
    drop_times_s: tuple[float | None, float | None]  # of the first and of the second exchange; None if there is none
    wait_s: float  # `-W`, in seconds (microseconds on the command line)
    report_s: float | None  # `-t`, seconds between two interim reports
    clients: int | None  # simulated clients; None with a list of MAC addresses (`-M`), whose length is not printed
    most_drops: tuple[str, ...]  # `-D` of the first and of the second exchange, as given
    wrapped: bool  # whether a user's command prints between the lines (`-w`)
    ignored: tuple[str, ...]  # given options that the scenario does not use
    method: str  # options that shape the load, in a canonical form

    def facts(self) -> dict[str, Any]:
        """Return the columns of schema.TRIALS known from the options alone."""
        return {
            **{name: getattr(self, name) for name in ("offered_rate", "duration_s", "wait_s", "clients")},
            **{name: getattr(self, name) for name in ("protocol", "scenario", "rate_unit", "method")},
            **dict(zip(("drop_time_s", "drop_time_second_s"), self.drop_times_s, strict=True)),
        }


def server(command: str) -> str | None:
    """Return the address of the server, the last word of perfdhcp's `command`, if it has one."""
    *_, option, last = ("", "", *command.split())
    is_value = len(option) == 2 and option[0] == "-" and option[1] not in _FLAGS
    return None if is_value or not ADDRESS.fullmatch(last) else last


def told_by_command(command: object, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of schema.TRIALS that perfdhcp's start command adds to the `facts` of its report."""
    words = command.split() if isinstance(command, str) else []
    begin = next((place for place, word in enumerate(words) if word.rpartition("/")[2] == "perfdhcp"), None)
    if begin is None:
        return {}
    stated = parse_command(" ".join(words[begin:])).facts()
    return {column: value for column, value in stated.items() if facts.get(column) is None}


@lru_cache(maxsize=4096)
def parse_command(command: str) -> Options:
    """Parse `command`, the text after `Running: `, ignoring invalid numbers."""
    words = command.split()[1:]
    pairs: list[Pair] = []  # letter or long name, value; flags have the value ''
    waiting = ""
    for position, word in enumerate(words):
        if waiting:
            pairs.append((waiting, word))
            waiting = ""
        elif word.startswith("--"):
            name, given, value = word[2:].partition("=")
            if given:
                pairs.append((name, value))
            else:
                waiting = name
        elif word.startswith("-") and len(word) > 1:
            name, value = word[1], word[2:]
            if name in _FLAGS or value:
                pairs.append((name, value))
            else:
                waiting = "scenario" if name == "," else name
        elif pairs and pairs[-1][0] not in _FLAGS and position < len(words) - 1:
            # The value has blanks: only the last word can be the server.
            pairs[-1] = (pairs[-1][0], f"{pairs[-1][1]} {word}")
    return parse_options(pairs)


def parse_options(pairs: Sequence[Pair]) -> Options:
    """Interpret `pairs` of (option, value); for most options the last one wins."""
    last = dict(pairs)
    every: dict[str, list[str]] = defaultdict(list)
    for name, value in pairs:
        every[name].append(value)
    avalanche, first_only = last.get("scenario") == "avalanche", "i" in last
    protocol = "DHCPv6" if "6" in last else "DHCPv4"
    rate = _number(last.get("r"))
    ends = [_number(last.get("p"))]
    ends += [requests / rate for value in every["n"] if rate and (requests := _number(value))]
    # The first -d sets the first drop time, further ones the second.
    first, *more = [_number(value) or _DEFAULT_DROP_TIME_S for value in every["d"]] or [_DEFAULT_DROP_TIME_S]
    second = None if first_only else [_DEFAULT_DROP_TIME_S, *more][-1]
    options = Options(
        protocol=protocol,
        scenario="avalanche" if avalanche else "basic",
        exchanges=tuple(compress(EXCHANGES[protocol], (True, not first_only, "f" in last, "F" in last))),
        rate_unit="exchanges/s" if first_only else "leases/s",
        offered_rate=rate,
        duration_s=None if avalanche else min(filter(None, ends), default=None),
        drop_times_s=(None, None) if avalanche else (first, second),
        wait_s=(_number(last.get("W")) or 0.0) / 1e6,
        report_s=_number(last.get("t")),
        clients=None if "M" in last else int(_number(last.get("R")) or 1),
        most_drops=tuple(every["D"][:2]),
        wrapped="w" in last,
        ignored=tuple(f"-{name}" for name in _IGNORED_BY_AVALANCHE if avalanche and name in last),
        method="",
    )
    return replace(options, method="; ".join(_method(options, every)))


def _method(options: Options, every: Mapping[str, list[str]]) -> Iterator[str]:
    """Yield the words of the method; `every` has all values of each option.

    A load without end or limit is mentioned; a period is not, as it is in `duration_s` and may vary between steps.
    """
    if options.scenario == "avalanche":
        yield "avalanche"
    else:
        if not options.offered_rate and (requests := every.get("n")):
            yield "/".join(requests) + " request" + "s" * (requests != ["1"])
        elif options.duration_s is None:
            yield "until interrupted"
        if not options.offered_rate:
            yield "no rate limit"
        yield "drop time " + "/".join(f"{_short(each)} s" for each in options.drop_times_s if each)
    if options.clients:
        yield plural(options.clients, "client")
    if options.wait_s and options.scenario != "avalanche":
        yield f"wait {_short(options.wait_s)} s"
    for option, (text, *default) in _WORDS.items():
        values = every.get(option, [])
        if option not in _REPEATED:
            values = values[-1:]
        elif option not in _ORDERED:
            values = sorted({*values})
        if values and values != default:
            yield text.format("/".join(values))


def _number(text: str | None) -> float | None:
    """Return a positive number that fits a counter of perfdhcp, else None."""
    value = real(text)
    return value if value and 0 < value < 1e15 else None


def _short(value: float) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".")
