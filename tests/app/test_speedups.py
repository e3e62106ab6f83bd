"""The page Speed-ups, its ratios and its thread scaling."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import pytest

from app.charts import ratio
from app.queries import ratio_pairs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from streamlit.testing.v1 import AppTest

    from app.warehouse import Warehouse


def test_only_what_a_test_tells_apart_is_filled() -> None:
    pairs = pd.DataFrame(
        {
            "row": ["a", "b"],
            "backend": ["mysql", "memfile"],
            "ratio": [2.0, 1.1],
            "ci_low": [1.8, None],
            "ci_high": [2.2, None],
            "shown": ["2", "1.1"],
            "verdict": ["faster", "not testable"],
            "origin": "measured",
        }
    )
    spec = ratio.ratios(pairs, "Faster", "two pairs").to_dict()
    assert spec["layer"][2]["encoding"]["fillOpacity"]["condition"]["test"].startswith("datum.verdict == 'faster'")
    assert spec["layer"][2]["encoding"]["x"]["scale"]["type"] == "log"
    bars = spec["datasets"][spec["layer"][1]["data"]["name"]]
    assert [bar["row"] for bar in bars] == ["a"]


@pytest.mark.parametrize("factor", ratio_pairs.FACTORS)
def test_every_factor_has_pairs_with_ratio_verdict_and_what_else_differs(warehouse: Warehouse, factor: str) -> None:
    pairs = ratio_pairs.ratios(warehouse, factor).to_pylist()
    assert pairs
    for pair in pairs:
        assert pair["ratio"] == pytest.approx(pair["rate"] / pair["reference_rate"])
        assert pair["verdict"] in {"faster", "slower", "no evidence", "too few runs", "not testable"}
        assert pair["grade"] in {"same", "minor", "unknown", "unfair"}


@pytest.mark.parametrize("tab", ["Threads", "High availability", "Backends", "DHCPv6 over DHCPv4"])
def test_each_tab_shows_a_table_of_its_pairs(open_page: Callable[..., AppTest], warehouse_home: Path, tab: str) -> None:
    page = open_page(warehouse_home, "speedups", tab=tab)
    table = page.dataframe[0].value
    assert len(table) > 0
    assert {"Ratio", "Verdict", "Else differs"} <= set(table.columns)


def test_the_article_s_largest_speed_up_is_there(open_page: Callable[..., AppTest], published_home: Path) -> None:
    table = open_page(published_home, "speedups", campaign="isc-kb-kea-2.0").dataframe[0].value
    assert table["Ratio"].max() == pytest.approx(18.0348, abs=1e-3)
    assert set(table["Verdict"]) == {"not testable: fewer than two runs of one"}


def test_thread_scaling_shows_the_law_or_why_there_is_none(
    open_page: Callable[..., AppTest], published_home: Path
) -> None:
    page = open_page(published_home, "speedups", tab="Thread scaling")
    assert "By the law" in page.dataframe[0].value.columns
    refused = next(text for text in page.selectbox(key="family").options if "Recursor" in text)
    again = open_page(published_home, "speedups", tab="Thread scaling", family=refused)
    assert len(again.dataframe[0].value) == 2
