"""What the description of a machine must be like."""

from typing import Final

from dropline.expectations.suite import Suite, above, at_least, at_most, not_above

SUITE: Final = Suite(
    name="lake/hosts",
    query="""
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
        at_most(
            "cpu_mhz",
            10_000,
            code="cpu_clock_too_high",
            severity="warning",
            reason="No processor of a server runs at 10 GHz; the figure is in another unit.",
            detail="host {name}: {cpu_mhz:.6g} MHz",
        ),
        at_least(
            "memory_bytes",
            64 << 20,
            code="memory_too_small",
            severity="warning",
            reason="No server with a network runs in less than 64 MiB; the figure is in another unit.",
            detail="host {name}: {memory_bytes} bytes",
        ),
        at_most(
            "nic_speed_mbps",
            1_600_000,
            code="nic_speed_too_high",
            severity="warning",
            reason="The fastest Ethernet carries 1.6 Tbit/s (IEEE P802.3dj); the figure is in another unit.",
            detail="host {name}: {nic_speed_mbps:.6g} Mbit/s",
        ),
    ),
)
