"""Simulated campaigns and their measurements as numbers, which trees.py renders.

One testbed measures 50 weeks, one campaign a week, then the next testbed follows; the server's version rises every six
weeks. Servers behave as queues of 64 places with one service (M/M/1/K), so the loss grows beyond the capacity as in
reality, and the truth is known. With the same seed, a smaller number of trials is a prefix of any larger one.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Counts = NDArray[np.int64]

ROOT: Final = Path(__file__).parent.parent
SEED: Final = 2544
INTERIMS: Final = 9  # one per second in a trial of ten seconds
REPETITIONS: Final = 9  # like ISC's measurements; seven of them count
# Offered rates in capacities of the setup on this testbed. The server's version moves the truth from 0.93 to 1.14.
RAMP: Final = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.94, 0.98, 1.02, 1.06, 1.1, 1.15, 1.25, 1.4)
PLACES: Final = 64  # in the queue
GAP_S: Final = 3.0  # between two trials
FAILED_RATIO: Final = 0.005  # of the trials needed two attempts
WEEKS: Final = 50
FIRST_DAY: Final = datetime(2022, 1, 3, 6, tzinfo=UTC)
VERSION_WEEKS: Final = 6


class Version(NamedTuple):
    """A release of both servers, and its factor on every capacity: invented, to give the trends steps."""

    kea: str
    powerdns: str
    factor: float


VERSIONS: Final = (
    Version("2.2.0", "4.7.3", 1.0),
    Version("2.3.8", "4.7.4", 1.0),
    Version("2.4.0", "4.8.0", 1.06),
    Version("2.4.1", "4.8.4", 1.06),
    Version("2.6.0", "4.9.0", 0.93),
    Version("2.6.1", "4.9.1", 1.03),
    Version("2.6.2", "4.9.4", 1.03),
    Version("2.7.9", "5.0.0", 1.14),
    Version("3.0.0", "5.0.1", 1.10),
)


class Setup(NamedTuple):
    """One configuration of a campaign: the folder of its runs, and its capacity per second on an average testbed."""

    folder: str
    capacity: float


@dataclass(frozen=True)
class Kind:
    """The subject of a campaign, the real campaign it is rendered from, and its description."""

    name: str
    example: Path
    setups: tuple[Setup, ...]
    title: str
    path: str
    tool: str = "perfdhcp"
    exchanges: int = 2


# The capacities are close to those of examples/.
BACKENDS: Final = Kind(
    "backends",
    ROOT / "examples" / "kea-2.2-backends",
    (
        Setup("v4_st_memfile_none", 16400),
        Setup("v4_mt4_memfile_none", 9800),
        Setup("v4_st_mysql_none", 1550),
        Setup("v4_mt4_mysql_none", 1450),
        Setup("v4_st_postgresql_none", 2100),
        Setup("v4_mt4_postgresql_none", 1600),
        Setup("v6_st_memfile_none", 19400),
        Setup("v6_mt4_memfile_none", 9900),
    ),
    "Kea by lease backend and threading",
    "runs/{protocol}_{threading}_{backend}_{ha_mode}/rep{repetition}/rate{offered_rate}.txt",
)
HA: Final = Kind(
    "ha",
    ROOT / "examples" / "kea-2.2-ha",
    (
        Setup("v4_st_memfile_hot-standby", 1150),
        Setup("v4_mt4_memfile_hot-standby", 1600),
        Setup("v4_st_memfile_load-balancing", 900),
        Setup("v4_mt4_memfile_load-balancing", 1450),
    ),
    "Kea with high availability",
    BACKENDS.path,
)
DNS: Final = Kind(
    "dns",
    ROOT / "tests" / "captures" / "dns" / "tools" / "dnsperf-ramp",
    (
        Setup("random-names/lmdb", 9000),
        Setup("random-names/mysql", 2600),
        Setup("few-names/lmdb", 21000),
        Setup("few-names/mysql", 14000),
    ),
    "PowerDNS with LMDB and MySQL",
    "{scenario}/{backend}/r{repetition}/{offered_rate}qps/{_}",
    tool="dnsperf",
    exchanges=1,
)
CYCLE: Final = (HA, DNS, BACKENDS, BACKENDS, BACKENDS, BACKENDS)


class Campaign(NamedTuple):
    """One campaign with `trials` that count, each with `interims` interim lines."""

    number: int
    seed: int
    kind: Kind
    trials: int
    interims: int

    @property
    def testbed(self) -> str:
        """The name of the machine."""
        return f"testbed-{self.number // WEEKS:02}"

    @property
    def week(self) -> int:
        """The week, from 0: the index of the campaign on its testbed."""
        return self.number % WEEKS

    @property
    def version(self) -> Version:
        """The release of the server."""
        return VERSIONS[self.week // VERSION_WEEKS]

    @property
    def began(self) -> datetime:
        """When the first trial began."""
        return FIRST_DAY + timedelta(weeks=self.week)

    @property
    def name(self) -> str:
        """The name of the campaign in the lake."""
        return f"{self.testbed}-week-{self.week:02}-{self.kind.name}"

    @property
    def period_s(self) -> int:
        """How long each trial offers load."""
        return self.interims + 1

    @property
    def size(self) -> int:
        """The number of trials, including those that do not count."""
        return len(self.kind.setups) * REPETITIONS * len(RAMP)

    @property
    def nominal(self) -> Floats:
        """The capacity of each setup per second on this testbed, without the version's factor."""
        of_testbed = np.random.default_rng([self.seed, 1, self.number // WEEKS]).uniform(0.6, 1.8)
        return np.array([setup.capacity for setup in self.kind.setups]) * of_testbed

    @property
    def truth(self) -> Floats:
        """The capacity of each setup per second."""
        return self.nominal * self.version.factor


def campaigns(trials: int, seed: int = SEED, interims: int = INTERIMS) -> Iterator[Campaign]:
    """Yield campaigns with the given total number of trials; the last one is shortened to fit."""
    number = 0
    while trials > 0:
        whole = Campaign(number, seed, CYCLE[number % len(CYCLE)], 0, interims)
        yield whole._replace(trials=min(trials, whole.size))
        number, trials = number + 1, trials - whole.size


@dataclass(frozen=True)
class Trials:
    """The data of a campaign's trials: the last axis is the trial, the one before it the exchange.

    Attributes:
        number: of the trial in its campaign.
        setup: index of the setup in the campaign's kind.
        repetition: of the setup, from 1.
        step: of the ramp, from 0.
        offered: per second.
        sent: requests of each exchange; those of the second are the answers of the first.
        received: answers of each exchange.
        sent_by: requests so far, at each interim line.
        received_by: answers so far, at each interim line.
        delays_ms: min, avg, max and standard deviation.
        busy_ratio: share of the time that the server was busy.
        started_at: to the microsecond.
        elapsed_s: wall time of the trial.
        failed: result of an earlier attempt: 0 none, 1 a truncated report, 2 nothing, 3 something else.

    """

    number: Counts
    setup: Counts
    repetition: Counts
    step: Counts
    offered: Counts
    sent: Counts
    received: Counts
    sent_by: Counts
    received_by: Counts
    delays_ms: Floats
    busy_ratio: Floats
    started_at: NDArray[np.datetime64]
    elapsed_s: Floats
    failed: Counts

    @property
    def ended_at(self) -> NDArray[np.datetime64]:
        """When the trial ended, to the microsecond."""
        return self.started_at + _microseconds(self.elapsed_s)

    def chosen(self, places: Counts | NDArray[np.bool_]) -> Trials:
        """Return the trials at some indices, or those selected by a mask."""
        return Trials(*(getattr(self, field.name)[..., places] for field in fields(self)))


def measure(campaign: Campaign, again: int = 0) -> Trials:
    """Return the trials that count; `again` is how many times the campaign measured them before."""
    draw = np.random.default_rng([campaign.seed, 2, campaign.number, again])
    runs, period_s = len(campaign.kind.setups) * REPETITIONS, campaign.period_s
    number = np.arange(runs * len(RAMP))
    run, step = np.divmod(number, len(RAMP))
    setup = run // REPETITIONS
    # A run varies by 1.5 %, a trial by 0.4 %; one run in a hundred is disturbed by other load on the machine.
    of_run = draw.normal(1, 0.015, runs) * np.where(draw.random(runs) < 0.01, draw.uniform(0.7, 0.9, runs), 1)
    capacity = campaign.truth[setup] * of_run[run] * draw.normal(1, 0.004, len(number))
    offered = _rounded(campaign.nominal[setup] * np.array(RAMP)[step])
    sent, received, delays_ms = [offered * period_s - draw.integers(0, 3, len(number))], [], []
    for exchange in range(campaign.kind.exchanges):
        loss, wait_ms = _queue(sent[exchange] / period_s / capacity, campaign.kind.exchanges * capacity)
        received.append(sent[exchange] - draw.binomial(sent[exchange], loss))
        sent.append(received[exchange])
        delays_ms.append(_delays(draw, wait_ms))
    # Answers not yet counted in one line may be counted in the next.
    lines = np.arange(1, campaign.interims + 1)[:, None]
    share = (lines + draw.uniform(-0.3, 0.3, (len(lines), len(number)))) / period_s
    sent_by = [(sent[0] * lines / period_s).astype(np.int64)]
    for asked, answered in zip(sent, received, strict=False):
        sent_by.append(sent_by[-1] - ((asked - answered) * share).astype(np.int64))
    started_s = number * (period_s + GAP_S) + draw.uniform(0, 0.5, len(number)) + again * 86_400
    return Trials(
        number=number,
        setup=setup,
        repetition=run % REPETITIONS + 1,
        step=step,
        offered=offered,
        sent=np.array(sent[:-1]),
        received=np.array(received),
        sent_by=np.stack(sent_by[:-1], axis=1),
        received_by=np.stack(sent_by[1:], axis=1),
        delays_ms=np.stack(delays_ms, axis=1),
        busy_ratio=np.minimum(offered / capacity, 1),
        started_at=np.datetime64(campaign.began.replace(tzinfo=None)) + _microseconds(started_s),
        elapsed_s=period_s + draw.uniform(0.0005, 0.02, len(number)),
        failed=np.where(draw.random(len(number)) < FAILED_RATIO, draw.integers(1, 4, len(number)), 0),
    ).chosen(number[: campaign.trials])


def _microseconds(seconds: Floats) -> NDArray[np.timedelta64]:
    return (1e6 * seconds).astype("timedelta64[us]")


def _rounded(rates: Floats) -> Counts:
    """Round rates as people do: to multiples of 10, or of 50 from 3000 on."""
    unit = np.where(rates < 3000, 10, 50)
    return (np.round(rates / unit) * unit).astype(np.int64)


def _queue(load: Floats, capacity: Floats) -> tuple[Floats, Floats]:
    """Return loss ratio and mean time in ms of a server for `capacity` requests per second at an offered `load`.

    An M/M/1/K queue (Kleinrock, Queueing Systems, volume 1, 1975, section 3.6): the probability of n requests is
    proportional to load^n, requests that find all places taken are lost, and Little's law gives the time.
    """
    places = np.arange(PLACES + 1)[:, None]
    chance = load**places
    chance /= chance.sum(axis=0)
    served = load * (1 - chance[-1]) * capacity
    return chance[-1], 1000 * (chance * places).sum(axis=0) / served


def _delays(draw: np.random.Generator, mean_ms: Floats) -> Floats:
    """Return min, avg, max and standard deviation in ms, rounded to microseconds as printed."""
    low, high = np.array([[0.05, 1, 3, 0.6], [0.3, 1, 9, 1]])[:, :, None]
    return np.maximum(np.round(mean_ms * draw.uniform(low, high, (4, len(mean_ms))), 3), 0.001)
