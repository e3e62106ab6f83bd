"""What the description of a machine must be like."""

from typing import Final

from expectations.suite import Suite, above, not_above

SUITE: Final = Suite(
    name="lake/hosts",
    query="""
        select
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
    """,
    expectations=(
        not_above(
            "cpu_sockets",
            "cpu_cores",
            code="sockets_exceed_cores",
            severity="warning",
            reason="Every socket holds at least one core; cores are counted over all sockets.",
            detail="host {name}: {cpu_sockets} sockets, {cpu_cores} cores",
        ),
        not_above(
            "cpu_cores",
            "cpu_threads",
            code="cores_exceed_threads",
            severity="warning",
            reason="Every core runs at least one thread; threads are counted over all sockets.",
            detail="host {name}: {cpu_cores} cores, {cpu_threads} threads",
        ),
        above(
            "cpu_mhz",
            0,
            code="cpu_clock_not_positive",
            severity="warning",
            reason="A processor at work has a clock.",
            detail="host {name}: {cpu_mhz:.6g} MHz",
        ),
        above(
            "memory_bytes",
            0,
            code="memory_not_positive",
            severity="warning",
            reason="A machine at work has memory.",
            detail="host {name}: {memory_bytes} bytes",
        ),
        above(
            "nic_speed_mbps",
            0,
            code="nic_speed_not_positive",
            severity="warning",
            reason="Linux gives a link without a known speed as -1; such a figure is none.",
            detail="host {name}: {nic_speed_mbps:.6g} Mbit/s",
        ),
    ),
)
