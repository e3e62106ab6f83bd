select
    figures.source_id as campaign,
    figures.figure_id,
    figures.value,
    count(capacity.figure_id) as capacities,
    any_value(capacity.rate) as rate
from published_figures as figures
left join capacity on figures.figure_id = capacity.figure_id
where figures.rate_unit is not null and figures.value is not null
group by figures.source_id, figures.figure_id, figures.value
