"""What a server's configuration must be like."""

from typing import Final

from dropline.expectations.suite import Suite, above, at_least, at_most, not_above

SUITE: Final = Suite(
    name="lake/server_configs",
    query="""
        select
            batch,
            campaign,
            source_path,
            renew_timer_s,
            rebind_timer_s,
            valid_lifetime_s,
            coalesce(rebind_timer_s, renew_timer_s) as last_timer_s,
            ha_mode,
            ha_peers,
            pools,
            pool_addresses,
            least(renew_timer_s, rebind_timer_s, valid_lifetime_s) as shortest_time_s,
            least(
                packet_queue_size, subnets, pools, pool_addresses, prefix_pools, prefix_pool_prefixes, reservations,
                client_classes
            ) as lowest_size,
            if(threading = 'single', threads, null) as single_threads,
            if(ha_mode in ('hot-standby', 'load-balancing'), ha_peers, null) as needed_ha_peers
        from server_configs
    """,
    expectations=(
        not_above(
            "renew_timer_s",
            "rebind_timer_s",
            code="renewal_after_rebinding",
            severity="warning",
            reason=("A client asks its own server (T1) before it asks any (T2): RFC 2131 4.4.5, RFC 8415 21.4."),
            detail="renew-timer {renew_timer_s:.6g} s, rebind-timer {rebind_timer_s:.6g} s",
        ),
        not_above(
            "last_timer_s",
            "valid_lifetime_s",
            code="timer_after_lease_end",
            severity="warning",
            reason=("A lease that ends before its timer is never renewed; the load has other causes then."),
            detail="timer {last_timer_s:.6g} s, valid-lifetime {valid_lifetime_s:.6g} s",
        ),
        at_least(
            "needed_ha_peers",
            2,
            code="ha_without_partner",
            severity="warning",
            reason="High availability needs two servers.",
            detail="{ha_mode} with {ha_peers} servers",
        ),
        above(
            "shortest_time_s",
            0,
            code="timer_not_positive",
            severity="warning",
            reason="A lease or timer of no time is none.",
            detail="the shortest of lease, renew-timer and rebind-timer is {shortest_time_s:.6g} s",
        ),
        at_least(
            "lowest_size",
            0,
            code="negative_size",
            severity="warning",
            reason="Subnets, pools, addresses, reservations and queues are counted from zero upwards.",
            detail="a size of the configuration is {lowest_size:.6g}",
        ),
        not_above(
            "pools",
            "pool_addresses",
            code="pool_without_addresses",
            severity="warning",
            reason="Every pool has at least one address; an empty one gives no lease.",
            detail="{pools} pools, {pool_addresses:.6g} addresses",
        ),
        at_most(
            "single_threads",
            1,
            code="single_threaded_configuration_with_threads",
            severity="warning",
            reason="A server is either single-threaded or has several threads.",
            detail="single-threaded, with {single_threads} threads",
        ),
    ),
)
