"""Reader of BNG Blaster's JSON report (RtBrick, `bngblaster -J`; docsrc/sources/reports.rst, bbl_stats.c).

Each of DHCP and DHCPv6 that sessions used is a trial: sent counts sessions, received those that got a lease, dropped
the others. The achieved rate is leases divided by the set-up time, from the start of the first session to the
establishment of the last, including PPP and authentication. The offered rate is not in the report.
"""

from collections import Counter
from typing import Final

from dropline.ingest.formats import Reject
from dropline.ingest.formats.json_documents import Node, has_strings, of_documents
from dropline.ingest.formats.throughput import CONNECTIONS, Series, Trial, Trials, whole

NAME = "bngblaster"
IN_JSON = ('"setup-rate-cps"',)

_EXPECTED: Final = "expected the JSON report of BNG Blaster (-J), with `report` and its `sessions`"
_PROTOCOLS: Final = {"dhcp": "DHCPv4", "dhcpv6": "DHCPv6"}
_SERIES: Final = (
    Series("setup-rate-cps", "session_setup_rate", CONNECTIONS, "avg"),
    Series("setup-rate-cps-min", "session_setup_rate", CONNECTIONS, "min"),
    Series("setup-rate-cps-max", "session_setup_rate", CONNECTIONS, "max"),
)


def _trials(line: int, document: Node) -> Trials:
    report = document.of("report")
    sessions = report.whole("sessions")
    if sessions is None:
        yield Reject(line, "JSON without `report` and its `sessions`", _EXPECTED)
        return
    counters: Counter[str] = Counter()  # sums over all access interfaces
    for interface in report.items("access-interfaces"):
        counted = {key: whole(each.value) for key, each in interface.members("protocol-stats").items()}
        counters.update({key: value for key, value in counted.items() if value is not None})
    used = [name for name in _PROTOCOLS if report.whole(f"{name}-sessions-established") or counters[f"tx-{name}"]]
    for name in used:
        yield _trial(line, report, name, sessions, counters)
    if not used:
        reason = f"{sessions} sessions, none of which used DHCP or DHCPv6: there is no lease to count"
        yield Reject(line, reason, "list it under `ignore:` in campaign.yaml")


def _trial(line: int, report: Node, name: str, sessions: int, counters: Counter[str]) -> Trial:
    over_ppp, setup_ms = bool(report.whole("sessions-pppoe")), report.number("setup-time-ms")
    trial = Trial(NAME, line, "session set-up", "leases/s")
    established = report.whole(f"{name}-sessions-established")
    trial.facts |= {
        "method": f"session set-up, {'PPPoE' if over_ppp else 'IPoE'}",
        "protocol": _PROTOCOLS[name],
        "sent": sessions,
        "received": established,
    }
    if setup_ms:
        trial.facts["duration_s"] = setup_ms / 1000
        if established is not None:
            trial.facts["achieved_rate"] = round(established * 1000 / setup_ms, 6)
    trial.details["counted"] = "sessions"
    for what in ("established", "flapped", "pppoe", "ipoe"):
        trial.details[f"sessions_{what}"] = report.whole(f"sessions-{what}")
    trial.follow(report, _SERIES)
    for key, metric, unit in (
        (f"tx-{name}", "packets_tx", "packets"),
        (f"rx-{name}", "packets_rx", "packets"),
        (f"{name}-timeout", "request_timeouts", "requests"),
    ):
        trial.observe(metric, counters.get(key), unit, _PROTOCOLS[name])
    if over_ppp:
        trial.warnings.append("Its sessions are PPPoE: the set-up time includes PPP and authentication.")
    if trial.details["sessions_flapped"]:
        trial.warnings.append(f"{trial.details['sessions_flapped']} sessions flapped: they were set up again.")
    return trial


sniff = has_strings("setup-rate-cps", "sessions-established")
parse = of_documents(_trials, _EXPECTED)
