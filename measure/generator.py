"""Generators: the command line of a trial, and the parsing of its output for the search."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any, Final, Protocol

from dropline.ingest.formats import Report, dnsperf, perfdhcp
from dropline.measure.bench import SSH
from dropline.measure.macros import sql
from dropline.measure.search import Trial

if TYPE_CHECKING:
    from collections.abc import Callable

    from dropline.measure.plan import Generator as Plan

_EXPECTED_ANSWERS: Final = frozenset({"NOERROR", "NXDOMAIN"})


class Generator(Protocol):
    """Interface of a generator; a module of ingest/formats parses its output."""

    def command(self, rate: int, duration_s: float) -> list[str]:
        """Return the command of one trial, without prefix and host."""

    def read(self, output: bytes, rate: int) -> Trial | None:
        """Parse a trial's output; return None if it broke off."""


class Perfdhcp:
    """perfdhcp, for DHCPv4 and, with -6 among the arguments, DHCPv6."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def command(self, rate: int, duration_s: float) -> list[str]:
        """Return the command of one trial."""
        return ["perfdhcp", *self._plan.arguments, "-r", f"{rate}", "-p", f"{round(duration_s)}", self._plan.target]

    def read(self, output: bytes, rate: int) -> Trial | None:
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
        is_limited = sent_rate < _ratio("least_sent_ratio") * rate
        return Trial(rate, losses, completed / period, is_limited=is_limited, sent_rate=sent_rate)


class Dnsperf:
    """dnsperf. It needs many outstanding queries (-q), or it waits for the server and offers less than requested."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def command(self, rate: int, duration_s: float) -> list[str]:
        """Return the command of one trial."""
        address, _, port = self._plan.target.partition("#")
        where = ["-s", address, *(("-p", port) if port else ())]
        return ["dnsperf", *where, *self._plan.arguments, "-l", f"{duration_s:g}", "-Q", f"{rate}"]

    def read(self, output: bytes, rate: int) -> Trial | None:
        """Parse a trial's output; an answer with an unexpected code is an error."""
        report = _only(dnsperf.parse(output))
        if report is None or not report.facts["sent"]:
            return None
        facts = report.facts
        details: dict[str, Any] = json.loads(facts.get("details") or "{}")
        lost = 1 - facts["received"] / facts["sent"]
        seen = [row for row in report.observations if row["t_s"] is None]
        errors = sum(
            row["value"]
            for row in seen
            if row["metric"] == "responses" and row["label"] and row["label"] not in _EXPECTED_ANSWERS
        )
        sending_s = details.get("sending_s") or facts["duration_s"]
        sent_rate = (facts["sent"] + 1) / sending_s
        is_behind = sent_rate < _ratio("least_sent_ratio_of_queries") * rate
        # Little's law, as in a build
        latency_ms = next((row["value"] for row in seen if row["metric"] == "latency_avg"), 0)
        under_way_s = facts["received"] * latency_ms / 1000 + (facts["dropped"] or 0) * (facts["drop_time_s"] or 0)
        waiting = under_way_s / facts["duration_s"] / details.get("outstanding", 100)
        return Trial(
            rate,
            dict.fromkeys(("worst_exchange", "packet", "lease"), lost),
            facts["achieved_rate"],
            errors=errors / facts["sent"],
            is_limited=is_behind and waiting <= _ratio("most_waiting_ratio"),
            is_unsustained=is_behind,
            sent_rate=sent_rate,
        )


GENERATORS: Final[dict[str, Callable[[Plan], Generator]]] = {"perfdhcp": Perfdhcp, "dnsperf": Dnsperf}


def generator_of(plan: Plan) -> Generator:
    """Return the plan's generator."""
    return GENERATORS[plan.tool](plan)


def words_of(plan: Plan, command: list[str]) -> list[str]:
    """Return the full command of a generator: with its prefix, and with ssh if it runs on another host."""
    words = [*shlex.split(plan.prefix), *command]
    return [*SSH, plan.host, shlex.join(words)] if plan.host else words


def _ratio(macro: str) -> float:
    """Return a threshold of the models, so that a search and a build judge a trial alike."""
    return float(sql(macro))


def _only(parts: Any) -> Report | None:
    reports = list(parts)
    if len(reports) != 1 or not isinstance(reports[0], Report) or not reports[0].facts["completed"]:
        return None
    return reports[0]
