"""Add a browser history entry for each choice of a visitor.

By itself Streamlit overwrites the entry of the previous choice, and Back loses the choices of the page it returns to.
Here the first change of the address after a click or a key press adds an entry; later changes replace it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import streamlit as st

_ONE_STEP_EACH: Final = Path(__file__).with_suffix(".js").read_text("utf-8")


def keep_steps() -> None:
    """Add a browser history entry for each choice of the visitor."""
    st.components.v2.component("history", js=_ONE_STEP_EACH, isolate_styles=False)(key="history")
