"""The door of the dashboard: nobody sees a page before he is known to have a role."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NoReturn

import streamlit as st

from dropline.app import sign_in
from dropline.paths import Home

if TYPE_CHECKING:
    from dropline.app.sign_in import Person


def enter() -> None:
    """Let the visitor go on if he may look; otherwise say why, what to do, and end the run."""
    configured = sign_in.configured(Home.chosen())
    if configured is None:
        return
    claims = st.user.to_dict()
    if not claims.get("is_logged_in"):
        _stop("Sign in to see the measurements.", "Sign in")
    try:
        person = configured.person(claims, time.time())
    except sign_in.Expired as error:
        _stop(str(error), "Sign in")
    except sign_in.NotAdmitted as error:
        _stop(str(error), "Sign out")
    _greet(person)


def may_store() -> bool:
    """Say whether the visitor may bring something in; without sign-in everybody is who started the app."""
    configured = sign_in.configured(Home.chosen())
    if configured is None:
        return True
    try:
        return configured.person(st.user.to_dict(), time.time()).role == "editor"
    except sign_in.NotAdmitted:
        return False


def _greet(person: Person) -> None:
    with st.container(horizontal=True, horizontal_alignment="right", vertical_alignment="center"):
        st.text(f"{person.email}, {person.role}", width="content")
        st.button("Sign out", on_click=st.logout, type="tertiary", key="sign_out")


def _stop(why: str, button: str) -> NoReturn:
    st.title("Dropline")
    st.text(why)
    st.button(button, on_click=st.login if button == "Sign in" else st.logout, type="primary")
    st.stop()
