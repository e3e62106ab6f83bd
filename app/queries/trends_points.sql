select * from trends
where series_id = $series
order by place
