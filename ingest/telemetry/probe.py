r"""Reader of probe logs: sequential queries to a DNS server under load.

Two lines with `#` give the server and the columns. Each following line is one query, tab-separated: time sent (UTC),
name, response code, latency in ms (`-` without a reply) and result (`ok`, `wrong`, `timeout`, `error:<reason>`). A
reply becomes `probe_latency`, any other result `probe_failure` (1) with its status as label; the host is the server.
Latencies suffer from survivorship bias: after a timeout the probe is late, so count time, not lines.
"""

import re
from typing import Final

from dropline.ingest.formats.text import in_head, instant, real
from dropline.ingest.telemetry import Found, Sample
from dropline.ingest.telemetry.samples import accounted, each_line

NAME = "probe"

_BEGIN: Final = re.compile(r"# [^\r\n]*(?:\r?\n|\r)# utc\tname\trcode\tlatency_ms\tstatus[ \t]*(?:[\r\n]|\Z)")
_EXPECTED: Final = "expected five columns: utc, name, rcode, latency_ms, status"
_SERVER: Final = re.compile(r"# .*\bserver=(\S+)")
_FAILURE: Final = re.compile(r"timeout|wrong|error:\S{1,100}")


def _read(text: bytes) -> Found:
    host = None

    def samples(line: str) -> list[Sample] | None:
        nonlocal host
        if line.startswith("#"):
            host = match[1] if (match := _SERVER.match(line)) else host
            return []
        cells = line.split("\t")
        latency, status = cells[3:] if len(cells) == 5 else ("", "")
        at = instant(cells[0]) if status else None
        if at and status == "ok" and (value := real(latency)) is not None:
            return [Sample(at, "probe_latency", value, "ms", host=host)]
        is_failure = at and _FAILURE.fullmatch(status)
        return [Sample(at, "probe_failure", 1.0, "probes", status, host)] if is_failure else None

    return each_line(text, samples, _EXPECTED)


sniff = in_head(_BEGIN.match)
parse = accounted(_read, _EXPECTED)
