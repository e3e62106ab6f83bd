with

chosen as (

    select
        unnest($ids) as id,
        generate_subscripts($ids, 1) as place

)

select
    one.id as a,
    other.id as b,
    one.place as place_a,
    other.place as place_b
from chosen as one
inner join chosen as other on one.place < other.place
