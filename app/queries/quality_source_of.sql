select
    source_title,
    location,
    source_url
from published_figures
where figure_id = $figure_id
