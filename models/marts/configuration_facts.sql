with

configurations as (

    select * from {{ ref('configurations') }}

),

capacity as (

    select * from {{ ref('int_capacity') }}

),

hosts as (

    select * from {{ ref('hosts') }}

),

server_configurations as (

    select * from {{ ref('server_configurations') }}

),

factors as (

    select * from {{ ref('comparison_factors') }}

),

loss_bases as (

    select
        configuration_id,
        {{ joined_texts('distinct loss_basis', ', ', 'loss_basis') }} as loss_basis
    from capacity
    group by configuration_id

),

-- the method of a measured run names its parts: "period 3 s; drop time 1 s/1 s; 10000 clients"
methods as (

    select
        configuration_id,
        nullif(regexp_extract(method, 'period ([0-9.]+ s)', 1), '') as period,
        coalesce(
            nullif(regexp_extract(method, 'drop time ([^;]+)', 1), ''), {{ short_number('drop_time_s') }} || ' s'
        ) as drop_time,
        nullif(regexp_extract(method, '([0-9]+) clients', 1), '') as clients,
        nullif(
            {{ parts_where('method', '; ', 'not ' ~ fits('part', "'^(period|drop time) |^[0-9]+ clients$'")) }}, ''
        ) as options
    from configurations

),

described as (

    select
        configurations.*,
        hosts.architecture,
        hosts.cpu_model,
        hosts.cpu_sockets,
        hosts.cpu_cores,
        hosts.cpu_threads,
        hosts.cpu_mhz,
        hosts.memory_bytes,
        hosts.nic_model,
        hosts.nic_driver,
        hosts.nic_speed_mbps,
        hosts.disks,
        hosts.virtualisation,
        hosts.os_name,
        hosts.os_version,
        hosts.kernel,
        hosts.packages,
        hosts.tuning,
        methods.period,
        methods.drop_time,
        methods.clients,
        methods.options,
        loss_bases.loss_basis,
        cast(configurations.first_started_at as date) as started_on,
        case when cardinality(hosts.packages) > 0 then 'known' end as package_list,
        case when server_configurations.server_config_id is not null then 'known' end as configuration_file
    from configurations
    left join hosts on configurations.host_id = hosts.host_id
    left join server_configurations on configurations.server_config_id = server_configurations.server_config_id
    left join methods on configurations.configuration_id = methods.configuration_id
    left join loss_bases on configurations.configuration_id = loss_bases.configuration_id

),

packages as (

    select
        configuration_id,
        'packages' as aspect,
        true as may_be_absent,
        {{ each_entry_of('packages') }}
    from described

),

tuning as (

    select
        configuration_id,
        'tuning' as aspect,
        true as may_be_absent,
        {{ each_entry_of('tuning') }}
    from described

),

setting_values as (

    {{ json_values('server_configurations', 'server_config_id', 'settings') }}

),

-- a hook has no place of its own in the list: one more before it would make all of its settings differ
hooks as (

    select
        server_config_id,
        replace(path, '.library', '.') as place,
        regexp_extract(text, '[^/]*$', 0) as library
    from setting_values
    where path like '%hooks-libraries[%].library'

),

named_values as (

    select
        setting_values.server_config_id,
        setting_values.list_text,
        coalesce(
            replace(setting_values.path, hooks.place, 'hooks-libraries[' || hooks.library || '].'), setting_values.path
        ) as path,
        case when setting_values.path = hooks.place || 'library' then hooks.library else setting_values.text end as text
    from setting_values
    left join hooks
        on setting_values.server_config_id = hooks.server_config_id
            and setting_values.path like hooks.place || '%'

),

-- thousands of reservations are compared as a whole beyond the fiftieth
settings as (

    select
        server_config_id,
        -- Dhcp4.subnet4[0].id is subnet[0].id, in DHCPv6 too
        regexp_replace(regexp_replace(path, '^Dhcp[46][.]', ''), {{ regex('^subnet[46]\\b') }}, 'subnet') as item,
        coalesce(
            text,
            cast(json_array_length(list_text) as string) || ' entries, MD5 ' || md5(list_text)
        ) as value
    from named_values
    where
        not {{ fits('path', regex('\\[([5-9][0-9]|[0-9]{3,})\\]')) }}
        and (text is not null or json_array_length(list_text) > 50)

),

sizes as (

    select
        server_config_id,
        {{ each_named(
            ['subnets', 'pools', 'pool_addresses', 'prefix_pool_prefixes', 'reservations', 'client_classes'],
            [
                'cast(subnets as string)', 'cast(pools as string)', short_number('pool_addresses'),
                short_number('prefix_pool_prefixes'), 'cast(reservations as string)', 'cast(client_classes as string)'
            ]
        ) }}
    from server_configurations

),

server_items as (

    select * from settings
    union all
    select * from sizes
    where value is not null

),

facts_in_columns as (

    {{ facts_in_columns('described', {
        'configuration': [
            'product', 'product_version', 'protocol', 'backend', 'backend_version', 'threading', 'threads',
            'packet_queue_size', 'ha_mode', 'scenario', 'testbed'
        ],
        'hardware': [
            'architecture', 'cpu_model', 'cpu_sockets', 'cpu_cores', 'cpu_threads', 'cpu_mhz', 'memory_bytes',
            'nic_model', 'nic_driver', 'nic_speed_mbps', 'disks', 'virtualisation'
        ],
        'system': ['os_name', 'os_version', 'kernel'],
        'method': ['tool', 'tool_version', 'drop_time', 'loss_basis', 'period', 'clients', 'options'],
        'campaign': ['campaign', 'started_on'],
        'packages': ['package_list'],
        'server': ['configuration_file'],
    }) }}

),

facts as (

    select
        configuration_id,
        split_part(item, '.', 1) as aspect,
        false as may_be_absent,
        split_part(item, '.', 2) as item,
        value
    from facts_in_columns
    union all
    select * from packages
    union all
    select * from tuning
    union all
    select
        configurations.configuration_id,
        'server' as aspect,
        true as may_be_absent,
        server_items.item,
        server_items.value
    from configurations
    inner join server_items on configurations.server_config_id = server_items.server_config_id

),

items as (

    select distinct
        aspect,
        item
    from facts

),

-- the factor that names the item most closely
graded_items as (

    select
        items.aspect,
        items.item,
        factors.grade,
        coalesce(split(factors.goes_with, ' '), {{ list_of([]) }}) as goes_with,
        factors.why
    from items
    inner join factors on items.aspect = factors.aspect and items.item like factors.item
    qualify row_number() over (partition by items.aspect, items.item order by length(factors.item) desc) = 1

)

select
    facts.configuration_id,
    configurations.configuration,
    facts.aspect,
    facts.item,
    facts.value,
    facts.may_be_absent,
    graded_items.grade,
    graded_items.goes_with,
    graded_items.why
from facts
inner join graded_items on facts.aspect = graded_items.aspect and facts.item = graded_items.item
inner join configurations on facts.configuration_id = configurations.configuration_id
