"""Output folder of a measurement: a campaign for `dropline ingest`, and the state to resume from."""

import fcntl
import hashlib
import json
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from dropline.errors import DroplineError
from dropline.ingest.campaign import FILE_NAME as CAMPAIGN
from dropline.measure.generator import Generator
from dropline.measure.plan import FILE_NAME as PLAN
from dropline.measure.plan import Plan
from dropline.measure.search import Trial

_OUTPUT: Final = re.compile(r"rate\d+-\d+\.txt")
_MAY_CHANGE: Final = {"runs", "within_s", "title"}  # between calls for the same folder
_LIMIT: Final = "generator-limit.json"
_UNFINISHED: Final = ".unfinished"  # run without a bracket, which an ingest would take for a bound


@dataclass(frozen=True, slots=True)
class Run:
    """One search for the capacity of one configuration, and the folder of its trials."""

    configuration: str
    repetition: int


class Folder:
    """Files of one campaign: raw outputs, their sidecars, the tested configurations, and the plan."""

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()
        self._known: dict[tuple[Run, str], Trial | None] = {}  # files never change

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Lock this folder; raise DroplineError if another measurement uses it."""
        self.root.parent.mkdir(parents=True, exist_ok=True)
        with self.root.with_name(f".{self.root.name}.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise DroplineError(f"{self.root}: another dropline measure runs here; wait until it ends") from None
            yield

    def prepare(self, plan: Plan, source: Path, findings: Iterable[str]) -> None:
        """Write the files that describe the campaign; raise DroplineError if the folder belongs to another plan."""
        kept = self.root / PLAN
        if kept.is_file():
            earlier, now = (each.model_dump(exclude=_MAY_CHANGE) for each in (Plan.parse(kept), plan))
            if changed := sorted(name for name in now if now[name] != earlier[name]):
                raise DroplineError(
                    f"{self.root} was measured with another plan ({', '.join(changed)} changed), so new trials would "
                    "not be comparable with the old ones; choose a new folder with --folder"
                )
        elif self.root.is_dir() and any(self.root.iterdir()):
            raise DroplineError(f"{self.root}: already holds something else; choose a new folder with --folder")
        self.root.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, kept)
        for name, configuration in plan.configurations.items():
            folder = self.of(name)
            folder.mkdir(exist_ok=True)
            for file in configuration.files:
                own, copied = source.parent / file, folder / file.rpartition("/")[2]
                if not copied.is_file():
                    shutil.copyfile(own, copied)
                elif copied.read_bytes() != own.read_bytes():
                    raise DroplineError(f"{own} differs from what was measured before, {copied}; choose a new folder")
        contents = {
            "campaign": plan.campaign,
            "title": plan.title,
            "description": " ".join(["Measured by dropline measure.", *findings])[:2000],
            "method": plan.method.model_dump(),
            "path": "**/rep{repetition}/rate{offered_rate}-{_}.txt",
            "machines": {f"machine/{name}": name for name in plan.hosts},
            "ignore": [PLAN, _LIMIT, "*.broken", f"*{_UNFINISHED}/"],
        }
        self._write(CAMPAIGN, yaml.safe_dump({k: v for k, v in contents.items() if v}, sort_keys=False).encode())

    def of(self, configuration: str) -> Path:
        """Return the folder of a configuration's files."""
        return self.root / configuration

    def trials(self, run: Run, generator: Generator) -> list[Trial]:
        """Read a run's trials in the order they were made; skip aborted ones."""
        paths = [path for path in self._of(run).glob("rate*.txt") if _OUTPUT.fullmatch(path.name)]
        for path in paths:
            if (run, path.name) not in self._known:
                sidecar = json.loads(path.with_suffix(".json").read_bytes())
                trial = generator.read(path.read_bytes(), sidecar["offered_rate"], sidecar)
                self._known[run, path.name] = trial
        found = (self._known[run, path.name] for path in sorted(paths, key=lambda path: path.stat().st_mtime_ns))
        return [trial for trial in found if trial]

    def begun_at(self, run: Run) -> str:
        """Return the start of a run's first trial, from its sidecar."""
        begun = (json.loads(path.read_bytes())["started_at"] for path in self._of(run).glob("rate*.json"))
        return str(min(begun, default=""))

    def runs(self, plan: Plan) -> list[Run]:
        """Return the runs that have a trial, by configuration and number."""
        found = [
            Run(name, int(folder.name.removeprefix("rep").removesuffix(_UNFINISHED)))
            for name in plan.configurations
            for folder in self.of(name).glob("rep[0-9]*")
        ]
        return sorted(found, key=lambda run: (run.configuration, run.repetition))

    def finish(self, run: Run) -> None:
        """Make a run visible to `ingest`, as its search has ended."""
        folder = self._of(run)
        if folder.suffix == _UNFINISHED:
            folder.rename(folder.with_suffix(""))

    def keep(self, run: Run, rate: int, output: bytes, sidecar: dict[str, Any], trial: Trial | None) -> None:
        """Store a trial, separately if it failed; if killed between writing output and sidecar, neither counts."""
        folder = self._of(run)
        folder.mkdir(parents=True, exist_ok=True)
        ending = "txt" if trial else "broken"
        number = 1 + len(list(folder.glob(f"rate{rate}-*.{ending}")))
        stem = f"{run.configuration}/{folder.name}/rate{rate}-{number}"
        if trial:
            sidecar = sidecar | {"output_sha256": hashlib.sha256(output).hexdigest()}
            self._write(f"{stem}.json", json.dumps(sidecar, indent=1, ensure_ascii=False).encode())
        self._known[run, self._write(f"{stem}.{ending}", output).name] = trial

    def generator_limit(self) -> float | None:
        """Return the highest rate that the generator can send, if measured."""
        path = self.root / _LIMIT
        return float(json.loads(path.read_bytes())["sent_per_s"]) if path.is_file() else None

    def keep_generator_limit(self, sent_per_s: float) -> None:
        """Store the highest rate that the generator can send."""
        self._write(_LIMIT, json.dumps({"sent_per_s": sent_per_s}).encode())

    def _of(self, run: Run) -> Path:
        finished = self.of(run.configuration) / f"rep{run.repetition}"
        return finished if finished.is_dir() else finished.with_suffix(_UNFINISHED)

    def _write(self, name: str, data: bytes) -> Path:
        path = self.root / name
        half = path.with_name(f".{path.name}.part")
        half.write_bytes(data)
        half.replace(path)
        return path
