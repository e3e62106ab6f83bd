with

measured as (

    select distinct
        trials.campaign,
        trials.configuration_id,
        trials.configuration,
        trials.host_id,
        trials.server_config_id,
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
    left join hosts on trials.host_id = hosts.host_id
    where trials.duplicate_of is null

),

tuned as (

    select
        configuration_id,
        unnest(map_keys(tuning)) as item,
        unnest(map_values(tuning)) as value
    from measured

),

tuning_changes as (

    select
        configuration_id,
        item
    from tuned
    group by configuration_id, item
    having count(distinct value) > 1

),

tuning_differences as (

    select
        configuration_id,
        string_agg(item, ', ' order by item) as items
    from tuning_changes
    group by configuration_id

),

-- what no machine says of itself differs in nothing
tested as (

    select
        campaign,
        configuration_id,
        any_value(configuration) as configuration,
        count(distinct host_id) as machines,
        count(distinct server_config_id) as server_configurations,
        count(distinct cpu_model) as cpu_models,
        count(distinct cpu_threads) as cpu_counts,
        count(distinct round(memory_bytes / 2 ** 30)) as memories,
        count(distinct nic_speed_mbps) as speeds,
        count(distinct disks) as disks,
        -- a container's name is random
        count(distinct if(regexp_full_match(name, '[0-9a-f]{12}'), null, split_part(name, '.', 1))) as names,
        count(distinct nullif(concat_ws(' ', os_name, os_version), '')) as systems,
        count(distinct kernel) as kernels,
        string_agg(distinct kernel, ', ' order by kernel) as kernel_names
    from measured
    group by campaign, configuration_id

)

select
    tested.*,
    nullif(
        concat_ws(
            ', ',
            if(tested.cpu_models > 1, 'processors', null),
            if(tested.cpu_counts > 1, 'numbers of processors', null),
            if(tested.memories > 1, 'memory', null),
            if(tested.speeds > 1, 'network speeds', null),
            if(tested.disks > 1, 'disks', null),
            if(tested.names > 1, 'names', null),
            if(tested.systems > 1, 'operating systems', null),
            if(tested.kernels > 1, 'kernels (' || tested.kernel_names || ')', null),
            tuning_differences.items
        ),
        ''
    ) as differences
from tested
left join tuning_differences on tested.configuration_id = tuning_differences.configuration_id
