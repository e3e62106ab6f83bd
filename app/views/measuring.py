"""Page Now measuring: how far is the running measurement?"""

from typing import Any

import pandas as pd
import streamlit as st

from dropline.app import widgets, wording
from dropline.app.charts.measuring import trials_in_order
from dropline.measure import progress
from dropline.paths import Home

_EVERY_S = 2
_MINUTE_S = 60


def main() -> None:
    """Draw the page."""
    st.title("Now measuring")
    _followed()


@st.fragment(run_every=_EVERY_S)
def _followed() -> None:
    state = progress.current(Home.chosen().root)
    if state is None:
        st.info("Nothing is being measured into this home now.", icon=":material/radio_button_unchecked:")
        st.code("dropline measure PLAN --into HOME", language=None)
        st.page_link("views/results.py", label="See the results", icon=":material/leaderboard:")
        return
    st.markdown(_sentence(state))
    if not state["trials"]:
        return
    trials = pd.DataFrame(state["trials"])
    widgets.chart(trials_in_order(trials), "measuring")
    widgets.declared("brackets", _brackets(trials))


def _sentence(state: dict[str, Any]) -> str:
    name = f"**{wording.plain(state['campaign'])}**"
    if not state["is_alive"]:
        return f"{name} was stopped. Run the same command again to continue in {wording.plain(state['folder'])}."
    if not state["trials"]:
        return f"{name} is starting; its first trial is still running."
    last = state["trials"][-1]
    left = "" if last["left_s"] is None else f" About {max(1, round(last['left_s'] / _MINUTE_S))} min left."
    return (
        f"{name}: {last['done']} of {last['wanted']} runs are done. {last['configuration']}, run {last['repetition']}, "
        f"tried {last['rate']:,.0f}/s and lost {100 * last['loss']:.2f} %{last['flaw']}.{left}"
    )


def _brackets(trials: pd.DataFrame) -> pd.DataFrame:
    """Return the bracket of each run and loss goal, the latest first."""
    last = trials.groupby(["configuration", "repetition"], sort=False).tail(1)[::-1]
    rows = [
        (run.configuration, run.repetition, goal, low, high)
        for run in last.itertuples()
        for goal, (low, high) in run.brackets.items()
    ]
    return pd.DataFrame(rows, columns=["configuration", "run", "loss_goal", "low", "high"])


main()
