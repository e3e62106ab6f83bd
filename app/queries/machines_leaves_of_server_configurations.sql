with

chosen as (

    select * from server_configurations
    where server_config_id in ($a, $b)

),

columns_of_files as (

    select
        server_config_id,
        cast(
            columns([
                'product', 'product_version', 'protocol', 'backend', 'threading', 'threads',
                'packet_queue_size', 'ha_mode', 'subnets', 'pools', 'pool_addresses', 'prefix_pool_prefixes',
                'reservations', 'client_classes'
            ]) as varchar
        )
    from chosen

),

in_columns as (

    unpivot columns_of_files on columns(* exclude (server_config_id)) into name item value value

),

-- as in configuration_facts: $.Dhcp4."multi-threading" is multi-threading; entries from the fiftieth on as a whole
nodes as (

    select
        chosen.server_config_id,
        regexp_replace(
            regexp_replace(replace(node.fullkey, '"', ''), '^\$\.(Dhcp[46]\.)?', ''), '^subnet[46]\b', 'subnet'
        ) as item,
        node.fullkey,
        node.atom,
        case when node.type = 'ARRAY' then cast(node.value as varchar) end as list_of_values
    from chosen
    cross join json_tree(chosen.settings) as node

),

leaves as (

    select
        server_config_id as id,
        case
            when
                item in (
                    'subnets', 'pools', 'pool_addresses', 'prefix_pool_prefixes', 'reservations', 'client_classes'
                ) then 'server'
            else 'configuration'
        end as aspect,
        item,
        case
            when item in ('pool_addresses', 'prefix_pool_prefixes') then regexp_replace(value, '\.0$', '') else value
        end as value,
        false as may_be_absent
    from in_columns
    union all
    select
        server_config_id as id,
        'server' as aspect,
        item,
        coalesce(
            atom ->> '$',
            cast(json_array_length(list_of_values) as varchar) || ' entries, MD5 ' || md5(list_of_values)
        ) as value,
        true as may_be_absent
    from nodes
    where
        not regexp_matches(fullkey, '\[([5-9][0-9]|[0-9]{3,})\]')
        and (atom is not null or json_array_length(list_of_values) > 50)

)

select * from leaves
