-- Where were the leases lost: on the way, in a receive buffer, in the server, or did answers only come too late?
with

accounting as (

    select * from {{ ref('packet_accounting') }}
    where protocol like 'DHCP%' and unanswered > 0 and lost_in_server is not null

),

summed as (

    select
        configuration,
        count(*) as trials,
        sum(unanswered) as unanswered,
        sum(lost_on_the_way) as lost_on_the_way,
        sum(lost_in_receive_buffer) as lost_in_receive_buffer,
        sum(lost_in_server) as lost_in_server,
        sum(lost_in_generator_buffer) as lost_in_generator_buffer,
        sum(answered_too_late) as answered_too_late
    from accounting
    group by configuration

)

select * from summed
order by unanswered desc, configuration asc
