-- Loss ratio (0..1) and achieved rate over the offered rate. One row per run and step, or per configuration and step:
-- the median run, with the lowest and the highest loss of all runs; always so if single runs would be too many rows.
with

steps as (

    select
        run_steps.*,
        runs.repetition,
        case $basis
            when 'lease' then run_steps.loss_lease
            when 'packet' then run_steps.loss_packet
            else run_steps.loss_worst_exchange
        end as loss_ratio
    from run_steps
    inner join runs on run_steps.run_id = runs.run_id
    where list_contains($configuration_ids, run_steps.configuration_id)
        and ($run_id is null or run_steps.run_id = $run_id)

),

lines as (

    select
        *,
        case when $each_run and count(*) over () <= $most then run_id end as line_run_id
    from steps

)

select
    lines.configuration_id,
    lines.line_run_id as run_id,
    case when lines.line_run_id is not null then any_value(repetition) end as repetition,
    lines.offered_rate,
    median(achieved_rate) as achieved_rate,
    median(loss_ratio) as loss_ratio,
    min(loss_ratio) as lowest_loss_ratio,
    max(loss_ratio) as highest_loss_ratio,
    count(distinct lines.run_id) as runs,
    bool_or(is_generator_limited) as is_generator_limited,
    2 * count(*) filter (where is_unsustained) >= count(*) as is_unsustained
from lines
where loss_ratio is not null
group by lines.configuration_id, lines.line_run_id, lines.offered_rate
order by lines.configuration_id, lines.line_run_id, lines.offered_rate
limit $most
