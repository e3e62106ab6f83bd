"""Links between pages that keep the visitor's choices."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dropline.app import queries, widgets, wording
from dropline.app.warehouse import Warehouse

MOST_COMPARED = 12


def to_page(view: str, text: str, icon: str | None, address: Mapping[str, Any] | None = None) -> None:
    """Link to the page of a view, with a Material icon; `address` holds the initial choices."""
    mark = icon and f":material/{icon}:"
    st.page_link(f"views/{view}.py", label=text, icon=mark, query_params=dict(address or {}))


def to_run(configuration_id: str, run_id: str, trial_id: str | None = None, text: str | None = None) -> None:
    """Link to the page of a run, with one of its trials if named; the page replaces the ids by names."""
    address = {"configuration": configuration_id, "run": run_id}
    if trial_id is not None:
        address["trial"] = trial_id[: widgets.ID_LENGTH]
    usual = "Open the trial" if trial_id is not None else "Open the run"
    to_page("run", text or usual, "timeline", address)


def to_found(labels: Mapping[str, str], found: Sequence[Mapping[str, Any]]) -> None:
    """Link to the campaigns, machines and runs that `explore.beside` found."""
    for each in found:
        match each["kind"]:
            case "run":
                text = wording.plain(f"{labels[each['configuration_id']]}, {each['label']}")
                to_run(each["configuration_id"], each["id"], text=text)
            case "machine":
                to_page("machines", f"Machine: {wording.plain(each['label'])}", "dns", {"host": each["label"]})
            case _:
                to_page("explore", f"Campaign: {wording.plain(each['id'])}", "folder", {"campaign": each["id"]})


def to_compare(configuration_ids: Sequence[str], text: str) -> None:
    """Link to the comparison of the configurations, at most the first twelve."""
    if configuration_ids:
        to_page("compare", text, "compare_arrows", {"configurations": configuration_ids[:MOST_COMPARED]})


def to_trend(warehouse: Warehouse, loss_goal: str | None, series_id: str, text: str) -> None:
    """Link to the runs of a series over time; the page replaces its id by its name."""
    goal = next((each for each in queries.loss_goals(warehouse) if each["loss_goal"] == loss_goal), None)
    address = {"series": series_id}
    if goal is not None:
        address["goal"] = wording.loss_goal(goal["loss_goal"], goal["loss_limit"], goal["loss_basis"])
    to_page("trends", text, "trending_up", address)


def to_speedups(factor: str, campaign: str, text: str) -> None:
    """Link to the pairs of a campaign that differ only in one of `words.FACTORS`."""
    to_page("speedups", text, "speed", {"tab": wording.FACTORS[factor], "campaign": campaign})


def to_source(url: str | None) -> None:
    """Link to the public source of a figure or a claim if it is a web address."""
    if wording.is_known(url) and str(url).startswith("https://"):
        st.link_button("Open the source", str(url), icon=":material/open_in_new:")
