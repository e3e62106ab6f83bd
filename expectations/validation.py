"""Great Expectations' judgement of DuckDB's counts, imported by `dropline check` only."""

import logging
import os
from collections.abc import Mapping, Sequence

from dropline.expectations.suite import Suite


def failed(suites: Sequence[Suite], counts: Mapping[str, int]) -> set[str]:
    """Return the expectations whose number of failing rows in `counts` is not 0; raise RuntimeError for unknown ones.

    All are rows of one data frame: one Great Expectations object for each would take a hundred times as long.
    """
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    import great_expectations as gx
    import pandas as pd

    # Great Expectations sets this logger to INFO and reports a temporary folder each time.
    logging.getLogger("great_expectations.data_context.types.base").setLevel(logging.WARNING)
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    codes = [code for suite in suites for code in suite.expectations]
    frame = pd.DataFrame({"code": codes, "failing_rows": [counts.get(code) for code in codes]}, dtype=object)
    frames = context.data_sources.add_pandas("gate").add_dataframe_asset("failing_rows")
    batch = frames.add_batch_definition_whole_dataframe("counts").get_batch({"dataframe": frame})
    named = {"result_format": "COMPLETE", "unexpected_index_column_names": ["code"]}
    counted = gx.expectations.ExpectColumnValuesToNotBeNull(column="failing_rows")
    zero = gx.expectations.ExpectColumnValuesToBeBetween(column="failing_rows", min_value=0, max_value=0)
    declared = gx.ExpectationSuite(name="gate", expectations=[counted, zero])
    failing = {}
    for outcome in batch.validate(declared, result_format=named).results:
        if outcome.exception_info.get("raised_exception", True):
            raise RuntimeError(f"{', '.join(codes)} could not be checked: {outcome.exception_info}")
        rows = outcome.result["unexpected_index_list"] or ()
        failing[outcome.expectation_config.type] = {row["code"] for row in rows}
    if unknown := failing["expect_column_values_to_not_be_null"]:
        raise RuntimeError(f"{', '.join(sorted(unknown))} could not be checked: the failing rows were not counted")
    return failing["expect_column_values_to_be_between"]
