"""The reader of BNG Blaster's JSON report (RtBrick, `bngblaster -J`): set-up rates of DHCP and DHCPv6 sessions.

The layout is defined by its documentation (docsrc/sources/reports.rst) and source (code/bngblaster/src/bbl_stats.c).
The set-up time runs from the start of the first session to the establishment of the last, including PPP and
authentication; the set-up rate is established sessions divided by that time.

Each of DHCP and DHCPv6 that sessions used is a trial: sent counts sessions, received those that got a lease, dropped
the others. The achieved rate is leases divided by set-up time. The offered rate is not in the report.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dropline.ingest.formats.json_documents import items, mapping, of_json, trials_of_json
from dropline.ingest.formats.throughput import Trial, Unusable, number, whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dropline.ingest.formats import Row

NAME = "bngblaster"
IN_JSON = ('"setup-rate-cps"',)

_EXPECTED: Final = "expected the JSON report of BNG Blaster (-J), with `report` and its `sessions`"
_PROTOCOLS: Final = {"dhcp": "DHCPv4", "dhcpv6": "DHCPv6"}
_RATES: Final = {"setup-rate-cps": "avg", "setup-rate-cps-min": "min", "setup-rate-cps-max": "max"}


class _SetUp(Trial):
    def _method(self) -> str:
        return self.test


def _trials(line: int, document: Any) -> Iterator[Trial]:
    report = mapping(mapping(document).get("report"))
    sessions, setup_ms = whole(report.get("sessions")), number(report.get("setup-time-ms"))
    if sessions is None:
        reason = "JSON without `report` and its `sessions`"
        raise Unusable(reason, _EXPECTED)
    counters = _protocol_counters(report)
    used = [
        name for name in _PROTOCOLS if whole(report.get(f"{name}-sessions-established")) or counters.get(f"tx-{name}")
    ]
    if not used:
        reason = f"{sessions} sessions, none of which used DHCP or DHCPv6: there is no lease to count"
        raise Unusable(reason, "list it under `ignore:` in campaign.yaml")
    for name in used:
        yield _trial(line, report, name, sessions, setup_ms, counters)


def _trial(line: int, report: Row, name: str, sessions: int, setup_ms: float | None, counters: dict[str, int]) -> Trial:
    over_ppp = bool(whole(report.get("sessions-pppoe")))
    trial = _SetUp(NAME, line, "session set-up, PPPoE" if over_ppp else "session set-up, IPoE", "leases/s")
    established = whole(report.get(f"{name}-sessions-established"))
    trial.facts |= {"protocol": _PROTOCOLS[name], "sent": sessions, "received": established}
    if setup_ms:
        trial.facts["duration_s"] = setup_ms / 1000
        if established is not None:
            trial.facts["achieved_rate"] = round(established * 1000 / setup_ms, 6)
    trial.details |= {
        "counted": "sessions",
        "sessions_established": whole(report.get("sessions-established")),
        "sessions_flapped": whole(report.get("sessions-flapped")),
        "sessions_pppoe": whole(report.get("sessions-pppoe")),
        "sessions_ipoe": whole(report.get("sessions-ipoe")),
    }
    for key, which in _RATES.items():
        trial.observe("session_setup_rate", number(report.get(key)), "connections/s", which)
    for direction in ("tx", "rx"):
        trial.observe(f"packets_{direction}", counters.get(f"{direction}-{name}"), "packets", _PROTOCOLS[name])
    trial.observe("request_timeouts", counters.get(f"{name}-timeout"), "requests", _PROTOCOLS[name])
    if over_ppp:
        trial.warnings.append("Its sessions are PPPoE: the set-up time includes PPP and authentication.")
    if trial.details["sessions_flapped"]:
        trial.warnings.append(f"{trial.details['sessions_flapped']} sessions flapped: they were set up again.")
    return trial


def _protocol_counters(report: Row) -> dict[str, int]:
    """Return the protocol counters of all access interfaces, summed."""
    sums: dict[str, int] = {}
    for interface in map(mapping, items(report.get("access-interfaces"))):
        for key, value in mapping(interface.get("protocol-stats")).items():
            if (counted := whole(value)) is not None:
                sums[key] = sums.get(key, 0) + counted
    return sums


sniff = of_json("setup-rate-cps", "sessions-established")
parse = trials_of_json(_trials, _EXPECTED)
