with

server_configs as (

    select * from {{ source('lake', 'server_configs') }}

),

files as (

    select * from {{ ref('stg_raw_files') }}

),

trials as (

    select * from {{ ref('stg_trials') }}

),

counting as (

    select server_configs.*
    from server_configs
    -- of a campaign that was forgotten, what trials of others were joined to
    where
        server_configs.campaign in (select files.campaign from files)
        or server_configs.server_config_id in (select trials.server_config_id from trials)

),

latest as (

    select
        server_config_id,
        batch,
        campaign,
        source_path,
        source_sha256,
        product,
        product_version,
        protocol,
        backend,
        backend_persistent,
        threading,
        threads,
        packet_queue_size,
        ha_mode,
        ha_server_name,
        ha_role,
        ha_peers,
        subnets,
        pools,
        pool_addresses,
        prefix_pools,
        prefix_pool_prefixes,
        reservations,
        client_classes,
        hooks,
        valid_lifetime_s,
        renew_timer_s,
        rebind_timer_s,
        socket_type,
        settings
    from counting
    qualify row_number() over (partition by server_config_id order by batch desc) = 1

)

select * from latest
