"""The ingest itself: bring what is new under the given paths into the lake, as one batch."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ingest.files import MAX_BYTES, Found, read, survey
from ingest.formats import Reject
from ingest.resolve import Resolver, explains_first
from ingest.rows import Outcome, campaign_row, reject_row, tables, unfit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    import pyarrow as pa

    from ingest.formats import Row
    from ingest.lake import Batch, Key, Lake, Version

_FLUSH_FILES: Final = 2000
_FLUSH_BYTES: Final = 64 * 1024 * 1024


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
        lines = [f"rejected  {reject_text(reject, indent=10)}" for reject in self.rejects]
        news = f"batch {self.batch}: {self.trials} trials" if self.batch else "nothing new"
        counts = f"{self.seen} files = {self.ingested} ingested + {self.skipped} skipped + {self.rejected} rejected"
        return "\n".join([*map(printable, lines), f"{counts}; {news}"])


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
    found = sorted(survey(paths, max_bytes), key=explains_first)
    newest = (lake.batches() or [""])[-1]
    known = lake.current_files()
    resolver = Resolver(found, known, lambda item, limit: read(item.file, min(limit, max_bytes)))
    with ExitStack() as stack:
        intake = Intake(resolver, known, lambda: stack.enter_context(lake.batch(newest)))
        for done, item in enumerate(found):
            if progress:
                progress(done, len(found), item.path)
            intake.take(item)
        return intake.finish()


class Intake:
    """One call: what its files come to, what of it is known, what waits to be written.

    `begin` makes the batch as soon as there is something to write.
    """

    def __init__(
        self,
        resolver: Resolver,
        known: Mapping[Key, Version],
        begin: Callable[[], Batch],
    ) -> None:
        self._resolver, self._known, self._begin = resolver, known, begin
        self._taken: set[Key] = set()
        self._pending: list[Outcome] = []
        self._pending_bytes = 0
        self._batch: Batch | None = None
        self._introduced: set[str] = set()  # campaigns without a campaign.yaml
        self._campaigns: set[str] = set()
        self._summary = Summary()

    def take(self, item: Found) -> None:
        """Count one file, and queue what the lake does not know yet."""
        self._summary.seen += 1
        for outcome in self._resolver.outcomes(item):
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
            self.skip(outcome)
            return
        self._pending.append(outcome)
        self._pending_bytes += len(outcome.raw["content"] or b"")
        if len(self._pending) >= _FLUSH_FILES or self._pending_bytes >= _FLUSH_BYTES:
            waiting, self._pending, self._pending_bytes = self._pending, [], 0
            self._store(waiting)

    def skip(self, outcome: Outcome) -> None:
        """Count an outcome that is in the lake already."""
        rejected = outcome.version.status == "rejected"
        self._summary.rejected += rejected
        self._summary.skipped += not rejected
        self._summary.rejects += outcome.rejects

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
        else:
            self.write(outcomes, written)

    def write(self, outcomes: list[Outcome], written: Mapping[str, pa.Table]) -> None:
        """Add `outcomes` to the batch and count them; `written` are their tables."""
        if self._batch is None:
            self._batch = self._begin()
        for name, rows in written.items():
            self._batch.add(name, rows)
        for outcome in outcomes:
            rejected = outcome.version.status == "rejected"
            self._summary.rejected += rejected
            self._summary.ingested += not rejected
            self._summary.trials += outcome.raw["trials"]
            self._summary.rejects += outcome.rejects


def reject_text(reject: Row, indent: int = 0) -> str:
    """Return a row of schema.REJECTS in words: where and why, and below it what to do."""
    place = reject["source_path"] + (f", line {reject['line']}" if reject["line"] else "")
    return f"{place}: {reject['reason']}\n{' ' * indent}-> {reject['hint']}"


def printable(text: str) -> str:
    """Return `text` without what could steer a terminal: file names and contents are not ours."""
    return "".join(char if char.isprintable() or char == "\n" else "?" for char in text)
