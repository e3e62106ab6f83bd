"""The ingest itself: bring what is new under the given paths into the lake, as one batch."""

from __future__ import annotations

import hashlib
import posixpath
from collections import defaultdict
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from ingest import machines
from ingest.context import (
    Context,
    ServerConfig,
    ServerConfigs,
    SidecarError,
    gather,
    read_sidecar,
)
from ingest.files import MAX_BYTES, Found, Kind, Unreadable, read, sidecar_path, slug, survey
from ingest.formats import Reject
from ingest.rows import (
    Content,
    Outcome,
    campaign_row,
    context_file,
    output,
    reject_row,
    rejected,
    tables,
    unfit,
)
from ingest.servers import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from ingest.formats import Report, Row
    from ingest.lake import Batch, Key, Lake

_FLUSH_FILES: Final = 2000
_FLUSH_BYTES: Final = 64 * 1024 * 1024
_MAX_SIDECAR_BYTES: Final = 1024 * 1024
# What explains trials is read before the trials.
_ORDER: Final = {Kind.CAMPAIGN: 0, Kind.SERVER: 1, Kind.MACHINE: 2}


@dataclass(slots=True)
class Summary:
    """What one ingest did; `seen` is always `ingested + skipped + rejected`.

    Attributes:
        ingested: files that are new or changed, and of use.
        skipped: files that the lake knows in this version.
        rejected: files of no use, known ones included.
        batch: the batch that was written, None when nothing was new.
        rejects: rows of schema.REJECTS without the batch, known ones included.

    """

    seen: int = 0
    ingested: int = 0
    skipped: int = 0
    rejected: int = 0
    trials: int = 0
    batch: str | None = None
    campaigns: list[str] = field(default_factory=list)
    rejects: list[Row] = field(default_factory=list)

    def text(self) -> str:
        """Return the summary for people: what was refused and why, then the sum."""
        lines = []
        for reject in self.rejects:
            place = reject["source_path"] + (f", line {reject['line']}" if reject["line"] else "")
            lines.append(f"rejected  {place}: {reject['reason']}\n          -> {reject['hint']}")
        news = f"batch {self.batch}: {self.trials} trials" if self.batch else "nothing new"
        counts = f"{self.seen} files = {self.ingested} ingested + {self.skipped} skipped + {self.rejected} rejected"
        return "\n".join([*map(_printable, lines), f"{counts}; {news}"])


def ingest(
    paths: Iterable[Path],
    lake: Lake,
    *,
    progress: Callable[[int, int, str], None] | None = None,
    max_bytes: int = MAX_BYTES,
) -> Summary:
    """Ingest all files under `paths` into `lake` as one batch, and return what became of them.

    A file is skipped when the lake holds it with the same bytes and the same context. `progress` is
    called with (done, total, path) before each file. Raises IntakeError for a path that is not
    there and CampaignError for an unusable campaign.yaml, both before anything is written; leaves
    nothing behind when it is interrupted.
    """
    found = sorted(survey(paths, max_bytes), key=lambda item: _ORDER.get(item.kind, len(_ORDER)))
    with ExitStack() as stack:
        intake = _Intake(lake, found, max_bytes, stack)
        for done, item in enumerate(found):
            if progress:
                progress(done, len(found), item.path)
            intake.take(item)
        return intake.finish()


class _Intake:
    """One call: what the lake knows, what stands around the trials, what waits to be written."""

    def __init__(self, lake: Lake, found: list[Found], max_bytes: int, stack: ExitStack) -> None:
        self._lake, self._max_bytes, self._stack = lake, max_bytes, stack
        self._newest = (lake.batches() or [""])[-1]
        self._known = lake.current_files()
        self._sidecars = {(f.scope.folder, f.path): f for f in found if f.kind is Kind.SIDECAR}
        self._machines: dict[Path, list[Found]] = defaultdict(list)
        for item in found:
            if item.kind is Kind.MACHINE:
                self._machines[item.file.parent].append(item)
        self._hosts: dict[Path, dict[str, str]] = defaultdict(dict)  # scope -> folder -> host_id
        self._servers = ServerConfigs()
        self._read_sidecar = lru_cache(maxsize=16)(self._load_sidecar)
        self._taken: set[Key] = set()
        self._pending: list[Outcome] = []
        self._pending_bytes = 0
        self._batch: Batch | None = None
        self._introduced: set[str] = set()  # campaigns without a campaign.yaml
        self._campaigns: set[str] = set()
        self._summary = Summary(seen=len(found))

    def take(self, item: Found) -> None:
        """Count one file, and queue what the lake does not know yet."""
        if item.kind is Kind.MACHINE:
            # The facts of one folder make one host, so its first file brings them all.
            for outcome in self._host(self._machines.pop(item.file.parent, [])):
                self._keep(item, outcome)
            return
        try:
            outcome = self._outcome(item)
        except Unreadable as error:
            outcome = rejected(item, self._campaign(item), [error.reject])
        self._keep(item, outcome)

    def finish(self) -> Summary:
        """Write what waits, commit, and return the summary."""
        while self._pending:
            waiting, self._pending = self._pending, []
            self._store(waiting)
        summary = self._summary
        if self._batch:
            summary.batch = self._batch.commit()
            summary.trials -= self._batch.dropped_trials
            late = sum(v.status != "rejected" for v in self._batch.dropped.values())
            summary.ingested -= late
            summary.skipped += late
        summary.campaigns = sorted(self._campaigns)
        if summary.seen != summary.ingested + summary.skipped + summary.rejected:
            message = f"the files do not add up: {summary}"
            raise AssertionError(message)
        return summary

    def _outcome(self, item: Found) -> Outcome:
        if item.reject and item.kind is Kind.UNREADABLE:
            return rejected(item, item.scope.name, [item.reject])
        if item.kind is Kind.SIDECAR:
            return self._sidecar(item)
        content = self._read(item)
        if item.reject:
            return rejected(item, item.scope.name, [item.reject], content)
        if item.kind is Kind.OUTPUT:
            return self._output(item, content)
        if item.kind is Kind.SERVER:
            return self._server(item, content)
        outcome = context_file(item, item.scope.name, content, item.kind.value)
        if item.kind is Kind.CAMPAIGN and item.scope.campaign:
            outcome.rows["campaigns"] = [campaign_row(item.scope.campaign)]
        return outcome

    def _read(self, item: Found) -> Content:
        limit = _MAX_SIDECAR_BYTES if item.kind is Kind.SIDECAR else self._max_bytes
        data, modified_us = read(item.file, min(limit, self._max_bytes))
        return Content(data, modified_us, hashlib.sha256(data).hexdigest())

    def _server(self, item: Found, content: Content) -> Outcome:
        assert item.server is not None  # noqa: S101 -- that is what makes it a SERVER
        try:
            row: Row = dict(item.server.parse(content.data))
        except ConfigError as error:
            reject = Reject(error.line or 1, str(error), error.hint)
            return rejected(item, item.scope.name, [reject], content)
        row["campaign"], row["source_path"] = item.scope.name, item.path
        row["source_sha256"] = content.sha256
        said = {name: value for name, value in row.items() if name != "settings"}
        folder = str(item.scope.folder)
        self._servers.add(ServerConfig(said, folder, item.path, content.sha256))
        name = item.server.__name__.rpartition(".")[2]
        return context_file(item, item.scope.name, content, name, {"server_configs": [row]})

    def _host(self, items: list[Found]) -> Iterator[Outcome]:
        """Yield what one folder of machine facts came to; the host goes with its first new file."""
        contents: dict[str, tuple[Found, Content]] = {}
        for item in items:
            try:
                contents[item.file.name] = item, self._read(item)
            except Unreadable as error:
                yield rejected(item, item.scope.name, [error.reject])
        if not contents:
            return
        host, rejects = machines.host({name: held.data for name, (_, held) in contents.items()})
        first = items[0]
        self._hosts[first.scope.folder][first.folder] = host["host_id"]
        rows = [{**host, "campaign": first.scope.name, "source_path": first.folder}]
        for name, (item, content) in contents.items():
            if faults := [reject for reject in rejects if reject.reason.startswith(f"{name}:")]:
                yield rejected(item, item.scope.name, faults, content)
                continue
            outcome = context_file(item, item.scope.name, content, item.fact or item.kind.value)
            if self._known.get(outcome.key) != outcome.version:
                outcome.rows["hosts"], rows = rows, []
            yield outcome

    def _load_sidecar(self, item: Found) -> tuple[Content, Row | SidecarError]:
        content = self._read(item)
        try:
            return content, read_sidecar(content.data)
        except SidecarError as error:
            return content, error

    def _sidecar(self, item: Found) -> Outcome:
        content, said = self._read_sidecar(item)
        if isinstance(said, SidecarError):
            reject = Reject(said.line, str(said), "repair it, or remove it, and ingest again")
            return rejected(item, self._campaign(item), [reject], content)
        return context_file(item, self._campaign(item), content, item.kind.value)

    def _sidecar_of(self, item: Found) -> Found | None:
        return self._sidecars.get((item.scope.folder, posixpath.normpath(sidecar_path(item))))

    def _said(self, sidecar: Found | None) -> Row | Exception | None:
        """Return what a sidecar says, or why it cannot be used."""
        try:
            return self._read_sidecar(sidecar)[1] if sidecar else None
        except Unreadable as error:
            return error

    def _campaign(self, item: Found) -> str:
        """Return the campaign of a file: that of its campaign.yaml, its sidecar, or its folder."""
        if item.scope.campaign or item.kind not in {Kind.OUTPUT, Kind.SIDECAR}:
            return item.scope.name
        said = self._said(item if item.kind is Kind.SIDECAR else self._sidecar_of(item))
        name = said.get("campaign") if isinstance(said, dict) else None
        return slug(name) if isinstance(name, str) and name else item.scope.name

    def _context(self, item: Found, content: Content) -> Context:
        sidecar = self._sidecar_of(item)
        said = self._said(sidecar)
        context = gather(
            item.path,
            str(item.scope.folder),
            item.scope.campaign,
            self._servers,
            (sidecar.path, said) if sidecar and isinstance(said, dict) else None,
            self._host_of(item),
            content.sha256,
        )
        if sidecar and isinstance(said, Exception):
            note = f"sidecar {sidecar.path} cannot be used: {said}"
            return replace(context, warnings=(*context.warnings, note))
        return context

    def _host_of(self, item: Found) -> str | None:
        """Return the machine under test: the one named so, else the only one of the campaign."""
        hosts = self._hosts[item.scope.folder]
        roles = item.scope.campaign.machines if item.scope.campaign else {}
        if named := [folder for folder, role in roles.items() if role == "server"]:
            return hosts.get(named[0])
        return next(iter(hosts.values())) if len(hosts) == 1 else None

    def _output(self, item: Found, content: Content) -> Outcome:
        assert item.reader is not None  # noqa: S101 -- that is what makes it an OUTPUT
        campaign, context = self._campaign(item), self._context(item, content)
        known = self._known.get((campaign, item.path))
        if known == (content.sha256, context.sha256(), "trials"):
            outcome = context_file(item, campaign, content, item.reader.NAME)
            outcome.raw |= {"context_sha256": known.context_sha256, "status": known.status}
            return outcome
        parsed: list[Report | Reject]
        try:
            parsed = list(item.reader.parse(content.data))
        except Exception as error:
            fault = f"the {item.reader.NAME} reader failed: {type(error).__name__}: {error}"
            parsed = [Reject(1, fault, "this is a fault of the reader: report it with the file")]
        return output(item, campaign, content, context, parsed)

    def _keep(self, item: Found, outcome: Outcome) -> None:
        """Count an outcome that the lake knows; queue any other."""
        campaign, path = outcome.key
        self._campaigns.add(campaign)
        if outcome.key in self._taken:
            reason = f"another file of this ingest is {path} of campaign {campaign}, too"
            clash = Reject(1, reason, "give each folder a campaign.yaml with a name of its own")
            self._summary.rejected += 1
            self._summary.rejects.append(reject_row(outcome.raw, clash))
            return
        self._taken.add(outcome.key)
        new = self._known.get(outcome.key) != outcome.version
        if new and item.scope.campaign is None and campaign not in self._introduced:
            self._introduced.add(campaign)
            outcome.rows["campaigns"] = [campaign_row(campaign)]
        self._queue(outcome)

    def _queue(self, outcome: Outcome) -> None:
        if self._known.get(outcome.key) == outcome.version:
            rejected = outcome.version.status == "rejected"
            self._summary.rejected += rejected
            self._summary.skipped += not rejected
            self._summary.rejects += outcome.rejects
            return
        self._pending.append(outcome)
        self._pending_bytes += len(outcome.raw["content"] or b"")
        if len(self._pending) >= _FLUSH_FILES or self._pending_bytes >= _FLUSH_BYTES:
            waiting, self._pending, self._pending_bytes = self._pending, [], 0
            self._store(waiting)

    def _store(self, outcomes: list[Outcome]) -> None:
        """Write outcomes to the batch; one with a value that no column can hold is rejected."""
        if not outcomes:
            return
        try:
            written = tables(outcomes)
        except (ValueError, TypeError, OverflowError) as error:
            if len(outcomes) > 1:
                middle = len(outcomes) // 2
                self._store(outcomes[:middle])
                self._store(outcomes[middle:])
            else:
                self._queue(unfit(outcomes[0], error))
            return
        if self._batch is None:
            self._batch = self._stack.enter_context(self._lake.batch(self._newest))
        for name, rows in written.items():
            self._batch.add(name, rows)
        for outcome in outcomes:
            rejected = outcome.version.status == "rejected"
            self._summary.rejected += rejected
            self._summary.ingested += not rejected
            self._summary.trials += outcome.raw["trials"]
            self._summary.rejects += outcome.rejects


def _printable(text: str) -> str:
    """Return `text` without what could steer a terminal: file names and contents are not ours."""
    return "".join(char if char.isprintable() or char == "\n" else "?" for char in text)
