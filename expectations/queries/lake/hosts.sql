select
    batch,
    campaign,
    source_path,
    name,
    cpu_sockets,
    cpu_cores,
    cpu_threads,
    cpu_mhz,
    memory_bytes,
    nic_speed_mbps
from hosts
