"""Great Expectations at work: it judges what DuckDB has counted. No other module imports it."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dropline.expectations.suite import Suite


def load() -> Any:
    """Import Great Expectations, which takes seconds, without its telemetry and progress bars."""
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    import great_expectations

    # It sets this logger to INFO itself, to tell of a temporary folder each time.
    logging.getLogger("great_expectations.data_context.types.base").setLevel(logging.WARNING)
    return great_expectations


def failed(suites: Sequence[Suite], counts: Mapping[str, int]) -> set[str]:
    """Return the expectations of which not exactly 0 rows fail; `counts` has the failing rows of each.

    Raises RuntimeError when Great Expectations could not judge one.
    """
    import pandas as pd

    gx = load()
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    frames = context.data_sources.add_pandas("gate").add_dataframe_asset("failing_rows")
    batch = frames.add_batch_definition_whole_dataframe("counts").get_batch({"dataframe": pd.DataFrame([counts])})
    declared = gx.ExpectationSuite(
        name="gate",
        expectations=[
            gx.expectations.ExpectColumnValuesToBeBetween(
                column=code, min_value=0, max_value=0, severity=each.severity, description=each.why
            )
            for suite in suites
            for code, each in suite.expectations.items()
        ],
    )
    failing = set()
    for outcome in batch.validate(declared, result_format="BOOLEAN_ONLY").results:
        code = outcome.expectation_config.kwargs["column"]
        if outcome.exception_info.get("raised_exception", True):
            message = f"{code} could not be checked: {outcome.exception_info}"
            raise RuntimeError(message)
        if not outcome.success:
            failing.add(code)
    return failing
