"""plan.yaml: what to measure, with which generator and for how long, and how to start and stop the servers."""

import csv
import re
import shutil
import subprocess
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from dropline.errors import DroplineError
from dropline.ingest.campaign import MAX_BYTES, Defaults, Method, Slug, Text, Words, explain, read_yaml
from dropline.measure.search import Goal

FILE_NAME: Final = "plan.yaml"
_GOALS: Final = Path(__file__).parent.parent / "seeds" / "loss_goals.csv"
_PLANS: Final = Path(__file__).parent / "plans"
_VERSIONS: Final = {"kea": ["kea-dhcp4", "-v"], "kea6": ["kea-dhcp6", "-v"], "powerdns": ["pdns_server", "--version"]}
PRODUCTS: Final = tuple(sorted(each.name for each in _PLANS.iterdir()))  # for which there is a first plan

Command = Annotated[str, Field(min_length=1, max_length=4000)]
Seconds = Annotated[float, Field(gt=0, le=86_400)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Generator(_Strict):
    """The load generator, and the host it runs on."""

    tool: Literal["perfdhcp", "dnsperf", "dnsblast"]
    target: Words  # address of the server, or whatever the tool takes for it
    arguments: tuple[Words, ...] = ()
    prefix: Annotated[str, Field(max_length=1000)] = ""  # words before the command, such as `ip netns exec clients`
    host: Words | None = None  # host to run it on, by ssh; default: this machine

    @model_validator(mode="after")
    def _has_only_what_it_takes(self) -> Self:
        if self.tool == "dnsblast" and self.arguments:
            raise ValueError("dnsblast takes no `arguments`: leave them out")
        return self


class Server(_Strict):
    """Shell commands around a run, each with a time limit; `{folder}` is the folder of the configuration's files."""

    host: Words | None = None  # host to run them on, by ssh; default: this machine
    serve: Command | None = None  # the server in the foreground; stopped after the run
    start: Command | None = None  # starts the server and returns; before each run
    ready: Command | None = None  # succeeds once the server answers; default: a short trial
    reset: Command | None = None  # before each trial: removes leases, cools or warms caches
    counters: Command | None = None  # prints the server's counters; runs before and after each trial
    stop: Command | None = None  # after each run, and before the first
    limit_s: Seconds = 60.0


class Rates(_Strict):
    """Range of offered rates of the search, per second."""

    lowest: Annotated[int, Field(ge=1, alias="from")]
    highest: Annotated[int, Field(ge=2, alias="to")]

    @model_validator(mode="after")
    def _rises(self) -> Self:
        if self.lowest >= self.highest:
            raise ValueError("`from` must be below `to`")
        return self


class Runs(_Strict):
    """Number of runs per configuration, within which the interval must become narrow enough."""

    at_least: Annotated[int, Field(ge=1, le=1000)] = 5
    at_most: Annotated[int, Field(ge=1, le=1000)] = 15
    width: Annotated[float, Field(gt=0, lt=1)] = 0.05  # wanted width of the 95 % interval, as a share of the rate

    @model_validator(mode="after")
    def _rises(self) -> Self:
        if self.at_least > self.at_most:
            raise ValueError("`at_least` must not be above `at_most`")
        return self


class Configuration(_Strict):
    """A configuration to compare; its settings override those of the plan."""

    defaults: Defaults = Defaults()  # type: ignore[valid-type]
    files: tuple[Words, ...] = ()  # the server's configuration files, relative to the plan
    server: Server = Server()


class Plan(_Strict):
    """The contents of a plan.yaml."""

    campaign: Slug
    title: Text | None = None
    generator: Generator
    goals: Annotated[tuple[Words, ...], Field(min_length=1)] | None = None  # isc for perfdhcp, permille for DNS
    rates: Rates
    trial_s: Annotated[float, Field(ge=1, le=3600)] = 10.0
    warm_up_s: Annotated[float, Field(ge=0, le=3600)] = 3.0
    pause_s: Annotated[float, Field(ge=0, le=3600)] = 1.0
    # width of the bracket at which a run stops, as a share of the rate; default: the wanted width, at most 5 %
    bracket: Annotated[float, Field(gt=0, lt=1)] | None = None
    runs: Runs = Runs()
    order: Literal["in turn", "shuffled"] = "in turn"
    seed: int = 1
    within_s: Annotated[float, Field(gt=0)] | None = None  # time limit for one call
    method: Method = Method()
    set_up: Command | None = None  # runs once before everything else, e.g. to create a network
    tear_down: Command | None = None  # runs once at the end, even after a failure, and before `set_up`
    defaults: Defaults = Defaults()  # type: ignore[valid-type]
    server: Server = Server()
    configurations: Annotated[dict[Slug, Configuration], Field(min_length=1, max_length=100)]

    @field_validator("goals")
    @classmethod
    def _are_known(cls, goals: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if unknown := [name for name in goals or () if name not in known_goals()]:
            raise ValueError(f"there is no loss goal {unknown[0]!r}; the goals are {', '.join(known_goals())}")
        return goals

    @model_validator(mode="after")
    def _starts_servers_in_one_way(self) -> Self:
        for name in self.configurations:
            server = self.server_of(name)
            if server.serve and server.start:
                raise ValueError(
                    f"{name} has `serve` and `start`: a server runs in the foreground or is started, not both"
                )
        return self

    @property
    def width(self) -> float:
        """Width of a run's final bracket divided by the rate."""
        return self.bracket or min(0.05, self.runs.width)

    @property
    def loss_goals(self) -> list[Goal]:
        """Loss goals with their definitions, the loosest first."""
        names = self.goals or (["isc"] if self.generator.tool == "perfdhcp" else ["permille"])
        goals = (replace(known_goals()[name], exceed_ratio=self.method.exceed_ratio) for name in names)
        return sorted(goals, key=lambda goal: -goal.limit)

    @property
    def hosts(self) -> dict[str, str | None]:
        """Roles of the bench's machines and their ssh hosts; a machine with both roles is the server."""
        hosts = {"server": self.server.host, "generator": self.generator.host}
        return hosts if len({*hosts.values()}) > 1 else {"server": self.server.host}

    def server_of(self, configuration: str) -> Server:
        """Return the hooks of a configuration: its own, else the plan's."""
        own = self.configurations[configuration].server
        return self.server.model_copy(update={name: getattr(own, name) for name in own.model_fields_set})

    def defaults_of(self, configuration: str) -> dict[str, Any]:
        """Return the defaults of a configuration's trials."""
        values = [*self.defaults, *self.configurations[configuration].defaults]
        return {name: value for name, value in values if value is not None}

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a plan.yaml and check that its files exist; raise DroplineError if it is unusable."""
        plan = cls.parse(path)
        for name in (name for each in plan.configurations.values() for name in each.files):
            if not (path.parent / name).is_file():
                raise DroplineError(f"{path}: there is no file {path.parent / name}; `files` are relative to the plan")
        return plan

    @classmethod
    def parse(cls, path: Path) -> Self:
        """Read a plan.yaml without checking its files; raise DroplineError if it is unusable."""
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        try:
            contents, lines = read_yaml(data, str(path))
            return cls.model_validate(contents)
        except ValidationError as error:
            faults = [explain(fault, lines, str(path), cls) for fault in error.errors()]
            raise DroplineError("\n".join(faults)) from None


@cache
def known_goals() -> dict[str, Goal]:
    """Return the warehouse's loss goals by name."""
    with _GOALS.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["loss_limit"]]
    return {
        row["loss_goal"]: Goal(row["loss_goal"], float(row["loss_limit"]), row["loss_basis"], float(row["error_limit"]))
        for row in rows
    }


def begin(product: str, folder: Path) -> Path:
    """Copy the first plan of a product into a new or empty folder and return its path; else raise DroplineError."""
    if product not in PRODUCTS:
        raise DroplineError(f"--init {product}: expected {' or '.join(PRODUCTS)}")
    if folder.is_dir() and any(folder.iterdir()):
        raise DroplineError(f"{folder}: is not empty; choose a new folder")
    shutil.copytree(_PLANS / product, folder, dirs_exist_ok=True)
    path = folder / FILE_NAME
    printed = ""  # by the server on this machine
    with suppress(OSError):
        done = subprocess.run(_VERSIONS[product], capture_output=True, text=True, check=False, timeout=10)  # noqa: S603 - from above
        printed = done.stdout + done.stderr
    found = re.search(r"\d+\.\d+\.\d+", printed)
    text = re.sub(r"(?<=product_version: )[\d.]+", found[0] if found else "unknown", path.read_text("utf-8"))
    path.write_text(text, "utf-8")
    return path
