"""Reader of CyberFlood's statistics polls: one JSON object per poll of an active run.

`client` and `server` list values by `type`, `id` and `subType`, any of which may be missing; entries of a single port
end in `@<port>` and are skipped. Counters are cumulative; bandwidth is kbit/s, times are ms, the CPU is the tester's.
The rate is the mean of successful transactions/s over the steady polls; sent, received and dropped are transactions up
to the last poll. A run that was still active is not completed.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from dropline.ingest.formats import Parts, Reject, Report
from dropline.ingest.formats.cyberflood import POLLED, TOOL
from dropline.ingest.formats.json_documents import Node, in_documents
from dropline.ingest.formats.text import marked
from dropline.ingest.formats.throughput import TRANSACTIONS, Series, Trial, accounted, total

NAME = "cyberflood_polls"
IN_JSON = ('"runId"',)

_EXPECTED: Final = "expected polls of CyberFlood's statistics: objects with `runId`, `client` and `server`"
_MARK: Final = re.compile(r'\A\s*[\[{].*"(?:client|server)"\s*:\s*\[', re.DOTALL)
_RATE: Final = "sum:http:successfulTxnsPerSec http:successfulTxnsPerSec"
_SERVER_CPU: Final = Series("loadspec:cpuUtilized memory:cpuUtilized", "generator_cpu", "%", "server")


class _Poll(NamedTuple):
    line: int
    run: str
    client: Node
    server: Node


def _read(text: bytes) -> Parts:
    def polls(line: int, document: Node) -> Iterator[_Poll | Reject]:
        for poll in document.items() if isinstance(document.value, list) else [document]:
            name = poll.words("runId")
            if name is None or "client" not in poll.members():
                yield Reject(line, "JSON without `runId` and `client`", _EXPECTED)
            else:
                yield _Poll(line, name, _side(poll, "client"), _side(poll, "server"))

    run: list[_Poll] = []
    latest_s = 0.0
    for poll in in_documents(text, polls):
        if isinstance(poll, Reject):
            yield poll
            continue
        time_s = poll.client.number("timeElapsed")
        if run and (poll.run != run[0].run or (time_s is not None and time_s < latest_s)):
            yield _trial(run)
            run, latest_s = [], 0.0
        run.append(poll)
        latest_s = latest_s if time_s is None else time_s
    if run:
        yield _trial(run)


def _side(poll: Node, side: str) -> Node:
    values: dict[str, object] = {}
    for entry in poll.items(side):
        name = ":".join(str(part) for key in ("type", "id", "subType") if (part := entry.get(key)))
        if "@" not in name:
            values.setdefault(name, entry.get("value"))
    return Node(values)


def _trial(run: list[_Poll]) -> Report | Reject:
    line, name, *_ = run[0]
    polls = [poll for poll in run if poll.client.members()]  # polls are empty until the run begins
    if not polls:
        hint = "poll again while it runs, or ask for its results"
        return Reject(line, f"polls of {name} without statistics: the run had not begun", hint)
    trial = Trial(TOOL, line, "statistics polls", TRANSACTIONS)
    rates: list[tuple[float, float]] = []
    for number, poll in enumerate(polls, 1):
        time_s, rate = poll.client.number("timeElapsed"), poll.client.number(*_RATE.split())
        if time_s is not None:
            trial.facts["duration_s"] = time_s
        if rate is not None:
            rates.append((float(number) if time_s is None else time_s, rate))
        trial.follow(poll.client, POLLED, time_s)
        trial.follow(poll.server, [_SERVER_CPU], time_s)
    last = polls[-1].client
    sent, received, unsuccessful, aborted = (
        last.whole(f"sum:http:{outcome}Txns", f"http:{outcome}Txns")
        for outcome in ("attempted", "successful", "unsuccessful", "aborted")
    )
    remaining = last.number("timeRemaining")
    trial.facts |= {
        "protocol": "HTTP" if sent is not None else None,
        "sent": sent,
        "received": received,
        "dropped": total((unsuccessful, aborted)),
        "started_at": last.instant("testStartTime"),
        "achieved_rate": trial.mean_rate(rates),
    }
    trial.details |= {"counted": "transactions", "run": name, "polls": len(polls), "time_remaining_s": remaining}
    if remaining != 0:
        left = "an unknown time" if remaining is None else f"{remaining:.15g} s"
        trial.doubt(f"The run was still going, with {left} to go: these figures are not final.")
    return trial.conclude()


sniff = marked(_MARK, *IN_JSON)
parse = accounted(_read, _EXPECTED)
