"""Facts from /proc/cpuinfo (proc_cpuinfo(5)); what it holds depends on the architecture."""

from __future__ import annotations

from dropline.ingest.machines.facts import FactError, Facts, known, nominal_mhz, number, text, word


def parse(data: bytes) -> Facts:
    """Return the processors; sockets and cores only where the kernel numbers them (x86)."""
    blocks = [_fields(block) for block in text(data).split("\n\n")]
    processors = [block for block in blocks if "processor" in block]
    if not processors:
        message = "expected the blocks of /proc/cpuinfo, each with `processor : N`"
        raise FactError(message)
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


def _fields(block: str) -> dict[str, str]:
    pairs = (line.partition(":") for line in block.split("\n"))
    return {name.strip(): value.strip() for name, colon, value in pairs if colon}
