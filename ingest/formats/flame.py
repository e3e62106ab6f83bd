"""Reader of flame's output (DNS-OARC flamethrower, flame(1)): its text and its JSON Lines (-o), of one run id.

The achieved rate is replies divided by time, as the printed average rates are too low if the first period is shorter
than a second. A reply after the time-out counts as received and as timed out. The averages of a period are means of the
generators' means.
"""

import re
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any, Final

from dropline.ingest.formats import Row
from dropline.ingest.formats.text import count, instant, json_object, mapping, marked, number, words
from dropline.ingest.formats.text_run import Result, TextRun, fact, fail, line_starts, rule_table, skip

NAME = "flame"

_N: Final = r"([\d.e+-]+|-?nan|-?inf)"
_MARK: Final = re.compile(
    line_starts(
        *(r"flaming target\(s\) \[", "run id      : ", r"query generator \[", r"Flamethrower\."),
        *(r'\{"cmdline":"[^\r\n]{0,4000}"run_id":', r'\{"in_flight":\d+,"period_bad_count":'),
        *(r'\{"period_bad_count":\d+,"period_in_flight":', "unable to resolve target addr"),
    )
)
IN_JSON = (
    *("flaming target(s) [", "run id      : ", "query generator [", '"run_id":', '{"in_flight":'),
    *('{"period_bad_count":', "Flamethrower.", "unable to resolve target addr"),
)
_BINDING: Final = r"binding to [\d.:a-f]+[ \t]*(?=[\r\n]|\Z)"
LINES: Final = re.compile(f"{_MARK.pattern}|{line_starts(_BINDING, '--class: ')}")
CLUES: Final = IN_JSON
# Key in the text -> key in the JSON, which is used here, and the unit to strip.
_SUMMARY: Final = {
    "run id": ("run_id", ""),
    "run start": ("start_timestamp", ""),
    "runtime": ("runtime_s", " s"),
    "total sent": ("total_s_count", ""),
    "total rcvd": ("total_r_count", ""),
    "min resp": ("total_response_min_ms", " ms"),
    "avg resp": ("total_response_avg_ms", " ms"),
    "max resp": ("total_response_max_ms", " ms"),
    "avg r qps": ("total_qps_r_avg", ""),
    "avg s qps": ("total_qps_s_avg", ""),
    "avg pkt": ("total_pkt_size_avg", " bytes"),
    "tcp conn.": ("total_tcp_connections", ""),
    "timeouts": ("total_timeouts", ""),
    "bad recv": ("total_bad_count", ""),
    "net errors": ("total_net_errors", ""),
}
_RCODE: Final = re.compile(r"([A-Z][A-Z0-9]*|Unknown rcode \(\d+\)): (\d{1,18})")
_TIMEOUTS: Final = re.compile(rf"(\d{{1,18}}) \({_N}%\)")
_DETAILS: Final = {
    "total_bad_count": "bad_received",
    "total_net_errors": "net_errors",
    "total_tcp_connections": "tcp_connections",
}
_ESSENTIAL: Final = ("total_s_count", "total_r_count", "total_timeouts")
# Defaults for udp and for other transports: generators, queries at a time, delay in ms (flame(1)).
_DEFAULTS: Final = {True: ("10", "10", "1"), False: ("30", "100", "1000")}
_ARGUMENT: Final = r"(?:--?[\w-]+|GENOPTS|TARGET): .*"


@dataclass
class _Run(TextRun):
    tool = NAME
    expected = "expected the text of flame, or the JSON Lines of its -o"
    usage_begins = "Flamethrower."
    usage_hint = "call it with a target, without --help"

    totals: dict[str, Any] = field(default_factory=dict)
    codes: dict[str, int | None] = field(default_factory=dict)
    flaming: bool = False
    final: bool = False
    replies: int = 0  # in all periods
    _before: tuple[int, int] = (0, 0)  # sent and received up to the last sum
    _while_sending: tuple[float, int] | None = None  # end of sending, and number of replies until then

    def begins_with(self, line: str) -> bool:
        if line.startswith(('{"cmdline":', "flaming target(s) [")):
            return self.flaming or bool(self.totals or self.usage or self.error)
        finished = "total_net_errors" in self.totals
        if line.startswith(("binding to ", "run id ", "Flamethrower.")):
            return finished or self.usage or self.error is not None
        return finished and line.startswith("--") and bool(re.fullmatch(_ARGUMENT, line))

    def take(self, line: str) -> bool:
        if (document := json_object(line)) is not None:
            return self._take_json(document)
        return super().take(line) or (not self.usage and self._take_summary(line))

    def _flame(self, target: str, port: str, *load: str) -> None:
        self.flaming = True
        self.details |= {"target": target, "port": port}
        self._set_load(*load)

    def _generator(self, name: str, records: str) -> None:
        self.details |= {"generator": name, "records": count(records)}

    def _set_load(self, generators: str, batch: str, delay_ms: str, transport: str) -> None:
        self.facts["clients"] = count(generators)
        self.details["transport"] = transport
        self.details["load"] = f"{generators} generators, each {batch} queries every {delay_ms} ms"

    def _period(
        self, t_s: object, sent: str | int, received: str | int, average_ms: object, in_flight: object, timeouts: object
    ) -> None:
        sent, received = int(sent), int(received)
        at = number(t_s)
        self.replies += received
        if sent and at:
            self._while_sending = at, self.replies
        self.observe("interval_sent", sent, "queries", t_s=at)
        self.observe("interval_received", received, "responses", t_s=at)
        self.observe("in_flight", count(in_flight), "queries", t_s=at)
        # Once it has stopped sending, flame computes no average and prints 0.
        self.observe("latency_avg", number(average_ms) or None, "ms", t_s=at)
        self.observe("interval_timeouts", count(timeouts), "queries", t_s=at)

    rules = rule_table(
        {
            r"((?:unable to resolve target|generator error:|protocol must be|internet family must"
            r"|couldn't open targets file|name did not resolve).*)": fail,
            r"flaming target\(s\) \[(.*)\] on port (\d+) with (\d{1,9}) concurrent generators, "
            r"each sending (\d{1,9}) queries every (\d{1,9})ms on protocol (\w+)": _flame,
            r"query generator \[(\w+)\] contains (\d{1,18}) record\(s\)": _generator,
            r"rate limit @ (\d{1,15}) QPS \(\d+ QPS per concurrent sender\)": fact("offered_rate", number),
            r"stopping, waiting up to (\d{1,9})s for in flight to finish\.\.\.": fact("drop_time_s", number),
            r"QPS flow now (.*)": lambda run, rate: run.details.setdefault("qps_flow", []).append(rate),
            r'-t: "*([^"]*)"*': fact("drop_time_s", number),
            rf"{_ARGUMENT}|-{{6}}|responses   :|query list randomized|\w+: push \".*\"|binding to .*"
            r"|\d+ key/value generator arguments|adding QPS flow: .*|WARNING: QPS .*": skip,
            rf"{_N}s: send: (\d{{1,18}}), avg send: \d+, recv: (\d{{1,18}}), avg recv: \d+, min/avg/max resp: "
            r"[^/]+/([^/]+)/[^/]+ms, in flight: (\d{1,18}), timeouts: (\d{1,18})": _period,
        }
    )

    def _take_summary(self, line: str) -> bool:
        key, _, value = line.partition(":")
        if not self.ended:
            return False  # its last digits may be missing
        if key.rstrip() not in _SUMMARY:
            match = _RCODE.fullmatch(line) if "total_s_count" in self.totals else None
            if match:
                self.codes[match[1]] = count(match[2])
            return bool(match)
        name, unit = _SUMMARY[key.rstrip()]
        value = value.strip().removesuffix(unit)
        if name == "total_timeouts":
            match = _TIMEOUTS.fullmatch(value)
            value = match[1] if match else ""
        self.totals[name] = value
        self.final |= name == "total_net_errors"
        return True

    def _take_json(self, document: dict[str, Any]) -> bool:
        if isinstance(document.get("cmdline"), str) and "run_id" in document:
            self.flaming = True
            self.facts |= {"command": document["cmdline"], "tool_version": words(document.get("version"), 100)}
            self.totals |= {"run_id": document["run_id"], "start_timestamp": document.get("start_timestamp")}
            self._options(document["cmdline"])
            return True
        if "trafgen_id" in document and "period_number" in document:
            return True  # for one generator; the sum follows
        if any(count(document.get(name)) is None for name in _ESSENTIAL):
            return False
        # The sum over all generators follows each period, and the end.
        self.totals |= {name: value for name, value in document.items() if name != "total_responses"}
        self.codes = {str(name)[:100]: count(value) for name, value in mapping(document.get("total_responses")).items()}
        sent, received = count(document["total_s_count"]) or 0, count(document["total_r_count"]) or 0
        more_sent, more_received = sent - self._before[0], received - self._before[1]
        self._before = sent, received
        average = document.get("period_response_avg_ms")
        # The last sum has an average of 0; any other has null if there were no replies.
        self.final = average == 0
        if more_sent or more_received or not self.final:
            others = (average, document.get("period_in_flight"), document.get("period_timeouts"))
            self._period(document.get("runtime_s"), more_sent, more_received, *others)
        return True

    def _options(self, command: str) -> None:
        around = [*pairwise(command.split())]
        pairs = dict(around)
        transport = pairs.get("-P", "udp")
        letters = zip("cqd", _DEFAULTS[transport == "udp"], strict=True)
        generators, batch, delay_ms = (pairs.get(f"-{name}", default) for name, default in letters)
        self._set_load(generators, batch, delay_ms, transport)
        target = next(
            (word for before, word in around if word[0] != "-" and (before[0] != "-" or before == "-R")), None
        )
        self.details |= {"target": target, "port": pairs.get("-p", "853" if transport == "dot" else "53")}
        self.details["generator"] = "file" if "-f" in pairs else pairs.get("-g", "static")
        self.facts["offered_rate"] = number(pairs.get("-Q", "")) or None
        self.facts["drop_time_s"] = number(pairs.get("-t", "3"))
        if "-f" in pairs:
            self.details["queries"] = PurePosixPath(pairs["-f"]).name

    def conclude(self) -> Result:
        figures = {name: count(self.totals.get(name)) for name in _ESSENTIAL}
        if None in figures.values():
            return self.reject()
        sent, received, timeouts = (figures[name] or 0 for name in _ESSENTIAL)
        run_s = number(self.totals.get("runtime_s"))
        if run_s is None or run_s < 0:
            self.doubts.append("The runtime is not a time: its line is damaged.")
            run_s = None
        times = [(run_s, received)]  # of the whole run, or of sending if few replies came in the final wait
        if self._while_sending and self.replies == received:
            times.append(self._while_sending)
        self.facts |= {
            "achieved_rate": max((round(replies / time_s, 6) for time_s, replies in times if time_s), default=None),
            **{"sent": sent, "received": received, "dropped": timeouts, "duration_s": run_s},
            "started_at": instant(self.totals.get("start_timestamp")),
        }
        if load := self.details.pop("load", None):
            parts = (load, self.details.get("transport"), self.details.get("generator"))
            self.facts["method"] = "; ".join(part for part in parts if part)
        self.details["average_rate_printed"] = number(self.totals.get("total_qps_r_avg"))
        printed: Row = {ours: count(self.totals.get(theirs)) for theirs, ours in _DETAILS.items()}
        printed["run_id"] = words(self.totals.get("run_id"), 100)
        self.details |= {name: value for name, value in printed.items() if value is not None}
        for statistic in ("avg", "min", "max") if received else ():
            self.observe(f"latency_{statistic}", number(self.totals.get(f"total_response_{statistic}_ms")), "ms")
        self.observe("send_rate", number(self.totals.get("total_qps_s_avg")), "queries/s")
        self.observe("packet_size_avg", number(self.totals.get("total_pkt_size_avg")), "bytes")
        for code, answers in self.codes.items():
            self.observe("responses", answers, "responses", code)
        return self.report(completed=self._judge(sent, received, timeouts))

    def _judge(self, sent: int, received: int, timeouts: int) -> bool:
        """Record inconsistent figures; return whether the report is complete."""
        if self.replies not in {0, received}:
            self.doubts.append(f"{received} replies came in, its periods count {self.replies}: a line is damaged.")
        answered = sum(value or 0 for value in self.codes.values())
        whole = self.final and (answered > 0 or received == 0)
        if not whole:
            self.warnings.append("Report cut off or not finished: its last lines are missing.")
        if sent and received == 0:
            self.warnings.append("No query was answered: is the server up, and do queries reach it?")
        late = received - answered - (count(self.totals.get("total_bad_count")) or 0)
        if whole and timeouts and late > 0:
            self.warnings.append(f"{late} replies came after the time-out: they count as received and as timed out.")
        elif whole and late > 0:
            self.warnings.append(f"{late} replies have no response code; is the report cut off?")
            whole = False
        return whole


sniff = marked(_MARK, *IN_JSON)
parse, explain = _Run.parse, _Run.explain
