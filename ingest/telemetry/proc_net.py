"""Reader of Linux's network counters since boot: /proc/net/snmp, netstat, snmp6, udp and udp6 (man proc(5)).

snmp and netstat have two lines per protocol, names and values; snmp6 has a name and a value per line: the metric is
`udp.RcvbufErrors`, `udp6.InErrors`. A socket of udp and udp6 gives `udp_socket.drops` (packets lost to a full buffer)
and `udp_socket.rx_queue` (bytes), labelled with its local address (kernel, net/ipv4/udp.c). Files may be concatenated.
"""

import re
import socket
from typing import Final

from dropline.ingest.formats.text import in_head, real
from dropline.ingest.telemetry import Found, Sample
from dropline.ingest.telemetry.samples import accounted, each_line

NAME = "proc_net"

_EXPECTED: Final = "expected what `cat` prints of /proc/net/snmp, netstat, snmp6, udp or udp6, unchanged"
_PROMPT: Final = r"(?:\[.{,80}\]|\S{,80})[$#] "  # before the command
_BEGIN: Final = re.compile(
    rf"\s*+(?:{_PROMPT}.*\n)?(?:(?:Ip: Forwarding|Tcp: Rto\w+|TcpExt: SyncookiesSent|Udp: InDatagrams) "
    r"|Ip6InReceives\s+\d|sl\s+local_address\s+rem(?:ote)?_address\s.*\bdrops\b)"
)
_PROTOCOL: Final = re.compile(r"([A-Z]\w+): (.+)")
_COUNTER: Final = re.compile(r"([A-Z][A-Za-z]*6)(\w+)\s+(\d{1,18})", re.ASCII)
# sl, local and remote address, st, tx_queue:rx_queue, seven more, drops
_SOCKET: Final = re.compile(
    r"\d+:\s+([0-9A-F]{8}(?:[0-9A-F]{24})?):([0-9A-F]{4})\s+\S+\s+\S+\s+[0-9A-F]{8}:([0-9A-F]{8})"
    r"\s+(?:\S+\s+){7}(\d{1,18})",
    re.ASCII,
)


def _read(text: bytes) -> Found:
    names: dict[str, list[str]] = {}

    def samples(line: str) -> list[Sample] | None:
        if match := _PROTOCOL.fullmatch(line):
            protocol, cells = match[1], match[2].split()
            if not any(cell.lstrip("-").isdecimal() for cell in cells):  # names of the values in the next line
                names[protocol] = cells
                return []
            values = [value for cell in cells if (value := real(cell)) is not None]
            known = names.pop(protocol, [])
            is_whole = len(known) == len(cells) == len(values)
            pairs = zip(known, values, strict=False)
            return [Sample(None, f"{protocol.lower()}.{n}", v, None) for n, v in pairs] if is_whole else None
        if match := _COUNTER.fullmatch(line):
            return [Sample(None, f"{match[1].lower()}.{match[2]}", float(match[3]), None)]
        if match := _SOCKET.fullmatch(line):
            label, queued = f"{_address(match[1])}:{int(match[2], 16)}", float(int(match[3], 16))
            drops = Sample(None, "udp_socket.drops", float(match[4]), "packets", label)
            return [Sample(None, "udp_socket.rx_queue", queued, "bytes", label), drops]
        return [] if re.match(f"sl |{_PROMPT}", line) else None

    return each_line(text, samples, _EXPECTED)


def _address(digits: str) -> str:
    """Return an address that a little-endian kernel (x86, arm64) printed as 32-bit numbers."""
    packed = b"".join(bytes.fromhex(digits[place : place + 8])[::-1] for place in range(0, len(digits), 8))
    if len(packed) == 4:
        return socket.inet_ntop(socket.AF_INET, packed)
    return f"[{socket.inet_ntop(socket.AF_INET6, packed)}]"


sniff = in_head(_BEGIN.match)
parse = accounted(_read, _EXPECTED)
