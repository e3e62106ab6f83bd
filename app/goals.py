"""Choice of the loss goal on a page that shows several protocols."""

from collections.abc import Mapping
from typing import Final

import streamlit as st

from dropline.app import queries, widgets, wording
from dropline.app.warehouse import Warehouse

_USUAL: Final = "usual"


def choose(warehouse: Warehouse, key: str = "goal") -> str | None:
    """Return the loss goal that the visitor chose; None, the default, means each unit's usual goal."""
    known = queries.loss_goals(warehouse)
    dhcp, other = (queries.loss_goals(warehouse, [unit])[0]["loss_limit"] for unit in ("leases/s", "queries/s"))
    texts = {
        each["loss_goal"]: wording.loss_goal(each["loss_goal"], each["loss_limit"], each["loss_basis"])
        for each in known
    }
    follow_old_address(key, texts)
    usual = {_USUAL: f"usual: DHCP {100 * dhcp:g} %, others {100 * other:g} %"}
    with widgets.reserved(widgets.FIELD_PIXELS):
        chosen = widgets.choose_one("Loss goal", key, usual | texts)
    return None if chosen == _USUAL else chosen


def follow_old_address(key: str, texts: Mapping[str, str]) -> None:
    """Accept goal names of older addresses: `isc: 2.5 % of any exchange`."""
    name, colon, _ = st.query_params.get(key, "").partition(":")
    if colon and name in texts:
        st.query_params[key] = texts[name]
        st.session_state[key] = name
