"""Rows of the lake from one parsed file."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any, Final, NamedTuple, Self

import numpy as np
import pyarrow as pa

from dropline.ingest.campaign import Campaign, Method
from dropline.ingest.context import RATELESS, WATCHED, Context, detailed
from dropline.ingest.files import Found, Kind
from dropline.ingest.formats import Observation, Reject, Report, Row
from dropline.ingest.formats.banners import banners
from dropline.ingest.formats.perfdhcp_forms import Figures
from dropline.ingest.formats.perfdhcp_lines import INTERIM
from dropline.ingest.formats.perfdhcp_options import UNKNOWN_OPTIONS
from dropline.ingest.lake import Key, Version
from dropline.ingest.names import names
from dropline.ingest.schema import TABLES
from dropline.ingest.telemetry import Sample

_NO_CONTEXT: Final = Context()
NO_CONTEXT: Final = _NO_CONTEXT.sha256()

_SAMPLES: Final = 50_000  # per chunk of a file of counters
_SAMPLED: Final = ("observed_at", *Sample._fields[1:])
_NO_RATE: Final = (
    "The rate is not known, so this is no step of a ramp: put the command before the output, name the file or a folder "
    "like 500pps, or state the rate in a sidecar or by `path:`."
)
_WITHOUT_BATCH: Final = {name: schema.remove(schema.get_field_index("batch")) for name, schema in TABLES.items()}


class Content(NamedTuple):
    """The bytes of a file, its mtime, and the digest of the bytes."""

    data: bytes
    modified_us: int
    sha256: str


class Series(NamedTuple):
    """Rows of one table by column; the columns in `fixed` have the same value in all rows."""

    table: str
    columns: Mapping[str, Sequence[Any]]
    fixed: Row

    @classmethod
    def of(cls, table: str, names: Iterable[str], rows: Iterable[tuple[Any, ...]], fixed: Row) -> Self:
        """Return rows given as tuples in the order of `names`."""
        return cls(table, dict(zip(names, zip(*rows, strict=True), strict=False)), fixed)


class Trial(NamedTuple):
    """A report: its number among the `figures` of its form, and its id."""

    figures: Figures
    number: int
    id: str


@dataclass(slots=True)
class Outcome:
    """Result of one file: its row of raw_files, and all other rows from it."""

    raw: Row  # the row of schema.RAW_FILES without the batch
    rows: dict[str, list[Row]] = field(default_factory=dict)  # rows of small tables
    series: list[Series] = field(default_factory=list)  # rows of large tables
    observations: list[pa.Table] = field(default_factory=list)  # from a file of counters, too many for Python objects
    trial: Trial | None = None  # the only trial, if it was read by columns
    place: str = ""  # the path on disk of an ignored file, for messages

    @property
    def key(self) -> Key:
        """Key of the file in the lake."""
        return self.raw["campaign"], self.raw["source_path"]

    @property
    def version(self) -> Version:
        """Version of the file as in the lake."""
        return Version(self.raw["sha256"], self.raw["context_sha256"], self.raw["status"])

    @property
    def rejects(self) -> list[Row]:
        """Rows of schema.REJECTS."""
        return self.rows.get("rejects", [])


def rejected(item: Found, campaign: str, rejects: Sequence[Reject], content: Content | None = None) -> Outcome:
    """Return the outcome of a rejected file, with an empty digest if it could not be read."""
    outcome = _outcome(item, campaign, content or Content(b"", 0, ""), "rejected", rejects)
    if content is None:
        outcome.raw |= {"content": None, "modified_at": None}
    return outcome


def output(
    item: Found, campaign: str, content: Content, context: Context, parsed: Sequence[Report | Reject]
) -> Outcome:
    """Return the outcome of a generator's output: trials for reports, rejects for the rest."""
    rejects = [part for part in parsed if isinstance(part, Reject)]
    reports = [part for part in parsed if isinstance(part, Report)]
    outcome = _outcome(item, campaign, content, "trials" if reports else "rejected", rejects, context, len(reports))
    outcome.rows |= {"trials": [], "exchanges": []}
    source = {"campaign": campaign, "source_path": item.path}
    alone = len(reports) == 1
    rates = {rate for report in reports if (rate := report.facts.get("offered_rate")) is not None}
    headings = banners(content.data, reports)
    named = names(filter(None, headings))
    for index, (report, banner) in enumerate(zip(reports, headings, strict=True)):
        facts = {"tool": outcome.raw["format"], **report.facts}
        if at := report.within.printed_at:
            facts = detailed(facts, printed_at=at)
        of_trial = {**source, "trial_id": trial_id(campaign, item.path, content.sha256, index)}
        trial = {
            **context.resolve(facts, alone=alone, rates=rates, banner=named.get(banner)),
            **of_trial,
            "source_sha256": content.sha256,
            "report_index": index,
            "source_line": report.line,
        }
        options_known = trial.get("method") is not None
        notes = [note for note in report.warnings if not (options_known and note == UNKNOWN_OPTIONS)]
        if trial.get("offered_rate") is None and facts["tool"] in RATELESS:
            notes.append(_NO_RATE)
        outcome.rows["trials"].append({**trial, "warnings": [*notes, *context.warnings]})
        outcome.rows["exchanges"] += ({**row, "trial_id": of_trial["trial_id"]} for row in report.exchanges)
        outcome.series += (
            Series("intervals", report.intervals, of_trial),
            Series.of("observations", Observation._fields, report.observations, of_trial),
        )
        if index == 0:  # observations beside a file of several reports belong to none in particular
            own = of_trial if alone else source
            outcome.series.append(Series.of("observations", WATCHED, context.observations, own))
    return outcome


def watched(
    item: Found, campaign: str, content: Content, context: Context, parsed: Iterator[Sample | Reject]
) -> Outcome:
    """Return the outcome of a file of counters or probes; `context` names the output that it belongs to."""
    rejects: list[Reject] = []
    observations = []
    fixed = {"campaign": campaign, "source_path": item.path, **context.own}
    while some := [*islice(parsed, _SAMPLES)]:
        rejects += (part for part in some if isinstance(part, Reject))
        if samples := [part for part in some if isinstance(part, Sample)]:
            observations.append(_from_series("observations", [Series.of("observations", _SAMPLED, samples, fixed)]))
    outcome = _outcome(item, campaign, content, "observations" if observations else "rejected", rejects, context)
    outcome.observations = observations
    return outcome


def published(item: Found, campaign: str, content: Content, parsed: Sequence[Row | Reject]) -> Outcome:
    """Return the outcome of a table of figures from published documents."""
    rejects = [part for part in parsed if isinstance(part, Reject)]
    source = {"campaign": campaign, "source_path": item.path, "source_sha256": content.sha256}
    rows = [part | source for part in parsed if not isinstance(part, Reject)]
    outcome = _outcome(item, campaign, content, "figures" if rows else "rejected", rejects)
    outcome.rows["figures"] = rows
    return outcome


def unfit(outcome: Outcome, error: Exception) -> Outcome:
    """Return the outcome of a file with a value that does not fit the lake's columns."""
    raw = outcome.raw | {"status": "rejected", "trials": 0}
    reason = f"it has a value that does not fit the lake: {error}".encode("utf-8", "replace").decode()
    reject = Reject(1, reason[:500], "look for a number or a text that cannot be right")
    bare = [row for row in outcome.rows.get("campaigns", ()) if row.get("tags") is None]  # for other files
    return Outcome(raw, {"campaigns": bare, "rejects": [reject_row(raw, reject)]})


def campaign_row(name: str, campaign: Campaign | None = None) -> Row:
    """Return the row of schema.CAMPAIGNS, with only the name if there is no campaign.yaml."""
    if campaign is None:
        return {"campaign": name, **Method().model_dump()}
    row = campaign.model_dump(include={"title", "description", "started_on", "source_url", "tags", "expected_rcodes"})
    return {"campaign": name, **row, **campaign.method.model_dump()}


def trial_id(campaign: str, source_path: str, sha256: str, report_index: int) -> str:
    """Return the key of a report, derived from its campaign, path and position and from the file's digest."""
    identity = "\n".join((campaign, source_path, sha256, str(report_index)))
    return hashlib.sha256(identity.encode()).hexdigest()[:16]


def reject_row(raw: Row, reject: Reject) -> Row:
    """Return the row of schema.REJECTS for a reject of a file."""
    return {
        "campaign": raw["campaign"],
        "source_path": raw["source_path"],
        "source_sha256": raw["sha256"],
        "line": reject.line,
        "reason": reject.reason,
        "hint": reject.hint,
    }


def tables(outcomes: Sequence[Outcome]) -> dict[str, pa.Table]:
    """Return the Arrow tables of all outcomes; raise Arrow's error if a value does not fit."""
    rows: dict[str, list[Row]] = defaultdict(list, raw_files=[outcome.raw for outcome in outcomes])
    series: dict[str, list[Series]] = defaultdict(list)
    for outcome in outcomes:
        for name, found in outcome.rows.items():
            rows[name] += found
        for each in outcome.series:
            series[each.table].append(each)
    parts = [(name, from_rows(name, found)) for name, found in rows.items()]
    parts += [(name, _from_series(name, found)) for name, found in series.items()]
    parts += [("observations", part) for outcome in outcomes for part in outcome.observations]
    parts += _from_trials(outcome.trial for outcome in outcomes if outcome.trial)
    written: dict[str, list[pa.Table]] = defaultdict(list)
    for name, part in parts:
        if part.num_rows:
            written[name].append(part)
    return {name: pa.concat_tables(written[name]) for name in TABLES if name in written}


def table(name: str, columns: Mapping[str, Any]) -> pa.Table:
    """Return rows given by column, as Arrow or NumPy arrays or sequences; missing columns are null."""
    schema = _WITHOUT_BATCH[name]
    length = len(next(iter(columns.values())))
    arrays = []
    for column, kind in zip(schema.names, schema.types, strict=True):
        values = columns.get(column)
        if values is None:
            arrays.append(pa.nulls(length, kind))
        elif isinstance(values, pa.Array):
            arrays.append(values.cast(kind))
        else:
            arrays.append(pa.array(values, kind))
    return pa.table(arrays, schema=schema)


def from_rows(name: str, rows: Sequence[Row]) -> pa.Table:
    """Return rows of one table; missing values are null."""
    return table(name, {column: [row.get(column) for row in rows] for column in _WITHOUT_BATCH[name].names})


def _from_series(name: str, series: Sequence[Series]) -> pa.Table:
    """Return rows of one table; missing values are null."""
    observed = {column for each in series for column in each.columns}
    lengths = [len(next(iter(each.columns.values()), ())) for each in series]
    places = pa.array(np.repeat(np.arange(len(lengths), dtype=np.int32), lengths))
    columns: dict[str, Any] = {}
    for column, kind in zip(_WITHOUT_BATCH[name].names, _WITHOUT_BATCH[name].types, strict=True):
        if column in observed:
            own = (each.columns.get(column) for each in series)
            known = (values or [None] * length for values, length in zip(own, lengths, strict=True))
            columns[column] = [*chain.from_iterable(known)]
        else:
            columns[column] = pa.array([fixed.get(column) for *_, fixed in series], kind).take(places)
    return table(name, columns)


def _from_trials(trials: Iterable[Trial]) -> Iterator[tuple[str, pa.Table]]:
    """Yield the rows of schema.EXCHANGES and schema.INTERVALS of trials that were read by columns."""
    by_figures: dict[Figures, list[Trial]] = defaultdict(list)
    for trial in trials:
        by_figures[trial.figures].append(trial)
    for figures, those in by_figures.items():
        ids = pa.array([trial.id for trial in those], TABLES["trials"].field("trial_id").type)
        numbers = np.array([trial.number for trial in those])
        kinds, _, lines, width = figures.interims.shape
        order = np.arange(len(ids))
        places = pa.array((numbers[:, None] * width + np.arange(width)).ravel())
        exchanges = {name: column.take(places) for name, column in figures.exchanges.items()}
        yield "exchanges", table("exchanges", {"trial_id": ids.take(pa.array(order.repeat(width))), **exchanges})
        if not lines:
            continue
        counters = figures.interims[:, numbers]
        since = np.diff(counters, axis=2, prepend=0)
        position = np.repeat(np.arange(lines, dtype=np.int32), width)
        report_s = np.array([figures.report_s[number] for number in numbers], np.float64)
        slots = np.tile(np.arange(width), len(ids) * lines)
        intervals = {
            "trial_id": ids.take(pa.array(order.repeat(lines * width))),
            "position": np.tile(position, len(ids)),
            "t_s": ((position + 1) * report_s[:, None]).ravel(),
            "exchange": figures.exchanges["exchange"].take(pa.array(slots)),
            **{name: counters[at].ravel() for at, name in enumerate(INTERIM[:kinds])},
            **{f"interval_{name}": since[at].ravel() for at, name in enumerate(INTERIM[:3])},
        }
        yield "intervals", table("intervals", intervals)


def raw_row(
    item: Found,
    campaign: str,
    content: Content,
    kind: str,
    status: str = "context",
    context_sha256: str = NO_CONTEXT,
    trials: int = 0,
) -> Row:
    """Return the row of schema.RAW_FILES without the batch; `kind` is its format."""
    scope = item.scope
    return {
        "campaign": campaign,
        "scope": scope.name,
        "place": scope.place if scope.place.startswith("/") else None,
        "source_path": item.path,
        "size_bytes": len(content.data),
        "modified_at": content.modified_us,
        "sha256": content.sha256,
        "context_sha256": context_sha256,
        "content": content.data,
        "format": kind,
        "status": status,
        "trials": trials,
    }


def _outcome(
    item: Found,
    campaign: str,
    content: Content,
    status: str,
    rejects: Sequence[Reject],
    context: Context = _NO_CONTEXT,
    trials: int = 0,
) -> Outcome:
    """Return the outcome of a file, of which parts may be rejected; `status` applies if none are."""
    unnamed = status == "rejected" and item.kind in {Kind.SERVER, Kind.WATCHED}
    kind = item.reader.NAME if item.reader and not unnamed else item.kind.value
    if rejects and status != "rejected":
        status = "partly_rejected"
    raw = raw_row(item, campaign, content, kind, status, context.sha256(), trials)
    return Outcome(raw, {"rejects": [reject_row(raw, reject) for reject in rejects]})
