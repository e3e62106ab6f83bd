"""A build that computes only what changed gives the very tables of one that computes everything."""

import shutil
from pathlib import Path

import duckdb
import pytest

from dropline import changes, pipeline
from dropline.ingest.intake import ingest
from dropline.ingest.lake import Lake
from dropline.paths import Home

EXAMPLES = Path(pipeline.__file__).parent / "examples"

JOINED_SERIES = """
    select count(*)
    from (select series_id from trends group by series_id having count(distinct campaign) = 2)
"""
CAMPAIGNS_AT_THE_NEW_CLOCK = """
    select count(distinct campaign)
    from configuration_facts
    inner join configurations using (configuration_id)
    where item = 'cpu_mhz' and starts_with(value, '2400')
"""
PAIRS_ACROSS = """
    select count(*)
    from multithreading_speedup
    inner join capacity on multithreading_speedup.configuration_id_single = capacity.configuration_id
    where capacity.campaign <> multithreading_speedup.campaign
"""


def tables(connection):
    found = connection.execute("select table_name from duckdb_tables() where database_name = 'a' order by all")
    return [name for (name,) in found.fetchall() if name != "build_info"]


def differing(one: Path, other: Path) -> dict[str, int]:
    """How many rows of each table are in one file only; sums in another order may differ in their last bits."""
    with duckdb.connect() as connection:
        connection.execute(f"attach '{one}' as a (read_only); attach '{other}' as b (read_only)")
        counts = {}
        for table in tables(connection):
            columns = connection.execute(f"select column_name, column_type from (describe a.{table})").fetchall()
            named = ", ".join(f"round({name}, 9)" if kind == "DOUBLE" else name for name, kind in columns)
            either = " union all ".join(
                f"(select {named} from {x}.{table} except all select {named} from {y}.{table})"
                for x, y in (("a", "b"), ("b", "a"))
            )
            counts[table] = connection.execute(f"select count(*) from ({either})").fetchone()[0]
        assert len(counts) > 30
    return {table: count for table, count in counts.items() if count}


def told(home: Home, question: str) -> int:
    with duckdb.connect(str(home.warehouse), read_only=True) as connection:
        return connection.execute(question).fetchone()[0]


def replace(file: Path, before: str, after: str) -> None:
    text = file.read_text()
    assert before in text
    file.write_text(text.replace(before, after))


@pytest.fixture
def computed(monkeypatch):
    """The campaigns that each build computed, None for all."""
    told = []
    asked = changes.since_last_build

    def listen(*arguments):
        change = asked(*arguments)
        told.append(change and list(change.campaigns))
        return change

    monkeypatch.setattr(changes, "since_last_build", listen)
    return told


def test_what_changed_is_computed_anew_and_nothing_differs_from_a_whole_build(tmp_path, computed):
    home, tree = Home(tmp_path / "home"), tmp_path / "tree"
    for campaign in ("powerdns-4.7", "kea-2.2-ha"):
        shutil.copytree(EXAMPLES / campaign, tree / campaign)
    lake = Lake.create(home.lake)
    pipeline.build(home)

    ingest([tree / "powerdns-4.7"], lake)
    pipeline.build(home)

    torn = next((tree / "kea-2.2-ha").rglob("*.txt.reject"), None) or tree / "kea-2.2-ha" / "torn.txt"
    torn.write_bytes(b"Running: perfdhcp -4 -r 100\nScenario: basic.\n")
    ingest([tree / "kea-2.2-ha"], lake)
    pipeline.build(home)

    # a file is repaired, another is lost, the method changes: rows of old must go from every table
    torn.unlink()
    trial = sorted(file for file in (tree / "kea-2.2-ha" / "runs").rglob("*.txt") if b"Rate:" in file.read_bytes())[0]
    torn.write_bytes(trial.read_bytes())
    trial.write_bytes(trial.read_bytes()[:90])
    described = tree / "kea-2.2-ha" / "campaign.yaml"
    described.write_text(described.read_text() + "\n# changed\n")
    ingest([tree], lake)
    pipeline.build(home)
    shutil.copy(home.warehouse, tmp_path / "in_parts.duckdb")

    pipeline.build(home, whole=True)
    assert computed == [None, ["powerdns-4.7"], ["kea-2.2-ha"], ["kea-2.2-ha"]]
    assert differing(tmp_path / "in_parts.duckdb", home.warehouse) == {}


def test_groups_of_several_campaigns_follow_what_changes_in_one_of_them(tmp_path, computed):
    """The second campaign is the first without single threads: its pairs are with those of the first."""
    home, tree = Home(tmp_path / "home"), tmp_path / "tree"
    first, second = tree / "kea-2.2-ha", tree / "again"
    shutil.copytree(EXAMPLES / "kea-2.2-ha", first)
    shutil.copytree(first, second, ignore=shutil.ignore_patterns("v4_st_*"))
    replace(second / "campaign.yaml", "campaign: kea-2.2-ha", "campaign: again")
    lake = Lake.create(home.lake)
    ingest([first], lake)
    pipeline.build(home)

    # a kin and a series get a second campaign; its machine is the same, at another clock
    replace(second / "machine" / "cpuinfo.txt", "2299.998", "2400.001")
    ingest([second], lake)
    pipeline.build(home)
    shutil.copy(home.warehouse, tmp_path / "joined.duckdb")
    pipeline.build(home, whole=True)
    assert differing(tmp_path / "joined.duckdb", home.warehouse) == {}
    assert told(home, JOINED_SERIES) > 0 < told(home, PAIRS_ACROSS)
    assert told(home, CAMPAIGNS_AT_THE_NEW_CLOCK) == 2

    # the first loses what the second is compared with, and all else that it has in a series of both
    for file in [*first.glob("runs/v4_st_*hot-standby/**/*.txt"), *first.glob("runs/v4_mt4_*hot-standby/**/*.txt")]:
        file.write_bytes(file.read_bytes()[:90])
    ingest([first], lake)
    pipeline.build(home)
    shutil.copy(home.warehouse, tmp_path / "parted.duckdb")
    pipeline.build(home, whole=True)
    assert differing(tmp_path / "parted.duckdb", home.warehouse) == {}
    assert computed == [None, ["again"], ["kea-2.2-ha"]]


def test_everything_is_computed_when_the_steps_on_the_way_are_of_another_publication(built_home, computed):
    raw_files = Lake(built_home.lake).files("raw_files")
    scratch, project = built_home.root / "build" / "scratch.duckdb", pipeline._project_sha256()

    def change(project=project):
        return changes.since_last_build(raw_files, built_home.warehouse, scratch, project)

    assert change() == changes.Change((), ())
    assert change("another digest of the models") is None
    with duckdb.connect(str(built_home.warehouse)) as published:
        published.execute("update build_info set built_at = built_at - interval 1 day")
    assert change() is None, "as after a rollback"


def test_everything_is_computed_when_a_batch_was_taken_out(built_home, batch):
    scratch, project = built_home.root / "build" / "scratch.duckdb", pipeline._project_sha256()
    raw_files = Lake(built_home.lake).files("raw_files")
    assert len(raw_files) > 1
    assert changes.since_last_build(raw_files[:-1], built_home.warehouse, scratch, project) is None


def test_everything_is_computed_after_a_killed_or_a_damaged_build(built_home):
    raw_files = Lake(built_home.lake).files("raw_files")
    scratch, project = built_home.root / "build" / "scratch.duckdb", pipeline._project_sha256()
    shutil.copy(built_home.warehouse, next_one := built_home.root / "next.duckdb")
    changes.begin(changes.Change(("kea-2.2-ha",), ()), next_one, scratch)
    assert changes.since_last_build(raw_files, built_home.warehouse, scratch, project) is None
    scratch.write_bytes(b"half")
    assert changes.since_last_build(raw_files, built_home.warehouse, scratch, project) is None
