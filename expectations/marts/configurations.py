"""What the trials of one configuration must have in common beyond it: the machine and the server's configuration."""

from typing import Final

from dropline.expectations.suite import Suite, at_most

SUITE: Final = Suite(
    name="marts/configurations",
    query="""
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
            where trials.twin_of is null
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
    """,
    expectations=(
        at_most(
            "machines",
            1,
            code="machine_changed",
            severity="warning",
            reason=(
                "Runs are repetitions of each other on the same machine only: hardware, system, kernel and packages; "
                "what differs belongs in the testbed's name."
            ),
            detail="{configuration}: {machines} descriptions of the machine with different {differences}",
        ),
        at_most(
            "server_configurations",
            1,
            code="server_configuration_changed",
            severity="warning",
            reason=(
                "Runs are repetitions of each other with the same server configuration only; what differs belongs in "
                "the scenario's name."
            ),
            detail="{configuration}: {server_configurations} different configurations of the server",
        ),
    ),
)
