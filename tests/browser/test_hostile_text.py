"""Files of strangers are data: nothing that they say becomes an element, a script or a link of a page."""

from urllib.parse import urlencode

import pytest
from conftest import STRANGE, watch

from dropline.app import queries

# What STRANGE would leave behind: elements of its own, links, images, and the words that Streamlit's Markdown colours.
MADE = """() => ({
    elements: document.querySelectorAll('.injected, [onerror], [onclick], img[src="x"], [src*="evil.example"]').length,
    links: [...document.querySelectorAll('a, area, form')].map(each => each.href || each.action || '')
        .filter(each => /^\\s*(javascript|data|vbscript):/i.test(each)),
    scripts: [...document.scripts].filter(each => each.textContent.includes('pwned')).length,
    coloured: [...document.querySelectorAll('.stMarkdownColoredText')]
        .filter(each => !'▲▼'.includes(each.textContent)).length,
    ran: 'pwned' in window,
})"""
HARMLESS = {"elements": 0, "links": [], "scripts": 0, "coloured": 0, "ran": False}
WORD = "onerror=window.pwned=1"  # stands in the text of a page that shows STRANGE


@pytest.fixture(scope="module")
def views(strange):
    """The paths of views that show what files say, and whether it stands in the document (or on a canvas only)."""
    rows = strange.query("""
        select configuration_id, origin from configurations where campaign = 'evil' or campaign like 'evil/%'
        order by origin, configuration_id
        """).to_pylist()
    labels = queries.labels(strange)
    measured = [labels[each["configuration_id"]] for each in rows if each["origin"] == "measured"]
    assert len(measured) == 2
    assert len(rows) > 2, "the figure is there, too"
    findings = strange.query("""
        select any_value(finding_id) as id from quality_findings
        where contains(detail || coalesce(source_path, ''), $word) group by finding, subject order by all
        """, {"word": WORD})  # fmt: skip
    everything = [labels[each["configuration_id"]] for each in rows]
    compared = urlencode({"configurations": everything}, doseq=True)
    return {
        "results": ("", True),
        "explore": ("explore?search=onerror", True),
        "compare": (f"compare?{compared}", True),
        "run": ("run?" + urlencode({"configuration": measured[0]}), True),
        "speedups": ("speedups?campaign=evil", False),
        "trends": ("trends", True),
        "planner": ("planner?clients=1000", True),
        "hosts": ("machines", True),
        "server configurations": ("machines?tab=Server+configurations", True),
        "claims": ("claims", False),
        "rejected": ("quality?tab=Rejected+files", True),
        "campaigns": ("quality?tab=Campaigns", True),
        "sql": ("sql?" + urlencode({"sql": f"select '{STRANGE}' as \"{STRANGE}\", title from campaigns"}), True),
        "an address": (f"explore?{urlencode({'campaign': STRANGE, 'search': STRANGE})}", True),
    } | {f"finding {n}": (f"quality?chosen={id_[:12]}", True) for n, id_ in enumerate(findings["id"].to_pylist())}


def test_no_page_makes_anything_of_what_files_say(chromium, serve_home, strange_home, views, tmp_path):
    with watch(chromium, serve_home(strange_home)) as watched:
        for name, (path, shown) in views.items():
            page = watched.go(path)
            assert page.get_by_test_id("stException").count() == 0, name
            assert page.evaluate(MADE) == HARMLESS, name
            if shown:  # else the check is vacuous
                page.wait_for_function(
                    "word => document.documentElement.innerHTML.replaceAll('&gt;', '>').includes(word)", arg=WORD
                )
            marks = page.locator("[data-testid=stVegaLiteChart] .mark-symbol path, .mark-rect path")
            if marks.count():  # a tooltip is made of HTML
                marks.first.hover(force=True)
                page.wait_for_timeout(200)
            assert page.evaluate(MADE) == HARMLESS, f"{name}, a tooltip"
        file = tmp_path / f"{STRANGE.replace('/', '')}.txt"
        file.write_text(f"Running: perfdhcp {STRANGE}\n{STRANGE}\n", "utf-8")
        page = watched.go("try_file")
        page.locator("input[type=file]").set_input_files(file)
        page.get_by_text("Recognised by").wait_for()
        watched.settle()
        assert WORD in page.content().replace("&gt;", ">")
        assert page.evaluate(MADE) == HARMLESS, "a dropped file"
