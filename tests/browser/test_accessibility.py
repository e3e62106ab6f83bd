"""Every page, light and dark, wide and narrow: WCAG 2.2 AA as far as a machine can tell, the keyboard, a picture.

axe-core looks at the document; what it does not look at is measured here: whether each chart has marks with a paint,
each entry of a legend a look of its own, each text its room and enough contrast, and the page the width of its screen.
Each page is opened once.
"""

import os
from pathlib import Path

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from conftest import PAGES
from PIL import Image

# What a page is first of all for: a role and a name.
CONTROLS = {
    "results": ("combobox", "Loss goal"),
    "explore": ("searchbox", "Search"),
    "compare": ("combobox", "Configurations"),
    "run": ("combobox", "Configuration"),
    "versions": ("link", "Set-ups"),
    "speedups": ("tab", "Threads"),
    "trends": ("combobox", "Series"),
    "planner": ("textbox", "Clients"),
    "machines": ("tab", "Hosts"),
    "measuring": ("link", "See the results"),
    "claims": ("switch", "Only where rule and maintainers differ"),
    "quality": ("tab", "Findings"),
    "sql": ("textbox", "One SELECT (DuckDB's SQL)"),
    "try_file": ("button", "Upload"),
}
MOST_TABS = 40  # key presses from the top of a page to its main control; a third of them is the navigation
WIDTHS = (1440, 390)  # pixels
KNOWN = Path(__file__).parent / "pictures"  # how each page looked, in grey blocks; `make pictures` renews them
BLOCK = 20  # pixels
MOST_UNLIKE = 0.25  # of what stands out from the ground: a line may break elsewhere, a chart may not be missing
PATIENCE_MS = (300, 2000, 4000)  # charts and tables below the screen are drawn when it grows
FIELDS = (4, 8)  # across, down
SCHEMES = ("light", "dark")
GRAVE = {"serious", "critical"}
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

# What Streamlit draws so and offers no setting for: rule, element, schemes.
STREAMLITS = [
    # In a box of many choices what is typed, cleared and opened stands closer than 24 pixels; the keyboard does it all.
    ("target-size", "[data-testid=stMultiSelect] :is(button, input)", SCHEMES),
    # The sections of its menu on a narrow screen are boxes in a list, and their entries no items of it.
    ("list", "[data-testid=stSidebarNavItems]", SCHEMES),
    ("listitem", "[data-testid=stSidebarNavItems] li", SCHEMES),
    # It writes white on primaryColor there, and primaryColor on the ground elsewhere (links of tabs, chosen segments).
    # On a ground that is not black no colour has 4.5 to 1 against both; the second is seen more often.
    ("color-contrast", "[data-testid=stMultiSelect] [data-tag] > span", ("dark",)),
    ("color-contrast", "[data-testid=stBaseButton-primaryFormSubmit] *", ("dark",)),
]

# Contrast of each text in a chart with the ground that it stands on: WCAG 2.2, 1.4.3, with its formula for luminance.
TEXTS_IN_CHARTS = """() => {
    const read = colour => { const parts = colour.match(/[\\d.]+/g).map(Number); return [...parts, 1].slice(0, 4); };
    const luminance = colour => colour.slice(0, 3).map(each => each / 255)
        .map(each => each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4)
        .reduce((sum, each, place) => sum + each * [0.2126, 0.7152, 0.0722][place], 0);
    const ground = element => {
        for (; element; element = element.parentElement) {
            const colour = read(getComputedStyle(element).backgroundColor);
            if (colour[3] === 1) return colour;
        }
        return [255, 255, 255, 1];
    };
    return [...document.querySelectorAll('[data-testid=stVegaLiteChart] svg text')]
        .filter(text => text.textContent.trim()).map(text => {
            const style = getComputedStyle(text), below = ground(text.ownerSVGElement.parentElement);
            let share = read(style.fill)[3] * style.fillOpacity;
            for (let each = text; each.tagName !== 'svg'; each = each.parentElement)
                share *= getComputedStyle(each).opacity;
            const seen = below.map((part, place) => share * read(style.fill)[place] + (1 - share) * part);
            const [dark, light] = [luminance(seen), luminance(below)].sort((a, b) => a - b);
            return {text: text.textContent, hidden: share === 0, contrast: (light + 0.05) / (dark + 0.05)};
        });
}"""

# What a look at the picture would find in the charts and in texts that end in dots.
DRAWN = """() => {
    const found = [], charts = document.querySelectorAll('[data-testid=stVegaLiteChart]');
    const paint = mark => ['fill', 'stroke'].map(name => getComputedStyle(mark)[name]);
    for (const chart of charts) {
        const name = chart.getAttribute('aria-label'), svg = chart.querySelector('svg');
        const box = svg.getBoundingClientRect();
        const marks = [...svg.querySelectorAll('.role-mark > :is(path, line, text)')];
        if (!marks.length) found.push(`no mark in: ${name}`);
        if (marks.some(mark => paint(mark).every(each => each === 'none'))) found.push(`no paint in: ${name}`);
        for (const legend of svg.querySelectorAll('.role-legend')) {
            const looks = [...legend.querySelectorAll('.role-legend-symbol path')]
                .map(each => [...paint(each), getComputedStyle(each).strokeDasharray, each.getAttribute('d')].join());
            if (new Set(looks).size < looks.length) found.push(`two of a legend look alike in: ${name}`);
        }
        for (const text of svg.querySelectorAll('text')) {
            const {left, right, width} = text.getBoundingClientRect();
            if (width && (text.textContent.endsWith('…') || left < box.left - 3 || right > box.right + 3))
                found.push(`cut: ${text.textContent} in: ${name}`);
        }
    }
    for (const each of document.querySelectorAll('[data-testid=stMain] *'))
        if (getComputedStyle(each).textOverflow === 'ellipsis' && each.scrollWidth > each.clientWidth + 1
            && each.textContent && !each.title) // what was chosen tells the rest on hovering
            found.push(`cut: ${each.textContent}`);
    return found;
}"""


@pytest.mark.parametrize("name", PAGES)
def test_a_page_can_be_used_by_everybody(watched, addresses, name):
    troubles = []
    page = watched.page
    page.set_viewport_size({"width": WIDTHS[0], "height": 900})
    page.emulate_media(color_scheme=SCHEMES[0])
    watched.go(addresses[name])
    assert page.get_by_test_id("stException").count() == 0
    assert reached_by_tab(page, *CONTROLS[name]), f"{CONTROLS[name]} is not reached by {MOST_TABS} tabs"
    page.evaluate("document.activeElement.blur()")  # no picture of a cursor
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            watched.settle()
            troubles += [f"{scheme}, {width}: {each}" for each in (*violations(page, scheme), *faults(page))]
            troubles += unlike(watched, f"{name}-{scheme}-{width}")
    assert troubles == []


def reached_by_tab(page, role, name):
    """Say whether the Tab key leads from the top of the page to a control."""
    aim = page.get_by_role(role, name=name, exact=True).first
    aim.wait_for()
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        if aim.evaluate("each => each === document.activeElement"):
            return True
    return False


def violations(page, scheme):
    """Return what axe-core finds grave, without what is Streamlit's; headings in order as well."""
    found = Axe().run(page, options={"runOnly": RULES, "resultTypes": ["violations"]}).response["violations"]
    return [
        f"{rule['id']}: {node['html'][:200]}: {node.get('failureSummary', '')[:200]}"
        for rule in found
        if rule["impact"] in GRAVE or rule["id"] == "heading-order"
        for node in rule["nodes"]
        if not is_streamlits(page, rule["id"], node, scheme)
    ]


def is_streamlits(page, rule, node, scheme):
    """Say whether an element is in the list of what Streamlit draws so."""
    element = page.locator(node["target"][-1]).first
    return any(
        rule == listed and scheme in when and element.evaluate("(each, selector) => each.matches(selector)", selector)
        for listed, selector, when in STREAMLITS
    )


def faults(page):
    """Return what axe-core does not look at: charts without words or with pale ones, and what is too wide."""
    pale = [each for each in page.evaluate(TEXTS_IN_CHARTS) if not each["hidden"] and each["contrast"] < 4.5]
    silent = page.locator("[data-testid=stVegaLiteChart]:not([aria-label])").count()
    wide = page.get_by_test_id("stMain").evaluate("main => main.scrollWidth - main.clientWidth")
    return [
        *page.evaluate(DRAWN),
        *(f"pale in a chart: {each['text']} ({each['contrast']:.2f})" for each in pale[:3]),
        *([f"{silent} charts without a text alternative"] if silent else []),
        *([f"{wide} pixels wider than the page"] if wide else []),
    ]


def unlike(watched, name):
    """Take a picture of the page and say whether it no longer looks as it did; what comes late has some seconds."""
    is_new = os.environ.get("NEW_PICTURES")
    for patience_ms in PATIENCE_MS[-1:] if is_new else PATIENCE_MS:
        seen = Image.open(watched.shoot(name, patience_ms)).convert("L")
        seen = seen.resize((seen.width // BLOCK, seen.height // BLOCK), Image.Resampling.BOX)
        if is_new:
            seen.save(KNOWN / f"{name}.png", optimize=True)
        share = difference(seen, Image.open(KNOWN / f"{name}.png"))
        if share <= MOST_UNLIKE:
            return []
    return [f"{share:.0%} of the page differs from tests/browser/pictures/{name}.png"]


def difference(seen, known):
    """Return how much more or less stands in the fields of a page than stood there, over all that stood there."""
    now, before = inked(seen), inked(known)
    return float(np.abs(now - before).sum() / before.sum())


def inked(picture):
    grey = np.asarray(picture, np.float32)
    return np.asarray(Image.fromarray(np.abs(grey - np.median(grey))).resize(FIELDS, Image.Resampling.BOX))
