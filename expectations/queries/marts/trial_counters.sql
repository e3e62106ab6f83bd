select
    trials.campaign,
    trials.source_path,
    trials.trial_id,
    trials.configuration_id,
    trial_counters.metric,
    trial_counters.value_before,
    trial_counters.value_after,
    -- a server that starts anew counts from zero, and is found as such; the kernel below it goes on
    if(
        regexp_matches(trial_counters.metric, '^udp(lite)?6?[.].*(Datagrams|NoPorts|Errors|Multi)$'),
        trial_counters.change,
        null
    ) as change
from trial_counters
inner join trials on trial_counters.trial_id = trials.trial_id
