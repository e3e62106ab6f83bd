"""Figures in words: bounds are shown as bounds, and text from files stays text."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from dropline.app import wording

CASES = yaml.safe_load(Path(__file__).with_name("wording.yml").read_text("utf-8"))


@pytest.mark.parametrize(
    ("function", "arguments", "said"),
    [(function, arguments, said) for function, cases in CASES.items() for *arguments, said in cases],
)
def test_figures_are_said(function, arguments, said):
    found = getattr(wording, function)(*arguments)
    assert (list(found) if isinstance(said, list) else found) == said


@given(st.text())
def test_no_markdown_survives_in_plain_text(text):
    shown = wording.plain(text)
    for sign in "*_`[]<>$~:#|!":
        assert shown.count(sign) == shown.count("\\" + sign)
    assert "\n" not in shown
