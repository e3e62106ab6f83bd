"""Who reads which table: models/exposures.yml against the SQL of the readers."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PUBLISHED = {mart.stem for mart in (ROOT / "models" / "marts").glob("*.sql")} | {
    "loss_goals",
    "student_t",
    "interval_constants",
}
EXPOSURES = {
    exposure["name"]: exposure
    for exposure in yaml.safe_load((ROOT / "models" / "exposures.yml").read_text("utf-8"))["exposures"]
}
READERS = {
    "app": ["app/*.py", "app/queries/*.sql", "app/views/*.py"],
    "report": ["report/*.py"],
    "calculator": ["app/planner.py", "app/queries/planner_*.sql", "app/views/planner.py"],
}


def listed(name):
    return {re.fullmatch(r"ref\('(\w+)'\)", ref)[1] for ref in EXPOSURES[name]["depends_on"]}


def read_by(name):
    texts = [file.read_text("utf-8") for pattern in READERS[name] for file in ROOT.glob(pattern)]
    return {table for text in texts for table in re.findall(r"\b(?:from|join)\s+(\w+)", text)} & PUBLISHED


def test_every_reader_is_an_exposure_and_says_what_it_is_and_whose():
    assert EXPOSURES.keys() == READERS.keys()
    for exposure in EXPOSURES.values():
        assert len(exposure["description"]) > 60
        assert exposure["owner"]["name"] and exposure["label"]


@pytest.mark.parametrize("name", EXPOSURES)
def test_what_a_reader_is_said_to_read_exists(name):
    assert listed(name) <= PUBLISHED


@pytest.mark.parametrize("name", READERS)
def test_every_table_that_a_reader_names_is_listed(name):
    assert read_by(name) <= listed(name)


def test_the_pages_are_seen_to_read_something():
    assert len(read_by("app")) > 15
