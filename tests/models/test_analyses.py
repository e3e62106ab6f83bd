"""The worked questions of `analyses/` run on the examples and answer something."""

import re
from pathlib import Path

import pytest

ANALYSES = sorted((Path(__file__).parents[2] / "analyses").glob("*.sql"))
REF = re.compile(r"\{\{ ref\('(\w+)'\) \}\}")


@pytest.mark.parametrize("analysis", ANALYSES, ids=lambda path: path.stem)
def test_a_worked_question_has_an_answer(sql, analysis):
    assert sql(REF.sub(r"\1", analysis.read_text("utf-8")))
