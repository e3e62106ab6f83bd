"""Reader of the `<name>_Detailed.csv` of Spirent's cf-netsecopen-tests: one row per poll of a run.

The rate is the mean of the steady polls in the unit of the load (`load_type`): Mbit/s received by the client (kbit/s in
the file), connections/s or transactions/s. sent, received and dropped are transactions; times are ms. client_cpu and
server_cpu are those of the tester.
"""

import re
from typing import Final

from dropline.ingest.formats import Parts, Reject, Report, throughput
from dropline.ingest.formats.cyberflood import POLLED, TOOL

NAME = "cyberflood_csv"

_EXPECTED: Final = "expected <name>_Detailed.csv, from `test_name,seconds,state,current_load` on"
_COLUMNS: Final = frozenset({"testname", "seconds", "currentload", "desiredload", "tps", "cps", "rxbandwidth"})
# A word in the load or test type -> the column of its rate, the unit and the conversion factor.
_RATES: Final = (
    (re.compile("bandwidth|throughput|tput"), "rxbandwidth", throughput.MBITS, 1e-3),
    (re.compile("connections/s|cps"), "cps", throughput.CONNECTIONS, 1.0),
    (re.compile(""), "tps", throughput.TRANSACTIONS, 1.0),
)
_PER_SECOND: Final = re.compile("(?:connections|transactions)/s", re.IGNORECASE)  # other loads are no rates
_BEYOND: Final = 2  # times the desired load: no generator overshoots this far


def _runs(table: throughput.Table) -> Parts:
    records, faults = table.records()
    runs: dict[str, list[throughput.Record]] = {}
    for record in records:
        runs.setdefault(record.words("runid", "testname") or "", []).append(record)
    yield from faults
    if not runs:
        yield Reject(table.line, "header without polls", "keep the file until the run has ended")
    tests = [(polls[0].words("testname"), _desired(polls)) for polls in runs.values()]
    for place, (test, polls) in enumerate(zip(tests, runs.values(), strict=True), 1):
        repetition = tests[:place].count(test) if tests.count(test) > 1 else None
        yield _trial(polls, faults, repetition)


def _desired(polls: list[throughput.Record]) -> float | None:
    return max((load for poll in polls if (load := poll.number("desiredload")) is not None), default=None)


def _trial(polls: list[throughput.Record], faults: list[Reject], repetition: int | None) -> Report | Reject:
    last = polls[-1]
    kinds = [last.words(name) for name in ("loadtype", "testtypev2", "testtypev1", "testname")]
    kind = " ".join(filter(None, kinds)).lower()
    column, unit, scale = next((column, unit, scale) for word, column, unit, scale in _RATES if word.search(kind))
    trial = throughput.Trial(TOOL, polls[0].line, last.words("loadtype", "testtypev1") or "netsecopen", unit)
    rates: list[tuple[float, float]] = []
    for place, poll in enumerate(polls):
        time_s, rate = poll.number("seconds"), poll.number(column, scale=scale)
        if rate is not None:
            rates.append((float(place) if time_s is None else time_s, rate))
        trial.follow(poll, POLLED, time_s)
        if poll.cut is not None:
            trial.cut(poll.line)
    for fault in faults[:1]:  # its poll is unknown
        trial.lack(fault.line)
    desired = _desired(polls)
    fastest = max((rate for _, rate in rates), default=0.0)
    if desired and unit == throughput.CONNECTIONS and fastest > _BEYOND * desired:
        trial.doubt(f"A poll shows {fastest:.15g} connections/s where {desired:.15g} were desired.")
    passed, dropped = last.whole("successfultxn"), throughput.total(map(last.whole, ("unsuccessfultxn", "abortedtxn")))
    trial.facts |= {
        "scenario": last.words("testname"),
        "repetition": repetition,
        "tool_version": last.words("version"),
        "offered_rate": desired if _PER_SECOND.match(last.words("loadtype") or "") else None,
        "achieved_rate": trial.mean_rate(rates),
        "received": passed,
        "duration_s": last.number("seconds"),
    }
    if passed is not None and dropped is not None:
        trial.facts |= {"sent": passed + dropped, "dropped": dropped}
    trial.details |= {
        "counted": "transactions",
        "desired_load": desired,
        **({"direction_scope": "one_way", "load_layer": "L2 without FCS"} if unit == throughput.MBITS else {}),
        **{"run": last.words("runid"), "state": last.words("state"), "test": last.words("testname")},
    }
    return trial.conclude()


sniff, parse = throughput.of_tables(lambda columns: columns.names >= _COLUMNS, _runs, _EXPECTED)
