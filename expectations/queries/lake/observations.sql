select
    batch,
    campaign,
    source_path,
    trial_id,
    metric,
    value,
    unit,
    observed_at,
    t_s,
    -- times, sizes, counts and rates: none of them is below zero
    case
        when
            unit in (
                'ns', 'us', 'ms', 's', 'jiffies',
                'bit', 'bits', 'bytes', 'kB', 'bit/s', 'bytes/s', 'kB/s', 'Mbit/s',
                'packets', 'packets/s', 'frames', 'frames/s',
                'connections', 'connections/s', 'transactions', 'transactions/s',
                'queries', 'queries/s', 'responses', 'responses/s', 'requests', 'requests/s',
                'leases', 'leases/s', 'exchanges', 'exchanges/s', 'updates/s', 'operations/s',
                'probes', 'processes', 'deaths', 'waits', 'receives', 'users'
            )
            then 'count'
        when unit in ('%', 'ratio') then unit
        when unit is not null then 'unknown'
    end as kind,
    (epoch(observed_at) - epoch(now())) / 86400 as days_ahead
from observations
