select
    built_at,
    lake_batches
from build_info
