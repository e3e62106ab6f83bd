-- The newest set-ups with threads, or with HA, that have a capacity but no ratio: the set-up that is nearest to being
-- their baseline, and in what else the two differ.
with

rated as (

    select
        configurations.*,
        coalesce(configurations.ha_mode, 'none') as mode,
        string_split(configurations.method, '; ') as options
    from configurations
    where
        configurations.origin = 'measured'
        and configurations.is_newest
        and configurations.configuration_id in (
            select capacity.configuration_id from capacity
            where capacity.rate > 0
        )

),

treatments as (

    select * from rated
    where
        case $factor when 'threading' then threading = 'multi' when 'ha_mode' then mode <> 'none' end
        and configuration_id not in (
            select ratios.treatment_configuration_id from ratios
            where ratios.factor = $factor
        )

),

baselines as (

    select * from rated
    where case $factor when 'threading' then threading = 'single' when 'ha_mode' then mode = 'none' end

),

-- what has to be equal: name and both values
candidates as (

    select
        treatment.configuration_id,
        treatment.configuration as treatment,
        baseline.configuration as baseline,
        baseline.configuration_id as baseline_id,
        treatment.campaign = baseline.campaign as is_of_campaign,
        treatment.options as own_options,
        baseline.options as other_options,
        [
            ('protocol', treatment.protocol, baseline.protocol),
            ('backend', treatment.backend, baseline.backend),
            ('product', treatment.product, baseline.product),
            ('version', treatment.product_version, baseline.product_version),
            ('scenario', treatment.scenario, baseline.scenario),
            ('testbed', treatment.testbed, baseline.testbed),
            ('tool', treatment.tool, baseline.tool),
            if(
                $factor = 'threading',
                ('high availability', treatment.mode, baseline.mode),
                (
                    'threads',
                    concat_ws(' ', treatment.threading, treatment.threads),
                    concat_ws(' ', baseline.threading, baseline.threads)
                )
            )
        ] as facts
    from treatments as treatment
    inner join baselines as baseline on treatment.rate_unit = baseline.rate_unit

),

with_options as (

    select
        *,
        nullif(list_filter(own_options, lambda each: each not in other_options), []) as options_of_own,
        nullif(list_filter(other_options, lambda each: each not in own_options), []) as options_of_other
    from candidates

),

with_differences as (

    select
        *,
        list_filter(
            list_append(
                facts, ('method', array_to_string(options_of_own, '; '), array_to_string(options_of_other, '; '))
            ),
            lambda fact: fact[2] is distinct from fact[3]
        ) as differences
    from with_options

),

nearest as (

    select * from with_differences
    where len(differences) <= 3
    qualify row_number() over (
            partition by configuration_id
            order by len(differences) asc, is_of_campaign desc, baseline_id asc
        ) = 1

)

select
    treatment,
    baseline,
    list_transform(
        differences,
        lambda fact: fact[1] || ': ' || coalesce(fact[2], 'none') || ' against ' || coalesce(fact[3], 'none')
    ) as differences
from nearest
order by treatment
limit 5
