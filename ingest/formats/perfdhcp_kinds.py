"""What each line of perfdhcp was taken for, in words for people."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from dropline.ingest.formats import perfdhcp_lines as lines
from dropline.ingest.formats.perfdhcp_trial import PLACES, Stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from dropline.ingest.formats.perfdhcp_trial import Trial

_KINDS: Final[dict[Callable[..., bool], str]] = {
    lines._running: "header: the command line",
    lines._scenario: "header: the scenario",
    lines._argument: "option, as -x a decodes it",
    lines._flag: "option, as -x a decodes it",
    lines._interim: "interim counters (-t)",
    lines._interrupt: "Ctrl-C",
    lines.take_rate: "rate",
    lines._malformed: "count of malformed packets",
    lines._statistics: "head of the statistics",
    lines._counter: "counter",
    lines._ratio: "drops ratio",
    lines._delay: "delay",
    lines._no_delays: "no delays: no answer came",
    lines._collected: "count of collected packets, end of the statistics",
    lines._observed: "diagnostic counter",
    lines._timestamps: "head of the packets' times (-x t)",
    lines._packet: "times of one packet (-x t)",
    lines._provisioned: "summary of the avalanche",
    lines._begin_leases: "head of the leases (-x l)",
    lines._lease: "lease (-x l)",
    lines._failed: "packet that could not be received",
    lines._incorrect: "malformed packet",
    lines._error: "error that ended perfdhcp",
    lines._version: "version of perfdhcp",
    lines._accept: "known text without a figure",
}
_OF_EXCHANGE: Final = frozenset(
    {lines._statistics, lines._counter, lines._ratio, lines._delay, lines._no_delays, lines._collected}
)


def kind(handle: lines.Handler | None, trial: Trial) -> str:
    """Return what a line was taken for that `handle` (None: nobody) has just added to `trial`."""
    if handle is None:
        if trial.error and trial.here == trial.error_line + 1:
            return "goes on with the error"
        return "usage text" if trial.stage is Stage.USAGE else "not understood"
    taken_by = handle.func if isinstance(handle, partial) else handle
    words = _KINDS[taken_by]
    if taken_by in _OF_EXCHANGE and (exchange := _exchange(trial)):
        return f"{words} of {exchange}"
    return words


def _exchange(trial: Trial) -> str | None:
    """Return the exchange whose statistics the line stands in, or has just ended."""
    if trial.open is not None:
        return trial.open.get("exchange")
    begun = [*trial.exchanges.column("exchange")[-1:], *trial.broken[-1:]]
    return next((name for name in begun if name in PLACES and PLACES[name][1] == trial.position), None)
