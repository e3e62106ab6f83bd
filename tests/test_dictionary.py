"""The data dictionary says what the models say, and names all that the warehouse has."""

import duckdb

from docs import dictionary

PAGE = dictionary.ROOT / "docs" / "reference" / "data-dictionary.md"


def test_the_page_is_what_the_models_say():
    assert PAGE.read_text("utf-8") == dictionary.page() + "\n", (
        "write it again: python -m docs.dictionary > docs/reference/data-dictionary.md"
    )


def test_every_table_and_column_of_the_warehouse_is_on_the_page_with_its_comment(warehouse_home):
    assert "doc(" not in PAGE.read_text("utf-8"), "a description that dbt resolves"
    sections = dict(part.split("\n", 1) for part in PAGE.read_text("utf-8").split("\n## ")[1:])
    with duckdb.connect(str(warehouse_home / "warehouse.duckdb"), read_only=True) as connection:
        columns = connection.execute("""
            select table_name, column_name, comment from duckdb_columns()
            where not internal and table_name <> 'build_info'
        """).fetchall()
    assert {table for table, _, _ in columns} == set(sections)
    for table, column, comment in columns:
        (line,) = [line for line in sections[table].splitlines() if line.startswith(f"| `{column}` |")]
        assert " ".join(comment.split()).replace("|", "\\|") in line
