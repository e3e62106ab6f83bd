"""The browser's history: what a visitor does to the address in one go is one step for Back.

Streamlit writes a choice over the entry of the choice before, so that Back would leave the page; and where it changes
page, or a choice takes others with it, it writes two entries, of which the first is a halfway state. Here the first
change of the address after a click or a key is an entry of its own, and all others belong to the entry they find. What
Back finds in the address Streamlit then gives to the widgets bound to it.
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
    """Make each change of the address by the visitor one step of the browser's history, from here on."""
    st.components.v2.component("history", js=_ONE_STEP_EACH, isolate_styles=False)(key="history")
