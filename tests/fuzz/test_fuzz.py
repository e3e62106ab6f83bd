"""Hostile input: no reader fails, hangs or keeps quiet, whatever its file was turned into."""

import fuzz
import pytest
from fuzz import Input, Result, attempt, case, corpus, keep, run
from mutations import MAX_BYTES
from targets import Tally, Target, readers

from dropline.ingest import machines
from dropline.ingest.formats import READERS
from dropline.ingest.telemetry import TELEMETRY_READERS

SEED = 2544


def test_damaged_files_are_accounted_for(tmp_path):
    result = run(SEED, range(3000))
    assert not result.failures, "\n\n".join(keep(failure, SEED, tmp_path) for failure in result.failures[:5])
    assert sum(tally["unfit"] for tally in result.tallies.values()) == 0


def test_every_reader_has_files_to_damage():
    kinds = [f"machine {kind}" for kind, source in machines.SOURCES.items() if source.parse]
    registered = {*(reader.NAME for reader in (*READERS, *TELEMETRY_READERS)), *kinds, "campaign.yaml", "sidecar"}
    assert registered - {target.name for target in corpus()} == set()


def test_no_whole_file_belongs_to_two_readers():
    files = {path for groups in corpus().values() for paths in groups.values() for path in paths}
    claims = {file: [target.name for target in readers(file.read_bytes())] for file in files}
    assert {file: names for file, names in claims.items() if len(names) > 1} == {}


def test_case_is_the_same_each_time():
    cases = [case(SEED, number) for number in range(50)]
    assert cases == [case(SEED, number) for number in range(50)]
    assert len({given.data for given in cases}) > 40
    assert max(len(given.data) for given in cases) <= MAX_BYTES


def fails(_name, _data):
    raise ValueError


def hangs(_name, _data):
    while True:
        pass


def hangs_and_hides_it(_name, data):
    try:
        hangs(_name, data)
    except BaseException:
        return Tally()


@pytest.mark.parametrize(
    ("check", "error"),
    [
        (fails, "ValueError"),
        (hangs, "TooSlow"),
        (hangs_and_hides_it, "s of processor time"),
        (lambda _name, _data: Tally(parts=1), ""),
    ],
)
def test_faulty_reader_is_found(check, error, monkeypatch, tmp_path):
    monkeypatch.setattr(fuzz, "SECONDS", 0.5)
    result = Result()
    kept = attempt(Target("faulty", check, ()), Input(None, "a/b.txt", ["cut"], b"input"), 7, result)
    assert kept is not bool(error)
    assert result.tallies["faulty"]["inputs"] == 1
    assert [error in keep(failure, 1, tmp_path) for failure in result.failures] == [True] * bool(error)
    assert [file.read_bytes() for file in tmp_path.iterdir()] == [b"input"] * bool(error)


def test_machine_that_stalls_once_is_no_slow_reader(monkeypatch):
    monkeypatch.setattr(fuzz, "SECONDS", 0.5)
    calls = []

    def stalls_once(name, data):
        calls.append(name)
        return hangs(name, data) if len(calls) == 1 else Tally()

    result = Result()
    assert attempt(Target("stalled", stalls_once, ()), Input(None, "a/b.txt", [], b""), 7, result)
    assert (len(calls), result.failures) == (2, [])
