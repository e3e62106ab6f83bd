select distinct rate_unit from configurations
where list_contains($configuration_ids, configuration_id) and rate_unit is not null
order by rate_unit
