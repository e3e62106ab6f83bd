"""Reader of Spirent Avalanche's `realtime.csv` and `hostStats.csv` (1 kbit is 1000 bit).

realtime.csv has some lines of text, a header of more than 255 columns, and a sample every 4 s by default: the achieved
rate is the mean incoming traffic (Mbit/s, one way) of the steady samples. hostStats.csv has a block per VLAN
(`VLAN,<n>`, two header lines, a line per host): the rate is the sum of the HTTP goodput of all hosts, for one core of
one subtest.
"""

import re
from functools import partial
from typing import Final

from dropline.ingest.formats import Parts, Reject, Report, throughput
from dropline.ingest.formats.text import either, in_head, words

NAME = "avalanche"
TOOL: Final = "Spirent Avalanche"

_EXPECTED: Final = "expected realtime.csv, with a row that begins with `Seconds Elapsed`, or hostStats.csv"
_VLAN: Final = re.compile(r"\s*VLAN,\d+(?:/\d+)*,*[ \t]*(?:[\r\n]|\Z)")
_SERIES: Final = (
    throughput.Series("establishedtcpconnectionrate", "connection_rate", "connections/s"),
    throughput.Series("currentestablishedtcpconnections", "concurrent_connections", "connections"),
    throughput.Series("averageresponsetimeperurl", "latency_avg", "ms", "URL response"),
    throughput.Series("minimumtimetotcpsynack", "latency_min", "ms", "TCP SYN/ACK"),
    throughput.Series("averagetimetotcpsynack", "latency_avg", "ms", "TCP SYN/ACK"),
    throughput.Series("maximumtimetotcpsynack", "latency_max", "ms", "TCP SYN/ACK"),
)


def _is_header(columns: throughput.Columns) -> bool:
    return columns.keys[:1] == [("secondselapsed", "")]


def _realtime(table: throughput.Table) -> Parts:
    trial = throughput.Trial(TOOL, table.line, "realtime", throughput.MBITS)
    traffic: list[tuple[float, float]] = []
    times: list[float] = []
    records, faults = table.records(trial)
    for record in records:
        if (time_s := throughput.number(record.values[0])) is None:
            reason = f"sample without a number of seconds: {record.quoted}"
            faults.append(Reject(record.line, reason, "it is not a sample; leave it, or export the results again"))
            continue
        times.append(time_s)
        if (rate := record.number("incomingtraffic", unit="kbps", scale=1e-3)) is not None:
            traffic.append((time_s, rate))
        trial.observe("incoming_traffic", rate, throughput.MBITS, None, time_s)
        trial.follow(record, _SERIES, time_s)
    yield from sorted(faults, key=lambda fault: fault.line)
    trial.facts |= {"achieved_rate": trial.mean_rate(traffic), "duration_s": max(times, default=None)}
    trial.details |= {"direction_scope": "one_way", "samples": len(times)}
    yield trial.conclude()


def _hosts(text: bytes) -> Parts:
    trial: throughput.Trial | None = None
    vlans: list[str] = []
    headers: list[throughput.Table] = []
    unusable = 0  # the trial of an unusable line is unknown, so every later one may lack it
    for row in throughput.rows(text):
        if row.cells[0] == "VLAN" and len(row.cells) > 1:
            vlan = words(row.cells[1]) or ""
            if trial and vlan in vlans:  # another file begins
                yield _hosts_together(trial)
                trial, vlans = None, []
            if trial is None:
                trial = throughput.Trial(TOOL, row.number, "hostStats", throughput.MBITS)
                if unusable:
                    trial.lack(unusable)
            vlans.append(vlan)
            headers = []
        elif trial is None or len(headers) < 2:
            headers.append(throughput.Table(row.number, throughput.Columns(row.cells)))
        elif fault := _host(trial, f"VLAN {vlans[-1]}", headers[-1], row):
            trial.lack(row.number)
            unusable = unusable or row.number
            yield fault
    if trial:
        yield _hosts_together(trial)


def _hosts_together(trial: throughput.Trial) -> Report | Reject:
    rates = [value for metric, _, _, value, _ in trial.observations if metric == "goodput"]
    if rates:
        trial.facts["achieved_rate"] = sum(rates)
    trial.details |= {"direction_scope": "one_way", "load_layer": "goodput", "hosts": len(rates)}
    trial.facts["protocol"] = "HTTP"
    trial.warnings.append("Each core of a subtest has its own file: the total rate is the sum over all files.")
    return trial.conclude()


def _host(trial: throughput.Trial, label: str, table: throughput.Table, row: throughput.Line) -> Reject | None:
    """Add the goodput of a host, which is cumulative and in bits, although the received count is in bytes."""
    record = table.record(row)
    if isinstance(record, Reject):
        return record
    if (rate := record.number("goodputhttpavereceiverate", unit="bps")) is None:
        reason = f"host of {label} without `Goodput[Http] Ave Receive Rate (bps)`"
        return Reject(row.number, reason, "export the statistics of HTTP")
    if record.cut is not None:
        trial.cut(row.number)
    bits = record.number("goodputhttpcumulativereceive", unit="")
    received = record.number("bytesreceived", unit="")
    trial.observe("goodput", rate / 1e6, throughput.MBITS, label)
    trial.observe("goodput_bits", bits, "bit", label)
    trial.observe("received_bytes", received, "bytes", label)
    if rate and bits:
        trial.facts["duration_s"] = max(trial.facts["duration_s"] or 0.0, round(bits / rate, 3))
    if bits and received is not None and bits > 8 * received:
        trial.warnings.append(f"{label} has more goodput than bytes: {bits:.15g} bit of {received:.15g} bytes.")
    return None


def _read(text: bytes) -> Parts:
    of_hosts = _VLAN.match(text[:1000].decode("utf-8", "replace"))
    return _hosts(text) if of_hosts else throughput.each_table(text, _is_header, _realtime, None)


sniff = either(in_head(_VLAN.match), partial(throughput.has_table, is_header=_is_header))
parse = throughput.accounted(_read, _EXPECTED)
