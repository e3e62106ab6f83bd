"""The pages of Great Expectations: what they say, and that they load and run nothing, whatever is in the data."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dropline.expectations import catalogue, check_lake, docs

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)> $v__0 {{ 7 * 7 }}"
LOADS = {"script", "link", "img", "iframe", "object", "embed", "base", "form"}


class Seen(HTMLParser):
    """Collects the tags of a page, their attributes, its text and its comments."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def site(batch, tmp_path_factory):
    """The pages of a lake with a sound trial, and one of a campaign whose name is hostile."""
    root = tmp_path_factory.mktemp("docs")
    rows = batch(HOSTILE).trial("sound").trial("t1", {"trial": {"threads": 0, "protocol": HOSTILE}})
    rows.commit(root / "lake")
    check_lake(root / "lake", root / "quality")
    index = docs.write(root / "quality")
    return {
        page.relative_to(index.parent).as_posix(): Seen(page.read_text("utf-8"))
        for page in index.parent.rglob("*.html")
    }


def page_of(site, suite):
    [page] = (seen for name, seen in site.items() if name.startswith(f"validations/{suite}/"))
    return page


def test_the_first_page_leads_to_the_results_of_every_suite_that_was_checked(site):
    links = [attributes["href"] for tag, attributes in site["index.html"].tags if tag == "a"]
    assert [link.split("/gate/")[0] for link in links] == [
        f"validations/{suite.name}" for suite in catalogue.lake.SUITES
    ]
    assert set(links) <= set(site)
    assert "warning" in site["index.html"].text


def test_every_expectation_stands_with_its_severity_and_reason(site):
    for suite in catalogue.lake.SUITES:
        text = re.sub(r"\s+", " ", page_of(site, suite.name).text)
        for each in suite.expectations:
            assert f"{each.code} ({each.severity}): " in text
            assert each.reason in text


def test_what_fails_is_shown_with_its_count_and_examples_as_text(site):
    text = re.sub(r"\s+", " ", page_of(site, "lake/trials").text)
    assert "1 unexpected values found. 50% of 2 total rows." in text
    assert "the server is said to have 0 threads" in text
    assert re.sub(r"\s+", " ", f"protocol {HOSTILE!r} is none of") in text


def test_no_page_loads_or_runs_anything(site):
    for name, page in site.items():
        policies = [a["content"] for tag, a in page.tags if tag == "meta" and "http-equiv" in a]
        assert policies == ["default-src 'none'; style-src 'unsafe-inline'"], name
        assert not LOADS & {tag for tag, _ in page.tags}, name
        assert not [key for _, attributes in page.tags for key in attributes if key.startswith("on")], name
        loaded = [a.get("src") for _, a in page.tags if a.get("src")]
        assert loaded == [], name


def test_the_pages_are_those_of_the_last_results_only(batch, home):
    batch().trial("t1", {"trial": {"threads": 0}}).commit(home.lake)
    check_lake(home.lake, home.quality)
    docs.write(home.quality)
    gate = json.loads((home.quality / "gate.json").read_text())
    gate["lake"]["suites"] = gate["lake"]["suites"][1:]
    (home.quality / "gate.json").write_text(json.dumps(gate))
    index = docs.write(home.quality)
    assert not list(index.parent.glob("validations/lake/trials/**/*.html"))
    assert not (home.quality / "docs.partial").exists()


def test_the_app_offers_the_pages_to_download_and_says_how_to_make_them(warehouse_home, tmp_path, monkeypatch):
    for name in ("lake", "warehouse.duckdb", "quality"):
        (tmp_path / name).symlink_to(warehouse_home / name)
    (tmp_path / "quality").unlink()
    (tmp_path / "quality").mkdir()
    (tmp_path / "quality" / "gate.json").write_bytes((warehouse_home / "quality" / "gate.json").read_bytes())
    monkeypatch.setenv("DROPLINE_HOME", str(tmp_path))
    app = AppTest.from_file(str(Path(docs.__file__).parents[1] / "app" / "main.py"), default_timeout=60)
    app.switch_page("views/quality.py")
    app.query_params["tab"] = "Gate"
    app.run()
    assert not app.get("download_button")
    assert any("`dropline check` writes" in each.value for each in app.caption)
    docs.write(tmp_path / "quality")
    app.run()
    assert not app.exception
    [button] = app.get("download_button")
    assert button.proto.label == "Download the pages"
