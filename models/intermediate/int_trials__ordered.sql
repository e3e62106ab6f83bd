with

labelled as (

    select * from {{ ref('int_trials__labelled') }}

),

duplicates as (

    select * from {{ ref('int_trials__duplicates') }}

),

methods_of_ramps as (

    select * from {{ ref('int_trials__methods') }}

),

-- a number may count trials instead of repetitions: then each goes with one rate (as sent, rates differ by less)
places_of_numbered_trials as (

    select place_hash
    from labelled
    group by place_hash
    having max(repetition) - min(repetition) + 1 >= count(*) and max(offered_rate) > 1.05 * min(offered_rate)

),

-- nor does a number that all files have count anything: TestCenter names every execution `Summary-1` and adds the time
places_of_one_number as (

    select place_hash
    from labelled
    group by place_hash
    having min(repetition) = max(repetition) and count(repetition) = count(*)

),

-- trials whose place among the runs is known by their order at most
unplaced as (

    select
        labelled.trial_id,
        labelled.campaign,
        labelled.source_path,
        labelled.report_index,
        {{ configuration_columns_of('labelled') }},
        labelled.unnamed_folder,
        labelled.described_folder,
        case when places_of_one_number.place_hash is null then labelled.repetition end as repetition,
        -- what a search found is no step of a ramp
        case when not {{ is_search('labelled.method') }} then labelled.offered_rate end as offered_rate,
        labelled.started_at,
        case when labelled.started_at is null then {{ time_in('labelled.source_path') }} end as named_time,
        cast(cast(labelled.offered_rate as bigint) as string) as named_rate,
        coalesce(methods_of_ramps.method, labelled.method) as method
    from labelled
    left join methods_of_ramps on labelled.trial_id = methods_of_ramps.trial_id
    left join places_of_one_number on labelled.place_hash = places_of_one_number.place_hash
    where
        (
            labelled.repetition is null
            or places_of_one_number.place_hash is not null
            or labelled.place_hash in (select places_of_numbered_trials.place_hash from places_of_numbered_trials)
        )
        and labelled.trial_id not in (select duplicates.trial_id from duplicates)

),

with_ends_of_times as (

    select
        *,
        {{ surrogate_key('campaign, ' ~ configuration_columns() ~ ', unnamed_folder, method') }} as set_up_id,
        coalesce(
            offered_rate >= 1000
            and named_time like '________%' || named_rate
            and replace(source_path, named_time, '') not like '%' || named_rate || '%',
            false
        ) as ends_with_rate
    from unplaced

),

-- a time in a name, unless most end with the rate: `2026-11-20-1200` at 1,200 requests per second was not at noon
with_share_of_rates as (

    select
        *,
        2 * count(*) filter (where ends_with_rate) over (partition by set_up_id)
        > count(*) over (partition by set_up_id) as are_rates
    from with_ends_of_times

),

of_set_ups as (

    select
        trial_id,
        source_path,
        report_index,
        repetition,
        offered_rate,
        described_folder,
        set_up_id,
        case
            when started_at is not null then cast(started_at as string)
            when ends_with_rate and are_rates
                then regexp_replace(left(named_time, length(named_time) - length(named_rate)), '[-_. tT]$', '')
            else named_time
        end as moment
    from with_share_of_rates

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
            and (count(*) > count(distinct offered_rate) or count(distinct source_path) = 1)
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
        coalesce(offered_rate <= rate_before, true) as is_lower,
        first_value(offered_rate) over (partition by set_up_id, series order by place) as first_rate,
        first_value(rate_after) over (partition by set_up_id, series order by place) as second_rate
    from beside_each_other

),

-- a ramp begins where the two rates that began the first one follow each other again; a report without a rate is one
in_ramps as (

    select
        trial_id,
        set_up_id,
        place,
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
        count(*) filter (where is_another_rate) <= greatest(count(distinct offered_rate), 1) as is_plain,
        {{ list_in_order('offered_rate', 'place') }} as rates
    from in_ramps
    group by set_up_id, ramp

),

-- ramps that begin at other rates: each stretch of rising rates is one if all are long and begin at about the same
-- rate, or share half of their rates and rise by the same steps (finer ones look closer at the same ramp)
rising as (

    select
        trial_id,
        set_up_id,
        offered_rate,
        case when is_lower then rate_after end as rate_after_first,
        count(*) filter (where is_lower) over (partition by set_up_id order by place) as stretch
    from beside_the_first

),

stretches as (

    select
        set_up_id,
        stretch,
        count(*) as steps,
        min(offered_rate) as first_rate,
        max(rate_after_first) as second_rate,
        max(offered_rate) as last_rate
    from rising
    group by set_up_id, stretch

),

set_ups_of_stretches as (

    select set_up_id
    from stretches
    group by set_up_id
    having
        count(*) > 1
        and min(steps) >= 4
        and (
            max(first_rate) < min(second_rate)
            or (
                2 * (min(last_rate) - max(first_rate)) >= min(last_rate - first_rate)
                and 20 * max(second_rate - first_rate) < 21 * min(second_rate - first_rate)
            )
        )

),

-- a search, or rates in random order, returns to a rate: all of it is one run, unless it is repeated rate by rate
set_ups_of_ramps as (

    select
        set_up_id,
        max(ramp) > 1 and (bool_and(is_plain) or count(distinct rates) = 1) as has_several
    from ramps_in_order
    group by set_up_id

),

placed as (

    select
        in_ramps.trial_id,
        case
            when set_ups_of_ramps.has_several then cast(in_ramps.ramp as integer)
            when set_ups_of_stretches.set_up_id is not null then cast(rising.stretch as integer)
        end as ramp
    from in_ramps
    inner join rising on in_ramps.trial_id = rising.trial_id
    inner join set_ups_of_ramps on in_ramps.set_up_id = set_ups_of_ramps.set_up_id
    left join set_ups_of_stretches on in_ramps.set_up_id = set_ups_of_stretches.set_up_id

),

-- each execution of a test numbers its trials from 1: tables with the same numbers at the same rates are several
numbered_tables as (

    select concat_ws('/', campaign, source_path) as place
    from labelled
    group by campaign, source_path
    having min(repetition) < max(repetition)

),

of_tables as (

    select
        trial_id,
        source_path as place,
        repetition,
        offered_rate,
        {{ surrogate_key('campaign, ' ~ configuration_columns() ~ ', unnamed_folder, method') }} as set_up_id
    from labelled
    where
        concat_ws('/', campaign, source_path) in (select numbered_tables.place from numbered_tables)
        and trial_id not in (select duplicates.trial_id from duplicates)
        and trial_id not in (select placed.trial_id from placed)

),

-- so does each session: `2026-11-20_10-00/run1` and `2026-11-27_10-00/run1`, `attempt1/run1` and `attempt2/run1`
repeated_at_rates as (

    select
        place_hash,
        count(*) > 1 as is_repeated
    from labelled
    where repetition is not null
    group by place_hash, repetition, offered_rate

),

places_of_sessions as (

    select place_hash
    from repeated_at_rates
    group by place_hash
    having 2 * count(*) filter (where is_repeated) > count(*)

),

perhaps_of_sessions as (

    select
        *,
        regexp_extract(source_path, '^(.*)/[^/]*$', 1) as folder,
        regexp_extract(source_path, '^(.*)/[^/]*/[^/]*$', 1) as folder_above,
        {{ time_in("regexp_extract(source_path, '^(.*)/[^/]*$', 1)") }} as moment,
        {{ surrogate_key('campaign, ' ~ configuration_columns() ~ ', unnamed_folder, method') }} as set_up_id
    from labelled
    where
        place_hash in (select places_of_sessions.place_hash from places_of_sessions)
        and trial_id not in (select duplicates.trial_id from duplicates)
        and trial_id not in (select placed.trial_id from placed)
        and trial_id not in (select of_tables.trial_id from of_tables)

),

numbered_folders as (

    select
        campaign,
        folder
    from perhaps_of_sessions
    group by campaign, folder
    having min(repetition) < max(repetition)

),

-- not those of single trials
moments_of_sessions as (

    select
        campaign,
        moment
    from perhaps_of_sessions
    group by campaign, moment
    having count(distinct offered_rate) > 1

),

of_sessions as (

    select
        perhaps_of_sessions.trial_id,
        coalesce(moments_of_sessions.moment, numbered_folders.folder, perhaps_of_sessions.folder_above) as place,
        perhaps_of_sessions.repetition,
        perhaps_of_sessions.offered_rate,
        perhaps_of_sessions.set_up_id
    from perhaps_of_sessions
    left join numbered_folders
        on perhaps_of_sessions.campaign = numbered_folders.campaign
            and perhaps_of_sessions.folder = numbered_folders.folder
    left join moments_of_sessions
        on perhaps_of_sessions.campaign = moments_of_sessions.campaign
            and perhaps_of_sessions.moment = moments_of_sessions.moment

),

of_places as (

    select * from of_tables
    union all
    select * from of_sessions

),

repeated_places as (

    select set_up_id
    from of_places
    group by set_up_id, repetition, offered_rate
    having count(distinct place) > 1

),

renumbered as (

    select
        trial_id,
        cast(dense_rank() over (partition by set_up_id order by place, repetition) as integer) as ramp
    from of_places
    where set_up_id in (select repeated_places.set_up_id from repeated_places)

),

numbered_by_order as (

    select * from placed
    union all
    select * from renumbered

)

select
    trial_id,
    ramp
from numbered_by_order
