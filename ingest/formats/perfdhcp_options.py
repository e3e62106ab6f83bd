"""The command line in perfdhcp's header, and the load that its options define.

Options are those of perfdhcp(8) from 1.4 to 3.x, with `-a` of versions before 1.6. perfdhcp does not print what was
typed: each option is printed as ` -x value`, values are not quoted, the server comes last, and before 2.3.8
`--scenario` is printed as `-,`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from dropline.ingest.formats.text import plural

if TYPE_CHECKING:
    from collections.abc import Mapping

Pair = tuple[str, str]

UNKNOWN_OPTIONS: Final = "There is no `Running:` line, so the options of this trial are not known."

# In the order of their statistics: always, without -i, with -f, with -F.
EXCHANGES: Final[dict[str, tuple[str, str, str, str]]] = {
    "DHCPv4": ("DISCOVER-OFFER", "REQUEST-ACK", "REQUEST-ACK (renewal)", "RELEASE"),
    "DHCPv6": ("SOLICIT-ADVERTISE", "REQUEST-REPLY", "RENEW-REPLY", "RELEASE-REPLY"),
}

_FLAGS: Final = frozenset("hvV46iBc1u")
_DEFAULT_DROP_TIME_S: Final = 1.0
_IGNORED_BY_AVALANCHE: Final = ("r", "p", "n", "t", "d", "W")

# Option -> its text in the method, and the default value.
_WORDS: Final[tuple[tuple[str, str, str], ...]] = (
    ("f", "renew rate {}/s", ""),
    ("F", "release rate {}/s", ""),
    ("e", "{} leases", "address-only"),
    ("A", "relay level {}", "0"),
    ("J", "relay addresses {}", ""),
    ("o", "option {}", ""),
    ("or", "relay option {}", ""),
    ("T", "template {}", ""),
    ("X", "xid offset {}", ""),
    ("O", "random offset {}", ""),
    ("E", "time offset {}", ""),
    ("S", "server id offset {}", ""),
    ("I", "ip offset {}", ""),
    ("D", "at most {} drops", ""),
    ("P", "preload {}", "0"),
    ("a", "aggressivity {}", "1"),
    ("b", "base {}", ""),
    ("M", "mac list {}", ""),
    ("Y", "elapsed time raised after {} s", ""),
    ("y", "elapsed time raised for {} s", ""),
    ("1", "first server id", ""),
    ("B", "broadcast", ""),
    ("u", "unique addresses checked", ""),
)
_ORDERED: Final = frozenset("DTXO")  # their second value applies to the second exchange
_REPEATED: Final = frozenset({*_ORDERED, "b", "o", "or"})


@dataclass(frozen=True, slots=True)
class Options:
    """The load that one command line defines.

    Attributes:
        exchanges: the exchanges of the report, in order.
        offered_rate: `-r` in exchanges per second.
        duration_s: how long load is offered: `-p`, or `-n` requests at `-r`, whichever ends first.
        drop_times_s: of the first and of the second exchange; None if there is none.
        wait_s: `-W`, in seconds (microseconds on the command line).
        report_s: `-t`, the seconds between two interim reports.
        wrapped: whether a user's command prints between the lines (`-w`).
        clients: number of simulated clients; None with a list of MAC addresses (`-M`), whose length is not printed.
        most_drops: `-D` of the first and of the second exchange, as given.
        ignored: options that were given but that the scenario does not use.
        method: the options that shape the load, in a canonical form.

    """

    protocol: str
    scenario: str
    exchanges: tuple[str, ...]
    rate_unit: str
    offered_rate: float | None
    duration_s: float | None
    drop_times_s: tuple[float | None, float | None]
    wait_s: float
    report_s: float | None
    clients: int | None
    most_drops: tuple[str, ...]
    wrapped: bool
    ignored: tuple[str, ...]
    method: str

    def facts(self) -> dict[str, Any]:
        """Return the columns of schema.TRIALS known from the options alone."""
        return {
            **{name: getattr(self, name) for name in ("offered_rate", "duration_s", "wait_s", "clients")},
            **{name: getattr(self, name) for name in ("scenario", "method")},
            **dict(zip(("drop_time_s", "drop_time_second_s"), self.drop_times_s, strict=True)),
        }


def told_by_command(command: object, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of schema.TRIALS that the command which started perfdhcp adds to the `facts` of its report."""
    words = command.split() if isinstance(command, str) else []
    begin = next((place for place, word in enumerate(words) if word.rpartition("/")[2] == "perfdhcp"), None)
    if begin is None:
        return {}
    told = parse_command(" ".join(words[begin:])).facts()
    return {column: value for column, value in told.items() if facts.get(column) is None}


@lru_cache(maxsize=4096)
def parse_command(command: str) -> Options:
    """Parse `command`, the text after `Running: `; ignore invalid numbers."""
    return parse_options(split_command(command))


def split_command(command: str) -> tuple[Pair, ...]:
    """Split `command` into (letter or long name, value); flags have the value ''."""
    words = command.split()[1:]
    pairs: list[Pair] = []
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
            # A value with blanks: only the last word can be the server.
            pairs[-1] = (pairs[-1][0], f"{pairs[-1][1]} {word}")
    return tuple(pairs)


def parse_options(pairs: tuple[Pair, ...]) -> Options:
    """Interpret `pairs` of (option, value); for most options the last one wins."""
    last = dict(pairs)
    protocol = "DHCPv6" if "6" in last else "DHCPv4"
    avalanche = last.get("scenario") == "avalanche"
    first, second, renewal, release = EXCHANGES[protocol]
    wanted = ((first, True), (second, "i" not in last), (renewal, "f" in last), (release, "F" in last))
    duration_s = None if avalanche else _duration(pairs)
    drop_times_s = (None, None) if avalanche else _drop_times(pairs)
    wait_s = (_number(last.get("W")) or 0.0) / 1e6
    clients = None if "M" in last else int(_number(last.get("R")) or 1)
    return Options(
        protocol=protocol,
        scenario="avalanche" if avalanche else "basic",
        exchanges=tuple(name for name, present in wanted if present),
        rate_unit="exchanges/s" if "i" in last else "leases/s",
        offered_rate=_number(last.get("r")),
        duration_s=duration_s,
        drop_times_s=drop_times_s,
        wait_s=wait_s,
        report_s=_number(last.get("t")),
        clients=clients,
        most_drops=tuple(_values(pairs, "D")[:2]),
        wrapped="w" in last,
        ignored=tuple(f"-{name}" for name in _IGNORED_BY_AVALANCHE if avalanche and name in last),
        method="; ".join(
            [
                *(("avalanche",) if avalanche else _length(pairs, duration_s)),
                *_drop_time_words(drop_times_s),
                *((plural(clients, "client"),) if clients else ()),
                *((f"wait {_short(wait_s)} s",) if wait_s and not avalanche else ()),
                *(("first exchange only",) if "i" in last else ()),
                *(("rapid commit",) if "c" in last else ()),
                *_other_words(pairs),
            ]
        ),
    )


def _values(pairs: tuple[Pair, ...], option: str) -> list[str]:
    return [value for name, value in pairs if name == option]


def _number(text: str | None) -> float | None:
    """Return a positive number that fits a counter of perfdhcp, else None."""
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) and 0 < value < 1e15 else None


def _short(value: float) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".")


def _duration(pairs: tuple[Pair, ...]) -> float | None:
    last = dict(pairs)
    ends = [_number(last.get("p"))]
    if rate := _number(last.get("r")):
        requests = [_number(value) for value in _values(pairs, "n")]
        ends += [count / rate for count in requests if count]
    return min((end for end in ends if end), default=None)


def _drop_times(pairs: tuple[Pair, ...]) -> tuple[float | None, float | None]:
    """Return both drop times: the first -d sets the first, each further one the second."""
    given = [_number(value) or _DEFAULT_DROP_TIME_S for value in _values(pairs, "d")]
    first = given[0] if given else _DEFAULT_DROP_TIME_S
    if ("i", "") in pairs:
        return first, None
    return first, given[-1] if len(given) > 1 else _DEFAULT_DROP_TIME_S


def _length(pairs: tuple[Pair, ...], duration_s: float | None) -> list[str]:
    """Note a load without end, or without limit if -r is missing; a period is in `duration_s` instead.

    Runs of one method may vary the period from step to step, and -n gives a different one at each rate.
    """
    words = ["until interrupted"] if duration_s is None else []
    if _number(dict(pairs).get("r")):
        return words
    if requests := _values(pairs, "n"):
        words = ["/".join(requests) + " request" + "s" * (requests != ["1"])]
    return [*words, "no rate limit"]


def _drop_time_words(drop_times_s: tuple[float | None, float | None]) -> list[str]:
    known = [f"{_short(value)} s" for value in drop_times_s if value is not None]
    return ["drop time " + "/".join(known)] if known else []


def _other_words(pairs: tuple[Pair, ...]) -> list[str]:
    words = []
    for option, text, default in _WORDS:
        values = _values(pairs, option)
        if option not in _REPEATED:
            values = values[-1:]
        elif option not in _ORDERED:
            values = sorted(set(values))
        if values and not (default and values == [default]):
            words.append(text.format("/".join(values)))
    return words
