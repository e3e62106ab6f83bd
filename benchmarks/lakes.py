"""The lake that ingesting a tree of trees.py would write, without the ingest: input for benchmarks of large builds.

For each campaign the real ingest parses the context files, the failed attempts, and one trial of each setup. The other
trials get that trial's rows with their own numbers. The result equals that of the ingest, except for a file's mtime and
context digest: tests/benchmarks compares the two.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.campaigns import DNS, INTERIMS, SEED, Campaign, Trials, campaigns, measure
from benchmarks.trees import Output, clock, cpu_s, interval_rates, measured_again, outputs, write
from dropline.ingest.formats.perfdhcp_options import EXCHANGES
from dropline.ingest.lake import Lake
from dropline.ingest.loader import ingest
from dropline.ingest.rows import NO_CONTEXT
from dropline.ingest.schema import TABLES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from dropline.ingest.lake import Batch

    Tables = dict[str, pa.Table]
    Row = dict[str, Any]

CAMPAIGNS_A_BATCH: Final = 20  # about 16,000 trials


def lake_of(root: Path, trials: int, seed: int = SEED, interims: int = INTERIMS, again: float = 0.0) -> int:
    """Write a lake with the given number of trials and return its number of batches.

    Every 20 campaigns are one batch. For a share of the trials, `again`, another batch supersedes them by a second
    measurement.
    """
    lake = Lake.create(root)
    waiting = campaigns(trials, seed, interims)
    while group := list(islice(waiting, CAMPAIGNS_A_BATCH)):
        read = _ingested(group)
        with lake.batch() as batch:
            _add(batch, read)
            for campaign in group:
                measured = measure(campaign)
                _add(batch, _rows(read, campaign, measured.chosen(~_is_read(measured))))
            batch.commit()
        if again:
            with lake.batch() as batch:
                for campaign in group:
                    _add(batch, _rows(read, campaign, measured_again(campaign, again)))
                batch.commit()
    return len(lake.batches())


def _add(batch: Batch, tables: Tables) -> None:
    for name, rows in tables.items():
        batch.add(name, rows)


def _ingested(group: Sequence[Campaign]) -> Tables:
    """Ingest campaigns reduced to the trials that must be parsed."""
    with tempfile.TemporaryDirectory() as folder:
        for campaign in group:
            measured = measure(campaign)
            write(Path(folder, "tree", campaign.name), campaign, measured.chosen(_is_read(measured)))
        lake = Lake.create(Path(folder, "lake"))
        ingest([Path(folder, "tree")], lake)
        return {name: lake.tables(name) for name in TABLES}


def _is_read(measured: Trials) -> NDArray[np.bool_]:
    """Return which trials must be parsed: the first of each setup, and those with a failed attempt."""
    is_read = measured.failed > 0
    is_read[np.unique(measured.setup, return_index=True)[1]] = True
    return is_read


def _rows(read: Tables, campaign: Campaign, trials: Trials) -> Tables:
    """Return the rows of some trials of a campaign; `read` has the parsed rows of one per setup."""
    files = list(outputs(campaign, trials))
    digests = [hashlib.sha256(file.data).hexdigest() for file in files]
    identities = ["\n".join((campaign.name, f.path, digest, "0")) for f, digest in zip(files, digests, strict=True)]
    ids = np.array([hashlib.sha256(identity.encode()).hexdigest()[:16] for identity in identities], dtype=object)
    first = _first_of_setups(read["trials"], campaign)
    like = [first[setup] for setup in trials.setup.tolist()]
    tables = {
        "raw_files": _raw_files(campaign, trials, files, digests),
        "trials": _trials(campaign, trials, files, digests, ids, like),
        "observations": _observations(campaign, trials, files, ids, _of_trials(read["observations"], first)),
    }
    if campaign.kind is not DNS:
        tables |= {"exchanges": _exchanges(trials, ids, like), "intervals": _intervals(trials, ids, like)}
    return tables


def _first_of_setups(rows: pa.Table, campaign: Campaign) -> dict[int, Row]:
    """Return one trial of each setup of a campaign."""
    own = rows.filter(pc.equal(rows["campaign"], campaign.name)).to_pylist()
    of_setups = enumerate(campaign.kind.setups)
    found = {place: [row for row in own if f"{setup.folder}/" in row["source_path"]] for place, setup in of_setups}
    return {place: trials[0] for place, trials in found.items() if trials}


def _of_trials(rows: pa.Table, trials: Mapping[int, Row]) -> dict[int, list[Row]]:
    """Return the rows of each of some trials."""
    return {
        place: rows.filter(pc.equal(rows["trial_id"], trial["trial_id"])).to_pylist() for place, trial in trials.items()
    }


def _raw_files(campaign: Campaign, trials: Trials, files: Sequence[Output], digests: Sequence[str]) -> pa.Table:
    """Return the rows of the outputs, then of their sidecars."""
    count = len(files)
    contents = [file.data for file in files] + [file.sidecar for file in files]
    sidecar_digests = [hashlib.sha256(file.sidecar).hexdigest() for file in files]
    return _table(
        "raw_files",
        {
            "campaign": [campaign.name] * 2 * count,
            "scope": [campaign.name] * 2 * count,
            "source_path": [file.path for file in files] + [file.sidecar_path for file in files],
            "size_bytes": [len(content) for content in contents],
            "modified_at": np.tile(trials.ended_at, 2),
            "place": [None] * 2 * count,
            "sha256": [*digests, *sidecar_digests],
            "context_sha256": [NO_CONTEXT] * 2 * count,
            "content": contents,
            "format": [campaign.kind.tool] * count + ["sidecar"] * count,
            "status": ["trials"] * count + ["context"] * count,
            "trials": [1] * count + [0] * count,
        },
    )


def _trials(
    campaign: Campaign,
    trials: Trials,
    files: Sequence[Output],
    digests: Sequence[str],
    ids: NDArray[np.object_],
    like: Sequence[Row],
) -> pa.Table:
    """Return the rows of the trials; columns not in `own` are copied from `like`."""
    dropped = (trials.sent - trials.received).sum(axis=0)
    rates = trials.received[-1] / trials.elapsed_s
    own: dict[str, Any] = {
        "trial_id": ids,
        "source_path": [file.path for file in files],
        "source_sha256": digests,
        "command": [
            re.sub(r"(?<= -[rQ] )\d+", str(offered), row["command"])
            for offered, row in zip(trials.offered.tolist(), like, strict=True)
        ],
        "repetition": trials.repetition,
        "offered_rate": trials.offered,
        "sent": trials.sent.sum(axis=0),
        "received": trials.received.sum(axis=0),
        "dropped": dropped,
        "started_at": trials.started_at,
        "ended_at": trials.ended_at,
        "context_sources": [
            [(column, f"sidecar {f.sidecar_path}" if "sidecar " in source else source) for column, source in sources]
            for f, sources in zip(files, (row["context_sources"] for row in like), strict=True)
        ],
    }
    if campaign.kind is DNS:
        own["achieved_rate"], own["duration_s"] = rates.round(6), trials.elapsed_s.round(6)
        own["details"] = [
            re.sub('(?<="started_at_local": ")[^"]*', at, row["details"])
            for at, row in zip(clock(trials).tolist(), like, strict=True)
        ]
        own["warnings"] = [
            [re.sub(r"(?<=\()[\d.]+", f"{rate:.6f}", warning) for warning in row["warnings"]]
            for rate, row in zip(interval_rates(trials)[1][0].tolist(), like, strict=True)
        ]
    else:
        own["achieved_rate"] = [float(f"{rate:g}") for rate in rates.tolist()]
        own["exit_code"] = np.where(dropped > 0, 3, 0)
    copied = {name: [row[name] for row in like] for name in TABLES["trials"].names if name not in own}
    return _table("trials", own | copied)


def _exchanges(trials: Trials, ids: NDArray[np.object_], like: Sequence[Row]) -> pa.Table:
    drops = trials.sent - trials.received
    ratios = 100 * drops / trials.sent
    printed = [(f"{first:g}", f"{second:.3f}") for first, second in ratios.T.tolist()]
    count = len(ids)
    least, mean, most, deviation = (delays.T.ravel() for delays in trials.delays_ms)
    return _table(
        "exchanges",
        {
            "trial_id": ids.repeat(2),
            "exchange": [name for row in like for name in EXCHANGES[row["protocol"]][:2]],
            "position": np.tile([0, 1], count),
            "sent": trials.sent.T.ravel(),
            "received": trials.received.T.ravel(),
            "drops": drops.T.ravel(),
            "drop_ratio": [float(text) / 100 for texts in printed for text in texts],
            "drop_ratio_printed": [text for texts in printed for text in texts],
            **dict.fromkeys(("orphans", "rejected", "non_unique"), np.zeros(2 * count, np.int64)),
            "collected": np.minimum(drops, 20).T.ravel(),
            "min_delay_ms": least,
            "avg_delay_ms": mean,
            "max_delay_ms": most,
            "stdev_delay_ms": deviation,
        },
    )


def _intervals(trials: Trials, ids: NDArray[np.object_], like: Sequence[Row]) -> pa.Table:
    lines = len(trials.sent_by)
    counted = {
        "sent": trials.sent_by,
        "received": trials.received_by,
        "drops": trials.sent_by - trials.received_by,
    }
    columns = {name: values.transpose(2, 0, 1).ravel() for name, values in counted.items()}
    since = {name: np.diff(values, axis=0, prepend=0) for name, values in counted.items()}
    position = np.tile(np.repeat(np.arange(lines), 2), len(ids))
    return _table(
        "intervals",
        {
            "trial_id": ids.repeat(2 * lines),
            "position": position,
            "t_s": position + 1.0,
            "exchange": [name for row in like for name in EXCHANGES[row["protocol"]][:2] * lines],
            **columns,
            "rejected": np.zeros_like(position),
            **{f"interval_{name}": values.transpose(2, 0, 1).ravel() for name, values in since.items()},
        },
    )


def _observations(
    campaign: Campaign,
    trials: Trials,
    files: Sequence[Output],
    ids: NDArray[np.object_],
    of_setups: Mapping[int, list[Row]],
) -> pa.Table:
    """Return the observations of the trials: the rows of their setup's first trial with their own values."""
    paths = np.array([file.path for file in files], dtype=object)
    parts = []
    for setup, rows in of_setups.items():
        here = np.flatnonzero(trials.setup == setup)
        own = _observed(campaign, trials.chosen(here))
        values = np.empty((len(here), len(rows)))
        for place, row in enumerate(rows):
            values[:, place] = own.get(_metric(row), row["value"])
        fixed = {name: [row[name] for row in rows] * len(here) for name in TABLES["observations"].names}
        of_trials = {"trial_id": ids[here].repeat(len(rows)), "source_path": paths[here].repeat(len(rows))}
        parts.append(_table("observations", fixed | of_trials | {"value": values.ravel()}))
    return pa.concat_tables(parts)


def _metric(row: Row) -> str:
    """Return the key of an observation: its metric, with the second for the rate of an interval."""
    if row["metric"].startswith("udp."):
        return "received" if (row["host"], row["metric"]) == ("kp-cli", "udp.UdpInDatagrams") else "sent"
    return f"interval {row['t_s']:.0f}" if row["metric"] == "interval_rate" else str(row["metric"])


def _observed(campaign: Campaign, trials: Trials) -> dict[str, NDArray[Any]]:
    """Return the values that vary between trials, by the key from `_metric`."""
    if campaign.kind is DNS:
        least, mean, most, deviation = trials.delays_ms[:, 0]
        rates = enumerate(interval_rates(trials)[1], 1)
        return {
            "responses": trials.received[0],
            "latency_min": least,
            "latency_avg": mean,
            "latency_max": most,
            "latency_stdev": deviation,
            **{f"interval {second}": values for second, values in rates},
        }
    busy_s = cpu_s(campaign, trials)
    return {
        "perfdhcp_cpu_s": busy_s["tool_cpu_s"].round(3),
        **dict.fromkeys(("server_cpu_s", "db_cpu_s"), busy_s["server_cpu_s"].round(3)),
        "sent": trials.sent.sum(axis=0),
        "received": trials.received.sum(axis=0),
        "leases_in_db_after": trials.received[1],
    }


def _table(name: str, columns: Mapping[str, Any]) -> pa.Table:
    """Return rows of a table of the lake; the batch fills in its own column."""
    fields = [field for field in TABLES[name] if field.name != "batch"]
    return pa.table([pa.array(columns[field.name], field.type) for field in fields], schema=pa.schema(fields))
