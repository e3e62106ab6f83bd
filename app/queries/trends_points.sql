-- The runs of a series in order: `rate` is the crossing between `low` and `high`, or a bound, as `kind` says; `segment`
-- numbers the levels, `changed` names what else changed with a run, and `doubt` what speaks against a change of level.
select
    * replace (
        round(coalesce(rate_interpolated, if(status = 'exceeded_at_first_step', crossing_high, rate)), 1) as rate
    ),
    count(*) filter (where is_change) over (order by place) as segment,
    case
        when status = 'exceeded_at_first_step' then 'below'
        when rate_interpolated is null then 'at least'
        when is_dip then 'dip'
        else 'run'
    end as kind,
    if(rate_interpolated is null, null, crossing_low) as low,
    if(rate_interpolated is null, null, crossing_high) as high,
    concat_ws(', ', campaign, 'run ' || place, measured_on) as run,
    'run ' || place || coalesce(' (' || measured_on || ')', '') as since,
    concat_ws(
        '; ',
        if(is_version_changed, 'version ' || product_version, null),
        nullif(list_aggregate(environment_changes, 'string_agg', '; '), '')
    ) as changed,
    concat_ws(
        '; ',
        if(is_drift, 'part of a drift', null),
        if(is_spread_changed, 'spread changed too', null),
        if(is_other_session, 'another session', null)
    ) as doubt
from trends
where series_id = $series_id
order by place
