select
    observations.batch,
    observations.campaign,
    observations.source_path,
    observations.trial_id,
    observations.metric,
    observations.value,
    observations.unit,
    if(observations.unit = 's' and observations.metric like '%cpu_s', observations.value, null) as cpu_s,
    known_hosts.cpu_threads,
    100 * known_hosts.cpu_threads as highest_cpu_percent,
    -- counted over the life of the process, which is started before and ended after the load
    known_hosts.cpu_threads * (2 * trials.duration_s + coalesce(trials.wait_s, 0) + 60) as highest_cpu_s
from observations
left join trials
    on observations.trial_id = trials.trial_id
        and observations.batch = trials.batch
left join known_hosts on trials.host_id = known_hosts.host_id
where observations.unit in ('%', 's') and observations.metric ilike '%cpu%'
