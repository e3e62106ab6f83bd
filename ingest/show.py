"""Explanation of one file: its kind and the reason, its lines, and the source of each value."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from glob import escape
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import pyarrow as pa

from dropline import beside
from dropline.ingest import machines
from dropline.ingest.campaign import FILE_NAME
from dropline.ingest.files import HEAD_BYTES, MAX_BYTES, Found, IntakeError, Kind, Unreadable, read, survey
from dropline.ingest.formats import Row, contents
from dropline.ingest.formats.text import unpack
from dropline.ingest.lake import FORGOTTEN, Lake
from dropline.ingest.loader import printable
from dropline.ingest.resolve import Resolver
from dropline.ingest.rows import Outcome

Line = tuple[int, str, str]  # number, text, and the reader's interpretation

_ALIKE: Final = 8  # consecutive lines of one kind that are still listed individually
_LONGEST: Final = 100
_OWN: Final = {"host_id": "hosts", "server_config_id": "server_configs"}  # column -> the table it refers to
_KINDS: Final[dict[str, list[str]]] = beside.words(__file__)


@dataclass(slots=True)
class Trial:
    """A report of the file, as it would be stored."""

    row: Row  # its row of schema.TRIALS without the batch
    values: list[tuple[str, Any, str]]  # (column, value, source) of values with several possible sources

    def lines(self) -> list[str]:
        """Return the context of the report, line by line."""
        lines = [f"  {column:<18} {_short(str(value))}  <- {source}" for column, value, source in self.values]
        lines += [f"  conflict: {conflict}" for conflict in self.row["conflicts"]]
        return lines + [f"  warning: {warning}" for warning in self.row["warnings"]]


@dataclass(slots=True)
class Explanation:
    """Kind of a file, and the result that an ingest would have."""

    path: Path
    campaign: str  # part of the key for storing it, like `source_path`
    source_path: str
    kind: str  # a description of its kind
    why: str  # how it was recognised
    outcome: Outcome  # what would be stored
    lines: list[Line] = field(default_factory=list)  # all non-blank lines, if the reader can explain them
    trials: list[Trial] = field(default_factory=list)
    joined: Trial | None = None  # context of an output without trials
    # Whether an ingest of its folder skips it, as it is hidden, a note, or ignored by campaign.yaml.
    left_alone: bool = False
    known: str | None = None  # whether the lake has this version, None if no lake was given
    beside: str | None = None  # path without ending of the output that a file of counters belongs to

    def text(self) -> str:
        """Return the explanation as text; long runs of lines of one kind are summarised."""
        parts = [str(self.path), f"  it is     {self.kind}", f"  known by  {self.why}"]
        parts.append(f"  kept as   {self.source_path} of campaign {self.campaign}")
        parts += [f"  next to   {self.beside}"] if self.beside else []
        if self.left_alone:
            parts.append("  note      an ingest of its folder skips it: hidden, a note, or ignored by campaign.yaml")
        parts += [f"  the lake  {self.known}"] if self.known else []
        width = max((len(kind) for _, _, kind in self.lines), default=0)
        for kind, run in groupby(self.lines, key=itemgetter(2)):
            alike = list(run)
            listed = alike if len(alike) <= _ALIKE else alike[:3]
            parts += (f"{number:>7}  {kind:<{width}}  {_short(text)}" for number, text, _ in listed)
            if len(listed) < len(alike):
                rest = f"{len(alike) - len(listed)} more, up to line {alike[-1][0]}"
                parts.append(f"{'...':>7}  {kind:<{width}}  {rest}")
        for number, trial in enumerate(self.trials, 1):
            parts += [f"report {number}, from line {trial.row['source_line']} on: {_figures(trial.row)}"]
            parts += trial.lines()
        for reject in self.outcome.rejects:
            parts += [f"rejected, line {reject['line']}: {reject['reason']}", f"  -> {reject['hint']}"]
        if self.joined:
            parts += ["a trial in it would be joined with:", *self.joined.lines()]
        return "\n".join(printable(part).replace("\n", " ") for part in parts)


def show(path: Path, lake: Lake | None = None, *, within: Path | None = None) -> Explanation:
    """Explain one file on disk; store nothing.

    The context is that of an ingest of the folder `within`, by default the nearest folder above with a campaign.yaml,
    else of the file and its sidecar only. Raise IntakeError if the path is not a file and CampaignError for an unusable
    campaign.yaml.
    """
    with ExitStack() as stack:
        # Created only for archives, as the dashboard's confined process cannot write.
        room = cache(lambda: Path(stack.enter_context(TemporaryDirectory(prefix="dropline-"))))
        target, found, left_alone = _find(path, within, room)
        resolver = Resolver(found)
        described = (item for item in found if item.kind in {Kind.CAMPAIGN, Kind.SERVER, Kind.MACHINE})
        own = resolver.outcome(target)
        outcomes = [*map(resolver.outcome, described), own]
        places = {  # (column, identifier) -> the file of the host or the configuration
            (column, row[column]): row["source_path"]
            for outcome in outcomes
            for column, table in _OWN.items()
            for row in outcome.rows.get(table, [])
        }
        kind, why = _kind(target)
        explanation = Explanation(Path(target.where), *own.key, kind, why, own, left_alone=left_alone)
        explanation.lines = [*_lines(target, own)]
        explanation.beside = own.observations[0]["beside"][0].as_py() if own.observations else None
        explanation.trials = [Trial(row, _values(row, places)) for row in own.rows.get("trials", [])]
        if target.kind is Kind.OUTPUT and not explanation.trials:
            context = resolver.context(target, resolver.content(target))
            row = {**context.resolve({}), "warnings": [*context.warnings]}
            explanation.joined = Trial(row, _values(row, places))
        explanation.known = _known(own, lake) if lake else None
        return explanation


def _find(path: Path, within: Path | None, room: Callable[[], Path]) -> tuple[Found, list[Found], bool]:
    """Return the file, all files that an ingest would find with it, and whether the ingest skips the file."""
    file = path.absolute()
    file = file.parent.resolve() / file.name
    if file.is_dir():
        raise IntakeError(f"{path}: a folder; name one file in it")
    if within and not file.is_relative_to(within.resolve()):
        raise IntakeError(f"{path}: it is not in {within}")
    folder = within or next((above for above in file.parents if (above / FILE_NAME).is_file()), None)
    alike = sorted({file, *file.parent.glob(f"{escape(file.stem)}.*")})  # a sidecar is one only next to its output
    for places in ([folder] if folder else [], alike):
        found = survey(places, room=room)
        target = next((item for item in found if Path(item.where) in {file, file.resolve()}), None)
        if target:
            return target, found, bool(folder) and places is alike
    if found:
        raise IntakeError(f"{path}: an archive; an ingest reads its members. To show one, unpack the archive")
    raise IntakeError(f"{path}: an ingest skips it")


def _kind(item: Found) -> tuple[str, str]:
    """Return the kind of a file and how it was recognised."""
    if item.kind is Kind.MACHINE:
        if item.fact is None:
            return "a file among machine facts", "the folder it is in"
        by_content = _deciding_line(item, lambda head: machines.recognise("", head) == item.fact)
        return f"machine facts: {item.fact}", by_content or f"its name {Path(item.where).name}"
    words, *why = _KINDS[item.kind]
    if why:
        return words, why[0]
    return words.format(item.reader), _deciding_line(item, item.reader.sniff) or "its content as a whole"


def _deciding_line(item: Found, sniff: Callable[[bytes], bool]) -> str | None:
    """Return the line with which the head of a file becomes recognisable, None if it is not recognised."""
    try:
        head, _ = unpack(read(item.where, MAX_BYTES, HEAD_BYTES)[0], HEAD_BYTES)
    except Unreadable as error:
        return str(error)
    lines = head.splitlines(keepends=True)
    if not lines or not sniff(head):
        return None
    low, high = 0, len(lines)  # the first `high` lines are recognised, the first `low` are not
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if sniff(b"".join(lines[:middle])) else (middle, high)
    return f"line {high}: {_short(lines[high - 1].decode('utf-8', 'replace').strip())}"


def _lines(item: Found, outcome: Outcome) -> Iterator[Line]:
    """Yield the lines of an output, or the metrics of a file of counters, which is explained by values."""
    if item.kind is Kind.OUTPUT and outcome.raw["content"] is not None:
        try:
            yield from contents.explain(item.reader, outcome.raw["content"])
        except Exception as error:  # a bug in the reader, which a reject reports, too
            yield 1, "", f"the {outcome.raw['format']} reader failed: {type(error).__name__}: {error}"
    if not outcome.observations:
        return
    table = pa.concat_tables(outcome.observations)
    counted = table.group_by("metric").aggregate([("value", "count"), ("value", "min"), ("value", "max")])
    for number, row in enumerate(counted.sort_by("metric").to_pylist(), 1):
        values = f"{row['value_min']:g} to {row['value_max']:g}" if row["value_count"] > 1 else f"{row['value_min']:g}"
        yield number, values, f"{row['metric']} ({row['value_count']})"


def _values(row: Row, places: dict[tuple[str, str], str]) -> list[tuple[str, Any, str]]:
    own = (("host_id", "machine facts"), ("server_config_id", "server configuration"))
    sources = [(column, f"{words} {places.get((column, row[column]), '')}") for column, words in own if row.get(column)]
    return [(column, row[column], source) for column, source in (*row["context_sources"], *sources)]


def _known(outcome: Outcome, lake: Lake) -> str:
    """Return a phrase on whether the lake has this version of a file."""
    files = lake.current_files()
    version = files.get(outcome.key)
    if version and version.status == FORGOTTEN:
        return "knew this file; it was forgotten"
    if version == outcome.version:
        return f"knows this version: {version.status}"
    if version and version.sha256 == outcome.version.sha256:
        return f"knows these bytes ({version.status}); their context or what is read from them differs"
    if version:
        return "knows another version of this file"
    same = sorted(key for key, each in files.items() if each.sha256 == outcome.version.sha256 and each.sha256)
    return f"knows these bytes as {same[0][1]} of campaign {same[0][0]}" if same else "does not know it"


def _figures(row: Row) -> str:
    figures = [f"{row['offered_rate']:g} offered"] if row.get("offered_rate") is not None else []
    if row.get("achieved_rate") is not None:
        figures.append(f"{row['achieved_rate']:g} {row.get('rate_unit') or 'per second'} achieved")
    figures += [f"{row[name]} {name}" for name in ("sent", "received", "dropped") if row.get(name) is not None]
    return ", ".join([*figures, "completed" if row["completed"] else "not completed"])


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."
