-- The trials of a run by offered rate, with losses in percent, and what went well.
select
    *,
    100 * loss_worst_exchange as worst,
    100 * loss_lease as lease,
    not coalesce(is_generator_limited, false) as generator_kept_up,
    not coalesce(is_unsustained, false) as sustained
from trials
where run_id = $run_id
order by offered_rate nulls last, started_at, source_path, trial_id
