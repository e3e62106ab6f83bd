"""What is taken back counts no longer, comes back as it was, and is gone for good only when somebody asks for that."""

import pytest

from dropline.errors import DroplineError
from dropline.ingest.compaction import compact
from dropline.ingest.loader import ingest
from dropline.ingest.reparsing import reparse
from dropline.ingest.retraction import forget, remember, rename
from dropline.ingest.schema import TABLES
from dropline.ingest.show import show
from dropline.ingest.verification import verify
from dropline.paths import Home
from tests.ingest.conftest import CAMPAIGN, OUTPUT
from tests.lakes import rows


@pytest.fixture
def held(tree, lake):
    ingest([tree], lake)
    return lake


def counting(lake, table="trials"):
    """The rows of a table that belong to current versions of files, without what only their batch tells."""
    current = {(*key, place.batch) for key, place in lake.places().items()}
    trials = {
        (row["trial_id"], row["batch"]): (row["campaign"], row["source_path"], row["batch"]) in current
        for row in rows(lake, "trials")
    }
    kept = []
    for row in rows(lake, table):
        own = (row.get("campaign"), row.get("source_path"), row["batch"]) in current
        if own or trials.get((row.get("trial_id"), row["batch"])):
            kept.append({name: value for name, value in row.items() if name != "batch"})
    return sorted(kept, key=str)


def everything(lake):
    return {table: counting(lake, table) for table in TABLES if table not in {"campaigns", "hosts"}}


def test_a_forgotten_campaign_counts_no_longer_and_comes_back_as_it_was(held, tree):
    before = everything(held)
    told = forget(held, CAMPAIGN)
    assert told.startswith(f"{len(before['raw_files'])} files of {CAMPAIGN} forgotten; batch 0")
    assert everything(held) == {table: [] for table in before}
    remember(held, CAMPAIGN)
    assert everything(held) == before
    assert ingest([tree], held).batch is None


@pytest.mark.parametrize(("name", "trials"), [(OUTPUT, 6), ("runs/v4_st_memfile_hot-standby/rep1", 0), ("runs/", 0)])
def test_a_file_or_a_folder_is_forgotten_alone(name, trials, held):
    forget(held, f"{CAMPAIGN}/{name}")
    assert len(counting(held)) == trials
    assert counting(held, "server_configs")


def test_an_ingest_brings_back_what_was_forgotten(held, tree):
    before = everything(held)
    forget(held, CAMPAIGN)
    assert show(tree / OUTPUT, held).known == "knew this file; it was forgotten"
    summary = ingest([tree], held)
    assert (summary.ingested, summary.superseded) == (summary.seen, 0)
    assert everything(held) == before


def test_what_is_forgotten_is_not_read_again(held):
    forget(held, f"{CAMPAIGN}/runs")
    assert reparse(held).batch is None
    assert counting(held) == []


@pytest.mark.parametrize("name", ["kea", f"{CAMPAIGN}/nothing", ""])
def test_a_name_of_nothing_is_refused_with_what_there_is(name, held):
    for call in (forget, remember):
        with pytest.raises(DroplineError, match="is neither a campaign nor the CAMPAIGN/PATH"):
            call(held, name)


def test_a_renamed_campaign_has_all_that_it_had(held, tree):
    before = everything(held)
    rename(held, CAMPAIGN, "kea-ha")
    after = everything(held)
    assert {table: len(rows) for table, rows in after.items()} == {table: len(rows) for table, rows in before.items()}
    assert {campaign for campaign, _ in held.places()} == {"kea-ha"}
    for table in ("campaigns", "hosts"):
        assert [row for row in held.tables(table).to_pylist() if row["campaign"] == "kea-ha"]
    assert reparse(held).batch is None, "as if it had been ingested under its new name"
    rename(held, "kea-ha", CAMPAIGN)
    assert everything(held) == before


def test_a_renamed_campaign_is_known_again_whatever_its_campaign_yaml_says(held, tree):
    rename(held, CAMPAIGN, "kea-ha")
    before = everything(held)
    again = ingest([tree], held, reread=True)
    assert again.batch is None
    assert again.notes == [
        f"{tree}: kept as campaign kea-ha, because '{CAMPAIGN}' was renamed; write `campaign: kea-ha` "
        "in its campaign.yaml"
    ]
    described = tree / "campaign.yaml"
    described.write_text(described.read_text().replace(f"campaign: {CAMPAIGN}", "campaign: kea-ha"))
    assert ingest([tree], held).ingested == 1
    assert len(counting(held)) == len(before["trials"])


def test_a_name_that_is_taken_or_none_is_refused(held, bare):
    ingest([bare], held)
    taken = (CAMPAIGN, "c6", "there already is a campaign c6")
    for old, new, words in (taken, (CAMPAIGN, "Kea HA", "such as kea-ha"), ("nobody", "kea-ha", "Campaigns: ")):
        with pytest.raises(DroplineError, match=words):
            rename(held, old, new)


def test_what_campaign_yaml_ignores_later_counts_no_longer_until_it_does_not(held, tree):
    before = everything(held)
    described = tree / "campaign.yaml"
    text = described.read_text()
    described.write_text(f"{text}\nignore: [runs/]\n")
    summary = ingest([tree], held)
    assert summary.retired == 14
    assert summary.text().endswith("1 file supersedes an earlier version; 14 earlier files now ignored")
    assert counting(held) == []
    assert ingest([tree], held).batch is None
    described.write_text(text)
    ingest([tree], held)
    assert counting(held) == before["trials"]


@pytest.mark.parametrize("compacted", [False, True])
def test_only_a_purge_removes_for_good(compacted, held, tree, bare):
    ingest([bare], held)
    forget(held, CAMPAIGN)
    if compacted:
        compact(held)
    assert held.tables("trials").num_rows == 9
    assert compact(held, purge=True).purged == len(rows(held, "raw_files", status="forgotten"))
    assert {row["campaign"] for row in held.tables("trials").to_pylist()} == {"c6"}
    assert held.tables("exchanges").num_rows == 4
    assert held.tables("hosts").num_rows == 0
    with pytest.raises(DroplineError, match="Campaigns with forgotten files: none"):
        remember(held, CAMPAIGN)
    assert verify(Home(held.root.parent)).faults == []
    assert ingest([tree], held).trials == 7
