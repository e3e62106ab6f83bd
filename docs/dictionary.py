"""Data dictionary, docs/reference/data-dictionary.md, generated from the models' descriptions."""

import re
from functools import cache
from pathlib import Path
from typing import Any, Final

import jinja2
import yaml

ROOT: Final = Path(__file__).parent.parent
_DOC: Final = re.compile(r"\{% docs (\w+) %\}(.*?)\{% enddocs %\}", re.DOTALL)
_DOC_CALL: Final = re.compile(r"\{\{ doc\('(\w+)'\) \}\}")
_REF: Final = re.compile(r"ref\('(\w+)'\)")


def page() -> str:
    """Return the text of the page: each mart, and each seed that the build publishes with them.

    Raise KeyError if a description names a doc() that models/columns.md does not have.
    """
    marts = [model for file in (ROOT / "models" / "marts").glob("*.yml") for model in _described(file)["models"]]
    tables = sorted([*marts, *_published_seeds()], key=lambda table: str(table["name"]))
    templates = jinja2.Environment(trim_blocks=True, lstrip_blocks=True, autoescape=False)  # noqa: S701 - Markdown
    templates.filters |= {"grain": _grain, "one_line": _one_line}
    text = Path(__file__).with_suffix(".txt").read_text("utf-8")
    return templates.from_string(text).render(tables=tables, rules=_rules).rstrip()


def _published_seeds() -> list[dict[str, Any]]:
    places = yaml.safe_load((ROOT / "dbt_project.yml").read_text("utf-8"))["seeds"]["dropline"]
    seeds = _described(ROOT / "seeds" / "_seeds.yml")["seeds"]
    return [seed for seed in seeds if "target.database" in str(places.get(seed["name"]))]


def _described(file: Path) -> dict[str, Any]:
    return dict(yaml.safe_load(file.read_text("utf-8")))


@cache
def _docs() -> dict[str, str]:
    return dict(_DOC.findall((ROOT / "models" / "columns.md").read_text("utf-8")))


def _grain(description: str) -> str:
    return re.split(r"[:;.]\s", _one_line(description) + " ", maxsplit=1)[0].removeprefix("One row per ")


def _rules(column: dict[str, Any]) -> list[str]:
    tests = column.get("data_tests", [])
    rules = ["*key*"] if "unique" in tests else []
    if "not_null" in tests or {"type": "not_null"} in column.get("constraints", []):
        rules.append("*never null*")
    relations = [test["relationships"]["arguments"]["to"] for test in tests if "relationships" in test]
    return rules + [f"→ `{name}`" for to in relations for name in _REF.findall(to)]


def _one_line(text: str) -> str:
    return " ".join(_DOC_CALL.sub(lambda call: _docs()[call[1]], text).split())


if __name__ == "__main__":
    print(page())
