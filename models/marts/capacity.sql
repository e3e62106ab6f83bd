-- depends_on: {{ ref('student_t') }} (read by compare)
with

capacity as (

    select * from {{ ref('int_capacity') }}

),

findings as (

    select * from {{ ref('int_findings') }}

),

run_capacity as (

    select * from {{ ref('int_run_capacity') }}

),

throughputs as (

    select * from {{ ref('int_throughputs') }}

),

-- what happened above the crossing says nothing about the capacity
findings_that_matter as (

    select
        capacity.configuration_id,
        capacity.loss_goal,
        findings.finding,
        findings.severity
    from capacity
    inner join findings on capacity.configuration_id = findings.configuration_id
    left join run_capacity
        on findings.run_id = run_capacity.run_id
            and capacity.loss_goal = run_capacity.loss_goal
    left join throughputs on findings.trial_id = throughputs.trial_id
    where
        findings.finding <> 'reader_warning'
        and (
            capacity.loss_goal <> 'throughput'
            or findings.subject = 'configuration'
            or throughputs.trial_id is not null
        )
        and (
            findings.trial_id is null
            or run_capacity.first_exceeding_rate is null
            or findings.offered_rate <= run_capacity.first_exceeding_rate
        )
        -- these findings are about the usual goal; at another one the run may have ended otherwise
        and case
            when findings.finding in ('exceeded_at_first_step', 'never_exceeded')
                then coalesce(run_capacity.status = findings.finding, true)
            when findings.finding = 'loss_dips_back' then coalesce(run_capacity.dips_back, true)
            else true
        end

),

judged as (

    select
        configuration_id,
        loss_goal,
        {{ findings_and_quality() }}
    from findings_that_matter
    group by configuration_id, loss_goal

)

select
    capacity.configuration_id,
    capacity.configuration,
    capacity.campaign,
    capacity.origin,
    capacity.figure_id,
    capacity.product,
    capacity.product_version,
    capacity.protocol,
    capacity.backend,
    capacity.backend_version,
    capacity.threading,
    capacity.threads,
    capacity.packet_queue_size,
    capacity.ha_mode,
    capacity.scenario,
    capacity.testbed,
    capacity.tool,
    capacity.tool_version,
    capacity.method,
    capacity.rate_unit,
    capacity.loss_goal,
    capacity.loss_limit,
    capacity.loss_basis,
    capacity.usual_goal,
    capacity.drop_time_s,
    capacity.runs,
    capacity.runs_kept,
    capacity.rate,
    capacity.qualifier,
    capacity.rate_at_most,
    capacity.rate_median,
    capacity.rate_mean,
    capacity.rate_stdev,
    capacity.interval_kind,
    capacity.ci_low,
    capacity.ci_high,
    capacity.last_passing_rate,
    capacity.first_exceeding_rate,
    capacity.rate_interpolated,
    capacity.stdev_interpolated,
    capacity.crossing_low,
    capacity.crossing_low_error,
    capacity.crossing_high,
    capacity.crossing_high_error,
    capacity.outlier_runs,
    capacity.runs_without_outliers,
    capacity.run_correlation,
    capacity.sessions,
    capacity.widening,
    capacity.series_campaigns,
    capacity.series_variation,
    capacity.resolution,
    capacity.detectable_ratio,
    capacity.runs_for_1_percent,
    capacity.runs_for_2_percent,
    capacity.runs_for_5_percent,
    capacity.status,
    coalesce(judged.quality, 'ok') as quality,
    coalesce(judged.findings, {{ list_of([]) }}) as findings,
    {{ utc_time('capacity.first_started_at') }} as first_started_at,
    {{ utc_time('capacity.last_started_at') }} as last_started_at,
    capacity.is_newest
from capacity
left join judged
    on capacity.configuration_id = judged.configuration_id
        and capacity.loss_goal = judged.loss_goal
