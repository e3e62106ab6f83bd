"""Page Add results (Try a file where storing is not allowed): what is in a file, and how does it compare?"""

import time
from typing import Any, Final

import pandas as pd
import streamlit as st

from dropline.app import auth, queries, query_log, sandbox, uploads, widgets, wording
from dropline.app.charts import ramp
from dropline.app.output_formats import printable
from dropline.app.sandbox import Refused, TooMuch
from dropline.app.warehouse import Warehouse, WarehouseError
from dropline.paths import Home

MOST_STEPS: Final = 600  # about forty curves; more would hide each other and slow the browser down
UPLOAD_S: Final = 0.3
LOSSES: Final = ("loss_worst_exchange", "loss_packet", "loss_lease")


def main() -> None:
    """Draw the page."""
    _draw()
    sandbox.prepare(uploads.__name__)


def _draw() -> None:
    may_keep = uploads.may_keep() and auth.may_store()
    st.title("Add results" if may_keep else "Try a file")
    file = st.file_uploader(
        "One raw file: an output of perfdhcp, dnsblast, dnsperf, TestCenter, TRex, ..., or counters",
        max_upload_size=uploads.MOST_BYTES // 2**20,
        key="file",
    )
    if file is None:
        _await_another()
        st.info(
            "Drop the file as the generator wrote it, compressed or not: it is recognised by its content. It is read "
            f"in a temporary folder. {'You can store it afterwards.' if may_keep else 'Nothing of it is stored.'}",
            icon=":material/upload_file:",
        )
        return
    st.session_state["had_file"] = True
    data = file.getvalue()
    found = _explained(file.name, data)
    if isinstance(found, str):
        st.error(wording.plain(found), icon=":material/block:")
        return
    _say_what_it_is(file.name, len(data), found)
    _show_trials(found)
    _place(found["trials"])
    _show_troubles(found)
    _show_lines(found)
    if found["trials"] or not found["rejects"]:
        _offer_to_keep(file.name, data)


def _await_another() -> None:
    """Keep the page as it is while another file is uploading: the browser removes the previous file first."""
    end = time.monotonic() + UPLOAD_S
    while st.session_state.get("had_file") and time.monotonic() < end:  # reading the state ends an outdated run
        time.sleep(0.01)
    st.session_state["had_file"] = False


@st.cache_data(max_entries=8, ttl=600, show_spinner="Reading the file ...")
def _explained(name: str, data: bytes) -> dict[str, Any] | str:
    """Return the explanation of the file, or why it cannot be examined."""
    try:
        return uploads.explain(name, data)
    except (Refused, TooMuch) as error:
        return str(error)


def _say_what_it_is(name: str, size: int, found: dict[str, Any]) -> None:
    st.header(wording.plain(found["kind"][:1].upper() + found["kind"][1:]))
    by = "" if found["kind"] == "not recognised" else f" Recognised by: {printable(found['why'])}"
    st.text(f"{printable(name)}, {size:,} bytes.{by}")
    if found["left_alone"]:
        st.caption("Ingesting its folder skips a file with this name: it is hidden or a note.")


def _show_trials(found: dict[str, Any]) -> None:
    trials = found["trials"]
    if not trials:
        todo = "See below why" if found["rejects"] else "It is joined to the outputs beside it: ingest their folder"
        st.info(f"This file contains no benchmark result. {todo}.")
        return
    frame = pd.DataFrame(trials)
    are_leases = "leases/s" in set(frame["rate_unit"])
    losses = LOSSES if are_leases else ("loss_packet", "error_ratio")
    st.markdown(f"**{wording.plural(found['trials_in_all'], 'trial')}**")
    hidden = [name for name in (*LOSSES, "error_ratio") if name not in losses]
    shares = {name: 100 * frame[name].astype(float) for name in losses}
    packet = "Loss, packets" if are_leases else "Loss"
    widgets.declared("tried", frame.assign(**shares).drop(columns=hidden), {"packet": packet})
    if found["trials_in_all"] > len(trials):
        st.caption(f"Only the first {len(trials):,} are shown; `dropline show FILE` shows all.")
    st.caption("Files beside a trial (counters, a sidecar) are not known here.")
    if "dnsblast" in set(frame["tool"]):
        st.caption(wording.CAPTIONS["dnsblast"])


def _place(trials: list[dict[str, Any]]) -> None:
    """Show the trials of the first kind among known results."""
    if not trials:
        return
    try:
        warehouse = widgets.open_warehouse()
    except WarehouseError as error:
        st.info(f"There is nothing to compare it with: {wording.plain(error)}")
        return
    kind = {name: trials[0][name] for name in ("tool", "protocol", "rate_unit")}
    alike = pd.DataFrame([trial for trial in trials if kind.items() <= trial.items()])
    numbers = ["offered_rate", "achieved_rate", "loss_worst_exchange"]
    alike[numbers] = alike[numbers].astype(float)
    unit = kind["rate_unit"]
    with query_log.recorded() as asked:
        known = queries.ask(warehouse, "tried_loss_curves", **kind, most=MOST_STEPS).to_pandas()
    st.header("How it compares")
    name = wording.plain(" ".join(filter(None, (kind["tool"], kind["protocol"]))))
    if known.empty:
        st.info(f"No loss curve of {name} in {wording.plain(unit or 'its unit')} is in the warehouse to compare with.")
        return
    goal = queries.loss_goals(warehouse, [unit])[0]
    finding = _finding(warehouse, alike, kind, goal)
    points = alike.assign(trial="line " + alike["source_line"].astype(str), loss_ratio=alike["loss_worst_exchange"])
    points = points[points["offered_rate"] > 0].dropna(subset="loss_ratio")
    if points.empty:
        st.text(finding)
        st.info("No trial gives both its offered rate and its loss, so there is no point to draw on a loss curve.")
        return
    drawn = ramp.among_known(known, points, goal["loss_limit"], unit or "per second", finding)
    widgets.chart(drawn, "among-known", asked)
    some = " There are more than are drawn." if len(known) == MOST_STEPS else ""
    few = f"{wording.CAPTIONS['one_rate']} " * (points["offered_rate"].nunique() == 1)
    st.caption(few + wording.CAPTIONS["others"] + some)


def _finding(warehouse: Warehouse, trials: pd.DataFrame, kind: dict[str, str | None], goal: dict[str, Any]) -> str:
    limit = f"a loss of {100 * goal['loss_limit']:g} %"
    errors = trials["error_ratio"].astype(float).fillna(0)
    if (errors > goal["error_limit"]).any():
        limit += f" and {100 * goal['error_limit']:g} % of errors"
    within = trials["completed"].astype(bool) & (trials["loss_worst_exchange"] <= goal["loss_limit"])
    within &= errors <= goal["error_limit"]
    most = trials.loc[within & ~trials["is_unsustained"].astype(bool), "achieved_rate"].max()
    if not wording.is_known(most):
        if within.any():
            return f"Within {limit}, but not sustained: fewer answers per second than the requested rate"
        return f"No complete trial of this file stays within {limit}"
    rates = queries.ask(warehouse, "tried_capacities", **kind, loss_goal=goal["loss_goal"])["rate"].to_pylist()
    reached = f"{wording.number(most)} {kind['rate_unit'] or 'per second'} within {limit}"
    if not rates:
        return f"{reached}; no known capacity to compare with"
    below = sum(rate <= most for rate in rates)
    known = (
        f"{below or 'all'} of {len(rates)} known capacities of its kind"
        if len(rates) > 1
        else "the only known capacity of its kind"
    )
    span = " to ".join(dict.fromkeys(map(wording.number, (min(rates), max(rates)))))
    return f"{reached}: {'at least as much as' if below else 'less than'} {known}, {span}"


def _show_troubles(found: dict[str, Any]) -> None:
    warnings = [
        {"line": trial["source_line"], "warning": printable(text)}
        for trial in found["trials"]
        for text in (*trial["warnings"], *trial["conflicts"])
    ]
    if warnings:
        st.header("Warnings")
        widgets.declared("warnings", pd.DataFrame(warnings))
    if found["rejects"]:
        st.header("Rejected")
        rows = [(each["line"], printable(each["reason"]), printable(each["hint"])) for each in found["rejects"]]
        rejects = pd.DataFrame(rows, columns=["line", "why", "what_to_do"])
        widgets.declared("rejects", rejects)
        if found["rejects_in_all"] > len(rejects):
            st.caption(f"The first {len(rejects):,} of {found['rejects_in_all']:,} are shown.")
    if found["trials"] and not warnings and not found["rejects"]:
        st.success("Read without problems.", icon=":material/check:")


def _show_lines(found: dict[str, Any]) -> None:
    if not found["lines"]:
        return
    place = st.expander("Line by line: how each was read", on_change="rerun", key="line-by-line")
    if not place.open:  # otherwise the browser would lay out a table that nobody sees
        return
    with place:
        lines = [(number, kind, printable(text)) for number, text, kind in found["lines"]]
        widgets.declared("lines", pd.DataFrame(lines, columns=["line", "taken_for", "text"]))
        if found["lines_in_all"] > len(lines):
            st.caption(f"The first {len(lines):,} of {found['lines_in_all']:,} are shown.")


def _offer_to_keep(name: str, data: bytes) -> None:
    home = Home.chosen()
    if not uploads.may_keep():
        st.caption("It is not stored. To add it, put it in a folder and type `dropline ingest FOLDER`.")
    elif not auth.may_store():
        st.caption("It is not stored: only editors can store files. Ask the person who runs this Dropline for that.")
    elif st.button("Keep it", icon=":material/save:", help="Store the file in the lake."):
        uploads.keep(home, name, data)
        try:
            with st.spinner("Ingesting it ..."):
                output = uploads.take_in(home)
        except (Refused, TooMuch) as error:
            st.error(wording.plain(error), icon=":material/block:")
            return
        st.success("The file is in the lake, in the campaign uploads. `dropline build` updates the figures.")
        st.code(output, language=None, wrap_lines=True)


main()
