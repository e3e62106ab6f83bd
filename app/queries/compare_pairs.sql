with

chosen as (

    select
        unnest($configuration_ids) as id,
        generate_subscripts($configuration_ids, 1) as place

)

select
    one.id as a,
    other.id as b,
    one.place as place_a,
    other.place as place_b
from chosen as one
inner join chosen as other on one.place < other.place
