"""What the gate finds in the marts is brought into them: the findings, and the mark of every figure concerned.

The models have judged by then. Their rule stands in models/marts/capacity.sql and holds here, too: a finding about a
configuration concerns its capacities at all loss goals, one about a trial only where the trial is not above the
crossing. The other tables show the marks of the capacities that they were made from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pyarrow as pa

from dropline.ingest.schema import TEXT

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

    from dropline.expectations.suite import Finding

_COLUMNS: Final = (
    *("finding", "severity", "campaign", "source_path", "trial_id", "configuration_id", "loss_goal", "detail"),
)
_SCHEMA: Final = pa.schema([(name, TEXT) for name in _COLUMNS])

_ADD: Final = """
    insert into quality_findings by name
    select
        md5(concat_ws('|', finding, subject, subject_id, campaign, detail)) as finding_id,
        *
    from (
        select distinct
            found.finding,
            found.severity,
            if(found.trial_id is null, 'configuration', 'trial') as subject,
            coalesce(found.trial_id, found.configuration_id) as subject_id,
            found.campaign,
            found.configuration_id,
            trials.run_id,
            found.trial_id,
            found.source_path,
            found.detail
        from found
        left join trials on found.trial_id = trials.trial_id
    )
"""

_MARK_CAPACITY: Final = """
    update capacity
    set
        quality = if(capacity.quality = 'ok' and marks.is_warning, 'warn', capacity.quality),
        findings = list_sort(list_distinct(list_concat(capacity.findings, marks.findings)))
    from (
        select
            capacities.configuration_id,
            capacities.loss_goal,
            bool_or(found.severity = 'warning') as is_warning,
            list(found.finding) as findings
        from capacity as capacities
        inner join found
            on capacities.configuration_id = found.configuration_id
            and coalesce(found.loss_goal, capacities.loss_goal) = capacities.loss_goal
        left join trials on found.trial_id = trials.trial_id
        left join run_capacity
            on trials.run_id = run_capacity.run_id
            and capacities.loss_goal = run_capacity.loss_goal
        where
            found.trial_id is null
            or run_capacity.first_exceeding_rate is null
            or trials.offered_rate <= run_capacity.first_exceeding_rate
        group by capacities.configuration_id, capacities.loss_goal
    ) as marks
    where capacity.configuration_id = marks.configuration_id and capacity.loss_goal = marks.loss_goal
"""

_MARK_COPIES: Final = """
    update {table} as copies
    set quality = capacity.quality, findings = capacity.findings
    from capacity
    where copies.configuration_id = capacity.configuration_id and capacity.loss_goal = {loss_goal}
"""

# The gate raises `ok` to `warn` and nothing to `suspect`.
_MARK_PAIRS: Final = """
    update ratios
    set quality = 'warn'
    from capacity
    where
        ratios.quality = 'ok'
        and capacity.quality = 'warn'
        and capacity.configuration_id in (ratios.baseline_configuration_id, ratios.treatment_configuration_id)
        and capacity.loss_goal = ratios.loss_goal
"""

_COPIES: Final = (
    {"table": "queries_per_second", "loss_goal": "'permille' and copies.seen_in = 'ramp'"},
    # those published stand for one figure each
    {"table": "load_balancer_throughput", "loss_goal": "capacity.loss_goal and copies.origin = 'published'"},
)
MARKED: Final = ("capacity", "ratios", *(each["table"] for each in _COPIES))


def mark(connection: duckdb.DuckDBPyConnection, findings: Sequence[Finding]) -> None:
    """Add findings about marts to `quality_findings` and to the marks of the figures concerned, all or nothing.

    `connection` has the new warehouse open for writing. The findings are those that `check_marts` returned.
    """
    if not findings:
        return
    columns = {name: [getattr(finding, name) for finding in findings] for name in _COLUMNS}
    with connection.cursor() as cursor:
        cursor.register("found", pa.table(columns, schema=_SCHEMA))
        cursor.begin()
        cursor.execute(_ADD)
        cursor.execute(_MARK_CAPACITY)
        for each in _COPIES:
            cursor.execute(_MARK_COPIES.format(**each))
        cursor.execute(_MARK_PAIRS)
        cursor.commit()
