-- The rule of `differences(a, b)`: where one side has no list at all, its items are not known and differ in nothing.
with

items as (

    select
        aspect,
        item,
        any_value(value) filter (where id = $a) as value_a,
        any_value(value) filter (where id = $b) as value_b,
        bool_or(may_be_absent) as may_be_absent
    from leaves
    group by aspect, item

),

with_lists as (

    select
        *,
        count(value_a) filter (where may_be_absent) over (partition by aspect) > 0
        and count(value_b) filter (where may_be_absent) over (partition by aspect) > 0 as both_are_listed
    from items

),

grades as (

    select
        aspect,
        item,
        any_value(grade) as grade,
        any_value(why) as why
    from configuration_facts
    group by aspect, item

)

select
    with_lists.aspect,
    with_lists.item,
    with_lists.value_a,
    with_lists.value_b,
    with_lists.may_be_absent,
    (with_lists.value_a is distinct from with_lists.value_b)
    and (with_lists.both_are_listed or not with_lists.may_be_absent) as differs,
    with_lists.may_be_absent and not with_lists.both_are_listed as is_one_sided,
    case
        when grades.grade is null then null
        when not with_lists.may_be_absent and (with_lists.value_a is null or with_lists.value_b is null) then 'unknown'
        else grades.grade
    end as grade,
    grades.why
from with_lists
left join grades on with_lists.aspect = grades.aspect and with_lists.item = grades.item
where with_lists.value_a is not null or with_lists.value_b is not null
order by
    list_position(['host', 'configuration', 'hardware', 'system', 'server', 'packages'], with_lists.aspect)
    nulls last,
    with_lists.aspect,
    with_lists.item
