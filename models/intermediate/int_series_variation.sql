with

points as (

    select * from {{ ref('int_trend_points') }}

),

capacity as (

    select * from {{ ref('int_capacity__measured') }}

),

places as (

    select
        configuration_id,
        loss_goal,
        min(concat_ws(' ', series_id, packet_queue_size)) as series_id,
        min(place) as place
    from points
    group by configuration_id, loss_goal

),

placed as (

    select
        capacity.*,
        places.series_id,
        row_number() over (partition by places.series_id order by places.place, places.configuration_id) as number
    from places
    inner join capacity
        on places.configuration_id = capacity.configuration_id
            and places.loss_goal = capacity.loss_goal
    where capacity.rate_interpolated > 0

),

{{ variations_of_series() }}

select
    configuration_id,
    loss_goal,
    series_campaigns,
    series_variation
from varying
