"""The questions of the page of machines: hosts and server configurations, leaf by leaf."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import pyarrow as pa

    from dropline.app.warehouse import Warehouse

# Both yield the CTE `leaves`: id, aspect, item, value, may_be_absent; aspects and items as `configuration_facts` names
# them, where it has them. An item may be absent if whoever wrote the list would have left it out.
_LEAVES_OF_HOSTS: Final = """
with

chosen as (

    select * from hosts where host_id in ($a, $b)

),

columns_of_hosts as (

    select
        host_id,
        cast(columns(* exclude (host_id, origin, campaign, name, packages, facts)) as varchar)
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
        case when item in ('cpu_mhz', 'nic_speed_mbps') then regexp_replace(value, '\\.0$', '') else value end as value,
        false as may_be_absent
    from in_columns
    union all
    select host_id, 'packages', item, value, true from packages
    union all
    select host_id, aspect, item, value, true from nodes

),
"""

_LEAVES_OF_SERVER_CONFIGURATIONS: Final = """
with

chosen as (

    select * from server_configurations where server_config_id in ($a, $b)

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
            regexp_replace(replace(node.fullkey, '"', ''), '^\\$\\.(Dhcp[46]\\.)?', ''), '^subnet[46]\\b', 'subnet'
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
            when item in ('pool_addresses', 'prefix_pool_prefixes') then regexp_replace(value, '\\.0$', '') else value
        end as value,
        false as may_be_absent
    from in_columns
    union all
    select
        server_config_id,
        'server',
        item,
        coalesce(
            atom ->> '$',
            cast(json_array_length(list_of_values) as varchar) || ' entries, MD5 ' || md5(list_of_values)
        ),
        true
    from nodes
    where
        not regexp_matches(fullkey, '\\[([5-9][0-9]|[0-9]{3,})\\]')
        and (atom is not null or json_array_length(list_of_values) > 50)

),
"""

# The rule of `differences(a, b)`: where one side has no list at all, its items are not known and differ in nothing.
_COMPARED: Final = """
items as (

    select
        aspect,
        item,
        any_value(value) filter (where id = $a) as value_a,
        any_value(value) filter (where id = $b) as value_b,
        bool_or(may_be_absent) as may_be_absent
    from leaves
    group by aspect, item

),

with_lists as (

    select
        *,
        count(value_a) filter (where may_be_absent) over (partition by aspect) > 0
        and count(value_b) filter (where may_be_absent) over (partition by aspect) > 0 as both_are_listed
    from items

),

grades as (

    select
        aspect,
        item,
        any_value(grade) as grade,
        any_value(why) as why
    from configuration_facts
    group by aspect, item

)

select
    with_lists.aspect,
    with_lists.item,
    with_lists.value_a,
    with_lists.value_b,
    with_lists.may_be_absent,
    value_a is distinct from value_b and (both_are_listed or not may_be_absent) as differs,
    may_be_absent and not both_are_listed as is_one_sided,
    case
        when grades.grade is null then null
        when not may_be_absent and (value_a is null or value_b is null) then 'unknown'
        else grades.grade
    end as grade,
    grades.why
from with_lists
left join grades on with_lists.aspect = grades.aspect and with_lists.item = grades.item
where value_a is not null or value_b is not null
order by
    list_position(['host', 'configuration', 'hardware', 'system', 'server', 'packages'], with_lists.aspect)
        nulls last,
    with_lists.aspect,
    with_lists.item
"""


def hosts(warehouse: Warehouse) -> pa.Table:
    """Return the hosts, measured first, each with a `label` of its own and how many runs it has."""
    return warehouse.query("""
        select
            hosts.* exclude (facts),
            concat(
                name, ' (', coalesce(campaign, origin),
                case when count(*) over (partition by name, coalesce(campaign, origin)) > 1
                    then ', ' || left(host_id, 6) end, ')'
            ) as label,
            (select count(*) from runs where runs.host_id = hosts.host_id) as runs
        from hosts
        order by origin, label
        """)


def server_configurations(warehouse: Warehouse) -> pa.Table:
    """Return the server configurations by campaign and path, each with a `label` of its own and its runs."""
    return warehouse.query("""
        select
            server_configurations.* exclude (settings),
            concat(
                source_path, ' (', campaign,
                case when count(*) over (partition by source_path, campaign) > 1
                    then ', ' || left(server_config_id, 6) end, ')'
            ) as label,
            (select count(*) from runs where runs.server_config_id = server_configurations.server_config_id) as runs
        from server_configurations
        order by campaign, source_path, server_config_id
        """)


def facts_of_hosts(warehouse: Warehouse, a: str, b: str | None = None) -> pa.Table:
    """Return every fact of a host, or of two beside each other.

    One row per aspect and item: value_a, value_b, may_be_absent (null means not set, else not stated), differs,
    is_one_sided (the other side has no such list), grade (minor | unfair | unknown; null where no comparison of
    capacities looks at the item) and why it matters.
    """
    return warehouse.query(_LEAVES_OF_HOSTS + _COMPARED, {"a": a, "b": b})


def facts_of_server_configurations(warehouse: Warehouse, a: str, b: str | None = None) -> pa.Table:
    """Return every setting of a server configuration, or of two, in the columns of `facts_of_hosts`."""
    return warehouse.query(_LEAVES_OF_SERVER_CONFIGURATIONS + _COMPARED, {"a": a, "b": b})


def used_by(warehouse: Warehouse, *, host_id: str | None = None, server_config_id: str | None = None) -> pa.Table:
    """Return the runs on a host or with a server configuration, and what was published of it.

    One row per run, and per published configuration (run_id is null): configuration_id, configuration, origin,
    campaign, run_id, repetition, started_at, rate, rate_unit, status, qualifier.
    """
    return warehouse.query(
        """
        select
            configuration_id, configuration, 'measured' as origin, campaign, run_id, repetition, started_at, rate,
            rate_unit, status, null as qualifier
        from runs
        where host_id = $host_id or server_config_id = $server_config_id
        union all by name
        select
            configurations.configuration_id, configurations.configuration, 'published' as origin,
            configurations.campaign, capacity.rate, capacity.rate_unit, capacity.status, capacity.qualifier
        from configurations
        inner join capacity on configurations.configuration_id = capacity.configuration_id
        where configurations.origin = 'published' and configurations.host_id = $host_id
        order by origin, campaign, configuration, configuration_id, repetition, started_at, run_id
        """,
        {"host_id": host_id, "server_config_id": server_config_id},
    )
