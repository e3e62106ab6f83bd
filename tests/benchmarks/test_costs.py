"""What benchmarks/build.py says that a command cost, and that it writes nothing into the lake that it measures."""

from pathlib import Path

import duckdb
import pytest

from benchmarks.build import PHASES, Cost, floor, home_with, run
from benchmarks.lakes import lake_of
from dropline.ingest.lake import Lake


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lake")
    lake_of(folder, 30)
    return folder


def test_a_home_over_a_lake_of_others_takes_its_own_batches_and_gives_none(lake: Path, tmp_path: Path) -> None:
    before = Lake(lake).batches()
    home_with(tmp_path, lake)
    assert Lake(tmp_path / "lake").batches() == before
    with Lake.create(tmp_path / "lake").batch() as batch:
        batch.commit()
    assert len(Lake(tmp_path / "lake").batches()) == len(before) + 1
    assert Lake(lake).batches() == before


def test_the_floor_is_the_intervals_with_their_seconds_and_the_crossing_of_every_ramp(
    lake: Path, tmp_path: Path
) -> None:
    floor(str(lake), str(tmp_path))
    with duckdb.connect(str(tmp_path / "floor.duckdb"), read_only=True) as connection:
        seconds = connection.execute("select count(*), min(seconds), max(seconds) from seconds").fetchone()
        ramps = connection.execute("select count(*) from ramps").fetchone()
    lines = Lake(lake).tables("intervals").num_rows
    assert seconds == (lines, 1, 1)  # the simulated ones print one a second
    assert ramps != (0,)


def test_a_command_costs_its_own_time_and_memory() -> None:
    cost = run("-c", "held = bytearray(200_000_000); print(sum(range(3_000_000)))")
    assert cost.said.strip() == "4499998500000"
    assert 0 < cost.cpu_s < 60
    assert cost.memory_mb > 200


def test_a_command_that_fails_says_why() -> None:
    with pytest.raises(RuntimeError, match="no such thing"):
        run("-c", "raise SystemExit('no such thing')")


def test_the_phases_are_those_that_a_build_tells() -> None:
    said = "Published x\n1 trials\nchecksums 1.0 s, lake gate 34.0 s, models 147.8 s, marts gate 9.0 s, publish 0.4 s"
    assert Cost(0, 0, 0, said).phases == ["1.0", "34.0", "147.8", "9.0", "0.4"]
    assert Cost(0, 0, 0, "").phases == [""] * len(PHASES)
