"""Loss curves of the report, and second-by-second charts of the trials behind the capacities."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from dropline.app import queries, wording
from dropline.report.capacities import spread
from dropline.report.scope import Row, Scope, grouped, printable
from dropline.report.sections import Chart, Section, Series


def loss(scope: Scope, figures: Sequence[Row]) -> Section:
    """Return a chart per measured configuration with more than one step."""
    charts = []
    for basis in wording.BASES:
        some = [row for row in figures if row["origin"] == "measured" and row["loss_basis"] == basis]
        ids = [row["configuration_id"] for row in some]
        runs = _steps(scope, ids, basis, each_run=True)
        medians = _steps(scope, ids, basis, each_run=False)
        charts += [_curve(scope, row, runs[row["configuration_id"]], line) for row in some
                   if len(line := medians[row["configuration_id"]]) > 1]  # fmt: skip
    intro = "A dot is a step of one run, the line the median of the runs; red is the limit of the loss goal."
    return Section("loss", "Loss over the offered rate", (intro, *charts) if charts else ())


def _steps(scope: Scope, ids: Sequence[str], basis: str, *, each_run: bool) -> dict[str, list[Row]]:
    asked = {"configuration_ids": [*ids, ""], "basis": basis, "run_id": None, "each_run": each_run}
    steps = printable(queries.ask(scope.warehouse, "loss_by_rate", **asked))
    return defaultdict(list, grouped(steps, lambda row: str(row["configuration_id"])))


def _curve(scope: Scope, figure: Row, runs: Sequence[Row], medians: Sequence[Row]) -> Chart:
    def points(steps: Sequence[Row]) -> tuple[tuple[float, float, str], ...]:
        at = ((step["offered_rate"], step["loss_ratio"]) for step in steps)
        return tuple((rate, loss, f"{wording.number(rate)} offered: {100 * loss:.3g} % lost") for rate, loss in at)

    unit = figure["rate_unit"]
    paint = figure["backend"] or ""
    about = spread(figure)
    return Chart(
        scope.labels[figure["configuration_id"]],
        f"{figure['shown']} {unit}{f' ({about})' if about else ''}: {wording.STATUSES.get(figure['status'], '')}.",
        f"Offered rate ({unit})",
        f"Loss ({wording.BASES[figure['loss_basis']]})",
        (Series("runs", paint, points(runs), False), Series("median", paint, points(medians), True)),
        is_loss=True,
        loss_limit=figure["loss_limit"],
    )


def seconds(scope: Scope) -> Section:
    """Return a chart per exchange of the trials behind the capacities, if they have interim lines."""
    by_id = {row["configuration_id"]: row for row in scope.rows("decisive_trials")}
    charts = [chart for each in scope.ids if each in by_id for chart in _of_trial(scope, by_id[each])]
    intro = "The trial that gives the capacity, from the run nearest to the median: packets per second as printed."
    return Section("seconds", "The capacity step, second by second", (intro, *charts) if charts else ())


def _of_trial(scope: Scope, trial: Row) -> Iterable[Chart]:
    lines, exchanges = (printable(queries.ask(scope.warehouse, name, **trial)) for name in ("intervals", "exchanges"))
    by_exchange = grouped(lines, lambda row: str(row["exchange"]))
    order = [row["exchange"] for row in exchanges]
    for exchange in sorted(by_exchange, key=lambda name: (order.index(name) if name in order else len(order), name)):
        some = by_exchange[exchange]
        series = {name: [row for row in some if row["series"] == name] for name in ("sent", "received", "drops")}
        lost = [row for row in series["drops"] if row["packets_per_s"] > 0]
        worst = max(lost, key=lambda row: row["packets_per_s"], default=None)
        told = (
            f"worst at {worst['t_s']:.0f} s, {wording.number(worst['packets_per_s'])} packets/s lost"
            if worst
            else "none lost"
        )
        yield Chart(
            f"{exchange}: {scope.labels[trial['configuration_id']]}",
            f"{wording.number(trial['offered_rate'])} {trial['rate_unit']} offered; {told}. {trial['source_path']}",
            "Time since the start (s)",
            "Packets per second",
            tuple(Series(name, name, _points(these, name), True) for name, these in series.items()),
        )


def _points(rows: Sequence[Row], name: str) -> tuple[tuple[float, float, str], ...]:
    at = ((row["t_s"], row["packets_per_s"]) for row in rows)
    return tuple((t_s, rate, f"{t_s:.0f} s: {wording.number(rate)} packets/s {name}") for t_s, rate in at)
