"""Facts of the hardware: processors, memory, network interfaces, disks."""

import re
from collections.abc import Iterator
from typing import Any, Final

from dropline.ingest.formats.text import mapping
from dropline.ingest.machines.facts import (
    DECLARED,
    Facts,
    added_up,
    document,
    entries,
    fields,
    joined,
    known,
    lines,
    nominal_mhz,
    number,
    once,
    require,
    size_bytes,
    source,
    text,
    whole,
    word,
)

_VULN: Final = "Vulnerability "
_CLOCKS: Final = ("CPU max MHz", "CPU MHz", "CPU static MHz", "CPU dynamic MHz")
_TRANSLATED: Final[dict[str, str]] = DECLARED["lscpu"]["fields"]
_DMI_BLOCK: Final = re.compile(r"^Handle 0x[0-9A-Fa-f]+,.*\n(.+)\n((?:[ \t].*(?:\n|\Z))*)", re.MULTILINE)
_MEMINFO: Final = re.compile(r"^(\w+):\s+([0-9]{1,15})(?: (kB))?\s*$", re.MULTILINE | re.ASCII)
_NO_DISK: Final = re.compile(r"(?:zram|ram|loop|nbd|fd|sr)[0-9]+")  # backed by memory or files
_SPEED: Final = re.compile(r"([0-9]{1,9})Mb/s")
_PCI_DEVICE: Final = re.compile(
    r"(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7] ([^:]+): (.+?)(?: \(rev [0-9a-f]+\))?(?: \(prog-if .*\))?"
)
_LINK: Final = {"yes": True, "no": False}
_SIZES: Final = {"queue_length": "txqlen", "tx_queues": "num_tx_queues", "rx_queues": "num_rx_queues"}


@source
def lscpu(data: bytes) -> Facts:
    """Return the processors: the number of sockets and, over all of them, of cores and of online threads.

    A field's name ends with a colon and every value is text; newer versions nest fields in `children` (JSON) or indent
    them (text), and a terminal wraps long values. `cpu_mhz` is the clock in the model's name, else the maximum, else
    the current one, which old versions print. Each kind of core (big.LITTLE) has its own model and numbers.
    """
    named: dict[str, list[Any]] = {}
    pairs: list[tuple[str, Any]]
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"[")):
        objects = (each for each, _ in _tree(mapping(document(data, "lscpu -J")).get("lscpu")))
        pairs = [(name.removesuffix(":"), each.get("data")) for each in objects if (name := word(each.get("field")))]
    else:
        content = once(data, rf"(?:{_TRANSLATED['Architecture']})\s*[:\uff1a]")
        whole_lines = re.sub(r"\n {16,}(?=[^:\n]+$)", "", content, flags=re.MULTILINE)
        lines = re.findall(r"^([^:\uff1a\n]+)[:\uff1a](.*)", whole_lines, re.MULTILINE)
        pairs = [(name.strip(), value.strip()) for name, value in lines]
    for name, value in pairs:
        english = next((field for field, others in _TRANSLATED.items() if re.fullmatch(others, name)), name)
        named.setdefault(english, []).append(value)
    require("Architecture" in named or "CPU(s)" in named, "the fields of `lscpu`, among them Architecture and CPU(s)")
    texts = {name: found for name, values in named.items() if (found := word(values[0]))}
    model = " + ".join(dict.fromkeys(filter(None, map(word, named.get("Model name", [])))))
    # Without ACPI tables, Arm machines report clusters instead of sockets.
    counts = {name: [whole(value) or 0 for value in values] for name, values in named.items()}
    places = (("Core(s) per socket", "Socket(s)"), ("Core(s) per cluster", "Cluster(s)"))
    cores = (sum(a * b for a, b in zip(counts.get(per, ()), counts.get(of, ()), strict=False)) for per, of in places)
    ranges = re.findall("([0-9]{1,6})(?:-([0-9]{1,6}))?", str(named.get("On-line CPU(s) list")))
    online = (int(last or first) - int(first) + 1 for first, last in ranges)
    return known(
        architecture=texts.get("Architecture"),
        cpu_model=model or None,
        cpu_vendor=texts.get("Vendor ID"),
        cpu_sockets=whole(texts.get("Socket(s)")) or None,
        cpu_cores=whole(next(filter(None, cores), None)),
        cpu_threads=whole(sum(online)) or whole(texts.get("CPU(s)")) or None,
        cpu_mhz=nominal_mhz(model) or next((mhz for name in _CLOCKS if (mhz := number(texts.get(name)))), None),
        virtualisation=texts.get("Hypervisor vendor", "").lower() or None,
        threads_per_core=whole(texts.get("Thread(s) per core")),
        numa_nodes=whole(texts.get("NUMA node(s)")),
        online_cpus=texts.get("On-line CPU(s) list"),
        virtualisation_type=texts.get("Virtualization type"),
        caches={name.removesuffix(" cache"): size for name, size in texts.items() if name.endswith(" cache")},
        vulnerabilities={name.removeprefix(_VULN): state for name, state in texts.items() if name.startswith(_VULN)},
    )


@source
def lshw(data: bytes) -> Facts:
    """Return processors, installed memory, network interfaces by name, and disks.

    Older versions print one object, newer ones a list; some print objects separated by commas without brackets. Clocks
    are in Hz, network speeds in bit/s. Only network interfaces on a bus count, unlike veth or bridges.
    """
    found = document(b"[%b]" % text(data).strip(" ,\n").encode(), "lshw -json")
    nodes = list(_tree(found[0] if found and isinstance(found[0], list) else found))
    require(any("class" in node for node, _ in nodes), "the JSON of `lshw -json`: objects with id and class")
    of_class: dict[str, list[Facts]] = {}
    for node, _ in nodes:
        of_class.setdefault(str(node.get("class")), []).append(node)
    processors = [node for node in of_class.get("processor", []) if not node.get("disabled")]
    configurations = [mapping(node.get("configuration")) for node in processors]
    # Caches are also of class memory, with other ids.
    memory = [n for n in of_class.get("memory", []) if re.fullmatch("memory(:[0-9]+)?", str(n.get("id")))]
    model = next((m for n in processors if (m := word(n.get("product")))), None)
    clocks = (size_bytes(n.get(key)) for n in processors for key in ("capacity", "size"))
    hertz = next(filter(None, clocks), None)
    system = of_class.get("system", [{}])[0]
    disks = ((_logical_name(n), size_bytes(n.get("size")), word(n.get("product"))) for n in of_class.get("disk", []))
    return known(
        name=word(system.get("id")),
        machine=joined(system.get("vendor"), system.get("product")),
        cpu_model=model,
        cpu_vendor=next((v for n in processors if (v := word(n.get("vendor")))), None),
        cpu_sockets=len(processors) or None,
        cpu_cores=added_up(configurations, "cores"),
        cpu_threads=added_up(configurations, "threads"),
        cpu_mhz=nominal_mhz(model) or (hertz / 1e6 if hertz else None),
        memory_bytes=sum(size_bytes(node.get("size")) or 0 for node in memory) or None,
        nics=dict(_lshw_nics(nodes)),
        disks=sorted(_disk(name.removeprefix("/dev/"), size, model) for name, size, model in disks if name and size),
    )


def _tree(roots: Any) -> Iterator[tuple[Facts, Facts]]:
    """Yield every object of `roots` and their `children`, each with its parent."""
    waiting = [(root, Facts()) for root in reversed(entries(roots))]
    while waiting:
        node, parent = waiting.pop()
        yield node, parent
        waiting += [(child, node) for child in reversed(entries(node.get("children")))]


def _lshw_nics(nodes: list[tuple[Facts, Facts]]) -> Iterator[tuple[str, Facts]]:
    for node, parent in nodes:
        name = _logical_name(node)
        if node.get("class") != "network" or name is None or "businfo" not in node:
            continue
        # A virtio interface is a child of the PCI device that has the names.
        device = node if node.get("product") else parent
        bits = size_bytes(node.get("size"))
        nic = known(
            model=joined(device.get("vendor"), device.get("product")),
            driver=word(mapping(node.get("configuration")).get("driver")),
            speed_mbps=bits / 1e6 if bits else None,
            link=_LINK.get(str(mapping(node.get("configuration")).get("link"))),
            bus=word(node.get("businfo")),
        )
        yield name, nic


def _logical_name(node: Facts) -> str | None:
    name = node.get("logicalname")
    return word(name[0] if isinstance(name, list) and name else name)


@source
def dmidecode(data: bytes) -> Facts:
    """Return machine, processors and the sum of the memory modules."""
    content = once(data, "# dmidecode [0-9]")
    blocks = [(match[1].strip(), fields(match[2])) for match in _DMI_BLOCK.finditer(content)]
    # Without root, or in many virtual machines, there is no SMBIOS, and it prints two lines without facts.
    require("dmidecode" in content or blocks, "the output of `dmidecode`, which begins with `# dmidecode VERSION`")
    system = next((block for title, block in blocks if title == "System Information"), {})
    sockets = (block for title, block in blocks if title == "Processor Information")
    processors = [block for block in sockets if "Unpopulated" not in block.get("Status", "")]
    sizes = (size_bytes(block.get("Size", "")) for title, block in blocks if title == "Memory Device")
    modules = list(filter(None, sizes))
    first = processors[0] if processors else {}
    model = word(first.get("Version"))
    return known(
        machine=joined(system.get("Manufacturer"), system.get("Product Name")),
        cpu_model=model,
        cpu_vendor=word(first.get("Manufacturer")),
        cpu_sockets=len(processors) or None,
        cpu_cores=added_up(processors, "Core Count"),
        cpu_threads=added_up(processors, "Thread Count"),
        cpu_mhz=nominal_mhz(model) or number(first.get("Current Speed", "").removesuffix(" MHz")),
        memory_bytes=sum(modules) or None,
        memory_modules=len(modules) or None,
        bios_version=next((word(block.get("Version")) for title, block in blocks if title == "BIOS Information"), None),
    )


@source
def meminfo(data: bytes) -> Facts:
    """Return the memory usable by the kernel (kB means KiB), and the part reserved for huge pages."""
    sizes = {name: int(amount) * (1024 if kib else 1) for name, amount, kib in _MEMINFO.findall(text(data))}
    require(sizes.get("MemTotal"), "/proc/meminfo, with a line `MemTotal: N kB`")
    return known(
        memory_bytes=sizes["MemTotal"],
        swap_bytes=sizes.get("SwapTotal"),
        hugepages=sizes.get("HugePages_Total"),
        hugepage_bytes=sizes.get("Hugepagesize"),
    )


@source
def cpuinfo(data: bytes) -> Facts:
    """Return the processors; sockets and cores only if the kernel numbers them (x86)."""
    content = once(data, r"[ \t]*processor[ \t]*:[ \t]*0[ \t\r]*$")
    blocks = re.split(r"^(?=[ \t]*processor\s*:)", content, flags=re.MULTILINE)
    named = ({name.lower(): value for name, value in fields(block).items()} for block in blocks)
    processors = [block for block in named if block.get("processor", "").isdigit()]
    require(processors, "the blocks of /proc/cpuinfo, each with `processor : N`")
    first = processors[0]
    model = word(first.get("model name") or first.get("cpu") or first.get("uarch"))  # x86 and Arm, POWER, RISC-V
    sockets = {block.get("physical id") for block in processors} - {None}
    cores = {(block.get("physical id"), block.get("core id")) for block in processors}
    texts = (block.get("cpu mhz") or block.get("clock", "").removesuffix("MHz") for block in processors)
    clocks = [mhz for each in texts if (mhz := number(each))]
    return known(
        cpu_model=model,
        cpu_vendor=word(first.get("vendor_id")),
        cpu_sockets=len(sockets) or None,
        cpu_cores=len(cores) if sockets and "core id" in first else None,
        cpu_threads=len(processors),
        cpu_mhz=nominal_mhz(model) or max(clocks, default=None),
        microcode=word(first.get("microcode")),
    )


@source
def lsblk(data: bytes) -> Facts:
    """Return the whole disks with a size, sorted, as texts like `vda 256 GiB (model)`."""
    found = document(data, "lsblk -J")
    devices = mapping(found).get("blockdevices")
    require(isinstance(devices, list), "the JSON of `lsblk -J`: an object with blockdevices")
    whole_disks = (device for device in entries(devices) if device.get("type") == "disk")
    described = (
        (word(each.get("name")), size_bytes(each.get("size")), word(each.get("model"))) for each in whole_disks
    )
    return known(
        disks=sorted(_disk(n, size, model) for n, size, model in described if n and size and not _NO_DISK.fullmatch(n))
    )


def _disk(name: str, size: int, model: str | None) -> str:
    """Return a disk as text, e.g. `nvme0n1 931.5 GiB (Samsung SSD 980 PRO)`."""
    return f"{name} {size / 2**30:.5g} GiB" + (f" ({model})" if model else "")


@source
def ip_link(data: bytes) -> Facts:
    """Return the network interfaces of a namespace by name, without addresses."""
    found = document(data, "ip -j link")
    require(isinstance(found, list), "the JSON of `ip -j link`: a list of interfaces")
    links = {name: link for link in entries(found) if (name := word(link.get("ifname")))}
    interfaces = {
        name: known(
            kind=word(mapping(link.get("linkinfo")).get("info_kind")),
            mtu=whole(link.get("mtu")),
            **{ours: word(link.get(key)) for ours, key in (("state", "operstate"), ("qdisc", "qdisc"))},
            **{ours: whole(link.get(key)) for ours, key in _SIZES.items()},
        )
        for name, link in links.items()
    }
    return known(interfaces=interfaces)


@source
def ethtool(data: bytes) -> Facts:
    """Return speed in Mbit/s and link, the driver (-i; the file's name has the interface), or the offloads (-k)."""
    content = text(data)
    flat = fields(content)
    if content.lstrip().startswith("Settings for"):
        speed = _SPEED.fullmatch(flat.get("Speed", ""))
        return known(
            speed_mbps=number(speed[1]) if speed else None,
            duplex=word(re.sub(r"\(.*", "", flat.get("Duplex", ""))),
            port=word(flat.get("Port")),
            link=_LINK.get(flat.get("Link detected", "")),
        )
    if content.lstrip().startswith("Features for"):
        # Indented lines are details of the line above them.
        top = fields("\n".join(line for line in content.split("\n") if not line[:1].isspace()))
        return known(offloads=sorted(name for name in top if top[name].startswith("on")))
    require("driver" in flat, "`Settings for ...`, `Features for ...` or `driver: ...` of ethtool")
    return known(
        driver=word(flat["driver"]),
        driver_version=word(flat.get("version")),
        firmware=word(flat.get("firmware-version")),
        bus=word(flat.get("bus-info")),
    )


@source
def lspci(data: bytes) -> Facts:
    """Return the names of the network controllers, in bus order."""
    devices = [match for line in lines(data) if (match := _PCI_DEVICE.fullmatch(line))]
    require(devices, "lines of `lspci` such as `00:03.0 Ethernet controller: NAME`")
    names = (word(device[2]) for device in devices if re.match(r"Ethernet|Network|Infiniband", device[1]))
    return known(network_controllers=[name for name in names if name])
