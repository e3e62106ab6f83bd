"""The data dictionary, docs/reference/data-dictionary.md, generated from the models' descriptions."""

import re
from pathlib import Path
from typing import Any, Final

import yaml

ROOT: Final = Path(__file__).parent.parent
_DOC: Final = re.compile(r"\{% docs (\w+) %\}(.*?)\{% enddocs %\}", re.DOTALL)
_DOC_CALL: Final = re.compile(r"\{\{ doc\('(\w+)'\) \}\}")
_REF: Final = re.compile(r"ref\('(\w+)'\)")

_HEAD: Final = """\
# Data dictionary

Every table of the warehouse, in alphabetical order. The database describes itself, too (`select table_name, comment
from duckdb_tables()`, `select column_name, comment from duckdb_columns()`). The SQL functions have [their own
page](sql-functions.md). The single row of `build_info` says when the file was built, and from what.

A *key* is unique; *→* names the table whose key a column refers to. A column that is not *never null* is null where the
value is not known or does not apply, never 0. Names end in their unit: `_s` seconds, `_ms` milliseconds, `_bytes`
bytes, `_ratio` a share from 0 to 1, or one value over another. A `rate` is per second; `rate_unit` says of what.

This page is written by `python -m docs.dictionary`.
"""


def page() -> str:
    """Return docs/reference/data-dictionary.md: each mart, and each seed that the build puts beside them.

    Raise KeyError if a description names a doc() that models/columns.md does not have.
    """
    marts = [model for file in (ROOT / "models" / "marts").glob("*.yml") for model in _described(file)["models"]]
    tables = sorted([*marts, *_published_seeds()], key=lambda table: str(table["name"]))
    index = [f"| [`{table['name']}`](#{table['name']}) | {_grain(table)} |" for table in tables]
    return "\n".join([_HEAD, "| table | one row per |", "|---|---|", *index, *map(_section, tables)])


def _published_seeds() -> list[dict[str, Any]]:
    places = yaml.safe_load((ROOT / "dbt_project.yml").read_text("utf-8"))["seeds"]["dropline"]
    seeds = _described(ROOT / "seeds" / "_seeds.yml")["seeds"]
    return [seed for seed in seeds if "target.database" in str(places.get(seed["name"]))]


def _described(file: Path) -> dict[str, Any]:
    docs = dict(_DOC.findall((ROOT / "models" / "columns.md").read_text("utf-8")))
    return dict(yaml.safe_load(_DOC_CALL.sub(lambda call: _quoted(docs[call[1]]), file.read_text("utf-8"))))


def _quoted(text: str) -> str:
    """Return `text` for the inside of a double-quoted YAML scalar, in which the calls of doc() stand."""
    return _one_line(text).replace("\\", "\\\\").replace('"', '\\"')


def _grain(table: dict[str, Any]) -> str:
    return re.split(r"[:;.]\s", _one_line(table["description"]) + " ", maxsplit=1)[0].removeprefix("One row per ")


def _section(table: dict[str, Any]) -> str:
    lines = [f"\n## {table['name']}\n", _one_line(table["description"])]
    for test in table.get("data_tests", []):
        if "unique_together" in test:
            columns = test["unique_together"]["arguments"]["columns"]
            lines.append(f"\nKey: {', '.join(f'`{column}`' for column in columns)}.")
    lines += ["\n| column | type | meaning |", "|---|---|---|"]
    types = table.get("config", {}).get("column_types", {})
    for column in table["columns"]:
        kind = column.get("data_type") or types[column["name"]]
        meaning = _one_line(column["description"]).replace("|", "\\|")
        lines.append(f"| `{column['name']}` | {', '.join([kind, *_rules(column)])} | {meaning} |")
    return "\n".join(lines)


def _rules(column: dict[str, Any]) -> list[str]:
    tests = column.get("data_tests", [])
    rules = ["*key*"] if "unique" in tests else []
    if "not_null" in tests or {"type": "not_null"} in column.get("constraints", []):
        rules.append("*never null*")
    relations = [test["relationships"]["arguments"]["to"] for test in tests if "relationships" in test]
    return rules + [f"→ `{name}`" for to in relations for name in _REF.findall(to)]


def _one_line(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    print(page())
