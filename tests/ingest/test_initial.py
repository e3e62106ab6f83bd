"""A first campaign.yaml: it takes the paths of real folders apart, and overwrites nothing."""

import shutil

import pytest

from dropline.ingest.campaign import Campaign
from dropline.ingest.files import IntakeError
from dropline.ingest.initial import begin
from dropline.ingest.loader import ingest
from tests.ingest.conftest import EXAMPLE, RUN

POWERDNS = EXAMPLE.parent / "powerdns-4.7"
COLD = EXAMPLE.parents[1] / "tests" / "captures" / "perfdhcp" / "cold-start"


@pytest.fixture
def folder(tmp_path):
    """What copies a folder without its campaign.yaml."""

    def copied(source):
        target = tmp_path / source.name
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("campaign.yaml"))
        return target

    return copied


@pytest.mark.parametrize(
    ("source", "templates", "said"),
    [
        (
            EXAMPLE,
            ["runs/{protocol}_{threading}_{backend}_{ha_mode}/rep{repetition}/rate{offered_rate}.txt"],
            "# Found: 84 outputs of perfdhcp, 84 sidecars, 8 server configurations, 1 folders of machine facts.",
        ),
        (
            POWERDNS,
            [
                "default-buffer/{backend}/r{repetition}/{offered_rate}pps/dnsblast.out",
                "large-buffer/{backend}/{offered_rate}pps/dnsblast.out",
            ],
            "# Found: 24 outputs of dnsblast,",
        ),
        (EXAMPLE / RUN, ["rep{repetition}/rate{offered_rate}.txt"], "# Found: 7 outputs of perfdhcp, 7 sidecars."),
        (COLD, ["{repetition}/{_}.txt"], "# Found: 4 outputs of perfdhcp."),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_the_path_is_guessed_and_matches_every_output(source, templates, said, folder, lake):
    place = folder(source)
    begun = begin(place, lake)
    assert begun.matched == begun.outputs > 0
    read = Campaign.parse(begun.file.read_bytes())
    assert [*read.path] == templates
    assert read.campaign == source.name.lower()
    assert begun.file.read_text().startswith(said)
    assert ingest([place], lake).notes == []


def test_every_key_that_is_only_a_comment_is_a_valid_one(folder, lake):
    file = begin(folder(EXAMPLE / RUN), lake).file
    lines = file.read_text().splitlines()
    keys = [line.removeprefix("# ").replace("#   ", "  ") for line in lines if line.startswith(("# ", "#   "))]
    spoken = [line for line in keys if line.split(":")[0].strip() in {*Campaign.model_fields, *DEFAULTS}]
    text = "\n".join([*(line for line in lines if not line.startswith("#")), *spoken])
    read = Campaign.parse(text.encode())
    assert (read.defaults.threads, read.ignore, read.machines) == (4, ("discarded/", "*.log"), {"machine": "server"})


DEFAULTS = ("product", "product_version", "backend", "threading", "threads", "ha_mode", "testbed")


def test_what_names_do_not_tell_stays_a_comment(bare, lake):
    for file in sorted(bare.rglob("*.txt")):
        file.rename(file.with_name(f"{'ab'[file.name == 'rate740.txt']}.txt"))
    (bare / "rep1").rename(bare / "first")
    begun = begin(bare, lake)
    assert (begun.matched, Campaign.parse(begun.file.read_bytes()).path) == (0, ())
    assert "no path template was found" in begun.text()


def test_a_campaign_yaml_that_is_there_stays_and_a_folder_of_nothing_gets_none(tree, tmp_path, lake):
    before = (tree / "campaign.yaml").read_bytes()
    with pytest.raises(IntakeError, match="already exists"):
        begin(tree, lake)
    assert (tree / "campaign.yaml").read_bytes() == before
    with pytest.raises(IntakeError, match="no output of a traffic generator"):
        begin(tree / "configs", lake)
    assert not (tree / "configs" / "campaign.yaml").exists()


def test_a_folder_keeps_the_name_that_it_has(bare, lake):
    for sidecar in bare.rglob("*.json"):
        sidecar.unlink()
    ingest([bare], lake, campaign="kea-lab")
    assert Campaign.parse(begin(bare, lake).file.read_bytes()).campaign == "kea-lab"
