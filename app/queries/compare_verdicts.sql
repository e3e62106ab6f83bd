-- `compare` tests one pair; here all pairs are tested, so the p values are corrected for their number (Holm, "A Simple
-- Sequentially Rejective Multiple Test Procedure", 1979). The ratio is that of the rates at the limit if both were
-- estimated, else that of the figures.
-- `pairs` is given: a over b, in the order of their places. `machines_differ_in` lists what differs between the two
-- machines.
with

sides as (

    select
        list(a order by place_a, place_b) as all_a,
        list(b order by place_a, place_b) as all_b
    from pairs

),

compared as (

    select
        pairs.*,
        tested.*
    from compare_each((select all_a from sides), (select all_b from sides)) as tested
    inner join pairs on tested.configuration_id_a = pairs.a and tested.configuration_id_b = pairs.b
    inner join configurations on pairs.a = configurations.configuration_id
    where tested.loss_goal = coalesce($loss_goal, configurations.usual_goal)

),

machines as (

    select
        configuration_id_a,
        configuration_id_b,
        differences
    from machine_differences((select all_a from sides), (select all_b from sides))

),

numbered as (

    select
        *,
        row_number() over (order by p_value nulls last, place_a, place_b) as test,
        count(p_value) over () as tests
    from compared

),

adjusted as (

    select
        *,
        case when p_value is not null then
                max(least(1, (tests - test + 1) * p_value)) over (order by test rows unbounded preceding)
        end as p_value_holm
    from numbered

)

select
    pairs.a as configuration_id_a,
    pairs.b as configuration_id_b,
    coalesce(adjusted.ratio_interpolated, adjusted.ratio) as ratio,
    adjusted.ci_low,
    adjusted.ci_high,
    adjusted.p_value,
    adjusted.p_value_holm,
    adjusted.runs_a,
    adjusted.runs_b,
    adjusted.rate_a,
    adjusted.rate_b,
    adjusted.rate_unit,
    case
        when adjusted.verdict = 'limits not reached' then adjusted.verdict
        when adjusted.a is null then 'not comparable'
        when adjusted.p_value_holm is null then 'not testable'
        when adjusted.verdict in ('faster', 'slower') and adjusted.p_value_holm > 0.05
            then 'probably ' || adjusted.verdict
        else adjusted.verdict
    end as verdict,
    adjusted.is_in_turn,
    adjusted.series_variation,
    machines.differences as machines_differ_in
from pairs
left join machines on pairs.a = machines.configuration_id_a and pairs.b = machines.configuration_id_b
left join adjusted on pairs.a = adjusted.a and pairs.b = adjusted.b
order by pairs.place_a, pairs.place_b
