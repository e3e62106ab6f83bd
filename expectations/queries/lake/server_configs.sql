select
    batch,
    campaign,
    source_path,
    renew_timer_s,
    rebind_timer_s,
    valid_lifetime_s,
    coalesce(rebind_timer_s, renew_timer_s) as last_timer_s,
    least(renew_timer_s, rebind_timer_s, valid_lifetime_s) as shortest_time_s,
    ha_mode,
    ha_peers,
    threading,
    threads,
    pools,
    pool_addresses,
    least(
        packet_queue_size,
        subnets,
        pools,
        pool_addresses,
        prefix_pools,
        prefix_pool_prefixes,
        reservations,
        client_classes
    ) as lowest_size
from server_configs
