with

hosts as (

    select
        *,
        row_number() over (partition by campaign, source_path order by batch desc) = 1 as is_newest
    from {{ source('lake', 'hosts') }}

),

files as (

    select * from {{ ref('stg_raw_files') }}

),

trials as (

    select * from {{ ref('stg_trials') }}

),

counting as (

    select hosts.*
    from hosts
    -- of a campaign that was forgotten, and of facts that were replaced, what trials were joined to
    where
        (hosts.is_newest and hosts.campaign in (select files.campaign from files))
        or hosts.host_id in (select trials.host_id from trials)

),

latest as (

    select
        host_id,
        batch,
        campaign,
        source_path,
        name,
        architecture,
        cpu_model,
        cpu_vendor,
        cpu_sockets,
        cpu_cores,
        cpu_threads,
        cpu_mhz,
        memory_bytes,
        nic_model,
        nic_driver,
        nic_speed_mbps,
        disks,
        os_name,
        os_version,
        kernel,
        virtualisation,
        packages,
        tuning,
        facts
    from counting
    qualify row_number() over (partition by host_id order by batch desc, campaign asc, source_path asc) = 1

)

select * from latest
