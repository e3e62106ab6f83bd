"""Ways from one page to another that carry what was chosen along."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from app import queries, state, words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from app.warehouse import Warehouse

MOST_COMPARED = 12


def to_run(
    warehouse: Warehouse, labels: Mapping[str, str], configuration_id: str, run_id: str, trial_id: str | None = None
) -> None:
    """Offer the page of a run, with one of its trials if it is named."""
    runs = queries.runs(warehouse, configuration_id).to_pylist()
    run = next((each for each in runs if each["run_id"] == run_id), None)
    if run is None or configuration_id not in labels:
        return
    address = {"configuration": labels[configuration_id], "run": words.run_label(run)}
    if trial_id is not None:
        address["trial"] = trial_id[: state.ID_LENGTH]
    text = "Open the trial" if trial_id is not None else "Open the run"
    st.page_link("views/run.py", label=text, icon=":material/timeline:", query_params=address)


def to_compare(labels: Mapping[str, str], configuration_ids: Sequence[str], text: str) -> None:
    """Offer to compare configurations, the first twelve of them."""
    known = [labels[each] for each in configuration_ids if each in labels][:MOST_COMPARED]
    if known:
        st.page_link(
            "views/compare.py",
            label=text,
            icon=":material/compare_arrows:",
            query_params=[("configurations", each) for each in known],
        )


def to_source(url: str | None) -> None:
    """Offer the public source of a figure or a claim, where it is a web address."""
    if words.is_known(url) and str(url).startswith("https://"):
        st.link_button("Open the source", str(url), icon=":material/open_in_new:")
