-- Each series of runs within a loss goal, first those that changed last, the largest changes first. The label adds tool
-- and, if they differ, method.
select
    series_id,
    concat_ws(' · ', any_value(series), any_value(tool), any_value(testbed))
    || case
        when count(*)
                over (
                    partition by concat_ws(' · ', any_value(series), any_value(tool), any_value(testbed))
                )
            > 1 then ' #' || left(series_id, 6)
        else ''
    end as label,
    count(*) as runs,
    count(distinct product_version) as versions,
    count(*) filter (where is_change) as changes,
    count(*) filter (where is_dip) as dips,
    max(place) filter (where is_change) as last_place,
    arg_max(change_ratio, place) filter (where is_change) as last_change,
    coalesce(' (' || arg_max(measured_on, place) filter (where is_change) || ')', '') as last_day,
    arg_max(is_other_session, place) filter (where is_change) as last_is_other_session,
    arg_max(if(is_version_changed, product_version, ''), place) filter (where is_change) as changed_with,
    arg_max(configuration_id, place) as newest_id
from trends
where loss_goal = coalesce($loss_goal, usual_goal)
group by series_id
order by
    runs - last_place asc nulls last, abs(ln(last_change)) desc nulls last, dips desc, runs desc, label asc,
    series_id asc
