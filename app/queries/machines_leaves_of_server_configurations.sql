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

-- as in configuration_facts: $.Dhcp4."multi-threading" is multi-threading, a hook has its name for its number; entries
-- from the fiftieth on as a whole
settings as (

    select
        chosen.server_config_id,
        replace(substr(node.fullkey, 3), '"', '') as path,
        node.atom ->> '$' as text,
        case when node.type = 'ARRAY' then cast(node.value as varchar) end as list_text
    from chosen
    cross join json_tree(chosen.settings) as node

),

hooks as (

    select
        server_config_id,
        replace(path, '.library', '.') as place,
        regexp_extract(text, '[^/]*$') as library
    from settings
    where path like '%hooks-libraries[%].library'

),

nodes as (

    select
        settings.server_config_id,
        coalesce(
            replace(settings.path, hooks.place, 'hooks-libraries[' || hooks.library || '].'), settings.path
        ) as path,
        case when settings.path = hooks.place || 'library' then hooks.library else settings.text end as text,
        settings.list_text
    from settings
    left join hooks
        on settings.server_config_id = hooks.server_config_id
            and settings.path like hooks.place || '%'

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
        regexp_replace(regexp_replace(path, '^Dhcp[46]\.', ''), '^subnet[46]\b', 'subnet') as item,
        coalesce(text, cast(json_array_length(list_text) as varchar) || ' entries, MD5 ' || md5(list_text)) as value,
        true as may_be_absent
    from nodes
    where
        not regexp_matches(path, '\[([5-9][0-9]|[0-9]{3,})\]')
        and (text is not null or json_array_length(list_text) > 50)

)

select * from leaves
