select
    count(*) as answered,
    avg(value) as avg,
    quantile_disc(value, 0.5) as p50,
    quantile_disc(value, 0.95) as p95,
    quantile_disc(value, 0.99) as p99,
    max(value) as max
from trial_observations
where trial_id = $trial_id and batch = $batch and metric = 'probe_latency'
