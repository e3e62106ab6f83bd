with

measured as (

    select * from {{ ref('stg_hosts') }}

),

published as (

    select * from {{ ref('reported_testbeds') }}

),

combined as (

    select
        host_id,
        'measured' as origin,
        campaign,
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
        facts,
        cast(null as string) as note
    from measured
    union all
    select
        testbed as host_id,
        'published' as origin,
        null as campaign,
        testbed as name,
        null as architecture,
        cpu_model,
        null as cpu_vendor,
        cpu_sockets,
        cpu_cores,
        cpu_threads,
        1000 * cpu_ghz as cpu_mhz,
        cast(round(memory_gib * 1073741824) as bigint) as memory_bytes,
        nics as nic_model,
        null as nic_driver,
        link_mbps as nic_speed_mbps,
        disks,
        os as os_name,
        null as os_version,
        null as kernel,
        null as virtualisation,
        null as packages,
        null as tuning,
        null as facts,
        concat_ws('; ', database_settings, note) as note
    from published

)

select * from combined
