select rate_unit from capacity
where origin = 'measured'
group by rate_unit
order by count(distinct configuration_id) desc, rate_unit
limit 1
