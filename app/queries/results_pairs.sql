with

pairs as (

    select
        'threading' as factor,
        origin,
        product,
        protocol,
        backend,
        ha_mode,
        threads,
        coalesce(ratio_interpolated, speedup) as ratio,
        ci_low,
        ci_high,
        verdict,
        runs_multi as runs,
        runs_single as reference_runs,
        campaign,
        configuration_id_multi as configuration_id
    from multithreading_speedup
    union all
    select
        'ha_mode' as factor,
        origin,
        product,
        protocol,
        backend,
        ha_mode,
        threads,
        coalesce(ratio_interpolated, ratio) as ratio,
        ci_low,
        ci_high,
        verdict,
        runs_with_ha as runs,
        runs_without_ha as reference_runs,
        campaign,
        configuration_id_with_ha as configuration_id
    from ha_speedup

),

machines as (

    select distinct on (host_id)
        host_id,
        cpu_threads
    from hosts

)

select
    pairs.*,
    machines.cpu_threads as cpus,
    campaigns.description
from pairs
left join configurations on pairs.configuration_id = configurations.configuration_id
left join machines on coalesce(configurations.host_id, configurations.testbed) = machines.host_id
left join campaigns on pairs.campaign = campaigns.campaign
where pairs.ratio is not null
order by pairs.verdict in ('not testable', 'too few runs'), pairs.ratio asc, pairs.configuration_id asc
