"""Fast path for usual perfdhcp reports with their sidecars: trials of a ramp share all but rate, times and figures.

The context is resolved once per group of trials with the same folder, path fields, options, and sidecar apart from
rate, times and counters; all rows of the group are derived from its first trial and each trial's own values. Files
that need a remark or do not fit this scheme go to `resolve`, which would give the same rows for the others, too.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final, NamedTuple

import orjson

from dropline.ingest.campaign import Campaign, slug
from dropline.ingest.context import (
    NAME_KEYS,
    SERVERS,
    SIDECAR_OF,
    VAGUE,
    WATCHED,
    beside_fields,
    context_path,
    digested,
    instant,
    misspelt,
    nested,
    observations_json,
    sidecar_fields,
    snake_case,
    unread_values,
    watched,
)
from dropline.ingest.files import Found, Kind, Unreadable
from dropline.ingest.formats import Row, perfdhcp
from dropline.ingest.formats.perfdhcp_forms import FACTS, Figures, Form
from dropline.ingest.names import level, numbers
from dropline.ingest.resolve import Neighbours, Resolver
from dropline.ingest.rows import Content, Outcome, Series, Trial, raw_row, trial_id
from dropline.ingest.synonyms import normalise

_RATE: Final = FACTS.index("offered_rate")
_OWN: Final = frozenset({"offered_rate", "started_at", "ended_at", "command"})  # columns that differ within a ramp
_TIMES: Final = ("started_at", "ended_at")
_OF_ROW: Final = frozenset({*_TIMES, "repetition"})  # a trial's own values that its report lacks
_MAX_RATE: Final = 1e12
_ALSO_SAID: Final = ("kea_version", "signal_sent", *SERVERS, *VAGUE, "campaign")
_DIGITS: Final = 10  # most of a repetition
_NUMBERS: Final = frozenset({int, float})
_LARGEST: Final = 2.0**63  # orjson reads a larger integer as a float


class _Other(Exception):
    """The file does not fit the scheme."""


class _Keys(NamedTuple):
    """Keys of a campaign's sidecars: those with equal values in a ramp, and those of a trial's own values."""

    shared: tuple[str, ...]
    rates: tuple[str, ...]
    repetitions: tuple[str, ...]
    may_count: bool  # whether the repetition is neither translated nor set for all trials
    command: str
    times: tuple[tuple[str, str], ...]  # column, key


@dataclass(frozen=True, slots=True, eq=False)
class _Group:
    """The shared part of a group of trials."""

    row: Row  # columns of schema.TRIALS of its first trial
    form: str  # a %-format of the digested context
    source: str  # the name of the first trial's sidecar
    folders: dict[str, str] = field(default_factory=dict)  # folder -> context_path, if a folder has the repetition


class Ramps:
    """Fast path for the files of one call."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._keys: dict[str, _Keys | None] = {}  # by the scope's folder
        self._groups: dict[tuple[Any, ...], _Group | None] = {}

    def outcomes(self, items: Sequence[Found]) -> dict[Found, Outcome]:
        """Return the outcomes of those files that fit the scheme."""
        by_form: dict[Form, list[Found]] = defaultdict(list)
        for item in items:
            if item.form and item.kind is Kind.OUTPUT:
                by_form[item.form].append(item)
        here = set(items)
        found: dict[Found, Outcome] = {}
        for form, those in by_form.items():
            read = []
            for item in those:
                with suppress(Unreadable):
                    read.append((item, self._resolver.content(item)))
            try:
                figures = form.read([content.data for _, content in read])
            except ValueError:  # an invalid number, or no files are left
                continue
            for number, (item, content) in enumerate(read):
                if not figures.usual[number]:
                    continue
                with suppress(_Other, ValueError, TypeError, OverflowError):  # such as a list where a word is expected
                    found[item], beside = self._taken(number, item, content, figures)
                    if item.sidecar and beside and item.sidecar in here:
                        campaign, _ = found[item].key
                        found[item.sidecar] = Outcome(raw_row(item.sidecar, campaign, beside, Kind.SIDECAR.value))
        return found

    def _taken(self, number: int, item: Found, content: Content, figures: Figures) -> tuple[Outcome, Content | None]:
        """Return the outcome of a report, and the contents of its sidecar."""
        scope, around = item.scope, self._resolver.around(item.scope.place)
        if scope.place not in self._keys:
            self._keys[scope.place] = _keys(scope.campaign)
        keys = self._keys[scope.place]
        match = scope.campaign.match(item.path) if scope.campaign else None
        fields = match.groupdict() if match else {}
        if item.sidecar is None and item.folder in around.described:  # sidecars of other outputs may describe it
            raise _Other
        if keys is None or not (fields or around.name(item.folder, item.name).is_plain):
            raise _Other
        beside, contents = self._sidecar(around, item.sidecar, content)
        source = f"{SIDECAR_OF}{item.sidecar.path}" if item.sidecar else ""
        rate = figures.facts[number][_RATE]
        if rate is None or not 0 < rate < _MAX_RATE or rate in _numbers_in(item.folder):
            raise _Other
        own = _own(contents, keys, rate, fields.get("offered_rate"))
        counts = [contents.get(key) for key in keys.repetitions]
        folder: str | None = item.folder
        if keys.may_count and "repetition" in fields and any(map(contents.get, SERVERS)):
            own["repetition"] = _repetition(fields["repetition"], counts)
            counts, folder = [count is None for count in counts], None
        observed = watched(contents)
        words = [contents.get(key) for key in keys.shared]
        rates = [contents.get(key) is None for key in keys.rates]
        path = tuple([each for each in fields.items() if each[0] not in own])
        key = (
            *(scope.place, folder, self._resolver.host_ids(scope.place)[item.folder]),
            *(path, "offered_rate" in fields, item.sidecar is None, *own),
            *(orjson.dumps((words, counts, rates)), figures.settings[number]),  # in JSON, 1, 1.0, "1" and true differ
            unread_values(contents, self._resolver.unread(scope.place)),
        )
        written = {name: digested(value) for name, value in own.items()}
        written |= {"source": digested(source), "observations": observations_json(observed)}
        if key not in self._groups:
            self._groups[key] = self._group(item, content, source, own, figures.row(number), written, words)
        if (group := self._groups[key]) is None:
            raise _Other
        campaign = scope.name
        if not scope.campaign and (named := contents.get("campaign")):
            campaign = self._resolver.named(scope.name, slug(named))
        context = sha256((group.form % written).encode()).hexdigest()
        own_id = trial_id(campaign, item.path, content.sha256, 0)
        of_trial = {"campaign": campaign, "source_path": item.path, "trial_id": own_id}
        row = {
            **_row(item, match, source, own, group),
            **dict(zip(FACTS, figures.facts[number], strict=True)),
            **of_trial,
            "source_sha256": content.sha256,
        }
        return Outcome(
            raw_row(item, campaign, content, perfdhcp.NAME, "trials", context, 1),
            {"trials": [row]},
            [Series.of("observations", WATCHED, observed, of_trial)] if observed else [],
            trial=Trial(figures, number, own_id),
        ), beside

    def _sidecar(self, around: Neighbours, sidecar: Found | None, content: Content) -> tuple[Content | None, Row]:
        """Return the sidecar of a report, which must not serve other outputs, and its contents."""
        if sidecar is None:
            return None, {}
        if sidecar in around.shared:
            raise _Other
        try:
            beside = self._resolver.content(sidecar)
            contents = orjson.loads(beside.data)
        except (Unreadable, orjson.JSONDecodeError):
            raise _Other from None
        if contents.__class__ is not dict or contents.get("output_sha256", content.sha256) != content.sha256:
            raise _Other
        if any(key != snake_case(key) or misspelt(key) for key in contents):
            raise _Other
        if nested(contents) or not NAME_KEYS.isdisjoint(contents):
            raise _Other
        return beside, contents

    def _group(
        self, item: Found, content: Content, source: str, own: Row, facts: Row, written: Row, words: list[object]
    ) -> _Group | None:
        """Return the shared part of a group; None if it needs a remark."""
        if any(_is_inexact(word) for word in words):
            return None
        context = self._resolver.context(item, content)
        row = context.resolve(facts, rates={own["offered_rate"]})
        if (
            context.name
            or context.has_other_spelling
            or (source and any(source in warning for warning in context.warnings))
            or any(row.get(column) != own.get(column) for column in _TIMES)
        ):
            return None
        form = context.digest_form(source, own)
        if sha256((form % written).encode()).hexdigest() != context.sha256():
            return None
        row |= {"warnings": [*context.warnings], "report_index": 0, "source_line": 1}
        return _Group(row, form, source)


def _keys(campaign: Campaign | None) -> _Keys | None:
    """Return the keys of a campaign's sidecars; None if it translates a trial's own values or uses dotted keys."""
    own: dict[str, list[str]] = defaultdict(list)
    for column, key in sidecar_fields(campaign):
        own[column if column in _OWN or column == "repetition" else ""].append(key)
    named = [key for keys in own.values() for key in keys]
    if any("." in key for key in named) or len(own["command"]) != 1:
        return None
    if campaign and not _OWN.isdisjoint(campaign.values):
        return None
    times = tuple((column, key) for column in _TIMES for key in own[column])
    may_count = not campaign or ("repetition" not in campaign.values and "repetition" not in dict(campaign.said))
    return _Keys(
        tuple(dict.fromkeys((*own[""], *_ALSO_SAID))),
        tuple(own["offered_rate"]),
        tuple(own["repetition"]),
        may_count,
        own["command"][0],
        times,
    )


@lru_cache(maxsize=1024)
def _numbers_in(folder: str) -> frozenset[float]:
    """Return the numbers in a folder's path, any of which may be a rate."""
    return frozenset().union(*(numbers(name) | numbers(level(name).text) for name in folder.split("/")))


def _own(contents: Row, keys: _Keys, rate: float, in_path: str | None) -> Row:
    """Return a trial's own values from its sidecar; its rate must be the same wherever it is stated."""
    if in_path is not None and float(in_path) != rate:
        raise _Other
    for key in keys.rates:
        if (each := contents.get(key)) is not None and (each.__class__ not in _NUMBERS or each != rate):
            raise _Other
    own: Row = {"offered_rate": rate}
    for column, key in keys.times:
        if (each := contents.get(key)) is not None:
            if column in own:
                raise _Other
            own[column] = instant(column, each)
    if (command := contents.get(keys.command)) is not None:
        if command.__class__ is not str or not (meant := normalise("command", command)):
            raise _Other
        own["command"] = meant["command"]
    return own


def _repetition(in_path: str, counts: Sequence[object]) -> int:
    """Return the repetition in a path, with which the sidecar must agree."""
    repetition = int(in_path) if in_path.isascii() and len(in_path) < _DIGITS else -1
    others = [count for count in counts if count is not None]
    if repetition < 0 or any(count.__class__ is not int or count != repetition for count in others):
        raise _Other
    return repetition


def _is_inexact(word: object) -> bool:
    """Return whether orjson may have changed a number, or a list holds other values than texts."""
    if isinstance(word, list):
        return not all(isinstance(each, str) for each in word)
    return isinstance(word, float) and not -_LARGEST < word < _LARGEST


def _row(item: Found, match: re.Match[str] | None, source: str, own: Row, group: _Group) -> Row:
    """Return the columns of schema.TRIALS of a trial of a group, except for its figures."""
    row = group.row | {name: own[name] for name in own if name in _OF_ROW}
    if source != group.source:
        row["context_sources"] = [(name, source if by == group.source else by) for name, by in row["context_sources"]]
        row["conflicts"] = [text.replace(group.source, source) for text in row["conflicts"]]
    if "repetition" in own:  # the trials of the group come from several folders
        if item.folder not in group.folders:
            sources = dict(row["context_sources"])
            beside = beside_fields(item.path, match, sources, {own["offered_rate"]})
            is_counted = sources.get("repetition") == "path"
            group.folders[item.folder] = context_path(item.path, row | own, beside, is_counted=is_counted)
        row["context_path"] = group.folders[item.folder]
    return row
