"""The worked questions of `analyses/` run, each answers something, and together they ask every table."""

import re
from pathlib import Path

import duckdb
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


def test_a_load_is_an_upper_bound_when_more_of_its_trials_exceed_than_the_campaign_allows():
    text = (ROOT / "analyses/do_all_trials_together_say_the_same.sql").read_text("utf-8")
    with duckdb.connect() as database:
        database.execute(Path(__file__).with_name("trials_together.sql").read_text("utf-8"))
        answer = database.sql(REF.sub(r"\1", text)).order("configuration")
        assert answer.select("configuration, columns('bound|conditional')").fetchall() == [
            ("no trial may exceed", 1000, 1, 2000, 2, 1000),
            ("usual", 2000, 2, 3000, 2, 1945),
        ]
