with

machines as (

    select distinct
        trials.campaign,
        trials.configuration_id,
        trials.configuration,
        trials.host_id,
        hosts.name,
        hosts.cpu_model,
        hosts.cpu_threads,
        hosts.memory_bytes,
        hosts.nic_speed_mbps,
        hosts.disks,
        hosts.os_name,
        hosts.os_version,
        hosts.kernel,
        hosts.tuning
    from trials
    inner join hosts on trials.host_id = hosts.host_id
    where trials.duplicate_of is null

),

-- what no machine says of itself differs in nothing
tuned as (

    select
        campaign,
        configuration_id,
        unnest(map_keys(tuning)) as item,
        unnest(map_values(tuning)) as value
    from machines

),

tuning_changes as (

    select
        campaign,
        configuration_id,
        item
    from tuned
    group by campaign, configuration_id, item
    having count(distinct value) > 1

),

tuning_differences as (

    select
        campaign,
        configuration_id,
        string_agg(item, ', ' order by item) as items
    from tuning_changes
    group by campaign, configuration_id

),

-- a container's name is random
described as (

    select
        campaign,
        configuration_id,
        count(distinct cpu_model) as cpu_models,
        count(distinct cpu_threads) as cpu_counts,
        count(distinct round(memory_bytes / 2 ** 30)) as memories,
        count(distinct nic_speed_mbps) as speeds,
        count(distinct disks) as disks,
        count(distinct if(regexp_full_match(name, '[0-9a-f]{12}'), null, split_part(name, '.', 1))) as names,
        count(distinct nullif(concat_ws(' ', os_name, os_version), '')) as systems,
        count(distinct kernel) as kernels,
        string_agg(distinct kernel, ', ' order by kernel) as kernel_names
    from machines
    group by campaign, configuration_id

),

differing as (

    select
        described.campaign,
        described.configuration_id,
        nullif(
            concat_ws(
                ', ',
                if(described.cpu_models > 1, 'processors', null),
                if(described.cpu_counts > 1, 'numbers of processors', null),
                if(described.memories > 1, 'memory', null),
                if(described.speeds > 1, 'network speeds', null),
                if(described.disks > 1, 'disks', null),
                if(described.names > 1, 'names', null),
                if(described.systems > 1, 'operating systems', null),
                if(described.kernels > 1, 'kernels (' || described.kernel_names || ')', null),
                tuning_differences.items
            ),
            ''
        ) as differences
    from described
    left join tuning_differences
        on described.campaign = tuning_differences.campaign
            and described.configuration_id = tuning_differences.configuration_id

),

tested as (

    select
        campaign,
        configuration_id,
        any_value(configuration) as configuration,
        count(distinct host_id) as machines,
        count(distinct server_config_id) as server_configurations
    from trials
    where duplicate_of is null
    group by campaign, configuration_id

)

select
    tested.*,
    differing.differences
from tested
left join differing
    on tested.campaign = differing.campaign
        and tested.configuration_id = differing.configuration_id
