"""Great Expectations at work: it judges what DuckDB has counted. Nobody but this module and the docs imports it."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Any

from dropline.expectations.suite import Kind

if TYPE_CHECKING:
    from collections.abc import Collection

    from dropline.expectations.rows import Profile
    from dropline.expectations.suite import Expectation, Suite


def load() -> Any:
    """Import Great Expectations, which takes seconds, without its telemetry and progress bars."""
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    import great_expectations

    # It sets this logger to INFO itself, to tell of a temporary folder each time.
    logging.getLogger("great_expectations.data_context.types.base").setLevel(logging.WARNING)
    return great_expectations


class Judge:
    """Holds profiles against their suites: of every expectation, no row may fail."""

    def __init__(self) -> None:
        self._gx = load()
        context = self._gx.get_context(mode="ephemeral")
        context.variables.progress_bars = {"globally": False}
        self._frames = (
            context.data_sources.add_pandas("gate")
            .add_dataframe_asset("profiles")
            .add_batch_definition_whole_dataframe("frame")
        )

    def failed(self, suite: Suite, profiles: Collection[Profile]) -> list[Expectation]:
        """Return the expectations of a suite that do not hold in all of several profiles of it.

        Raises RuntimeError when Great Expectations could not judge one.
        """
        if not profiles:
            return []
        import pandas as pd

        none_fails = getattr(self._gx.expectations, Kind.BETWEEN)
        gx_suite = self._gx.ExpectationSuite(
            name=suite.name,
            expectations=[
                none_fails(
                    column=each.code,
                    min_value=0,
                    max_value=0,
                    severity=each.severity,
                    description=each.reason,
                    meta={"place": place},
                )
                for place, each in enumerate(suite.expectations)
            ],
        )
        frame = pd.DataFrame([profile.failing for profile in profiles])
        result = self._frames.get_batch({"dataframe": frame}).validate(gx_suite, result_format="BOOLEAN_ONLY")
        failed = []
        for outcome in result.results:
            expectation = suite.expectations[outcome.expectation_config.meta["place"]]
            if outcome.exception_info.get("raised_exception", True):
                message = f"{suite.name}: {expectation.code} could not be checked: {outcome.exception_info}"
                raise RuntimeError(message)
            if not outcome.success:
                failed.append(expectation)
        return failed
