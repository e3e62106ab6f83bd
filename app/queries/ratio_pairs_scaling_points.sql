select * from thread_scaling_points
where family_id = $family_id
order by threads
