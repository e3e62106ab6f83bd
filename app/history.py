"""Add a browser history entry for each choice of a visitor.

By itself Streamlit overwrites the entry of the previous choice, and Back loses the choices of the page it returns to.
Here the first change of the address after a click or a key press adds an entry; later changes replace it.
"""

from __future__ import annotations

from typing import Final

import streamlit as st

_ONE_STEP_EACH: Final = """
export default function ({ parentElement }) {
    parentElement.closest("[data-testid=stElementContainer]")?.style.setProperty("display", "none")
    if (Object.hasOwn(history, "replaceState")) return  // this page has been here before
    const { pushState, replaceState } = history
    let isNew = false
    for (const event of ["pointerdown", "keydown"]) addEventListener(event, () => { isNew = true }, true)
    addEventListener("popstate", () => { isNew = false }, true)
    history.pushState = history.replaceState = (state, unused, url) => {
        const stays = new URL(url ?? "", location.href).href === location.href
        ;(isNew && !stays ? pushState : replaceState).call(history, state, unused, url)
        isNew &&= stays
    }
}
"""


def keep_steps() -> None:
    """Add a browser history entry for each choice of the visitor."""
    st.components.v2.component("history", js=_ONE_STEP_EACH, isolate_styles=False)(key="history")
