"""What a published figure must be like: it reaches the capacities unchanged."""

from typing import Final

from dropline.expectations.suite import Suite, between

SUITE: Final = Suite(
    name="marts/published_figures",
    query="""
        select
            figures.source_id as campaign,
            figures.figure_id,
            figures.value,
            count(capacity.figure_id) as capacities,
            any_value(capacity.rate) as rate,
            abs(any_value(capacity.rate) - figures.value) as value_off
        from published_figures as figures
        left join capacity on figures.figure_id = capacity.figure_id
        where figures.rate_unit is not null and figures.value is not null
        group by figures.source_id, figures.figure_id, figures.value
    """,
    expectations=(
        between(
            "capacities",
            1,
            1,
            code="figure_not_one_capacity",
            severity="critical",
            reason="A published rate is one capacity: not lost, and not counted twice.",
            detail="figure {figure_id} stands in capacity {capacities} times",
        ),
        between(
            "value_off",
            0,
            0,
            code="figure_changed",
            severity="critical",
            reason="A published figure is shown as its source printed it.",
            detail="figure {figure_id}: {value:.6g} published, {rate:.6g} in capacity",
        ),
    ),
)
