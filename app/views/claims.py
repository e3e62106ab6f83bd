"""Page Published claims: do public statements about performance agree with their own figures?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from dropline.app import links, queries, query_log, view_tables, widgets, wording
from dropline.app.charts import counts
from dropline.app.warehouse import Warehouse


def main() -> None:
    """Draw the page."""
    st.title("Claims")
    warehouse = widgets.warehouse_or_stop()
    with query_log.recorded() as asked:
        claims = queries.ask(warehouse, "claims_claims").to_pandas()
    if claims.empty:
        st.info("This warehouse has no claims: it was built without the published figures. Type `dropline build`.")
        return
    answer = widgets.reserved(widgets.HEADER_PIXELS)
    st.caption(wording.CAPTIONS["claims"])
    is_differing = st.toggle("Only where rule and maintainers differ", key="differing", bind="query-params")
    shown = claims[~claims["is_agreed"]] if is_differing else claims
    holding, open_ones = ((shown["verdict"] == each).sum() for each in ("holds", "not_checkable"))
    checked = f"{holding} of {len(shown) - open_ones} checkable claims hold"
    agreed = f"rule and maintainers agree on {shown['is_agreed'].sum()} of {len(shown)}"
    answer.header(f"{checked}; {agreed}", anchor=False)
    times = shown["verdict"].value_counts()
    bars = [{"kind": text, "count": times[each]} for each, text in wording.CLAIM_VERDICTS.items() if each in times]
    finding = "Claims by the verdict of the rule"
    drawn = counts.by_kind(pd.DataFrame(bars), finding, "Computed from the figures", "Claims")
    widgets.chart(drawn, "verdicts", asked)
    verdicts = {name: shown[name].map(wording.CLAIM_VERDICTS) for name in ("verdict", "reviewed_verdict")}
    place = widgets.choose_row("claims", shown.assign(**verdicts))
    if place is None:
        st.info("Choose a claim in the table to see its arithmetic and its figures.", icon=":material/touch_app:")
    else:
        _show_claim(warehouse, shown.iloc[place].to_dict())


def _tolerance(claim: Mapping[str, Any]) -> str | None:
    if not wording.is_known(claim["tolerance_ratio"]):
        return None
    narrow, wide = (wording.CLAIM_VERDICTS[claim[f"verdict_at_{each}_percent"]] for each in (5, 15))
    return f"{claim['tolerance_ratio'] * 100:.0f} % of the claimed number; at 5 %: {narrow}; at 15 %: {wide}"


def _show_claim(warehouse: Warehouse, claim: Mapping[str, Any]) -> None:
    st.header(f"Claim {wording.plain(claim['claim_id'])}")
    st.markdown(f"> {wording.plain(claim['statement'])}")
    cases = f"{claim['cases_that_agree']} agree, {claim['cases_above']} above, {claim['cases_below']} below"
    facts = {
        "Claimed": claim["claimed"],
        "Computed": claim["quantity"],
        "Figures give": claim["figures_give"],
        "Cases": cases if claim["cases"] else None,
        "Verdict of the rule": wording.CLAIM_VERDICTS[claim["verdict"]],
        "Its tolerance": _tolerance(claim),
        "Verdict of the maintainers": wording.CLAIM_VERDICTS[claim["reviewed_verdict"]],
        "Why": claim["reason"],
        "Source": f"{claim['source_title']}, {claim['publisher']}; {claim['location']}",
    }
    known = {name: text for name, text in facts.items() if wording.is_known(text) and text}
    st.markdown("\n".join(f"- **{name}:** {wording.plain(text)}" for name, text in known.items()))
    if wording.is_known(claim["arithmetic"]):  # "1 of 6 agree ...: lowest 1.62 = 18977 / 11686; highest ..."
        steps = claim["arithmetic"].split(": ", 1)[-1].split("; ")
        st.code("\n".join(steps), language=None, wrap_lines=True)
    links.to_source(claim["source_url"])
    _show_figures(warehouse, str(claim["claim_id"]))


def _show_figures(warehouse: Warehouse, claim_id: str) -> None:
    st.header("Its figures")
    figures = queries.ask(warehouse, "claims_figures", claim_id=claim_id).to_pandas()
    if figures.empty:
        st.info("No published figure relates to this claim; the source gives its number in prose only.")
        return
    widgets.declared(
        "claim-figures",
        figures.assign(
            row=view_tables.texts(figures, view_tables.set_up, "protocol", "threading", "threads", "ha_mode"),
            metric=figures["metric"].str.replace("_", " "),
            quality_flag=figures["quality_flag"].str.replace("_", " "),
        ),
        bounds={"value": [wording.bound(None, each) for each in figures["qualifier"]]},
    )
    compared = list(dict.fromkeys(figures["configuration_id"].dropna()))
    first = f"first {links.MOST_COMPARED} of " if len(compared) > links.MOST_COMPARED else ""
    links.to_compare(compared, f"Compare the {first}{len(compared)} configurations")


main()
