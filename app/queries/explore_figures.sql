with

figures as (

    select
        configuration_id,
        loss_goal,
        loss_limit,
        loss_basis,
        rate,
        rate_at_most,
        interval_kind,
        ci_low,
        ci_high,
        rate_interpolated,
        status,
        qualifier,
        quality,
        findings,
        loss_goal = coalesce(
            $loss_goal, case when list_contains($dhcp_units, rate_unit) then $dhcp_goal else $other_goal end
        ) as is_asked
    from capacity
    where is_asked or (origin = 'published' and loss_goal = 'unstated')
    qualify row_number() over (partition by configuration_id order by is_asked desc) = 1

)

select * from figures
