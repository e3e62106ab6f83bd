"""Complete measurement: interleaved runs, trials chosen by the search, all outputs stored."""

import math
import random
import shlex
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from statistics import fmean, median
from typing import Any, Final

from dropline.errors import DroplineError
from dropline.measure.bench import SSH, STOPPING, UDP_COUNTERS_OF, HookFailed, Hooks, Snapshot, ended_by, run, shell
from dropline.measure.doctor import examine
from dropline.measure.folder import Folder, Run
from dropline.measure.generator import GENERATORS, words_of
from dropline.measure.judged import Capacity, capacities
from dropline.measure.plan import Plan
from dropline.measure.search import Plan as Search
from dropline.measure.search import Trial, bracket, next_rate

_GRACE_S: Final = 60  # after its period, until a hanging generator is killed
_ATTEMPTS: Final = 4  # perfdhcp 2.2 sometimes stops because its own timestamps are out of order
_PROBE_RATE: Final = 10
_PROBE_S: Final = 1
_LIMIT_S: Final = 2.0


class _OutOfTime(Exception):
    """The time budget is too short for the next trial."""


@dataclass(slots=True)
class Outcome:
    """Result of a measurement: the folder, the expected results of a build, and why it ended early, if it did."""

    folder: Path
    found: list[Capacity]
    why_early: str = ""
    remarks: list[str] = field(default_factory=list)

    def text(self) -> str:
        """Return the result as text, one line per configuration and loss goal."""
        lines = [*map(_sentence, self.found)] or ["no run is complete"]
        early = [f"{self.why_early}; run it again to continue"] if self.why_early else []
        return "\n".join([*lines, *self.remarks, *early, f"The campaign is in {self.folder}"])


@dataclass(frozen=True, slots=True)
class Seen:
    """Progress of a measurement after a trial."""

    configuration: str  # its name; `repetition` numbers its run
    repetition: int
    rate: float  # offered in the trial
    loss: float  # ratio, on the basis of the loosest loss goal
    is_exceeding: bool  # whether the trial by itself exceeds that goal
    # the run's bracket so far by loss goal, in rates; an end is None until it is found
    brackets: dict[str, tuple[float | None, float | None]]
    done: int  # complete runs
    wanted: int  # runs in all; it grows while an interval is too wide
    left_s: float | None  # time until the wanted runs are done; None before the first one is
    flaw: str = ""  # why the trial fails regardless of its loss

    def text(self) -> str:
        """Return the progress in one line."""
        ends_by_goal = {
            goal: [f"{rate:,.0f}" if rate else "?" for rate in ends] for goal, ends in self.brackets.items()
        }
        found = ", ".join(f"{goal} between {' and '.join(ends)}" for goal, ends in ends_by_goal.items())
        left = "" if self.left_s is None else f", {self.left_s / 60:.0f} min left"
        where = f"{self.configuration} run {self.repetition}"
        return f"{where}: {self.rate:,.0f}/s lost {100 * self.loss:.2f} %{self.flaw}, {found}{left}"


def measure(plan: Plan, source: Path, folder: Path, say: Callable[[str], None], see: Callable[[Seen], None]) -> Outcome:
    """Carry out `plan`, read from the file `source`; store results in `folder`, or resume an earlier call there.

    `say` gets remarks, `see` the progress after each trial. Raise DroplineError after stopping all started processes.
    """
    target = Folder(folder)
    with target.alone(), _ended_tidily() as asked:
        return _Measurement(plan, target, say, see, asked).run(source)


@dataclass
class _Measurement:
    plan: Plan
    folder: Folder
    say: Callable[[str], None]
    see: Callable[[Seen], None]
    asked_to_end: list[int]
    took_s: list[float] = field(default_factory=list)  # per run since the start
    complete: set[Run] = field(default_factory=set)  # remembered, as each later search reads all earlier runs

    def __post_init__(self) -> None:
        self.generator = GENERATORS[self.plan.generator.tool](self.plan.generator)
        self.deadline = time.monotonic() + self.plan.within_s if self.plan.within_s else float("inf")

    def run(self, source: Path) -> Outcome:
        """Prepare the folder, run until the results are precise enough, and return them."""
        findings = examine(self.plan, source.parent)
        self.folder.prepare(self.plan, source, (f"{each.what}: {each.effect}." for each in findings))
        for finding in findings:
            self.say(f"{finding.what}: {finding.effect}")
        why = ""
        with suppress(HookFailed):  # stop leftovers of a killed measurement; usually there are none
            self._call("tear_down")
        with ended_by(lambda: self._call("tear_down")):
            self._call("set_up")
            self._collect()
            try:
                if self.folder.generator_limit() is None:
                    self._try_generator()
                for remark in self._remarks():
                    self.say(remark)
                while todo := self._next_round():
                    for each in todo:
                        self._run(each)
            except _OutOfTime:
                why = "Time is up"
        return Outcome(self.folder.root, self._judged(), why, self._remarks())

    def _call(self, hook: str) -> None:
        if command := getattr(self.plan, hook):
            shell(hook, command, self.plan.server.limit_s)

    def _collect(self) -> None:
        script = files("dropline.ingest.machines") / "collect.sh"
        for name, host in self.plan.hosts.items():
            place = self.folder.root / "machine" / name
            if place.is_dir():
                continue
            self.say(f"collecting the facts of the {name}'s machine")
            place.mkdir(parents=True)
            here = f"sh {shlex.quote(str(script))} {shlex.quote(str(place))} >/dev/null 2>&1"
            there = (
                f"{shlex.join(SSH)} {shlex.quote(host or '')} "
                "'d=$(mktemp -d) && sh -s -- $d >/dev/null 2>&1; tar -C $d -cf - . && rm -r $d' "
                f"< {shlex.quote(str(script))} | tar -C {shlex.quote(str(place))} -xf -"
            )
            shell("collect.sh", there if host else here, limit_s=300)

    def _try_generator(self) -> None:
        """Find the highest rate that the generator can send, once, by a trial at the end of the range."""
        highest = self.plan.rates.highest
        with self._hooks(next(iter(self.plan.configurations))).serving(self._answers):
            trial = self._tried(highest, _LIMIT_S)
        self.folder.keep_generator_limit(trial.sent_rate if trial and trial.is_limited else highest)

    def _highest(self) -> int:
        limit = self.folder.generator_limit() or math.inf
        return max(self.plan.rates.lowest, int(min(limit, self.plan.rates.highest)))

    def _next_round(self) -> list[Run]:
        """Return the runs of the next round, one of each configuration, or none if the results are precise enough.

        All configurations continue until the last interval is narrow, so that drift of the machine affects all alike.
        """
        complete, runs = self.folder.runs(self.plan), self.plan.runs
        for repetition in range(1, runs.at_most + 1):
            names = list(self.plan.configurations)
            if self.plan.order == "shuffled":
                random.Random(f"{self.plan.seed} {repetition}").shuffle(names)  # noqa: S311 - no secret
            todo = [Run(name, repetition) for name in names if not self._is_complete(Run(name, repetition), complete)]
            if todo and repetition > runs.at_least and len(todo) == len(names):
                # More runs would not turn a bound into an interval.
                found = [each for each in self._judged() if each.rate is not None]
                return [] if all(each.width is not None and each.width <= runs.width for each in found) else todo
            if todo:
                return todo
        return []

    def _is_complete(self, each: Run, begun: list[Run]) -> bool:
        if each not in self.complete and each in begun and self._next_rate(each) is None:
            self.complete.add(each)
            self.folder.finish(each)
        return each in self.complete

    def _next_rate(self, each: Run) -> int | None:
        return next_rate(self._trials(each), self.plan.loss_goals, self._search(each))

    def _search(self, each: Run) -> Search:
        """Return the search plan of a run: around earlier results, with its own random grid phase."""
        earlier = (Run(each.configuration, repetition) for repetition in range(1, each.repetition))
        brackets = (bracket(self._trials(run), self.plan.loss_goals[0]) for run in earlier)
        found = [(passing * exceeding) ** 0.5 for passing, exceeding in brackets if passing and exceeding]
        phase = random.Random(f"{self.plan.seed} {each}").random()  # noqa: S311 - no secret
        expected, lowest = median(found) if found else None, self.plan.rates.lowest
        return Search(lowest, self._highest(), self.plan.width, expected, phase, self.generator.can_send)

    def _run(self, each: Run) -> None:
        began = time.monotonic()
        hooks = self._hooks(each.configuration)
        with hooks.serving(self._answers):
            if self.plan.warm_up_s and (rate := self._next_rate(each)):
                run(self._command(rate, self.plan.warm_up_s), self.plan.warm_up_s + _GRACE_S)
            while (rate := self._next_rate(each)) is not None:
                if self._is_tried(each, rate, hooks):
                    self.see(self._seen(each))
        self.took_s.append(time.monotonic() - began)

    def _hooks(self, configuration: str) -> Hooks:
        return Hooks(self.plan.server_of(configuration), self.folder.of(configuration))

    def _answers(self) -> bool:
        trial = self._tried(_PROBE_RATE, _PROBE_S)
        return trial is not None and trial.achieved > 0

    def _tried(self, rate: int, duration_s: float) -> Trial | None:
        done = run(self._command(rate, duration_s), duration_s + _GRACE_S)
        return self.generator.read(done.output, rate, self.generator.sidecar(rate, duration_s, done.exit_code))

    def _is_tried(self, each: Run, rate: int, hooks: Hooks) -> bool:
        """Run a trial and store it; retry if the generator fails.

        A generator that cannot send faster than in earlier trials is at its limit.
        """
        command = self._command(rate, self.plan.trial_s)
        for _ in range(_ATTEMPTS):
            if time.monotonic() + self.plan.pause_s + self.plan.trial_s > self.deadline:
                raise _OutOfTime
            if self.asked_to_end:
                raise KeyboardInterrupt
            time.sleep(self.plan.pause_s)
            hooks.call("reset")
            counters, before, began = hooks.call("counters"), self._snapshot(hooks), datetime.now(UTC)
            done = run(command, self.plan.trial_s + _GRACE_S)
            ended, after = datetime.now(UTC), self._snapshot(hooks)
            hooks.see_alive()
            sidecar: dict[str, Any] = {
                **self.plan.defaults_of(each.configuration),
                **{"repetition": each.repetition, "offered_rate": rate, "command": shlex.join(command)},
                **{"exit_code": done.exit_code, "started_at": began.isoformat(), "ended_at": ended.isoformat()},
                **self.generator.sidecar(rate, self.plan.trial_s, done.exit_code),
                **before.until(after),
            }
            if "testbed" not in sidecar:
                sidecar["host"] = self.plan.server.host or socket.gethostname()
            if counters:
                sidecar["counters_before"] = counters.decode("utf-8", "replace")
                sidecar["counters_after"] = hooks.call("counters").decode("utf-8", "replace")
            trial = self.generator.read(done.output, rate, sidecar)
            self.folder.keep(each, rate, done.output, sidecar, trial)
            if trial:
                return True
            self.say(f"{each.configuration} run {each.repetition}: the trial at {rate:,}/s failed; trying again")
        fastest = max((trial.rate for trial in self._trials(each)), default=0)
        if self.generator.needs_counters and 0 < fastest < rate:
            self.folder.keep_generator_limit(fastest)
            return False
        raise DroplineError(
            f"{each.configuration}: the generator failed {_ATTEMPTS} times at {rate:,}/s: {shlex.join(command)}\n"
            f"    {done.output[-500:].decode('utf-8', 'replace')}"
        )

    def _snapshot(self, hooks: Hooks) -> Snapshot:
        words = words_of(self.plan.generator, [*UDP_COUNTERS_OF]) if self.generator.needs_counters else []
        return Snapshot.take(hooks.pid, words)

    def _command(self, rate: int, duration_s: float) -> list[str]:
        return words_of(self.plan.generator, self.generator.command(rate, duration_s))

    def _trials(self, each: Run) -> list[Trial]:
        return self.folder.trials(each, self.generator)

    def _seen(self, each: Run) -> Seen:
        trials, goals = self._trials(each), self.plan.loss_goals
        last = trials[-1]
        begun = self.folder.runs(self.plan)
        done = sum(self._is_complete(run, begun) for run in begun)
        in_round = len(self.plan.configurations)
        wanted = in_round * max(self.plan.runs.at_least, math.ceil((done + 1) / in_round))
        return Seen(
            each.configuration,
            each.repetition,
            last.rate,
            last.losses[goals[0].basis],
            last.exceeds(goals[0]),
            {goal.name: bracket(trials, goal) for goal in goals},
            done,
            wanted,
            fmean(self.took_s) * (wanted - done) if self.took_s else None,
            " but fell behind" if last.is_unsustained else " but failed" if last.errors > goals[0].error_limit else "",
        )

    def _judged(self) -> list[Capacity]:
        runs = self.folder.runs(self.plan)
        complete = [each for each in runs if self._is_complete(each, runs)]
        in_time = sorted(complete, key=self.folder.begun_at)
        numbered = [(each.configuration, number, self._trials(each)) for number, each in enumerate(in_time)]
        return capacities(numbered, self.plan.loss_goals, self.plan.method)

    def _remarks(self) -> list[str]:
        if self._highest() == self.plan.rates.highest:
            return []
        return [f"The generator can send only {self._highest():,}/s, so the search ends there."]


def _sentence(found: Capacity) -> str:
    name = f"{found.configuration}, {found.goal}, {found.runs} run{'s' * (found.runs != 1)}: "
    low, high = (f"{rate:,.0f}" if rate is not None else "?" for rate in (found.low, found.high))
    if found.rate is None and found.high is None:
        return f"{name}above {low}/s: a run ended before its limit; raise `to`, or use a faster generator"
    if found.rate is None:
        return f"{name}below {high}/s: a run lost too much at its first rate; lower `from`, or see what disturbed it"
    return f"{name}{found.rate:,.0f}/s, {'95 %' if found.is_confidence else 'bracket'} [{low}, {high}]"


@contextmanager
def _ended_tidily() -> Iterator[list[int]]:
    """Treat SIGTERM like Ctrl-C, so that all started processes are stopped; yield a list of the signals so far.

    The list is needed because libraries swallow or replace exceptions that a signal handler raises in their callbacks.
    """
    seen: list[int] = []

    def interrupt(number: int, _: object) -> None:
        seen.append(number)
        raise KeyboardInterrupt

    asked = (number for number in STOPPING if signal.getsignal(number) is not signal.SIG_IGN)  # nohup ignores one
    before = {number: signal.signal(number, interrupt) for number in asked}
    try:
        yield seen
    except Exception:
        if seen:
            raise KeyboardInterrupt from None
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
