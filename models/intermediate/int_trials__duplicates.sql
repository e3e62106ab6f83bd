with

labelled as (

    select * from {{ ref('int_trials__labelled') }}

),

exchanges as (

    select * from {{ ref('stg_exchanges') }}

),

-- nearly every stem is of one trial; a file with several of them, or a shared hash, only lets more through
shared_stems as (

    select hash(campaign, stem, tool) as stem_hash
    from labelled
    group by hash(campaign, stem, tool)
    having count(*) > 1

),

files_of_processes as (

    -- the text and the JSON of one process tell of the same trials: the fuller one counts
    select
        campaign,
        source_path,
        first_value(source_path) over (
            partition by campaign, stem, tool
            order by
                count(*) desc,
                count(sent) + count(received) + count(achieved_rate) + count(*) filter (where has_command) desc,
                source_path
        ) as fullest_path
    from labelled
    where hash(campaign, stem, tool) in (select shared_stems.stem_hash from shared_stems)
    group by campaign, stem, tool, source_path

),

files_of_tool_runs as (

    -- polls, results and exports of one run of CyberFlood name it: the results count, of polls alone the last ones
    select
        trial_id,
        campaign,
        source_path,
        tool,
        tool_run,
        rate_unit,
        is_of_polls,
        first_value(source_path) over (
            partition by campaign, tool, tool_run
            order by is_of_polls asc, sent desc nulls last, source_path asc
        ) as fullest_path
    from labelled
    where tool_run is not null

),

files_of_campaigns as (

    select
        campaign,
        source_path,
        count(*) as reports
    from labelled
    group by campaign, source_path

),

-- a log to which each night appends, kept with each night, or beside the files of its reports
campaigns_of_logs as (

    select campaign
    from files_of_campaigns
    group by campaign
    having max(reports) > 1 and count(*) > 1

),

-- what no other trial has: delays, or a rate from a time in microseconds
measured_once as (

    select
        labelled.trial_id,
        concat_ws(
            ' ', exchanges.sent, exchanges.received, exchanges.min_delay_ms, exchanges.avg_delay_ms,
            exchanges.max_delay_ms, exchanges.stdev_delay_ms
        ) as figures
    from labelled
    inner join exchanges
        on labelled.trial_id = exchanges.trial_id
            and exchanges.position = 0
            and exchanges.stdev_delay_ms > 0
    where labelled.campaign in (select campaigns_of_logs.campaign from campaigns_of_logs)
    union all
    select
        trial_id,
        concat_ws(' ', sent, received, achieved_rate) as figures
    from labelled
    where
        campaign in (select campaigns_of_logs.campaign from campaigns_of_logs)
        and tool = 'dnsperf'
        and achieved_rate <> floor(achieved_rate)

),

-- a plot of resperf (-P) has the maximum of its report, and none of its counts
plots_beside_reports as (

    select
        plots.trial_id,
        min(reports.trial_id) as duplicate_of
    from labelled as plots
    inner join labelled as reports
        on plots.campaign = reports.campaign
            and plots.tool = reports.tool
            and plots.achieved_rate = reports.achieved_rate
            and regexp_extract(plots.source_path, '^(.*/)?', 0) = regexp_extract(reports.source_path, '^(.*/)?', 0)
    where plots.tool = 'resperf' and plots.sent is null and reports.sent is not null
    group by plots.trial_id

),

copied_reports as (

    select
        labelled.trial_id,
        labelled.source_path,
        first_value(labelled.trial_id) over reports_alike as first_trial_id,
        first_value(labelled.source_path) over reports_alike as first_path
    from labelled
    inner join measured_once on labelled.trial_id = measured_once.trial_id
    inner join files_of_campaigns
        on labelled.campaign = files_of_campaigns.campaign
            and labelled.source_path = files_of_campaigns.source_path
    window reports_alike as (
        partition by labelled.campaign, labelled.tool, labelled.offered_rate, measured_once.figures
        order by files_of_campaigns.reports, labelled.source_path, labelled.report_index
    )

),

duplicates as (

    select
        labelled.trial_id,
        same_report.trial_id as duplicate_of
    from labelled
    inner join files_of_processes
        on labelled.campaign = files_of_processes.campaign
            and labelled.source_path = files_of_processes.source_path
            and labelled.source_path <> files_of_processes.fullest_path
    -- two processes may share a name, too (rate500.st, rate500.mt), but not what they counted
    inner join labelled as same_report
        on labelled.campaign = same_report.campaign
            and files_of_processes.fullest_path = same_report.source_path
            and labelled.report_index = same_report.report_index
            and coalesce(labelled.sent = same_report.sent, true)
            and coalesce(labelled.received = same_report.received, true)
            and coalesce(labelled.started_at = same_report.started_at, true)
    where labelled.tool_run is null
    union all
    select
        files_of_tool_runs.trial_id,
        min(counted.trial_id) as duplicate_of
    from files_of_tool_runs
    inner join files_of_tool_runs as counted
        on files_of_tool_runs.campaign = counted.campaign
            and files_of_tool_runs.tool = counted.tool
            and files_of_tool_runs.tool_run = counted.tool_run
            and files_of_tool_runs.fullest_path = counted.source_path
            and files_of_tool_runs.source_path <> counted.source_path
            -- connections/s beside Mbit/s are in one of the files only
            and (files_of_tool_runs.is_of_polls or files_of_tool_runs.rate_unit = counted.rate_unit)
    group by files_of_tool_runs.trial_id
    union all
    select
        trial_id,
        first_trial_id as duplicate_of
    from copied_reports
    where source_path <> first_path
    union all
    select * from plots_beside_reports

)

select
    trial_id,
    min(duplicate_of) as duplicate_of
from duplicates
group by trial_id
