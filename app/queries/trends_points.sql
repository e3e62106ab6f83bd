select * from trends
where series_id = $series_id
order by place
