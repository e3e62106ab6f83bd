with

capacity as (

    select * from {{ ref('int_capacity') }}

),

student_t as (

    select * from {{ ref('student_t') }}

),

{{ paired_capacities([
    {
        'name': 'threading', 'columns': ['threading', 'threads'],
        'condition': "treatment.threading = 'multi' and baseline.threading = 'single'"
    },
    {
        'name': 'ha_mode', 'columns': ['ha_mode'],
        'condition': "treatment.ha_mode <> 'none' and baseline.ha_mode = 'none'"
    },
    {
        'name': 'backend', 'columns': ['backend'],
        'condition': "treatment.backend <> baseline.backend"
    },
    {
        'name': 'protocol', 'columns': ['protocol'],
        'condition': "treatment.protocol = 'DHCPv6' and baseline.protocol = 'DHCPv4'"
    },
]) }},

{{ tested_pairs_from_pairs() }},

numbered_tests as (

    select
        *,
        -- a pair and its mirror image are one test
        dense_rank() over (
            partition by factor, loss_goal, rate_unit, p_value is null
            order by
                p_value,
                least(baseline_configuration_id, treatment_configuration_id),
                greatest(baseline_configuration_id, treatment_configuration_id)
        ) as place
    from tested_pairs

),

counted_tests as (

    select
        *,
        max(place) over (partition by factor, loss_goal, rate_unit, p_value is null) as tests
    from numbered_tests

),

-- Holm: the smallest p value counts as often as there are tests, the next once less
adjusted as (

    select
        *,
        case
            when p_value is not null
                then max(least(1, (tests - place + 1) * p_value)) over (
                        partition by factor, loss_goal, rate_unit, p_value is null
                        order by place
                    )
        end as p_value_holm
    from counted_tests

),

with_verdict as (

    select
        *,
        {{ comparison_verdict('p_value_holm') }} as verdict
    from adjusted

)

select * from with_verdict
