"""The report as a file: nothing from elsewhere, nothing from a file taken for markup, every table a table."""

import re
from collections import Counter
from html.parser import HTMLParser
from itertools import pairwise
from xml.etree import ElementTree

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import report
from dropline.app.charts import intervals
from dropline.report import rendering
from dropline.report.sections import Cell, Chart, Report, Section, Table

VOID = {"meta"}
ELEMENTS = {
    *("html", "head", "meta", "title", "style", "body", "header", "nav", "main", "section", "h1", "h2", "h3", "p", "a"),
    *("ul", "li", "div", "span", "table", "thead", "tbody", "tr", "th", "td", "figure", "figcaption"),
    *("svg", "g", "defs", "clippath", "rect", "path", "line", "text", "tspan"),
}
UNESCAPED_PIPE = re.compile(r"(?<!\\)(?:\\\\)*\|")
TEXTS = st.text(st.characters(exclude_categories=("C", "Zl", "Zp")), max_size=40)


class Page(HTMLParser):
    """Reads a page; fails at the first end tag that does not fit."""

    def __init__(self, text):
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        if data.strip():
            self.texts.append(data)

    def values(self, name):
        return [attributes[name] or "" for _, attributes in self.elements if name in attributes]


@pytest.fixture
def pages(warehouse, hostile):
    return [report.make(warehouse), report.make(warehouse, ["isc-kb-kea-2.0"]), report.make(hostile)]


def test_the_page_is_well_formed_and_its_references_lead_somewhere(pages):
    for page in map(Page, pages):
        assert {tag for tag, _ in page.elements} <= ELEMENTS
        ids = Counter(page.values("id"))
        assert set(ids.values()) == {1}
        assert {each[1:] for each in page.values("href") if each.startswith("#")} <= set(ids)
        assert {name for each in page.values("aria-labelledby") for name in each.split()} <= set(ids)


def test_nothing_comes_from_elsewhere_and_nothing_runs(pages):
    for text in pages:
        page = Page(text)
        names = {name for _, attributes in page.elements for name in attributes}
        assert not names & {"src", "srcset", "style", "action", "data", "xlink:href"}
        assert not [name for name in names if name.startswith("on")]
        assert {tag for tag, attributes in page.elements if "href" in attributes} == {"a"}
        assert all(each.startswith(("#", "https://", "http://")) for each in page.values("href"))
        style = text[text.index("<style>") : text.index("</style>")]
        assert "url(" not in style
        assert "@import" not in style


def test_hostile_texts_arrive_as_texts_without_control_characters(hostile):
    for form in report.FORMATS:
        text = report.make(hostile, form=form)
        assert "alert(1)" in text
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", text)
        assert "<script" not in text.replace("\\<", "")
        assert "<img" not in text.replace("\\<", "")


def test_each_line_of_a_markdown_table_has_as_many_cells_as_its_head(hostile, warehouse):
    for source in (hostile, warehouse):
        lines = report.make(source, form="markdown").splitlines()
        widths = [len(UNESCAPED_PIPE.findall(line)) if line.startswith("|") else 0 for line in lines]
        heads = [place for place, width in enumerate(widths) if width and not widths[place - 1]]
        assert len(heads) > 8
        assert all(set(re.sub(r"[|:\- ]", "", lines[place + 1])) == set() for place in heads)
        assert all(one == other for one, other in pairwise(widths) if one and other)
        assert sum(line.startswith("# ") for line in lines) == 1


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=4))
def test_any_text_stays_in_its_cell(rows):
    cells = [{"x" + name: Cell("y" + name, detail) for name, detail, _ in rows} for _ in range(2)]
    table = Table.of("caption", cells)
    texts = tuple("z" + text for _, _, text in rows)
    made = Report("title", "subtitle", (Section("key", "Title", (texts[0], texts, table)),))
    *_, head, rule, one, other = rendering.markdown(made).splitlines()
    widths = {len(UNESCAPED_PIPE.findall(line)) for line in (head, rule, one, other)}
    assert widths == {len(table.columns) + 1}
    page = Page(rendering.html(made))
    joined = "\n".join(page.texts)
    for text in (*texts, *table.columns, *(cell.text for cell in table.rows[0])):
        assert text.strip() in joined


@pytest.mark.parametrize("words", ["</text><script>alert(1)</script>", 'a "quoted" & <b>name</b>', "{{ 7 * 7 }}"])
def test_every_chart_is_xml_with_its_words(words):
    part = pd.DataFrame({"t_s": [1.0, 2], "exchange": f"\x1b\ufffe{words}", "series": "drops", "packets_per_s": [0, 5]})
    chart = Chart("about", intervals.second_by_second(part, [0, 2], intervals.pauses(part)))
    root = ElementTree.fromstring(rendering.svg(chart, "key"))  # noqa: S314 - our own
    assert f"{words}: the loss begins in second 2" in "".join(root.itertext())
    assert all(each.get("id", "key-").startswith("key-") for each in root.iter())


def test_figures_stand_flush_right_and_empty_columns_go():
    rows = [
        {"name": "a", "rate": "≥ 12,000", "none": "-", "p": "0.5"},
        {"name": "b", "rate": "-", "none": "", "p": "1"},
    ]
    table = Table.of("caption", rows)
    assert table.columns == ("name", "rate", "p")
    assert table.figures == [False, True, True]
