"""A first campaign.yaml: it says what was found, and overwrites nothing."""

import shutil

import pytest

from dropline.ingest.campaign import Campaign
from dropline.ingest.files import IntakeError
from dropline.ingest.initial import begin
from dropline.ingest.loader import ingest
from tests.ingest.conftest import EXAMPLE, RUN


@pytest.fixture
def folder(tmp_path):
    """What copies a folder without its campaign.yaml."""

    def copied(source):
        target = tmp_path / source.name
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("campaign.yaml"))
        return target

    return copied


def test_it_says_what_was_found_and_names_tell_the_rest(folder, lake):
    place = folder(EXAMPLE)
    text = begin(place, lake).read_text()
    said = "# Found: 84 outputs of perfdhcp, 84 sidecars, 8 server configurations, 1 folder of machine facts."
    assert text.startswith(f"{said}\n")
    assert Campaign.parse(text.encode()).campaign == EXAMPLE.name
    assert "\n# Paths such as 'runs/" in text
    assert ingest([place], lake).notes == []


def test_every_key_that_is_only_a_comment_is_a_valid_one(folder, lake):
    file = begin(folder(EXAMPLE / RUN), lake)
    lines = file.read_text().splitlines()
    keys = [line.removeprefix("# ").replace("#   ", "  ") for line in lines if line.startswith(("# ", "#   "))]
    spoken = [line for line in keys if line.split(":")[0].strip() in {*Campaign.model_fields, *DEFAULTS}]
    text = "\n".join([*(line for line in lines if not line.startswith("#")), *spoken])
    read = Campaign.parse(text.encode())
    assert (read.defaults.threads, read.ignore, read.machines) == (4, ("discarded/", "*.log"), {"machine": "server"})


DEFAULTS = ("product", "product_version", "backend", "threading", "threads", "ha_mode", "testbed")


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
    assert Campaign.parse(begin(bare, lake).read_bytes()).campaign == "kea-lab"
