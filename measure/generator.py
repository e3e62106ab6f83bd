"""Generators: the command of a trial, and the reading of its output for the search."""

import json
import shlex
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from dropline import trial_figures
from dropline.ingest.formats import Report, dnsblast
from dropline.ingest.show import show
from dropline.measure.bench import SSH
from dropline.measure.macros import number
from dropline.measure.plan import Generator as Plan
from dropline.measure.search import Trial

_LOSSES: Final = ("worst_exchange", "packet", "lease")
_DRAIN_S: Final = 1


class Generator(ABC):
    """A generator, whose output a module of ingest/formats parses."""

    needs_counters = False  # whether its machine's UDP counters must complete what it prints

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    @abstractmethod
    def command(self, rate: int, duration_s: float) -> list[str]:
        """Return the command of one trial, without prefix and host."""

    def read(self, output: bytes, rate: int, sidecar: Mapping[str, Any]) -> Trial | None:
        """Return a trial as a build will judge it; None if the generator failed, so that the trial shows nothing."""
        with TemporaryDirectory(prefix="dropline-") as folder:
            file = Path(folder, "output.txt")
            file.write_bytes(output)
            file.with_suffix(".json").write_text(json.dumps({"offered_rate": rate, **sidecar}), "utf-8")
            found = show(file, within=file.parent)
        if len(found.trials) != 1 or not found.trials[0].row["completed"]:
            return None
        trial_id = found.trials[0].row["trial_id"]
        figures = trial_figures.compute(found.outcome, [trial_id])[trial_id]
        losses = {basis: figures[f"loss_{basis}"] for basis in _LOSSES}
        if None in losses.values() or figures["achieved_rate"] is None:
            return None
        errors, sent_rate = figures["error_ratio"] or 0, figures["send_rate"] or rate
        flaws = figures["is_generator_limited"], figures["is_unsustained"]
        return Trial(rate, losses, figures["achieved_rate"], errors, *flaws, sent_rate)

    def can_send(self, rate: int) -> bool:
        """Return whether the generator works at a rate."""
        return True

    def sidecar(self, rate: int, duration_s: float, exit_code: int | None) -> dict[str, Any]:
        """Return the facts about a trial that its output lacks."""
        return {}


class Perfdhcp(Generator):
    """perfdhcp, for DHCPv4 and, with -6 among the arguments, DHCPv6."""

    def command(self, rate: int, duration_s: float) -> list[str]:
        """Return the command of one trial."""
        return ["perfdhcp", *self._plan.arguments, "-r", f"{rate}", "-p", f"{round(duration_s)}", self._plan.target]


class Dnsperf(Generator):
    """dnsperf. It needs many outstanding queries (-q): else it waits for the server and sends less than requested."""

    def command(self, rate: int, duration_s: float) -> list[str]:
        """Return the command of one trial."""
        address, _, port = self._plan.target.partition("#")
        where = ["-s", address, *(("-p", port) if port else ())]
        return ["dnsperf", *where, *self._plan.arguments, "-l", f"{duration_s:g}", "-Q", f"{rate}"]


class Dnsblast(Generator):
    """dnsblast (jedisct1/dnsblast). It sends each second's queries in one burst, a second ahead.

    After a lost answer it waits forever, so it must be interrupted, and its last line lacks the answers of up to half a
    second. The UDP counters of its machine include them, if nothing else there sends (Linux, /proc/net/snmp).
    """

    needs_counters = True

    def command(self, rate: int, duration_s: float) -> list[str]:
        """Return the command of one trial, which is interrupted a second after the trial's time."""
        address, _, port = self._plan.target.partition("#")
        limit = ["timeout", "--preserve-status", "--signal=INT", f"{duration_s + _DRAIN_S:g}"]
        return [*limit, "dnsblast", address, f"{round(rate * duration_s)}", f"{rate}", port or "53"]

    def sidecar(self, rate: int, duration_s: float, exit_code: int | None) -> dict[str, Any]:
        """Return the number of queries to send, and what ended the trial."""
        ended_by = f"SIGINT after {duration_s + _DRAIN_S:g} s" if exit_code else "itself"
        return {"requests_planned": round(rate * duration_s), "ended_by": ended_by}

    def can_send(self, rate: int) -> bool:
        """Return whether dnsblast keeps sending at a rate once it has fallen behind.

        It then waits for (2^64 - queries behind) / rate seconds, as ms in 32 bits: for days, or not at all if that is
        negative.
        """
        waits_ms = (1000 * ((2**64 - behind) // rate) % 2**32 for behind in (1, 3600 * rate))
        return all(wait == 0 or wait >= 2**31 for wait in waits_ms)

    def read(self, output: bytes, rate: int, sidecar: Mapping[str, Any]) -> Trial | None:
        """Return a trial from its output and counters; None unless all queries were sent in time."""
        report = next((part for part in dnsblast.parse(output) if isinstance(part, Report)), None)
        planned = sidecar["requests_planned"]
        if report is None or report.facts["sent"] != planned:
            return None
        printed = defaultdict[str, list[float]](list)
        for each in report.observations:
            printed[each.metric].append(each.value)
        all_sent = printed["sent"].index(planned)
        reply_rate = printed["reply_rate"][all_sent]  # mean since the start, rounded down, at most the rate
        sending_s = 0 if reply_rate >= rate else printed["received"][all_sent] / (reply_rate + 1)
        if sending_s * number("least_sent_ratio_of_queries") * rate > planned:
            return None
        return super().read(output, rate, sidecar)


GENERATORS: Final[dict[str, type[Generator]]] = {"perfdhcp": Perfdhcp, "dnsperf": Dnsperf, "dnsblast": Dnsblast}


def words_of(plan: Plan, command: list[str]) -> list[str]:
    """Return the full command of a generator, with its prefix, and with ssh if it runs on another host."""
    words = [*shlex.split(plan.prefix), *command]
    return [*SSH, plan.host, shlex.join(words)] if plan.host else words
