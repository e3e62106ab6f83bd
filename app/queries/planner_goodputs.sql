-- The newest answers of set-ups under overload, fastest first. goodput: for the first step beyond the capacity, the
-- second and so on, what was asked and what was answered, over the capacity; the median of the runs.
select
    leases_per_second.configuration_id,
    leases_per_second.configuration,
    leases_per_second.campaign,
    leases_per_second.lps,
    list(
        { 'asked_ratio': beyond.offered_ratio, 'answered_ratio': beyond.achieved_ratio }
        order by beyond.offered_ratio
    ) as goodput
from leases_per_second
inner join goodput_beyond_capacity as beyond
    on leases_per_second.configuration_id = beyond.configuration_id
where leases_per_second.protocol = $protocol and leases_per_second.lps > 0 and leases_per_second.is_newest
group by all
order by leases_per_second.lps desc, leases_per_second.configuration_id asc
