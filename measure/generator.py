"""Generators: the command line of a trial, and the parsing of its output for the search."""

import json
import shlex
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Final

from dropline.ingest.formats import Report, dnsblast, dnsperf, perfdhcp
from dropline.measure.bench import SSH
from dropline.measure.macros import number
from dropline.measure.plan import Generator as Plan
from dropline.measure.search import Trial

_EXPECTED_ANSWERS: Final = frozenset({"NOERROR", "NXDOMAIN"})
_LOSSES: Final = ("worst_exchange", "packet", "lease")
_DRAIN_S: Final = 1
_STRAY_PACKETS: Final = 3  # before and after a trial, as in int_query_accounting


class Generator(ABC):
    """A generator; a module of ingest/formats parses its output."""

    needs_counters = False  # whether it prints too little, so that its machine's UDP counters must complete it

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    @abstractmethod
    def command(self, rate: int, duration_s: float) -> list[str]:
        """Return the command of one trial, without prefix and host."""

    @abstractmethod
    def read(self, output: bytes, rate: int, sidecar: Mapping[str, Any]) -> Trial | None:
        """Parse a trial's output; return None if it says nothing because the generator broke off or stalled."""

    def can_send(self, rate: int) -> bool:
        """Return whether the generator works at a rate."""
        return True

    def sidecar(self, rate: int, duration_s: float, exit_code: int | None) -> dict[str, Any]:
        """Return what the output of a trial does not say."""
        return {}


class Perfdhcp(Generator):
    """perfdhcp, for DHCPv4 and, with -6 among the arguments, DHCPv6."""

    def command(self, rate: int, duration_s: float) -> list[str]:
        """Return the command of one trial."""
        return ["perfdhcp", *self._plan.arguments, "-r", f"{rate}", "-p", f"{round(duration_s)}", self._plan.target]

    def read(self, output: bytes, rate: int, sidecar: Mapping[str, Any]) -> Trial | None:
        """Parse a trial's output; a RELEASE is never answered, so it cannot be lost."""
        report = _only(perfdhcp.parse(output))
        if report is None:
            return None
        exchanges = [row for row in report.exchanges if row["exchange"] != "RELEASE" and row["sent"]]
        if not exchanges:
            return None
        first, last = exchanges[0], exchanges[:2][-1]
        completed = last["received"] - (last["rejected"] or 0)
        period = report.facts["duration_s"]
        if not period:
            return None
        losses = {
            "worst_exchange": max(row["drops"] / row["sent"] for row in exchanges),
            "packet": sum(row["drops"] for row in exchanges) / sum(row["sent"] for row in exchanges),
            "lease": (first["sent"] - completed) / first["sent"],
        }
        sent_rate = (first["sent"] + 1) / period  # perfdhcp sends rate x period - 1
        is_limited = sent_rate < number("least_sent_ratio") * rate
        return Trial(rate, losses, completed / period, is_limited=is_limited, sent_rate=sent_rate)


class Dnsperf(Generator):
    """dnsperf. It needs many outstanding queries (-q), or it waits for the server and offers less than requested."""

    def command(self, rate: int, duration_s: float) -> list[str]:
        """Return the command of one trial."""
        address, _, port = self._plan.target.partition("#")
        where = ["-s", address, *(("-p", port) if port else ())]
        return ["dnsperf", *where, *self._plan.arguments, "-l", f"{duration_s:g}", "-Q", f"{rate}"]

    def read(self, output: bytes, rate: int, sidecar: Mapping[str, Any]) -> Trial | None:
        """Parse a trial's output; an answer with an unexpected code is an error."""
        report = _only(dnsperf.parse(output))
        if report is None or not report.facts["sent"]:
            return None
        facts = report.facts
        details: dict[str, Any] = json.loads(facts.get("details") or "{}")
        lost = 1 - facts["received"] / facts["sent"]
        seen = [each for each in report.observations if each.t_s is None]
        errors = sum(
            each.value
            for each in seen
            if each.metric == "responses" and each.label and each.label not in _EXPECTED_ANSWERS
        )
        sending_s = details.get("sending_s") or facts["duration_s"]
        sent_rate = (facts["sent"] + 1) / sending_s
        is_behind = sent_rate < number("least_sent_ratio_of_queries") * rate
        # Little's law, as in a build
        latency_ms = next((each.value for each in seen if each.metric == "latency_avg"), 0)
        under_way_s = facts["received"] * latency_ms / 1000 + (facts["dropped"] or 0) * (facts["drop_time_s"] or 0)
        waiting = under_way_s / facts["duration_s"] / details.get("outstanding", 100)
        return Trial(
            rate,
            dict.fromkeys(_LOSSES, lost),
            facts["achieved_rate"],
            errors=errors / facts["sent"],
            is_limited=is_behind and waiting <= number("most_waiting_ratio"),
            is_unsustained=is_behind,
            sent_rate=sent_rate,
        )


class Dnsblast(Generator):
    """dnsblast (jedisct1/dnsblast). It sends each second's queries at once, as fast as it can, a second ahead.

    After a lost answer it waits for ever, so it is interrupted, and its last line lacks the answers of up to half a
    second. The UDP counters of its machine know them, if nothing else there sends (Linux, /proc/net/snmp).
    """

    needs_counters = True

    def command(self, rate: int, duration_s: float) -> list[str]:
        """Return the command of one trial: it is interrupted a second after the trial's time."""
        address, _, port = self._plan.target.partition("#")
        limit = ["timeout", "--preserve-status", "--signal=INT", f"{duration_s + _DRAIN_S:g}"]
        return [*limit, "dnsblast", address, f"{_count(rate, duration_s)}", f"{rate}", port or "53"]

    def sidecar(self, rate: int, duration_s: float, exit_code: int | None) -> dict[str, Any]:
        """Return how many queries were to be sent, and what ended the trial."""
        ended_by = f"SIGINT after {duration_s + _DRAIN_S:g} s" if exit_code else "itself"
        return {"requests_planned": _count(rate, duration_s), "ended_by": ended_by}

    def can_send(self, rate: int) -> bool:
        """Return whether dnsblast keeps going at a rate when it is behind.

        Then it waits for (2^64 - queries behind) / rate seconds, as milliseconds in 32 bits: for days, or not at all if
        that is negative.
        """
        waits_ms = (1000 * ((2**64 - behind) // rate) % 2**32 for behind in (1, 3600 * rate))
        return all(wait == 0 or wait >= 2**31 for wait in waits_ms)

    def read(self, output: bytes, rate: int, sidecar: Mapping[str, Any]) -> Trial | None:
        """Parse a trial's output and counters; it says nothing unless all queries were sent in time."""
        report = next((part for part in dnsblast.parse(output) if isinstance(part, Report)), None)
        planned = sidecar["requests_planned"]
        if report is None or report.facts["sent"] != planned:
            return None
        printed: dict[str, list[float]] = {
            metric: [each.value for each in report.observations if each.metric == metric]
            for metric in ("sent", "received", "reply_rate")
        }
        all_sent = printed["sent"].index(planned)
        reply_rate = printed["reply_rate"][all_sent]  # a mean since the start, rounded down, capped at the rate
        sending_s = 0 if reply_rate >= rate else printed["received"][all_sent] / (reply_rate + 1)
        if sending_s * number("least_sent_ratio_of_queries") * rate > planned:
            return None
        answered = report.facts["received"]
        counted = _counted(sidecar, planned, answered)
        if counted is None and answered > planned:  # some answers came twice
            return None
        lost = 1 - (answered if counted is None else counted) / planned
        achieved = report.facts["achieved_rate"] if counted is None else rate * counted / planned
        return Trial(rate, dict.fromkeys(_LOSSES, lost), achieved, sent_rate=rate)


def _count(rate: int, duration_s: float) -> int:
    return round(rate * duration_s)


def _counted(sidecar: Mapping[str, Any], sent: int, printed: int) -> int | None:
    """Return how many answers the generator's machine read, as a build does; None if it did not only read these."""
    udp = sidecar.get("udp_delta", {}).get("generator", {})
    out, read = (sum(udp.get(f"{of}{name}Datagrams", 0) for of in ("Udp", "Udp6")) for name in ("Out", "In"))
    is_alone = sent <= out <= sent + _STRAY_PACKETS and printed <= read <= sent + _STRAY_PACKETS
    return min(read, sent) if is_alone else None


GENERATORS: Final[dict[str, type[Generator]]] = {"perfdhcp": Perfdhcp, "dnsperf": Dnsperf, "dnsblast": Dnsblast}


def words_of(plan: Plan, command: list[str]) -> list[str]:
    """Return the full command of a generator: with its prefix, and with ssh if it runs on another host."""
    words = [*shlex.split(plan.prefix), *command]
    return [*SSH, plan.host, shlex.join(words)] if plan.host else words


def _only(parts: Any) -> Report | None:
    reports = list(parts)
    if len(reports) != 1 or not isinstance(reports[0], Report) or not reports[0].facts["completed"]:
        return None
    return reports[0]
