"""Facts from `lscpu -J` and `lscpu` (util-linux, lscpu(1))."""

from __future__ import annotations

from typing import Any, Final

from dropline.ingest.machines.facts import (
    Facts,
    document,
    entries,
    fields,
    known,
    nominal_mhz,
    number,
    require,
    text,
    whole,
    word,
)

_VULNERABILITY: Final = "Vulnerability "


def parse(data: bytes) -> Facts:
    """Return the processors: sockets, and cores and threads over all sockets.

    A field's name ends with a colon and every value is text; newer versions nest fields in `children` (JSON) or indent
    them (text). `cpu_mhz` is the clock in the model's name, else the maximum, else the current one, which old versions
    print.
    """
    is_json = data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"["))
    said: dict[str, Any] = _from_json(data) if is_json else fields(text(data))
    require("Architecture" in said or "CPU(s)" in said, "the fields of `lscpu`, among them Architecture and CPU(s)")
    model = word(said.get("Model name"))
    threads = whole(said.get("CPU(s)"))
    sockets = whole(said.get("Socket(s)")) or None
    clock = ("CPU max MHz", "CPU MHz", "CPU static MHz", "CPU dynamic MHz")
    return known(
        architecture=word(said.get("Architecture")),
        cpu_model=model,
        cpu_vendor=word(said.get("Vendor ID")),
        cpu_sockets=sockets,
        cpu_cores=_cores(said, sockets),
        cpu_threads=threads or None,
        cpu_mhz=nominal_mhz(model) or next((mhz for name in clock if (mhz := number(said.get(name)))), None),
        virtualisation=(word(said.get("Hypervisor vendor")) or "").lower() or None,
        threads_per_core=whole(said.get("Thread(s) per core")),
        numa_nodes=whole(said.get("NUMA node(s)")),
        online_cpus=word(said.get("On-line CPU(s) list")),
        virtualisation_type=word(said.get("Virtualization type")),
        caches={
            name.removesuffix(" cache"): size
            for name, value in said.items()
            if name.endswith(" cache") and (size := word(value))
        },
        vulnerabilities={
            name.removeprefix(_VULNERABILITY): status
            for name, value in said.items()
            if name.startswith(_VULNERABILITY) and (status := word(value))
        },
    )


def _cores(fields: dict[str, object], sockets: int | None) -> int | None:
    per_socket = whole(fields.get("Core(s) per socket"))
    if per_socket and sockets:
        return whole(per_socket * sockets)
    # Arm without ACPI tables reports clusters instead of sockets.
    per_cluster, clusters = (whole(fields.get(n)) for n in ("Core(s) per cluster", "Cluster(s)"))
    return whole(per_cluster * clusters) if per_cluster and clusters else None


def _from_json(data: bytes) -> dict[str, object]:
    found = document(data, "lscpu -J")
    waiting = entries(found.get("lscpu")) if isinstance(found, dict) else []
    fields: dict[str, object] = {}
    while waiting:
        entry = waiting.pop()
        name = word(entry.get("field"))
        if name:
            fields[name.removesuffix(":")] = entry.get("data")
        waiting += entries(entry.get("children"))
    return fields
