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


@pytest.mark.parametrize("name", READERS)
def test_every_table_that_a_reader_names_is_listed(name):
    assert read_by(name) <= listed(name)
