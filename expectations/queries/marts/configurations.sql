with
tested as (
    select
        trials.campaign,
        trials.configuration_id,
        any_value(trials.configuration) as configuration,
        count(distinct trials.host_id) as machines,
        count(distinct trials.server_config_id) as server_configurations,
        count(distinct hosts.cpu_model) as cpu_models,
        count(distinct hosts.kernel) as kernels,
        count(distinct nullif(concat_ws(' ', hosts.os_name, hosts.os_version), '')) as systems,
        string_agg(distinct hosts.kernel, ', ' order by hosts.kernel) as kernel_names
    from trials
    left join hosts on trials.host_id = hosts.host_id
    where trials.duplicate_of is null
    group by trials.campaign, trials.configuration_id
)

select
    *,
    coalesce(
        nullif(
            concat_ws(
                ', ',
                if(cpu_models > 1, 'processors', null),
                if(systems > 1, 'operating systems', null),
                if(kernels > 1, 'kernels (' || kernel_names || ')', null)
            ),
            ''
        ),
        'other facts'
    ) as differences
from tested
