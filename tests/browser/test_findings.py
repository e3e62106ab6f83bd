"""From a finding to the trial that it is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dropline.app.warehouse import Warehouse

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Watched


def test_a_person_goes_from_a_finding_to_its_trial(watched: Watched, warehouse_home: Path) -> None:
    finding = (
        Warehouse.open(warehouse_home / "warehouse.duckdb")
        .query("select * from quality_findings where subject = 'trial' order by finding_id limit 1")
        .to_pylist()[0]
    )
    page = watched.go(f"quality?chosen={finding['finding_id'][:12]}")
    page.get_by_text(finding["detail"]).first.wait_for()
    page.get_by_role("link", name="Open the trial").click()
    page.get_by_role("heading", name="Selected trial").wait_for()
    watched.settle()
    assert page.get_by_test_id("stException").count() == 0
    assert f"trial={finding['trial_id'][:12]}" in page.url
    assert page.get_by_test_id("stText").filter(has_text=finding["source_path"]).is_visible()
