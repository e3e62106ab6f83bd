select * from thread_scaling_points
where family_id = $family
order by threads
