with

told as (

    select * from {{ ref('int_trials__labelled') }}

),

-- nearly every stem is of one trial; a file with several of them, or a shared hash, only lets more through
shared_stems as (

    select hash(campaign, stem, tool) as stem_hash
    from told
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
    from told
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
    from told
    where tool_run is not null

),

duplicates as (

    select
        told.trial_id,
        same_report.trial_id as duplicate_of
    from told
    inner join files_of_processes
        on told.campaign = files_of_processes.campaign
            and told.source_path = files_of_processes.source_path
            and told.source_path <> files_of_processes.fullest_path
    -- two processes may share a name, too (rate500.st, rate500.mt), but not what they counted
    inner join told as same_report
        on told.campaign = same_report.campaign
            and files_of_processes.fullest_path = same_report.source_path
            and told.report_index = same_report.report_index
            and coalesce(told.sent = same_report.sent, true)
            and coalesce(told.received = same_report.received, true)
            and coalesce(told.started_at = same_report.started_at, true)
    where told.tool_run is null
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
            -- connections/s beside Mbit/s are told by one file only
            and (files_of_tool_runs.is_of_polls or files_of_tool_runs.rate_unit = counted.rate_unit)
    group by files_of_tool_runs.trial_id

),

-- a script may set options from the rate, such as perfdhcp's clients (-R) or dnsperf's window (-q)
campaigns_of_methods as (

    select campaign
    from told
    group by campaign
    having count(distinct method) > 2

),

with_alike as (

    select
        *,
        {{ with_numbers_by_rate('method') }} as alike
    from told
    where campaign in (select campaigns_of_methods.campaign from campaigns_of_methods)

),

with_family as (

    select
        trial_id,
        offered_rate,
        method,
        {{ surrogate_key('campaign, ' ~ configuration_columns() ~ ', unnamed_folder, alike') }} as family_id
    from with_alike

),

-- three numbers or more, each at rates of its own, and few of them at two, as a script may round. Several numbers at
-- one rate, or each at many rates, are compared on purpose.
ramps as (

    select
        {{ numbers_by_rate('method') }},
        family_id
    from with_family
    group by family_id
    having
        count(distinct method) > 2
        and 2 * count(distinct method) > count(distinct offered_rate)
        and count(distinct concat_ws(' ', method, offered_rate)) = count(distinct offered_rate)

),

methods_of_ramps as (

    select
        with_family.trial_id,
        {{ with_numbers_by_rate('with_family.method', 'ramps') }} as method
    from with_family
    inner join ramps on with_family.family_id = ramps.family_id

),

-- a number may count trials instead of repetitions: then each goes with one rate (as sent, rates differ by less)
places_of_numbered_trials as (

    select place_hash
    from told
    group by place_hash
    having max(repetition) - min(repetition) + 1 >= count(*) and max(offered_rate) > 1.05 * min(offered_rate)

),

-- nor does a number that all files have count anything: TestCenter names every execution `Summary-1` and adds the time
places_of_one_number as (

    select place_hash
    from told
    group by place_hash
    having min(repetition) = max(repetition) and count(repetition) = count(*)

),

-- trials whose place among the runs is known by their order at most
unplaced as (

    select
        told.trial_id,
        told.campaign,
        told.source_path,
        told.report_index,
        {{ configuration_columns_of('told') }},
        told.unnamed_folder,
        told.described_folder,
        case when places_of_one_number.place_hash is null then told.repetition end as repetition,
        -- what a search found is no step of a ramp
        case when not {{ is_search('told.method') }} then told.offered_rate end as offered_rate,
        coalesce(cast(told.started_at as string), {{ time_in('told.source_path') }}) as moment,
        coalesce(methods_of_ramps.method, told.method) as method
    from told
    left join methods_of_ramps on told.trial_id = methods_of_ramps.trial_id
    left join places_of_one_number on told.place_hash = places_of_one_number.place_hash
    where
        (
            told.repetition is null
            or places_of_one_number.place_hash is not null
            or told.place_hash in (select places_of_numbered_trials.place_hash from places_of_numbered_trials)
        )
        and told.trial_id not in (select duplicates.trial_id from duplicates)

),

of_set_ups as (

    select
        trial_id,
        source_path,
        report_index,
        repetition,
        offered_rate,
        moment,
        described_folder,
        {{ surrogate_key('campaign, ' ~ configuration_columns() ~ ', unnamed_folder, method') }} as set_up_id
    from unplaced

),

-- the reports of one file are in order, those of several files if all have a time, of their own or of a whole run;
-- folders that differ in a number, such as that of a build, are runs if most rates are in several, and once in each
ordered_set_ups as (

    select
        set_up_id,
        count(repetition) = 0 and 2 * count(distinct moment) <= count(*) as is_moment_of_run
    from of_set_ups
    group by set_up_id
    having
        (count(distinct repetition) = count(*) and max(offered_rate) > 1.05 * min(offered_rate))
        or (
            count(repetition) = 0
            and count(offered_rate) in (0, count(*))
            and count(*) > count(distinct offered_rate)
            and (
                count(distinct source_path) = 1
                or count(moment) = count(*)
                or (
                    count(distinct concat_ws(' ', described_folder, offered_rate)) = count(*)
                    and 2 * count(distinct offered_rate) <= count(*)
                )
            )
        )

),

in_order as (

    select
        of_set_ups.trial_id,
        of_set_ups.set_up_id,
        of_set_ups.offered_rate,
        case
            when ordered_set_ups.is_moment_of_run then coalesce(of_set_ups.moment, of_set_ups.described_folder)
        end as series,
        row_number() over (
            partition by of_set_ups.set_up_id
            order by of_set_ups.repetition, of_set_ups.moment, of_set_ups.source_path, of_set_ups.report_index
        ) as place
    from of_set_ups
    inner join ordered_set_ups on of_set_ups.set_up_id = ordered_set_ups.set_up_id

),

beside_each_other as (

    select
        *,
        lag(offered_rate) over (partition by set_up_id, series order by place) as rate_before,
        lead(offered_rate) over (partition by set_up_id, series order by place) as rate_after
    from in_order

),

beside_the_first as (

    select
        *,
        first_value(offered_rate) over (partition by set_up_id, series order by place) as first_rate,
        first_value(rate_after) over (partition by set_up_id, series order by place) as second_rate
    from beside_each_other

),

-- a ramp begins where the two rates that began the first one follow each other again; a report without a rate is one
in_ramps as (

    select
        trial_id,
        set_up_id,
        offered_rate,
        coalesce(offered_rate <> rate_before, true) as is_another_rate,
        count(*) filter (
            where
            rate_before is null
            or (offered_rate = first_rate and offered_rate <> rate_before and coalesce(rate_after = second_rate, true))
        ) over (partition by set_up_id order by place) as ramp
    from beside_the_first

),

ramps_in_order as (

    select
        set_up_id,
        ramp,
        count(*) filter (where is_another_rate) <= greatest(count(distinct offered_rate), 1) as is_plain
    from in_ramps
    group by set_up_id, ramp

),

-- a search, or rates in random order, returns to a rate: all of it is one run
set_ups_of_ramps as (

    select
        set_up_id,
        max(ramp) > 1 and bool_and(is_plain) as has_several
    from ramps_in_order
    group by set_up_id

),

placed as (

    select
        in_ramps.trial_id,
        case when set_ups_of_ramps.has_several then cast(in_ramps.ramp as integer) end as ramp
    from in_ramps
    inner join set_ups_of_ramps on in_ramps.set_up_id = set_ups_of_ramps.set_up_id

),

-- each execution of a test numbers its trials from 1: tables with the same numbers at the same rates are several
numbered_tables as (

    select concat_ws('/', campaign, source_path) as place
    from told
    group by campaign, source_path
    having min(repetition) < max(repetition)

),

of_tables as (

    select
        trial_id,
        source_path,
        repetition,
        offered_rate,
        {{ surrogate_key('campaign, ' ~ configuration_columns() ~ ', unnamed_folder, method') }} as set_up_id
    from told
    where
        concat_ws('/', campaign, source_path) in (select numbered_tables.place from numbered_tables)
        and trial_id not in (select duplicates.trial_id from duplicates)
        and trial_id not in (select placed.trial_id from placed)

),

repeated_tables as (

    select set_up_id
    from of_tables
    group by set_up_id, repetition, offered_rate
    having count(distinct source_path) > 1

),

renumbered as (

    select
        trial_id,
        cast(dense_rank() over (partition by set_up_id order by source_path, repetition) as integer) as ramp
    from of_tables
    where set_up_id in (select repeated_tables.set_up_id from repeated_tables)

),

told_by_order as (

    select * from placed
    union all
    select * from renumbered

),

with_repetition as (

    select
        told.trial_id,
        told.campaign,
        {{ configuration_columns_of('told') }},
        told.unnamed_folder,
        coalesce(methods_of_ramps.method, told.method) as method,
        case when told_by_order.trial_id is null then told.repetition else told_by_order.ramp end as repetition,
        told_by_order.ramp is not null as is_told_by_order
    from told
    left join methods_of_ramps on told.trial_id = methods_of_ramps.trial_id
    left join told_by_order on told.trial_id = told_by_order.trial_id

),

own_runs as (

    select
        trial_id,
        unnamed_folder,
        method,
        repetition,
        is_told_by_order,
        {{ surrogate_key('campaign, ' ~ configuration_columns() ~ ', unnamed_folder, method, repetition') }} as run_id
    from with_repetition

),

runs_of_duplicates as (

    select
        own_runs.trial_id,
        own_runs.run_id
    from own_runs
    where own_runs.trial_id in (select duplicates.duplicate_of from duplicates)

),

with_runs as (

    select
        {{ all_but('own_runs', 'run_id') }},
        duplicates.duplicate_of,
        -- a duplicate belongs to the run of the trial that counts
        coalesce(runs_of_duplicates.run_id, own_runs.run_id) as run_id
    from own_runs
    left join duplicates on own_runs.trial_id = duplicates.trial_id
    left join runs_of_duplicates on duplicates.duplicate_of = runs_of_duplicates.trial_id

)

select
    trial_id,
    run_id,
    unnamed_folder,
    method,
    repetition,
    is_told_by_order,
    duplicate_of
from with_runs
