-- The loss goals; first the usual one of the rate units, that of DHCP if it is among them or no unit is given.
select * from loss_goals
order by
    loss_goal <> case
        when
            len($rate_units) = 0
            or list_contains(list_transform($rate_units, lambda unit: usual_goal(unit)), usual_goal('leases/s'))
            then usual_goal('leases/s')
        else usual_goal($rate_units[1])
    end,
    loss_limit
