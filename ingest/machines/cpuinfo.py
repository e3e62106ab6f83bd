"""Facts from /proc/cpuinfo (proc_cpuinfo(5)), whose fields depend on the architecture."""

from __future__ import annotations

from dropline.ingest.machines.facts import Facts, fields, known, nominal_mhz, number, require, text, word


def parse(data: bytes) -> Facts:
    """Return the processors; sockets and cores only where the kernel numbers them (x86)."""
    blocks = [fields(block) for block in text(data).split("\n\n")]
    processors = [block for block in blocks if "processor" in block]
    require(processors, "the blocks of /proc/cpuinfo, each with `processor : N`")
    first = processors[0]
    model = word(first.get("model name"))
    sockets = {block.get("physical id") for block in processors} - {None}
    cores = {(block.get("physical id"), block.get("core id")) for block in processors}
    clocks = [mhz for block in processors if (mhz := number(block.get("cpu MHz")))]
    return known(
        cpu_model=model,
        cpu_vendor=word(first.get("vendor_id")),
        cpu_sockets=len(sockets) or None,
        cpu_cores=len(cores) if sockets and "core id" in first else None,
        cpu_threads=len(processors),
        cpu_mhz=nominal_mhz(model) or max(clocks, default=None),
        microcode=word(first.get("microcode")),
    )
