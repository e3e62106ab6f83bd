"""The worked questions of `analyses/` run, each answers something, and together they ask every table."""

import re
from pathlib import Path

import pytest

from tests.homes import asking, built

ROOT = Path(__file__).parents[2]
ANALYSES = sorted((ROOT / "analyses").glob("*.sql"))
REF = re.compile(r"\{\{ ref\('(\w+)'\) \}\}")
ASKED_OF_DNS_AND_ODD_FILES = {
    "was_it_the_receive_buffer",
    "where_does_the_printed_ratio_mislead",
    "which_answers_came_late",
    "which_counters_jump_above_the_capacity",
    "which_dns_server_answers_most",
    "which_files_were_refused",
}


@pytest.fixture(scope="module")
def sql_of_captures(tmp_path_factory):
    """What the examples lack: DNS trials with counters beside them, late answers, files that are refused."""
    folders = (ROOT / "examples/powerdns-4.7", ROOT / "tests/captures/perfdhcp")
    with asking(built(tmp_path_factory.mktemp("captures"), *folders)) as asked:
        yield asked


@pytest.mark.parametrize("analysis", ANALYSES, ids=lambda path: path.stem)
def test_a_worked_question_has_an_answer(request, analysis):
    home = "sql_of_captures" if analysis.stem in ASKED_OF_DNS_AND_ODD_FILES else "sql"
    assert request.getfixturevalue(home)(REF.sub(r"\1", analysis.read_text("utf-8")))


def test_every_mart_is_asked_by_some_question():
    asked = {name for analysis in ANALYSES for name in REF.findall(analysis.read_text("utf-8"))}
    assert {mart.stem for mart in (ROOT / "models" / "marts").glob("*.sql")} <= asked
