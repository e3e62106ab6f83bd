"""docs/reference/sql-functions.md names every function of the warehouse, its arguments and its columns, and runs."""

import re
from pathlib import Path

import duckdb
import pytest
import yaml

from dropline.app import planner

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "sql-functions.md").read_text("utf-8")
MACROS = planner.definition() + "\n".join(file.read_text("utf-8") for file in (ROOT / "macros").glob("*.sql"))
SECTIONS = {part.partition("\n")[0]: part for part in PAGE.split("\n## ")[1:]}
REFUSED = yaml.safe_load(Path(__file__).with_name("refused.yml").read_text("utf-8"))
EXAMPLES = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)


def cells(section, heading):
    table = section.partition(f"| {heading} |")[2].partition("\n\n")[0]
    return re.findall(r"^\| `(\w+)` \| (.*?) ?\| ?", table, re.MULTILINE)


def arguments(name):
    """The arguments with their defaults, as the macro is written; an empty text for none."""
    written = re.search(rf"create or replace macro {name}\((.*?)\) as ", MACROS, re.DOTALL)[1]
    parts = (part.strip().partition(" := ") for part in written.split(","))
    return [(argument, default.strip("'")) for argument, _, default in parts]


def test_every_function_of_the_warehouse_has_its_section_and_its_line_in_the_list(sql):
    functions = sql("select function_name from duckdb_functions() where not internal and schema_name = 'main'")
    assert {name for (name,) in functions} == SECTIONS.keys()
    assert re.findall(r"^\| \[`(\w+)`\]", PAGE, re.MULTILINE) == list(SECTIONS)


@pytest.mark.parametrize("name", SECTIONS)
def test_the_arguments_and_their_defaults_are_those_of_the_function(name):
    assert cells(SECTIONS[name], "argument | default | meaning") == arguments(name)


@pytest.mark.parametrize("name", [name for name in SECTIONS if name != "usual_goal"])  # a value
def test_the_columns_are_those_that_come_out(sql, name):
    required = ", ".join("0" for _, default in arguments(name) if not default)
    columns = [column for column, *_ in sql(f"describe from {name}({required})")]
    assert [column for column, _ in cells(SECTIONS[name], "column | meaning")] == columns


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_has_an_answer(sql, example):
    assert sql(example)


def test_every_function_has_an_example():
    assert [name for name in SECTIONS if not any(f"{name}(" in example for example in EXAMPLES)] == []


@pytest.mark.parametrize(("question", "said"), REFUSED.items())
def test_what_no_function_can_answer_is_an_error_that_says_what_can_be_asked(sql, question, said):
    with pytest.raises(duckdb.InvalidInputException) as refused:
        sql(question)
    assert said in str(refused.value)


def test_the_ends_of_the_range_of_limits_are_answered(sql):
    assert sql("select count(*) > 0 from lps_at(0)") == sql("select count(*) > 0 from lps_at(1)") == [(True,)]


def test_many_pairs_at_once_are_compared_like_each_alone(sql):
    [(ones, others)] = sql("""
        select list(treatment_configuration_id), list(baseline_configuration_id)
        from (from ratios where ci_low is not null and loss_goal = 'isc' order by all limit 5)
    """)
    alone = sql(
        """
        select compared.*
        from (select unnest($1) as a, unnest($2) as b) as pairs, lateral compare(pairs.a, pairs.b) as compared
        """,
        *(ones, others),
    )
    assert len(ones) == 5
    assert sorted(sql("from compare_each($1, $2)", ones, others)) == sorted(alone)
