-- What changed between two versions of a product, where protocol, backend, threading, HA and scenario are alike?
-- Across testbeds the ratio says as much about the machines as about the versions; see is_same_testbed.
with

capacity as (

    select * from {{ ref('capacity') }}
    where loss_goal in (usual_goal, 'unstated') and rate > 0

),

version_pairs as (

    select
        newer.product,
        newer.protocol,
        newer.backend,
        newer.threading,
        newer.ha_mode,
        newer.scenario,
        older.product_version as older_version,
        newer.product_version as newer_version,
        older.rate as older_rate,
        newer.rate as newer_rate,
        newer.rate_unit,
        newer.rate / older.rate as ratio,
        coalesce(newer.testbed = older.testbed, false) as is_same_testbed,
        older.configuration_id as older_configuration_id,
        newer.configuration_id as newer_configuration_id
    from capacity as newer
    inner join capacity as older
        on newer.product = older.product
            and newer.protocol = older.protocol
            and newer.loss_goal = older.loss_goal
            and newer.rate_unit = older.rate_unit
            and newer.scenario is not distinct from older.scenario
            and newer.backend is not distinct from older.backend
            and newer.threading is not distinct from older.threading
            and newer.ha_mode is not distinct from older.ha_mode
            -- as numbers: 2.10 comes after 2.9
            and try_cast(string_split(newer.product_version, '.') as integer[])
            > try_cast(string_split(older.product_version, '.') as integer[])

)

select * from version_pairs
order by is_same_testbed desc, product asc, protocol asc, ratio desc
