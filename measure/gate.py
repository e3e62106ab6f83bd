"""Release gate: whether the newest measurement is slower than a baseline, and how certain that is."""

import html
import math
import re
from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from typing import Final, NamedTuple
from xml.etree import ElementTree

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.special import stdtrit

from dropline.errors import DroplineError
from dropline.measure.macros import looked_up, query

Ask = Callable[..., pa.Table]  # SQL and its parameters, as `Warehouse.query` takes them

LEVEL: Final = 0.05
SPLITS: Final = 400
_MOST_RUNS: Final = 1000  # that the advice asks for
_FEWEST: Final = 4  # runs, so that both halves have a spread
_WORDS: Final = re.compile(r"slower by (\d+(?:\.\d+)?) ?%")


class Verdict(IntEnum):
    """The verdict of a comparison; the number is the exit code."""

    PASSED = 0
    SLOWER = 1
    UNKNOWN = 2


class Pair(NamedTuple):
    """A candidate compared with its baseline: the ratio of their rates, its 95 % interval, its corrected p value.

    If one ramp ended too soon, the interval has only one end. `width_by_steps` is the part of its width, on the log
    scale, that comes from the distance of the steps, which more runs do not reduce; `outliers` are runs that failed
    early and do not count; `machines_differ_in` names the differences of the machines; `series_variation` is the
    relative standard deviation between campaigns, which more runs do not reduce either.
    """

    configuration: str
    runs: int | None
    baseline_runs: int | None
    ratio: float | None
    low: float | None
    high: float | None
    p_value: float | None
    width_by_steps: float | None = None
    outliers: int = 0
    baseline_outliers: int = 0
    machines_differ_in: str | None = None
    series_variation: float | None = None

    def verdict(self, drop: float) -> Verdict:
        """Return `slower` if the ratio is significant and beyond `drop`, `passed` if the interval excludes `drop`."""
        is_real = self.p_value is not None and self.p_value <= LEVEL
        ratio = self.high if self.ratio is None else self.ratio
        if is_real and self.high is not None and self.high < 1 and ratio is not None and ratio <= 1 - drop:
            return Verdict.SLOWER
        return Verdict.PASSED if self.low is not None and self.low > 1 - drop else Verdict.UNKNOWN

    def runs_missing(self, drop: float) -> int | None:
        """Return how many more runs per side would decide if the ratio stays the same; None if no number would.

        With more runs, both the error and Student's t shrink.
        """
        if not (self.ratio and self.low and self.high and self.runs and self.baseline_runs) or self.series_variation:
            return None
        runs, by_steps = min(self.runs, self.baseline_runs), (self.width_by_steps or 0.0) / 2
        margin = math.log(self.ratio / (1 - drop) if self.ratio > 1 - drop else 1 / self.ratio) - by_steps
        spread = (math.log(self.high / self.low) / 2 - by_steps) / _half_width(runs)
        enough = (more for more in range(1, _MOST_RUNS) if max(spread, 0) * _half_width(runs + more) < margin)
        return next(enough, None)


def _half_width(runs: int) -> float:
    """Return the half-width of the interval of a difference of two means, in standard deviations of a run."""
    return float(stdtrit(2 * runs - 2, (2 - LEVEL) / 2)) * math.sqrt(2 / runs)


class Judged(NamedTuple):
    """A pair and its verdict."""

    pair: Pair
    verdict: Verdict
    says: str


def parsed(condition: str) -> float:
    """Return the drop in `--fail-if` as a ratio; raise DroplineError if it cannot be read."""
    if not (match := _WORDS.fullmatch(condition.strip())) or not 0 < float(match[1]) < 100:
        raise DroplineError(f"--fail-if {condition!r}: expected `slower by N %`, such as 'slower by 3 %'")
    return float(match[1]) / 100


def judge(ask: Ask, baseline: str, candidate: str | None, drop: float, goal: str | None) -> list[Judged]:
    """Compare every configuration of the candidate with the same one of the baseline, else raise DroplineError.

    Both are versions or campaigns; by default, the candidate is the last one measured, the goal each one's usual.
    """
    _require(ask, goal)
    candidate = candidate or newest(ask, baseline)
    if not ask("select 1 from capacity where origin = 'measured' limit 1").num_rows:
        raise DroplineError(
            "no capacity at a loss goal has been measured here: ingest runs of both versions with trials at several "
            "set rates, then build"
        )
    if candidate == baseline:
        raise DroplineError(f"{baseline!r} cannot be compared with itself: name another candidate")
    asked = {"baseline": baseline, "candidate": candidate, "goal": goal}
    pairs = [Pair(**row) for row in ask(query("warehouse/pairs"), asked).to_pylist()]
    if not pairs:
        sql = "select distinct unnest([campaign, product_version]) from capacity where origin = 'measured'"
        known = {str(each) for each in ask(sql).column(0).to_pylist() if each}
        for each in [name for name in (baseline, candidate) if name not in known]:
            raise DroplineError(f"no version or campaign called {each!r} was measured; `dropline status` lists them")
        judged_at = f"the loss goal {goal!r}" if goal else "the usual loss goal"
        raise DroplineError(
            f"no configuration of {candidate!r} was also measured in {baseline!r} at {judged_at}: both must have "
            "the same backend, threads, high availability, testbed, generator and options, and either set rates or "
            "`--goal throughput`"
        )
    return [Judged(pair, verdict := pair.verdict(drop), _sentence(pair, verdict, drop)) for pair in pairs]


def newest(ask: Ask, baseline: str) -> str:
    """Return the last campaign measured other than the baseline, or the baseline if there is no other."""
    found = ask(query("warehouse/newest"), {"baseline": baseline}).column(0).to_pylist()
    return str(found[0]) if found else baseline


def _require(ask: Ask, goal: str | None) -> None:
    known = ask("select loss_goal from loss_goals where loss_goal <> 'unstated'").column(0).to_pylist()
    if goal not in {None, *known}:
        raise DroplineError(f"there is no loss goal {goal!r}; the goals are {', '.join(known)}")


def _percent(ratio: float) -> str:
    """Return a change in percent, rounded without crossing zero."""
    change = 100 * ratio - 100
    return f"{change:+z.1f} %" if abs(change) >= 0.05 or abs(change) < 1e-9 else f"{change:+.1g} %"


def _sentence(pair: Pair, verdict: Verdict, drop: float) -> str:
    ends = [None if end is None else _percent(end) for end in (pair.low, pair.high)]
    if not any(ends):
        return "cannot tell: one side has fewer than two runs that reach the limit"
    figure, remedy = (f"at least {ends[0]}" if ends[0] else f"at most {ends[1]}"), "begin lower and end higher"
    if all(ends):
        figure = f"between {ends[0]} and {ends[1]}"
    if pair.ratio is not None and all(ends):
        figure = f"{_percent(pair.ratio)}, 95 % [{ends[0]}, {ends[1]}]"
        remedy = "use smaller steps"
        if pair.series_variation:
            figure += f"; campaigns vary by {100 * pair.series_variation:.2g} % more than their runs explain"
            remedy = "measure both sides in turn, in one campaign"
        elif missing := pair.runs_missing(drop):
            remedy = f"it takes about {missing} more run{'s' * (missing > 1)} of each side"
    runs, baseline_runs = pair.runs or 1, pair.baseline_runs or 1
    if pair.outliers / runs > pair.baseline_outliers / baseline_runs:
        figure += (
            f"; {pair.outliers} of {runs} runs are far below the others and do not count, "
            f"{pair.baseline_outliers} of {baseline_runs} of the baseline"
        )
    if pair.machines_differ_in:
        figure += f"; the machines differ ({pair.machines_differ_in}), which may be the cause"
    if verdict is Verdict.UNKNOWN:
        return f"cannot tell: {figure}; {remedy}"
    return f"{'slower' if verdict is Verdict.SLOWER else 'passed'}: {figure}"


def exit_code(judged: Iterable[Judged]) -> int:
    """Return 1 if anything is slower, 2 if anything is undecided, else 0."""
    verdicts = {each.verdict for each in judged}
    return int(next(v for v in (Verdict.SLOWER, Verdict.UNKNOWN, Verdict.PASSED) if v in verdicts))


def markdown(judged: Sequence[Judged], condition: str) -> str:
    """Return a Markdown table for a pull request."""
    cells = ((each.pair.configuration, each.pair.runs, each.pair.baseline_runs, each.says) for each in judged)
    rows = [f"| {' | '.join(html.escape(str(cell)).replace('|', '&#124;') for cell in row)} |" for row in cells]
    head = ["| configuration | runs | baseline runs | verdict |", "|---|---|---|---|"]
    kinds = [each.says.partition(":")[0] for each in judged]
    counts = ", ".join(f"{kinds.count(each)} {each}" for each in ("slower", "cannot tell", "passed") if each in kinds)
    return "\n".join([f"Fails if {condition}: {counts}.", "", *head, *rows])


def junit(judged: Sequence[Judged], condition: str) -> str:
    """Return JUnit XML: a failure for each slower pair, a skipped test for each undecided one."""
    counts = {verdict: str(sum(each.verdict is verdict for each in judged)) for verdict in Verdict}
    counted = {"tests": str(len(judged)), "failures": counts[Verdict.SLOWER], "skipped": counts[Verdict.UNKNOWN]}
    suite = ElementTree.Element("testsuite", {"name": f"dropline gate: {condition}", **counted})
    for each in judged:
        case = ElementTree.SubElement(suite, "testcase", classname="dropline.gate", name=each.pair.configuration)
        if each.verdict is not Verdict.PASSED:
            kind = "failure" if each.verdict is Verdict.SLOWER else "skipped"
            ElementTree.SubElement(case, kind, message=each.says)
    return ElementTree.tostring(suite, "unicode", xml_declaration=True) + "\n"


def self_test(ask: Ask, baseline: str, drop: float, goal: str | None) -> str:
    """Compare random halves of the baseline's runs, and return the share of false alarms and of drops found.

    Both halves are the same server, so every `slower` is a false alarm. Then one half is slowed down.
    """
    _require(ask, goal)
    runs = ask(query("warehouse/runs"), {"baseline": baseline, "goal": goal})
    lines = []
    names = zip(runs.column("configuration").to_pylist(), runs.column("configuration_id").to_pylist(), strict=True)
    for configuration, its_id in sorted({*names}):
        own = runs.filter(pc.equal(runs.column("configuration_id"), its_id)).drop_columns("configuration_id")
        if own.num_rows < _FEWEST:
            continue
        alarms, found = (share_slower(own, drop, factor) for factor in (1.0, 1 - drop - 0.02))
        lines.append(
            f"{configuration}: {own.num_rows // 2} runs against {own.num_rows // 2}, {SPLITS} times: "
            f"{100 * alarms:.1f} % false alarms; a drop of {100 * drop + 2:.0f} % was found in {100 * found:.0f} %"
        )
    if not lines:
        raise DroplineError(f"no configuration of {baseline!r} has {_FEWEST} runs; measure more")
    return "\n".join(lines)


def share_slower(runs: pa.Table, drop: float, factor: float) -> float:
    """Return the share of splits in which a random half of `runs`, scaled by `factor`, is judged slower."""
    noise = np.random.default_rng(1983)
    half = runs.num_rows // 2
    orders = [noise.permutation(runs.num_rows)[: 2 * half] for _ in range(SPLITS)]
    splits = pa.table(
        {
            "place": np.concatenate(orders),
            "split": np.repeat(np.arange(2 * SPLITS), half),
            "factor": np.tile(np.repeat([1.0, factor], half), SPLITS),
        }
    )
    numbered = runs.append_column("place", pa.array(range(runs.num_rows)))
    with duckdb.connect() as connection:
        connection.register("numbered", numbered)
        connection.register("splits", splits)
        connection.execute(looked_up())
        found = connection.execute(query("models/splits")).fetchall()
    pairs = [Pair("split", half, half, *row) for row in found]
    return sum(pair.verdict(drop) is Verdict.SLOWER for pair in pairs) / SPLITS
