"""Campaign trees of any size, rendered from real captures: the input of the ingest and build benchmarks.

    python -m benchmarks.trees FOLDER --trials 10000               a tree to ingest
    python -m benchmarks.trees FOLDER --trials 10000 --again 0.01  a share of its trials measured again, in place
    python -m benchmarks.trees LAKE --trials 10000 --as-lake       the lake that ingesting both gives

The campaigns are those of campaigns.py: perfdhcp with one sidecar per output, dnsperf with one per folder, server
configurations and machine facts of examples/ and tests/captures/. The same arguments give the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import tempfile
import time
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from benchmarks.campaigns import BACKENDS, DNS, INTERIMS, RAMP, ROOT, SEED, Campaign, Kind, Trials, campaigns, measure
from dropline.ingest.lake import Lake
from dropline.ingest.loader import ingest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

CAMPAIGNS_A_BATCH: Final = 20  # about 16,000 trials
_PERFDHCP: Final = """\
Running: {command}
Scenario: basic.
Multi-thread mode enabled.
{interims}***Rate statistics***
Rate: %g 4-way exchanges/second, expected rate: %g

***Malformed Packets***
Malformed packets: 0
"""
_INTERIM: Final = "sent: %d/%d; received: %d/%d; drops: %d/%d; rejected: 0/0\n"
_EXCHANGE: Final = """\
***Statistics for: {exchange}***
sent packets: %d
received packets: %d
drops: %d
drops ratio: {ratio} %%
orphans: 0
rejected leases: 0
non unique addresses: 0

min delay: %.3f ms
avg delay: %.3f ms
max delay: %.3f ms
std deviation: %.3f ms
collected packets: %d

"""
_RATIOS: Final = ("%g", "%.3f")  # perfdhcp sets a fixed precision for the first delays, which then persists
_DNSPERF: Final = """\
DNS Performance Testing Tool
Version 2.10.0

[Status] Command line: {command}
[Status] Sending queries (to 127.0.0.1:5300)
[Status] Started at: %s
[Status] Stopping after {period_s}.000000 seconds
{interims}[Status] Testing complete (time limit)

Statistics:

  Queries sent:         %d
  Queries completed:    %d (%.2f%%)
  Queries lost:         %d (%.2f%%)

  Response codes:       NOERROR %d (100.00%%)
  Average packet size:  request 36, response 52
  Run time (s):         %.6f
  Queries per second:   %.6f

  Average Latency (s):  %.6f (min %.6f, max %.6f)
  Latency StdDev (s):   %.6f

"""
_DNSPERF_INTERIM: Final = "%.6f: %.6f\n"
_CAMPAIGN: Final = """\
campaign: {name}
title: {title}
description: Rendered for a benchmark; the numbers are simulated.
started_on: {day}
tags: [simulated]
path: "{path}"
machines: {{machine: server}}
"""
_FOREIGN: Final = b"ssh: connect to host 10.0.0.9 port 22: No route to host\nlost connection\n"


class Output(NamedTuple):
    """One trial's files; paths are relative to the campaign's folder."""

    path: str
    data: bytes
    sidecar_path: str
    sidecar: bytes


class Promise(NamedTuple):
    """The contents of a tree, which an ingest must find."""

    trials: int
    rejects: int
    files: int
    size_bytes: int

    def __str__(self) -> str:
        """Return the contents as text."""
        return f"{self.trials} trials, {self.rejects} rejects, {self.files} files, {self.size_bytes / 1e6:.1f} MB"


def render(folder: Path, trials: int, seed: int = SEED, interims: int = INTERIMS) -> Promise:
    """Write a tree with the given number of trials below `folder`, campaign by campaign; return its contents."""
    sums = [write(folder / each.name, each, measure(each)) for each in campaigns(trials, seed, interims)]
    return Promise(*np.sum(sums, axis=0).tolist())


def render_again(
    folder: Path, trials: int, seed: int = SEED, interims: int = INTERIMS, share: float = 0.01, times: int = 1
) -> int:
    """Replace a share of a tree's outputs by those of a later measurement; return their number."""
    changed = 0
    for campaign in campaigns(trials, seed, interims):
        for output in outputs(campaign, measured_again(campaign, share, times)):
            _put(folder / campaign.name / output.path, output.data)
            _put(folder / campaign.name / output.sidecar_path, output.sidecar)
            changed += 1
    return changed


def measured_again(campaign: Campaign, share: float, times: int = 1) -> Trials:
    """Return the second (or later, with `times`) measurement of some of a campaign's trials."""
    draws = np.random.default_rng([campaign.seed, 3, campaign.number]).random(campaign.trials)
    return measure(campaign, times).chosen(np.flatnonzero(draws < share))


def lake_of(root: Path, trials: int, seed: int = SEED, interims: int = INTERIMS, again: float = 0.0) -> int:
    """Ingest trees of 20 campaigns, one after the other; return the lake's number of batches.

    For a share of the trials, `again`, another batch supersedes each by a second measurement.
    """
    lake, waiting = Lake.create(root), campaigns(trials, seed, interims)
    while group := list(islice(waiting, CAMPAIGNS_A_BATCH)):
        with tempfile.TemporaryDirectory() as name:
            for second in (False, True)[: 1 + bool(again)]:
                for each in group:
                    write(Path(name, each.name), each, measured_again(each, again) if second else measure(each))
                ingest([Path(name)], lake)
    return len(lake.batches())


def explaining(campaign: Campaign) -> Iterator[tuple[str, bytes]]:
    """Yield path and bytes of the context files: campaign.yaml, configurations, machine facts."""
    kind = campaign.kind
    description = _CAMPAIGN.format(name=campaign.name, title=kind.title, day=campaign.began.date(), path=kind.path)
    yield "campaign.yaml", description.encode()
    yield from _copied(kind)
    for path, data in _machine():
        yield f"machine/{path}", f"{campaign.testbed}\n".encode() if path == "hostname.txt" else data


def outputs(campaign: Campaign, trials: Trials) -> Iterator[Output]:
    """Yield the files of some of a campaign's trials."""
    return _dnsperf(campaign, trials) if campaign.kind is DNS else _perfdhcp(campaign, trials)


def write(folder: Path, campaign: Campaign, trials: Trials) -> Promise:
    """Write a campaign's context files, some of its trials, and the failed attempts before them."""
    sizes = [_put(folder / path, data) for path, data in explaining(campaign)]
    for failed, output in zip(trials.failed.tolist(), outputs(campaign, trials), strict=True):
        sizes += [_put(folder / output.path, output.data), _put(folder / output.sidecar_path, output.sidecar)]
        if failed:
            path, data = _attempt(output, failed)
            sizes.append(_put(folder / path, data))
    return Promise(len(trials.number), int(np.count_nonzero(trials.failed)), len(sizes), sum(sizes))


def _attempt(output: Output, failed: int) -> tuple[str, bytes]:
    """Return path and bytes of a failed attempt's file beside an output."""
    folder, name = output.path.rsplit("/", 1)
    path = f"{folder}-attempt1/{name}" if name == "dnsperf.out" else f"{folder}/{name[:-4]}-attempt1.txt"
    return path, (output.data[: len(output.data) // 3], b"", _FOREIGN)[failed - 1]


def _put(path: Path, data: bytes) -> int:
    """Write a file, create its folder if missing, and return its size."""
    try:
        return path.write_bytes(data)
    except FileNotFoundError:
        path.parent.mkdir(parents=True)
        return path.write_bytes(data)


def _perfdhcp(campaign: Campaign, trials: Trials) -> Iterator[Output]:
    drops = trials.sent - trials.received
    counted_by = (trials.sent_by, trials.received_by, trials.sent_by - trials.received_by)
    columns = [trials.offered, *np.stack(counted_by, axis=1).reshape(6 * campaign.interims, len(trials.number))]
    columns += [trials.received[1] / trials.elapsed_s, trials.offered]
    for exchange in (0, 1):
        counted = trials.sent[exchange], trials.received[exchange], drops[exchange]
        ratio = 100 * drops[exchange] / trials.sent[exchange]
        columns += [*counted, ratio, *trials.delays_ms[:, exchange], np.minimum(drops[exchange], 20)]
    said_by_sidecar = {
        "rate": trials.offered,
        "step": trials.step + 1,
        "repetition": trials.repetition,
        "exit_code": np.where(drops.any(axis=0), 3, 0),
        "start": _text(trials.started_at),
        "end": _text(trials.ended_at),
        "elapsed_s": trials.elapsed_s.round(4),
        **{name: values.round(3) for name, values in cpu_s(campaign, trials).items()},
        "sent": trials.sent.sum(axis=0),
        "received": trials.received.sum(axis=0),
        "leases": trials.received[1],
    }
    for setup, row, said in zip(trials.setup.tolist(), _rows(columns), _dicts(said_by_sidecar), strict=True):
        folder = campaign.kind.setups[setup].folder
        report, sidecar = _perfdhcp_templates(folder, campaign)
        data = (report % row).encode()
        stem = f"runs/{folder}/rep{said['repetition']}/rate{said['rate']}"
        said |= {"path": f"{stem}.txt", "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        yield Output(f"{stem}.txt", data, f"{stem}.json", (sidecar % said).encode())


def cpu_s(campaign: Campaign, trials: Trials) -> dict[str, NDArray[np.float64]]:
    """Return the CPU seconds of perfdhcp and of each server."""
    busy_s = trials.busy_ratio * campaign.period_s
    return {"tool_cpu_s": 0.2 + busy_s / 2, "server_cpu_s": busy_s}


def _dnsperf(campaign: Campaign, trials: Trials) -> Iterator[Output]:
    (sent,), (received,) = trials.sent, trials.received
    lost = sent - received
    ticks, rates = interval_rates(trials)
    least, mean, most, deviation = trials.delays_ms[:, 0] / 1000
    columns = [
        *(trials.offered, clock(trials), *np.stack([ticks, rates], axis=1).reshape(2 * campaign.interims, len(sent))),
        *(sent, received, 100 * received / sent, lost, 100 * lost / sent, received),
        *(trials.elapsed_s, received / trials.elapsed_s, mean, least, most, deviation),
    ]
    said_by_sidecar = {
        "rate": trials.offered,
        "start": _text(trials.started_at),
        "end": _text(trials.ended_at),
        "elapsed_s": trials.elapsed_s.round(3),
    }
    runs = zip(trials.setup.tolist(), trials.repetition.tolist(), strict=True)
    for (setup, repetition), row, said in zip(runs, _rows(columns), _dicts(said_by_sidecar), strict=True):
        folder = campaign.kind.setups[setup].folder
        report, sidecar = _dnsperf_templates(folder, campaign)
        folder = f"{folder}/r{repetition}/{said['rate']:05}qps"
        yield Output(f"{folder}/dnsperf.out", (report % row).encode(), f"{folder}/meta.json", (sidecar % said).encode())


def interval_rates(trials: Trials) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the end (seconds since 1970) and the rate of the intervals that dnsperf prints, one row per line."""
    rates = np.diff(trials.received_by[:, 0], axis=0, prepend=0).astype(float)
    ticks = trials.started_at.astype(float) / 1e6 + np.arange(1, len(rates) + 1)[:, None]
    rates[:1] /= ticks[:1]  # dnsperf uses the time since 1970 as the length of the first interval
    return ticks, rates


def clock(trials: Trials) -> NDArray[np.str_]:
    """Return when each trial began, in the format of ctime(3)."""
    return np.array([at.strftime("%a %b %e %H:%M:%S %Y") for at in trials.started_at.tolist()])


def _rows(columns: Sequence[NDArray[Any]]) -> Iterator[tuple[Any, ...]]:
    """Yield one tuple per trial."""
    return zip(*(column.tolist() for column in columns), strict=True)


def _dicts(columns: dict[str, NDArray[Any]]) -> Iterator[dict[str, Any]]:
    """Yield one dictionary per trial."""
    return (dict(zip(columns, row, strict=True)) for row in _rows(list(columns.values())))


def _text(instants: NDArray[np.datetime64]) -> NDArray[np.str_]:
    return np.char.add(np.datetime_as_string(instants), "Z")


@lru_cache(maxsize=32)
def _perfdhcp_templates(setup: str, campaign: Campaign) -> tuple[str, str]:
    """Return templates of the outputs and the sidecars of one setup; the capture is the setup's first one."""
    example = campaign.kind.example
    said = json.loads(min((example / "runs" / setup).rglob("*.json")).read_bytes())
    argv = _with(said["argv"], {"-r": "<rate>", "-p": str(campaign.period_s)})
    names = ("SOLICIT-ADVERTISE", "REQUEST-REPLY") if "-6" in argv else ("DISCOVER-OFFER", "REQUEST-ACK")
    version = campaign.version.kea
    contents = said | {
        "command": " ".join(argv),
        "argv": argv,
        "rc": "<#exit_code>",
        "start_utc": "<start>",
        "end_utc": "<end>",
        "wall_s": "<#elapsed_s>",
        "perfdhcp_cpu_s": "<#tool_cpu_s>",
        "server_cpu_s": _filled(said["server_cpu_s"], "<#server_cpu_s>"),
        "db_cpu_s": _filled(said["db_cpu_s"], "<#server_cpu_s>"),
        "udp_delta": _filled(said["udp_delta"], "<#sent>"),
        "host": campaign.testbed,
        "output": "<path>",
        "output_bytes": "<#bytes>",
        "output_sha256": "<sha256>",
        "campaign": campaign.name,
        "rep": "<#repetition>",
        "offered_rate": "<#rate>",
        "kea_version": version,
        "packages": [re.sub("^(kea-.*) 2.2.0", rf"\1 {version}", package) for package in said["packages"]],
        "config_sha256": [hashlib.sha256((example / path).read_bytes()).hexdigest() for path in said["config"]],
        "ramp": {"step": "<#step>", "steps": len(RAMP), "fixed": True, "stopped_early": False},
        "leases_in_db_after": _filled(said["leases_in_db_after"], "<#leases>"),
    }
    contents["udp_delta"]["kp-cli"]["UdpInDatagrams"] = "<#received>"
    report = perfdhcp_report(" ".join(["perfdhcp", *argv[1:]]), names, campaign.interims)
    return report.replace("<rate>", "%d"), _template(contents)


@lru_cache(maxsize=32)
def _dnsperf_templates(setup: str, campaign: Campaign) -> tuple[str, str]:
    scenario, backend = setup.split("/")
    said = json.loads((campaign.kind.example / backend / "Q01000-r1" / "meta.json").read_bytes())
    options = {"-Q": "<rate>", "-l": str(campaign.period_s), "-d": f"/srv/bench/{scenario}.txt"}
    argv = [*_with(said["argv"], options), "-q", "5000"]
    contents = said | {
        "command": " ".join(argv),
        "argv": argv,
        "server": f"PowerDNS Authoritative {campaign.version.powerdns}",
        "server_config": f"/srv/bench/cfg-{backend}/pdns.conf",
        "start_utc": "<start>",
        "end_utc": "<end>",
        "wall_s": "<#elapsed_s>",
        "host": campaign.testbed,
    }
    report = dnsperf_report(" ".join(argv), campaign.period_s, campaign.interims)
    return report.replace("<rate>", "%d"), _template(contents)


def perfdhcp_report(command: str, exchanges: Sequence[str], interims: int) -> str:
    """Return the output of perfdhcp 2.2 as a template for `%`: interim lines, rates, then each exchange."""
    blocks = [_EXCHANGE.format(exchange=name, ratio=ratio) for name, ratio in zip(exchanges, _RATIOS, strict=True)]
    return "".join([_PERFDHCP.format(command=command, interims=_INTERIM * interims), *blocks])


def dnsperf_report(command: str, period_s: int, interims: int) -> str:
    """Return the output of dnsperf 2.10 as a template for `%`."""
    return _DNSPERF.format(command=command, period_s=period_s, interims=_DNSPERF_INTERIM * interims)


def _with(argv: Sequence[str], options: dict[str, str]) -> list[str]:
    """Return a command line with the values of some options replaced."""
    return [options.get(before, word) for before, word in zip(["", *argv], argv, strict=False)]


def _filled(value: object, text: str) -> object:
    """Return a JSON value with each of its numbers replaced by `text`."""
    if isinstance(value, dict):
        return {key: _filled(inner, text) for key, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, text) for inner in value]
    return None if value is None else text


def _template(contents: dict[str, Any]) -> str:
    """Return JSON as a template for `%`: <name> in a text is a text, <#name> alone is a number."""
    text = json.dumps(contents, indent=1).replace("%", "%%")
    return re.sub(r'"<#(\w+)>"|<(\w+)>', lambda found: f"%({found[1] or found[2]})s", text)


@lru_cache
def _copied(kind: Kind) -> list[tuple[str, bytes]]:
    """Return the server configurations of a kind of campaign."""
    if kind is DNS:
        folder = ROOT / "tests" / "captures" / "dns" / "server"
        return [(f"cfg-{name}/pdns.conf", (folder / f"pdns-{name}.conf").read_bytes()) for name in ("lmdb", "mysql")]
    files = sorted((kind.example / "configs").iterdir())
    return [(f"configs/{file.name}", file.read_bytes()) for file in files]


@lru_cache
def _machine() -> list[tuple[str, bytes]]:
    files = sorted((BACKENDS.example / "machine").iterdir())
    return [(file.name, file.read_bytes()) for file in files]


def main() -> None:
    """Write the requested tree or lake, and print its contents and the time taken."""
    read = argparse.ArgumentParser(prog="python -m benchmarks.trees", description="Render campaigns for benchmarks.")
    read.add_argument("folder", type=Path, help="of the tree, or of the lake")
    read.add_argument("--trials", type=int, required=True)
    read.add_argument("--seed", type=int, default=SEED)
    read.add_argument("--interims", type=int, default=INTERIMS, help="interim lines a trial, one a second")
    read.add_argument("--again", type=float, default=0.0, metavar="SHARE", help="of the trials to measure once more")
    read.add_argument("--as-lake", action="store_true", help="write a lake in place of a tree")
    given = read.parse_args()
    if given.interims < 1:
        read.error("--interims: expected 1 or more")
    began, size = time.perf_counter(), (given.trials, given.seed, given.interims)
    if given.as_lake:
        done = f"{lake_of(given.folder, *size, given.again)} batches"
    elif given.again:
        done = f"{render_again(given.folder, *size, share=given.again)} trials changed"
    else:
        done = str(render(given.folder, *size))
    print(f"{done}, {time.perf_counter() - began:.1f} s")


if __name__ == "__main__":
    main()
