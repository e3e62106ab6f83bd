"""Which campaign a folder is: never that of another folder by its name alone, and always that of its own files."""

import shutil
from pathlib import Path

import pytest

from dropline.ingest.files import IntakeError
from dropline.ingest.loader import ingest
from tests.ingest.conftest import EXAMPLE, RUN

RATES = ("rate740", "rate1050")
HARDWARE = Path(__file__).parents[1] / "captures/perfdhcp/hardware"


@pytest.fixture
def results(tmp_path):
    """What makes a folder of bare outputs, without sidecars: those of a repetition of the example."""

    def made(place, other=0):
        folder = tmp_path / place
        folder.mkdir(parents=True)
        for name in RATES:
            (folder / f"{name}.txt").write_bytes(output(name, other))
        return folder

    return made


def output(name, other=0):
    """An output, and others that differ in their bytes."""
    return (EXAMPLE / RUN / "rep1" / f"{name}.txt").read_bytes() + b"\n" * other


def current(lake):
    """The campaigns, and how many files count of each."""
    counted = {}
    for campaign, _ in lake.places():
        counted[campaign] = counted.get(campaign, 0) + 1
    return counted


def test_two_folders_of_one_name_are_two_campaigns(results, lake):
    october, november = results("october/results"), results("november/results", 1)
    ingest([october], lake)
    second = ingest([november], lake)
    assert current(lake) == {"results": 2, "november-results": 2}
    assert [note.split(": ")[1] for note in second.notes] == [
        f"kept as campaign november-results (campaign results is {october}); --campaign sets another name"
    ]
    assert second.superseded == 0
    again = ingest([october, november], lake, reread=True)
    assert (again.batch, again.notes, again.skipped) == (None, [], 4)


def test_two_folders_of_one_name_in_one_call_are_two_campaigns(results, lake):
    both = [results("october/results"), results("november/results", 1)]
    summary = ingest(both, lake)
    assert (summary.ingested, summary.rejected) == (4, 0)
    assert current(lake) == {"results": 2, "october-results": 2}
    assert ingest(both, lake).batch is None


@pytest.mark.parametrize(
    ("one", "other", "names"),
    [
        ("测试一", "测试二", {"测试一", "测试二"}),
        ("Lab A", "lab-a", {"lab-a", "at-lab-a"}),
        ("München", "Mu\u0308nchen", {"münchen", "at-münchen"}),
        ("!!!", "???", {"campaign", "at-campaign"}),
    ],
)
def test_names_of_every_script_stay_apart(one, other, names, results, lake):
    ingest([results(f"at/{one}")], lake)
    ingest([results(f"at/{other}", 1)], lake)
    assert current(lake) == dict.fromkeys(names, 2)


def test_names_above_are_taken_until_one_is_free(results, lake):
    for place in ("a/x/results", "b/x/results", "c/x/results"):
        ingest([results(place, "abc".index(place[0]))], lake)
    assert current(lake).keys() == {"results", "x-results", "c-x-results"}


def test_a_folder_that_was_moved_or_copied_is_still_the_same_campaign(results, lake, tmp_path):
    october = results("october/results")
    ingest([october], lake)
    assert ingest([shutil.copytree(october, tmp_path / "copy" / "results")], lake).batch is None
    moved = tmp_path / "attic" / "results"
    moved.parent.mkdir()
    october.rename(moved)
    (moved / "rate1050.txt").write_bytes(output("rate1050", 1))
    assert ingest([moved], lake).superseded == 1
    assert current(lake) == {"results": 2}


def test_a_folder_that_was_renamed_or_copied_under_another_name_is_still_the_same_campaign(results, lake, tmp_path):
    october = results("october")
    ingest([october], lake)
    copied = shutil.copytree(october, tmp_path / "copy of october")
    summary = ingest([copied], lake)
    assert (summary.batch, summary.skipped) == (None, 2)
    assert summary.notes == [f"{copied}: kept as campaign october, all of whose results it has"]
    renamed = october.rename(tmp_path / "autumn")
    (renamed / "rate9000.txt").write_bytes(output("rate1050", 3))
    assert ingest([renamed], lake).ingested == 1
    assert current(lake) == {"october": 3}
    assert ingest([renamed], lake).notes == []


def test_a_folder_that_has_some_of_another_campaigns_files_is_a_campaign_and_told(results, lake):
    ingest([results("october")], lake)
    other = results("november", 1)
    (other / "rate740.txt").write_bytes(output("rate740"))
    assert ingest([other], lake).notes == [
        f"{other}: campaign october also has 1 of its files; `--campaign october` makes it that campaign"
    ]
    assert current(lake) == {"october": 2, "november": 2}


def test_equal_facts_of_a_machine_are_no_copy(results, lake):
    for folder in (results("october"), results("november", 3)):
        shutil.copytree(HARDWARE, folder / "machine")
        assert ingest([folder], lake).notes == []


def test_a_copy_of_a_folder_within_a_campaign_is_told(results, lake, tmp_path):
    shutil.move(results("october"), tmp_path / "lab/runs")
    ingest([tmp_path / "lab"], lake)
    copied = shutil.copytree(tmp_path / "lab/runs", tmp_path / "november")
    assert ingest([copied], lake).notes == [
        f"{copied}: campaign lab has these results, too, in other folders: `dropline forget` one of them"
    ]


@pytest.mark.parametrize(("first", "then"), [("october", "october/results"), ("october/results", "october")])
def test_a_folder_within_or_around_a_campaign_is_refused_unless_it_is_named(first, then, results, lake, tmp_path):
    results("october/results")
    ingest([tmp_path / first], lake)
    november = results("november", 1)
    summary = ingest([tmp_path / then, november], lake)
    assert (summary.seen, summary.rejected, summary.ingested) == (4, 2, 2)
    (reject,) = summary.rejects
    known = first.rpartition("/")[2]
    assert reject["source_path"] == str(tmp_path / then)
    assert reject["reason"].endswith(f"from {tmp_path / first}, which is campaign {known}")
    assert current(lake) == {known: 2, "november": 2}
    assert "`dropline forget` whatever counts twice" in ingest([tmp_path / then], lake, campaign="again").notes[0]
    assert current(lake)["again"] == 2


def test_new_files_within_a_campaigns_folder_may_be_a_campaign(results, lake, tmp_path):
    ingest([results("october")], lake)
    assert ingest([results("october/second", 1)], lake).rejects == []
    assert current(lake) == {"october": 2, "second": 2}
    again = ingest([tmp_path / "october"], lake)
    assert (again.rejected, len(again.notes)) == (0, 1)


def test_the_caller_names_a_folder_without_a_campaign_yaml(results, tree, lake):
    ingest([results("results")], lake, campaign="kea-3.0")
    assert current(lake) == {"kea-3.0": 2}
    with pytest.raises(IntakeError, match=r"lower-case letters.*: kea-lab"):
        ingest([results("others")], lake, campaign="Kea Lab")
    with pytest.raises(IntakeError, match=r"names the campaign 'kea-2\.2-ha': change it there"):
        ingest([tree], lake, campaign="kea-3.0")


def test_a_folder_keeps_the_name_that_it_was_given(results, lake):
    folder = results("results")
    ingest([folder], lake, campaign="kea-3.0")
    assert ingest([folder], lake, reread=True).batch is None


def test_a_name_that_lost_its_letters_before_stays(results, lake, tmp_path):
    folder = results("a/Über uns")
    ingest([folder], lake, campaign="ber-uns")
    assert ingest([folder.rename(tmp_path / "a" / "Über Uns")], lake).batch is None
    assert current(lake) == {"ber-uns": 2}


def test_a_campaign_yaml_that_is_written_later_names_what_is_there(results, lake):
    folder = results("results")
    ingest([folder], lake)
    (folder / "campaign.yaml").write_text("campaign: kea-lab\ndefaults: {backend: memfile}\n")
    summary = ingest([folder], lake)
    assert summary.notes == ["campaign results is now called kea-lab, as its campaign.yaml says"]
    assert current(lake) == {"kea-lab": 3}
    assert ingest([folder], lake).batch is None


def test_a_campaign_that_is_renamed_in_its_campaign_yaml_does_not_double(tree, lake):
    ingest([tree], lake)
    files = current(lake)["kea-2.2-ha"]
    gone = tree / RUN / "rep1" / "rate740.txt"
    gone.unlink()
    described = tree / "campaign.yaml"
    described.write_text(described.read_text().replace("campaign: kea-2.2-ha", "campaign: kea-ha"))
    summary = ingest([tree], lake)
    assert summary.notes == ["campaign kea-2.2-ha is now called kea-ha, as its campaign.yaml says"]
    assert current(lake) == {"kea-ha": files}, "with the file that is gone from the disk"
    assert ingest([tree], lake, reread=True).batch is None


def test_a_copy_of_a_campaign_under_another_name_is_another_campaign(tree, lake, tmp_path):
    ingest([tree], lake)
    copied = shutil.copytree(tree, tmp_path / "copy")
    described = copied / "campaign.yaml"
    described.write_text(described.read_text().replace("campaign: kea-2.2-ha", "campaign: kea-ha"))
    assert ingest([copied], lake).notes == []
    assert current(lake).keys() == {"kea-2.2-ha", "kea-ha"}
