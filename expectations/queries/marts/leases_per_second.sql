with
usable as (
    select count(*) as usable_trials
    from trials
    where
        completed
        and offered_rate is not null
        and rate_unit = 'leases/s'
        and loss_packet is not null
),

measured as (
    select count(*) as measured_rows
    from leases_per_second
    where origin = 'measured'
)

select
    usable.usable_trials,
    measured.measured_rows
from usable
cross join measured
