with

pairs as (

    select distinct
        unnest(cast($ones as varchar[])) as one,
        unnest(cast($others as varchar[])) as other

),

spans as (

    select
        configuration_id,
        min(started_at) as first_started_at,
        max(started_at) as last_started_at
    from runs
    group by configuration_id
    having count(*) > 1 and count(started_at) = count(*)

)

select
    pairs.one,
    pairs.other,
    one.first_started_at <= other.last_started_at and other.first_started_at <= one.last_started_at
        as is_in_turn
from pairs
inner join spans as one on pairs.one = one.configuration_id
inner join spans as other on pairs.other = other.configuration_id
