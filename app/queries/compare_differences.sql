-- What differs between two configurations. Rows with is_asked come first: the compared factors and what necessarily
-- goes with them. Then the most serious.
with

differing as (

    select * from differences($one, $other)

),

asked as (

    select coalesce(list(distinct if(item = 'threads', 'threading', item)), []) as factors
    from differing
    where aspect = 'configuration'
        and item in ('product', 'product_version', 'protocol', 'backend', 'threading', 'threads', 'ha_mode', 'scenario')

),

facts as (

    select
        aspect,
        item,
        any_value(goes_with) as goes_with
    from configuration_facts
    where configuration_id in ($one, $other)
    group by aspect, item

)

select
    differing.*,
    differing.aspect = 'configuration'
    and list_contains(asked.factors, if(differing.item = 'threads', 'threading', differing.item)) as is_factor,
    is_factor or list_has_any(facts.goes_with, asked.factors) as is_asked
from differing
cross join asked
inner join facts on differing.aspect = facts.aspect and differing.item = facts.item
order by
    is_factor desc,
    is_asked desc,
    case differing.grade when 'unfair' then 0 when 'unknown' then 1 else 2 end asc,
    differing.aspect asc,
    differing.item asc
