"""Hostile input: no reader fails, hangs or keeps quiet, whatever its file was turned into."""

import os
import signal
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import pytest
from hypothesis import Phase, given, note, settings
from hypothesis import strategies as st
from mutations import Material, damage
from targets import RECOGNITION, Target, owners, readers, stored

from dropline.ingest import machines, servers
from dropline.ingest.formats import READERS
from dropline.ingest.telemetry import TELEMETRY_READERS

ROOT = Path(__file__).parents[2]
CORPUS = ("tests/captures", "tests/ingest/made", "examples", "tests/fuzz/seeds")
NAMES = (
    *(reader.NAME for reader in (*READERS, *TELEMETRY_READERS)),
    *(f"machine {kind}" for kind, source in machines.SOURCES.items() if source.parse),
    *(f"server {name}" for name in sorted(servers.FORMATS)),
    *("figures", "campaign.yaml", "sidecar"),
)
KEPT = ROOT / "target" / "fuzz"
SECONDS = 2.0  # of processor time, for an input below 1 MB
LARGEST = 64 * 1024  # of a file of the corpus

# `make fuzz` looks for new cases, many for every reader; `make test` judges a change by the same few.
MANY = int(os.environ.get("FUZZ_EXAMPLES", "0"))
# A seed of chance does not shrink, and what hangs would be asked for minutes.
fuzzing = settings(max_examples=MANY or 50, derandomize=not MANY, print_blob=True, phases=(Phase.reuse, Phase.generate))


@cache
def corpus():
    """The files of every target, by campaign or kind of capture, so that many alike count no more than few."""
    found = {}
    paths = (path for folder in CORPUS for path in (ROOT / folder).rglob("*") if path.is_file())
    for path in sorted(paths):
        data = path.read_bytes()
        for target in owners(path.name, data) if len(data) <= LARGEST else ():
            group = "/".join(path.relative_to(ROOT).parts[:3])
            found.setdefault(target, {}).setdefault(group, []).append(path)
    return dict(sorted(found.items(), key=lambda item: item[0].name))


def files_of(target):
    return st.sampled_from(list(corpus()[target].values())).flatmap(st.sampled_from)


class TooSlow(BaseException):
    """An input that takes more than SECONDS; no `except Exception` of a reader may hold it up."""


@contextmanager
def limit(seconds):
    """Raise TooSlow in the body after so much processor time: others who use the machine do not count."""

    def stop(*_):
        raise TooSlow

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def ask(target, name, data, seconds=SECONDS):
    """Give an input to a target, which keeps all its promises or raises an Exception.

    Who is too slow is asked again: a machine that stalls may charge that to the process, but not twice.
    """
    for _ in range(2):
        with suppress(TooSlow), limit(seconds):
            target.check(name, data)
            return
    raise AssertionError(f"took more than {seconds} s of processor time")


@pytest.mark.parametrize("name", NAMES)
def test_damaged_files_are_accounted_for(name):
    target = next(target for target in corpus() if target.name == name)
    others = files_of(target) | st.sampled_from(list(corpus())).flatmap(files_of)

    @fuzzing
    @given(files_of(target), others, st.randoms(use_true_random=True))
    def accounted_for(path, other, chance):
        data, done = damage(chance, path.read_bytes(), Material(other.read_bytes(), target.words))
        kept = KEPT / target.name.replace(" ", "-")
        try:
            for asked in dict.fromkeys((RECOGNITION, target, *owners(path.name, data))):
                ask(asked, path.name, data)
        except BaseException:
            KEPT.mkdir(parents=True, exist_ok=True)
            kept.write_bytes(data)
            note(f"{', '.join(done)}; the input is kept in {kept}")
            raise

    accounted_for()


def test_every_reader_has_files_to_damage_and_no_whole_file_belongs_to_two():
    assert [target.name for target in corpus()] == sorted(NAMES)
    files = {path for groups in corpus().values() for paths in groups.values() for path in paths}
    claims = {file: [target.name for target in readers(file.read_bytes())] for file in files}
    assert {file: names for file, names in claims.items() if len(names) > 1} == {}


def hangs(_name, _data):
    while True:
        pass


def fits_no_column(name, data):
    stored(name, "campaigns", {"campaign": ["no text"]}, data)


@pytest.mark.parametrize(("check", "error"), [(hangs, "s of processor time"), (fits_no_column, "fits no column")])
def test_faulty_reader_is_found(check, error):
    with pytest.raises(AssertionError, match=error):
        ask(Target("faulty", check, ()), "b.txt", b"input", seconds=0.5)
