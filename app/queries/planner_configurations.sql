-- The newest capacities of a protocol against the need, most head-room first, those without a figure last.
select
    capacity.configuration_id,
    capacity.configuration,
    capacity.campaign,
    capacity.origin,
    capacity.protocol,
    capacity.threading,
    capacity.threads,
    capacity.ha_mode,
    capacity.rate,
    capacity.rate_at_most,
    capacity.rate_interpolated,
    capacity.interval_kind,
    capacity.ci_low,
    capacity.ci_high,
    capacity.last_passing_rate,
    capacity.first_exceeding_rate,
    capacity.runs,
    capacity.status,
    capacity.qualifier,
    capacity.quality,
    capacity.findings,
    met.headroom_ratio,
    met.missing_lps,
    met.meets,
    met.meeting_probability,
    met.lps
from configurations_meeting($needed_lps, also_missing := true) as met
inner join capacity on met.configuration_id = capacity.configuration_id
where capacity.rate_unit = 'leases/s'
    and capacity.is_newest
    and capacity.loss_goal = 'isc'
    and coalesce(capacity.protocol, $protocol) = $protocol
order by met.headroom_ratio desc nulls last, met.configuration_id asc
