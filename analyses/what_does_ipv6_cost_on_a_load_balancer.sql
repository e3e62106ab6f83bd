-- What does IPv6 cost on a load balancer: the same published test with IPv4, and the CPU load of both?
with

throughput as (

    select * from {{ ref('load_balancer_throughput') }}

),

side_by_side as (

    select
        ipv6.product,
        ipv6.osi_layer,
        ipv6.forwarding_mode,
        ipv6.links,
        ipv4.rate as rate_ipv4,
        ipv4.qualifier as qualifier_ipv4,
        ipv6.rate as rate_ipv6,
        ipv6.qualifier as qualifier_ipv6,
        100 * (ipv6.ipv6_over_ipv4 - 1) as change_percent,
        ipv4.cpu_ratio_high as cpu_ratio_ipv4,
        ipv6.cpu_ratio_high as cpu_ratio_ipv6
    from throughput as ipv6
    inner join throughput as ipv4
        on ipv6.campaign = ipv4.campaign
            and ipv6.product = ipv4.product
            and ipv6.osi_layer = ipv4.osi_layer
            and ipv6.scenario = ipv4.scenario
            and ipv6.forwarding_mode = ipv4.forwarding_mode
    where ipv6.ip_version = 6 and ipv4.ip_version = 4

)

select * from side_by_side
order by links, forwarding_mode
