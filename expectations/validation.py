"""Great Expectations at work: a suite against the rows of its query; nobody else imports it."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from expectations.suite import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import duckdb

    from expectations.suite import Suite

# Rows that are turned into one pandas frame: what bounds the memory, however large a batch is.
FRAME_ROWS: Final = 500_000
_SUBJECT: Final = ("campaign", "source_path", "trial_id", "configuration_id")


def load() -> Any:
    """Import Great Expectations, which takes seconds, without its telemetry and progress bars."""
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    import great_expectations

    # It sets this logger to INFO itself, to tell of a temporary folder each time.
    logging.getLogger("great_expectations.data_context.types.base").setLevel(logging.WARNING)
    return great_expectations


class Validator:
    """Runs suites on one DuckDB connection, in whose relations their queries are asked."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._gx = load()
        context = self._gx.get_context(mode="ephemeral")
        context.variables.progress_bars = {"globally": False}
        self._frames = (
            context.data_sources.add_pandas("gate")
            .add_dataframe_asset("rows")
            .add_batch_definition_whole_dataframe("frame")
        )

    def findings(self, suite: Suite, batch: str | None = None) -> Iterator[Finding]:
        """Yield a finding for every row that fails an expectation; a broken expectation raises."""
        gx_suite = self._gx.ExpectationSuite(
            name=suite.name,
            expectations=[
                getattr(self._gx.expectations, expectation.kind)(
                    **expectation.arguments,
                    severity=expectation.severity,
                    description=expectation.reason,
                    meta={"position": position},
                )
                for position, expectation in enumerate(suite.expectations)
            ],
        )
        reader = self._connection.sql(suite.query).to_arrow_reader(FRAME_ROWS)
        for rows in reader:
            yield from self._failures(suite, gx_suite, rows, batch)

    def _failures(self, suite: Suite, gx_suite: Any, rows: pa.RecordBatch, batch: str | None) -> Iterator[Finding]:
        frame = pa.Table.from_batches([rows]).select(suite.columns).to_pandas()
        result = self._frames.get_batch({"dataframe": frame}).validate(gx_suite, result_format="COMPLETE")
        for outcome in result.results:
            expectation = suite.expectations[outcome.expectation_config.meta["position"]]
            if outcome.exception_info.get("raised_exception", True):
                cause = outcome.exception_info
                message = f"{suite.name}: {expectation.code} could not be checked: {cause}"
                raise RuntimeError(message)
            for row in _rows(rows, outcome.result.get("unexpected_index_list") or []):
                yield Finding(
                    finding=expectation.code,
                    severity=expectation.severity,
                    batch=batch,
                    detail=expectation.detail.format(**row),
                    **{key: row.get(key) for key in _SUBJECT},
                )


def _rows(rows: pa.RecordBatch, positions: Sequence[int]) -> list[dict[str, Any]]:
    picked: list[dict[str, Any]] = rows.take(pa.array(positions, pa.int64())).to_pylist()
    return picked
