"""Loss curves of the report, and second-by-second charts of the trials behind the capacities."""

from collections.abc import Iterable, Sequence
from typing import Any

from dropline.app import queries, wording
from dropline.app.charts import intervals, ramp
from dropline.report.capacities import spread
from dropline.report.scope import Row, Scope
from dropline.report.sections import Chart, Section


def loss(scope: Scope, figures: Sequence[Row]) -> Section:
    """Return a chart per measured configuration with more than one step."""
    charts = []
    for basis in wording.BASES:
        measured = [row for row in figures if row["origin"] == "measured" and row["loss_basis"] == basis]
        ids = [*(row["configuration_id"] for row in measured), ""]
        asked = {"configuration_ids": ids, "basis": basis, "run_id": None, "each_run": False}
        rows = queries.ask(scope.warehouse, "loss_by_rate", **asked).to_pandas()
        steps = dict(iter(rows.groupby("configuration_id")))
        found = ((figure, steps.get(figure["configuration_id"], ())) for figure in measured)
        charts += [_curve(scope, figure, some) for figure, some in found if len(some) > 1]
    return Section("loss", "Loss over the offered rate", tuple(charts))


def _curve(scope: Scope, figure: Row, steps: Any) -> Chart:
    """Return the chart of a configuration; `steps` are its rows of `loss_by_rate`, a data frame."""
    label, unit, about = scope.labels[figure["configuration_id"]], figure["rate_unit"], spread(figure)
    drawn = ramp.loss_over_rate(
        steps.assign(label=label, line=label, backend=figure["backend"]),
        figure["loss_limit"],
        wording.lost(figure["loss_basis"], [unit]),
        unit,
        f"{figure['shown']} {unit}{f' ({about})' if about else ''}",
    )
    return Chart(label, drawn)


def seconds(scope: Scope) -> Section:
    """Return a chart per exchange of the trials behind the capacities, if they have interim lines."""
    by_id = {row["configuration_id"]: row for row in scope.rows("decisive_trials")}
    charts = [chart for each in scope.ids if each in by_id for chart in _of_trial(scope, by_id[each])]
    intro = "The trial that gives the capacity, from the run nearest to the median."
    return Section("seconds", "The capacity step, second by second", (intro, *charts) if charts else ())


def _of_trial(scope: Scope, trial: Row) -> Iterable[Chart]:
    offered = f"{wording.number(trial['offered_rate'])} {trial['rate_unit']} offered"
    about = f"{scope.labels[trial['configuration_id']]}, {offered}: {trial['source_path']}"
    lines = queries.ask(scope.warehouse, "intervals", **trial).to_pandas()
    span = [0.0, lines["t_s"].max()]
    for _, part in lines.groupby("exchange", sort=False):
        yield Chart(about, intervals.second_by_second(part, span, intervals.pauses(part)))
