with

chosen as (

    select * from hosts
    where host_id in ($a, $b)

),

columns_of_hosts as (

    select
        host_id,
        cast(columns(* exclude (host_id, origin, campaign, name, packages, tuning, facts)) as varchar)
    from chosen

),

in_columns as (

    unpivot columns_of_hosts on columns(* exclude (host_id)) into name item value value

),

packages as (

    select
        host_id,
        unnest(map_keys(packages)) as item,
        unnest(map_values(packages)) as value
    from chosen

),

sources as (

    select
        chosen.host_id,
        source.key as aspect,
        source.value as facts
    from chosen
    cross join json_each(chosen.facts) as source

),

-- a list of names is one fact: its places mean nothing
nodes as (

    select
        sources.host_id,
        sources.aspect,
        replace(substr(node.fullkey, 3), '"', '') as item,
        coalesce(array_to_string(try_cast(node.value as varchar[]), ', '), node.value ->> '$') as value
    from sources
    cross join json_tree(sources.facts) as node
    where node.type <> 'OBJECT' and not contains(regexp_replace(node.fullkey, '"[^"]*"', '', 'g'), '[')

),

leaves as (

    select
        host_id as id,
        case
            when item in ('os_name', 'os_version', 'kernel') then 'system'
            when item = 'note' then 'host'
            else 'hardware'
        end as aspect,
        item,
        case when item in ('cpu_mhz', 'nic_speed_mbps') then regexp_replace(value, '\.0$', '') else value end as value,
        false as may_be_absent
    from in_columns
    union all
    select
        host_id as id,
        'packages' as aspect,
        item,
        value,
        true as may_be_absent
    from packages
    union all
    select
        host_id as id,
        aspect,
        item,
        value,
        true as may_be_absent
    from nodes

)

select * from leaves
