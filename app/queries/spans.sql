-- From when to when a configuration was measured; without those of a single run, or with a run without a start time.
select
    configuration_id,
    min(started_at) as first_started_at,
    max(started_at) as last_started_at
from runs
group by configuration_id
having count(*) > 1 and count(started_at) = count(*)
