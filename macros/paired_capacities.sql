{#- What a test of two capacities needs of one side: both estimates of its crossing, with their errors, or that it is open. -#}
{% macro crossings_of(side) -%}
    {{ side }}.rate_interpolated as {{ side }}_interpolated,
    {{ side }}.crossing_low as {{ side }}_low,
    {{ side }}.crossing_low_error as {{ side }}_low_error,
    {{ side }}.crossing_high as {{ side }}_high,
    {{ side }}.crossing_high_error as {{ side }}_high_error,
    {{ is_open(side) }} as is_{{ side }}_open,
    {{ side }}.runs_without_outliers as {{ side }}_undisturbed_runs
{%- endmacro %}

{#- Columns that the two capacities of a pair share, whatever the factor: the parts of `comparable_key`. -#}
{% macro comparable_columns() -%}
    {{ return([
        'product', 'product_version', 'scenario', 'testbed', 'tool', 'method', 'unnamed_folder', 'rate_unit', 'origin',
        'loss_goal',
    ]) }}
{%- endmacro %}

{#-
    Pairs of capacities at the same loss goal whose configurations differ in one factor only: CTEs from the relation
    `capacity` to `pairs`. Where several baselines fit, the one of the same campaign counts, else the one measured
    nearest in time. Backend and generator versions and the queue size may differ: they are tuning, listed by the
    comparison.

    factors: for each, `name`; `columns`, in which the two may differ; `condition`, what makes the one the treatment
    and the other the baseline.

    The nearest in time is found along a line of all peers, and a capacity has one key, its loss goal in it:
    joined by the goal besides, all treatments would meet all baselines. So the work grows with their number and not
    with its square.
-#}
{% macro paired_capacities(factors) -%}
    {%- set shared = comparable_columns() + ['protocol', 'backend', 'threading', 'threads', 'ha_mode'] -%}
    {%- for factor in factors %}
{{ factor.name }}_peers as (

    select
        *,
        configuration_id || ' ' || loss_goal as capacity_key,
        {{ surrogate_key(shared | reject('in', factor.columns) | join(', ')) }} as peers_key,
        {{ surrogate_key(shared | join(', ')) }} as kind_key,
        coalesce(first_started_at, cast('1970-01-01 00:00:00' as timestamp)) as measured_at
    from capacity
    -- an upper bound is a partner, too: without it another campaign's figure would take its place
    where rate > 0 or (rate is null and crossing_high > 0)

),

{{ factor.name }}_kinds as (

    select distinct
        peers_key,
        kind_key,
        {{ factor.columns | join(',\n        ') }}
    from {{ factor.name }}_peers

),

{{ factor.name }}_sought as (

    select
        treatment.capacity_key,
        treatment.campaign,
        treatment.measured_at,
        baseline.kind_key
    from {{ factor.name }}_peers as treatment
    inner join {{ factor.name }}_kinds as baseline
        on treatment.peers_key = baseline.peers_key
            and {{ factor.condition }}

),

{{ factor.name }}_line as (

    select
        kind_key,
        measured_at,
        cast(null as timestamp) as baseline_at,
        capacity_key
    from {{ factor.name }}_sought
    union all
    select distinct
        kind_key,
        measured_at,
        measured_at as baseline_at,
        cast(null as string) as capacity_key
    from {{ factor.name }}_peers

),

{{ factor.name }}_neighbours as (

    select
        *,
        max(baseline_at) over (partition by kind_key order by measured_at) as earlier_at,
        min(baseline_at) over (partition by kind_key order by measured_at desc) as later_at
    from {{ factor.name }}_line

),

{{ factor.name }}_candidates as (

    select
        neighbours.capacity_key as treatment_key,
        baseline.capacity_key as baseline_key,
        neighbours.kind_key
    from {{ factor.name }}_neighbours as neighbours
    inner join {{ factor.name }}_peers as baseline
        on neighbours.kind_key = baseline.kind_key
            and baseline.measured_at in (neighbours.earlier_at, neighbours.later_at)
    where neighbours.capacity_key is not null
    union
    select
        sought.capacity_key as treatment_key,
        baseline.capacity_key as baseline_key,
        sought.kind_key
    from {{ factor.name }}_sought as sought
    inner join {{ factor.name }}_peers as baseline
        on sought.kind_key = baseline.kind_key
            and sought.campaign = baseline.campaign

),

{{ factor.name }}_pairs as (

    select
        '{{ factor.name }}' as factor,
        treatment.loss_goal,
        treatment.rate_unit,
        treatment.comparable_key,
        baseline.configuration_id as baseline_configuration_id,
        treatment.configuration_id as treatment_configuration_id,
        baseline.rate as baseline_rate,
        treatment.rate as treatment_rate,
        {%- for side in ['baseline', 'treatment'] %}
        {{ crossings_of(side) }},
        case when {{ side }}.origin = 'measured' then {{ side }}.runs end as {{ side }}_runs{{ "," if not loop.last }}
        {%- endfor %}
    from {{ factor.name }}_candidates as candidates
    inner join {{ factor.name }}_peers as treatment
        on candidates.treatment_key = treatment.capacity_key
    inner join {{ factor.name }}_peers as baseline
        on candidates.baseline_key = baseline.capacity_key
    qualify row_number() over (
        partition by candidates.treatment_key, candidates.kind_key
        order by
            (baseline.campaign = treatment.campaign) desc,
            abs({{ seconds_between('baseline.measured_at', 'treatment.measured_at') }}),
            (baseline.backend_version is not distinct from treatment.backend_version) desc,
            baseline.configuration_id
    ) = 1

),
    {% endfor %}
pairs as (

    {% for factor in factors -%}
    select * from {{ factor.name }}_pairs
    where coalesce(baseline_rate, treatment_rate) is not null
    {{ "union all" if not loop.last }}
    {% endfor %}
)
{%- endmacro %}
