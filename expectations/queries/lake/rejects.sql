select
    batch,
    campaign,
    source_path,
    line,
    nullif(trim(reason), '') as reason,
    nullif(trim(hint), '') as hint
from rejects
