with

trials as (

    select * from {{ source('lake', 'trials') }}

),

current_trials as (

    select * from {{ ref('stg_current_trials') }}

),

current_versions as (

    select
        trials.trial_id,
        trials.batch,
        trials.campaign,
        trials.source_path,
        -- what one process wrote into several files shares the path without its ending; out.1 and out.2 are two
        regexp_replace(
            regexp_replace(trials.source_path, '[.](gz|xz|bz2)$', ''), '([^/])[.][A-Za-z][^./]*$', '{{ first_group() }}'
        ) as stem,
        trials.source_sha256,
        trials.context_path,
        trials.name_words,
        trials.report_index,
        trials.source_line,
        trials.tool,
        trials.tool_version,
        trials.command,
        trials.method,
        trials.product,
        trials.product_version,
        trials.protocol,
        trials.backend,
        trials.backend_version,
        -- lakes of old hold other words, too
        case when trials.threading in ('single', 'multi') then trials.threading end as threading,
        trials.threads,
        trials.packet_queue_size,
        trials.ha_mode,
        trials.scenario,
        trials.testbed,
        trials.host_id,
        trials.server_config_id,
        trials.repetition,
        trials.offered_rate,
        trials.achieved_rate,
        trials.rate_unit,
        trials.sent,
        trials.received,
        trials.dropped,
        trials.malformed,
        trials.duration_s,
        trials.drop_time_s,
        trials.drop_time_second_s,
        trials.wait_s,
        trials.clients,
        trials.started_at,
        trials.ended_at,
        trials.exit_code,
        trials.completed,
        trials.server_wiped,
        trials.requests_planned,
        trials.details,
        trials.warnings,
        trials.context_sources,
        trials.conflicts
    from trials
    inner join current_trials
        on trials.trial_id = current_trials.trial_id
            and trials.batch = current_trials.batch

)

select * from current_versions
