with

labelled as (

    select * from {{ ref('int_trials__labelled') }}

),

-- a script may set options from the rate, such as perfdhcp's clients (-R) or dnsperf's window (-q)
campaigns_of_methods as (

    select campaign
    from labelled
    group by campaign
    having count(distinct method) > 2

),

with_alike as (

    select
        *,
        {{ with_numbers_by_rate('method') }} as alike
    from labelled
    where campaign in (select campaigns_of_methods.campaign from campaigns_of_methods)

),

with_family as (

    select
        trial_id,
        offered_rate,
        method,
        {{ surrogate_key('campaign, ' ~ configuration_columns() ~ ', unnamed_folder, alike') }} as family_id
    from with_alike

),

-- three numbers or more, each at rates of its own, and few of them at two, as a script may round. Several numbers at
-- one rate, or each at many rates, are compared on purpose.
ramps as (

    select
        {{ numbers_by_rate('method') }},
        family_id
    from with_family
    group by family_id
    having
        count(distinct method) > 2
        and 2 * count(distinct method) > count(distinct offered_rate)
        and count(distinct concat_ws(' ', method, offered_rate)) = count(distinct offered_rate)

),

methods_of_ramps as (

    select
        with_family.trial_id,
        {{ with_numbers_by_rate('with_family.method', 'ramps') }} as method
    from with_family
    inner join ramps on with_family.family_id = ramps.family_id

)

select
    trial_id,
    method
from methods_of_ramps
