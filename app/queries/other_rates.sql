-- The capacities that leases_per_second omits: other units, and figures without ISC's loss goal.
select * from capacity
where rate_unit <> 'leases/s'
    or configuration_id not in (select leases_per_second.configuration_id from leases_per_second)
qualify row_number() over (
        partition by configuration_id
        order by
            loss_goal <> usual_goal,
            loss_limit desc nulls last
    ) = 1
order by rate_unit asc, rate desc nulls last, configuration_id asc
