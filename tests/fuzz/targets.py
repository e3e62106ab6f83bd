"""Who is fuzzed: all readers of the registries, so that a new one is covered without further work.

A target does with the name and the bytes of a file what an ingest does, up to the Arrow tables. It raises
AssertionError for a broken promise; any other exception is a fault of the reader.
"""

from __future__ import annotations

import ast
import inspect
import json
import math
import sys
from datetime import UTC
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow as pa

from dropline.ingest import campaign, context, figures, files, machines, schema, servers
from dropline.ingest.campaign import Campaign, CampaignError
from dropline.ingest.context import Context, ServerConfigs, gather, read_sidecar
from dropline.ingest.files import HEAD_BYTES, Found, Kind, Scope
from dropline.ingest.formats import READERS, Reject, Rejected, Report, contents
from dropline.ingest.formats.text import LONGEST, MAX_REJECTS
from dropline.ingest.machines import SOURCES, FactError
from dropline.ingest.rows import Content, Outcome, campaign_row, output, raw_row, tables
from dropline.ingest.telemetry import TELEMETRY_READERS, Sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from types import ModuleType

    from dropline.ingest.formats import Reader
    from dropline.ingest.telemetry import TelemetryReader

_SCOPE: Final = Scope(Path("/campaign"), "campaign")
_TRIAL: Final = "v4_mt4_memfile/rep1/rate100.txt"
_SHA256: Final = "0" * 64
_LONGEST_WORD: Final = 60


class Target(NamedTuple):
    """A reader: its name, what is asked of it, and the words it looks for."""

    name: str
    check: Callable[[str, bytes], None]
    words: tuple[bytes, ...]


def owners(name: str, data: bytes) -> list[Target]:
    """Return the targets that take a file, for its content or its name."""
    found = readers(data)
    if name == campaign.FILE_NAME:
        found.append(_CAMPAIGN)
    kind = machines.recognise(name, data[:HEAD_BYTES])
    if kind in SOURCES and SOURCES[kind].parse:
        found.append(_facts(kind))
    return found or ([_SIDECAR] if name.endswith(".json") else [])


def readers(data: bytes) -> list[Target]:
    """Return the targets that know the content of a file as theirs alone."""
    head = data[:HEAD_BYTES]
    module = servers.recognise(head)
    return [target for sniff, target in _BY_CONTENT if sniff(head)] + ([_server(module)] if module else [])


@cache
def _server(module: ModuleType) -> Target:
    return Target("server " + module.__name__.rpartition(".")[2], partial(_check_server, module), _words(module))


@cache
def _facts(kind: str) -> Target:
    module = inspect.getmodule(SOURCES[kind].parse)
    return Target(f"machine {kind}", partial(_check_facts, kind), _words(module))


def _words(module: Any) -> tuple[bytes, ...]:
    """Return the short texts in the source of a module and of its parts: what it looks for must be among them."""
    parts = (part for name, part in sorted(sys.modules.items()) if name.startswith(module.__name__))
    nodes = (node for part in parts for node in ast.walk(ast.parse(inspect.getsource(part))))
    texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)}
    words = {text.encode() if isinstance(text, str) else text for text in texts}
    return tuple(sorted(word for word in words if 0 < len(word) <= _LONGEST_WORD))


def _check_recognition(name: str, data: bytes) -> None:
    """Ask everybody whose file this is, whatever the bytes."""
    item = _item(name)
    files.recognise(item, data[:HEAD_BYTES])
    if item.kind is Kind.OUTPUT and item.reader and not item.reader.sniff(data[:HEAD_BYTES]):
        _check_reader(item.reader, name, data)  # it stands behind a prefix
    owners(name, data)


def _check_reader(reader: Reader[Report], name: str, data: bytes) -> None:
    found = promised(contents.parse(reader, data), data, name, reader)
    told = list(contents.explain(reader, data))
    numbers = [number for number, _, _ in told]
    assert numbers == sorted(numbers)
    assert all(text and kind for _, text, kind in told)
    assert not told or {report.line for report in found} <= {*numbers}


def _check_telemetry(reader: TelemetryReader, _: str, data: bytes) -> None:
    promised(reader.parse(data), data)


def promised(
    found: Iterable[Report | Sample | Reject], data: bytes, name: str = "output", reader: Reader[Report] | None = None
) -> list[Any]:
    """Check what the parts of a file promise, up to the Arrow tables, and return those that are no rejects."""
    parts = list(found)
    assert parts or not data, "nothing was found, and nobody is told"
    _require_each(parts, (Report, Sample))
    reports = [part for part in parts if isinstance(part, Report)]
    for report in reports:
        json.loads(report.facts.get("details") or "{}", parse_constant=_refuse)
        assert all(warning.strip() for warning in report.warnings)
        if report.facts["tool"] == "perfdhcp":
            assert report.exchanges[0]["position"] == 0
            assert {row["position"] for row in report.exchanges} <= {0, 1, 2, 3}
            assert report.facts["sent"] == sum(row["sent"] for row in report.exchanges)
        else:
            assert all((report.facts.get(count) or 0) >= 0 for count in ("sent", "received", "dropped", "duration_s"))
    samples = [part for part in parts if isinstance(part, Sample)]
    assert all(math.isfinite(sample.value) for sample in samples)
    assert all(sample.at is None or sample.at.tzinfo is UTC for sample in samples)
    _require_fit("observations", [sample._asdict() for sample in samples], besides={"at"})
    if reports:
        _store(output(_item(name, reader), "campaign", _content(data), Context(), parts))
    return [part for part in parts if not isinstance(part, Reject)]


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")


def _check_figures(_: str, data: bytes) -> None:
    parts = list(figures.parse(data))
    assert parts or not data, "nothing was found, and nobody is told"
    rows = [part for part in parts if not isinstance(part, Reject)]
    _require_fit("figures", rows)
    assert len({row["figure_id"] for row in rows}) == len(rows)
    _require_each(parts, dict)


def _check_server(module: ModuleType, name: str, data: bytes) -> None:
    try:
        row = module.parse(data)
    except Rejected as error:
        _require_each([error.reject], Report)
        return
    row |= {"campaign": "campaign", "source_path": name, "source_sha256": _SHA256}
    stored(name, "server_configs", row, data)


def _check_facts(kind: str, name: str, data: bytes) -> None:
    source = SOURCES[kind]
    assert source.parse
    try:
        source.parse(data)
    except FactError as error:
        assert str(error)
    host, rejects = machines.host({name: data})
    assert all(reject.reason.startswith(f"{name}:") for reject in rejects)
    _require_each(rejects, Report)
    stored(name, "hosts", {**host, "campaign": "campaign", "source_path": "."}, data)


def _check_campaign(name: str, data: bytes) -> None:
    try:
        found = Campaign.parse(data, name)
    except CampaignError as error:
        assert str(error).startswith(name)
        return
    found.match(_TRIAL)
    found.ignores(_TRIAL)
    stored(name, "campaigns", campaign_row("campaign", found), data)


def _check_sidecar(name: str, data: bytes) -> None:
    try:
        said = read_sidecar(data, is_yaml=not data.startswith(b"{"))
    except Rejected as error:
        _require_each([error.reject], Report)
        return
    joined = gather(_TRIAL, str(_SCOPE.folder), None, ServerConfigs(), (name, said))
    _store(output(_item(_TRIAL), "campaign", _content(data), joined, [Report(1, {"completed": True})]))


def _require_each(parts: Sequence[object], kind: type | tuple[type, ...]) -> None:
    rejects = [part for part in parts if isinstance(part, Reject)]
    assert len(rejects) <= MAX_REJECTS + 1
    for part in parts:
        if isinstance(part, Reject):
            assert part.line >= 1
            assert len(part.reason) < LONGEST
            assert part.reason.strip()
            assert part.hint.strip()
        else:
            assert isinstance(part, kind), f"{type(part).__name__} is neither {kind} nor Reject"


def stored(name: str, table: str, row: Mapping[str, Any], data: bytes) -> None:
    """Make the Arrow tables of a file that gives one row."""
    _store(Outcome(raw_row(_item(name), "campaign", _content(data), "text"), {table: [dict(row)]}))


def _store(outcome: Outcome) -> None:
    """Make the Arrow tables of an outcome as an ingest does."""
    for name, rows in outcome.rows.items():
        _require_known(name, rows)
    try:
        found = tables([outcome])
    except (ValueError, TypeError, OverflowError) as error:
        message = "a value fits no column"
        raise AssertionError(message) from error
    for name, table in found.items():
        # Parquet refuses these while the batch is being written, when nobody can say any more whose they are.
        lacking = [field.name for field in table.schema if not field.nullable and table[field.name].null_count]
        assert not lacking, f"{name} lacks {lacking}"


def _require_fit(table: str, rows: list[dict[str, Any]], besides: Iterable[str] = ()) -> None:
    named = {column for row in rows for column in row} - set(besides)
    _require_known(table, [dict.fromkeys(named)])
    pa.Table.from_pylist(rows, schema=pa.schema([field for field in schema.TABLES[table] if field.name in named]))


def _require_known(table: str, rows: Iterable[Mapping[str, Any]]) -> None:
    surplus = {column for row in rows for column in row} - set(schema.TABLES[table].names)
    assert not surplus, f"{table} has no column {surplus}"


def _item(name: str, reader: Reader[Report] | None = None) -> Found:
    item = Found.at(f"{_SCOPE.place}/{name}", _SCOPE)
    item.kind, item.reader = Kind.OUTPUT, reader
    return item


def _content(data: bytes) -> Content:
    return Content(data, 0, _SHA256)


_CAMPAIGN: Final = Target("campaign.yaml", _check_campaign, _words(campaign))
_SIDECAR: Final = Target("sidecar", _check_sidecar, _words(context))
RECOGNITION: Final = Target("recognition", _check_recognition, ())
_BY_CONTENT: Final = (
    *((reader.sniff, Target(reader.NAME, partial(_check_reader, reader), _words(reader))) for reader in READERS),
    *(
        (watcher.sniff, Target(watcher.NAME, partial(_check_telemetry, watcher), _words(watcher)))
        for watcher in TELEMETRY_READERS
    ),
    (figures.recognise, Target("figures", _check_figures, _words(figures))),
)
