"""Where DHCP trials lost their requests: by the counters beside real trials, and by files that a user lays there."""

import json
import shutil
from pathlib import Path

import pytest

from tests.homes import asking, built

CAPTURES = Path(__file__).parents[1] / "captures" / "watched"
EXAMPLE = Path(__file__).parents[2] / "examples" / "kea-2.2-backends"
UDP = """  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt uid timeout inode ref pointer drops
  210: 0101A8C0:0043 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 13351 2 00000000 {dhcp}
  335: 0100007F:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 13352 2 00000000 {dns}
"""


def test_what_is_lost_somewhere_adds_up_to_what_was_not_answered(sql):
    rows = sql(
        """select count(*), bool_and(
            unanswered = lost_on_the_way + coalesce(lost_in_receive_buffer, 0) + lost_in_server
            + lost_in_generator_buffer + answered_too_late
        ) from packet_accounting where arrived_at_server is not null"""
    )
    assert rows == [(308, True)]


def test_a_raw_socket_shows_no_losses_of_its_buffer(sql):
    assert sql(
        """select protocol, count(*), count(lost_in_receive_buffer) from packet_accounting
        where protocol like 'DHCP%' group by all order by all"""
    ) == [("DHCPv4", 322, 0), ("DHCPv6", 70, 70)]


@pytest.mark.parametrize("source_path", ["v6_st_memfile_none/rep4/rate12100", "v6_mt4_memfile_none/rep1/rate13300"])
def test_the_account_is_that_of_the_sidecar(sql, source_path):
    counted = json.loads((EXAMPLE / "runs" / f"{source_path}.json").read_text("utf-8"))["udp_delta"]
    client, server = (
        {name: counted[namespace].get(f"Udp6{name}", 0) for name in ("InDatagrams", "OutDatagrams", "RcvbufErrors")}
        for namespace in ("kp-cli", "kp-srv1")
    )
    [(sent, received, *account)] = sql(
        f"""select packet_accounting.sent, packet_accounting.received, arrived_at_server, lost_in_receive_buffer,
            answered_by_server, lost_in_server, lost_in_generator_buffer, answered_too_late
        from packet_accounting inner join trials using (trial_id) where source_path like '%{source_path}.txt'"""
    )
    assert sent == client["OutDatagrams"]
    assert account == [
        server["InDatagrams"] + server["RcvbufErrors"],
        server["RcvbufErrors"],
        server["OutDatagrams"],
        server["InDatagrams"] - server["OutDatagrams"],
        client["RcvbufErrors"],
        client["InDatagrams"] - received,
    ]


def test_snapshots_of_kea_and_of_its_sockets_beside_an_output_make_an_account(tmp_path):
    folder = tmp_path / "campaign"
    folder.mkdir()
    shutil.copy(EXAMPLE / "runs" / "v4_st_mysql_none" / "rep2" / "rate2100.txt", folder / "rate2100.txt")
    text = (folder / "rate2100.txt").read_text("utf-8")
    totals = {
        name: sum(int(line.partition(": ")[2]) for line in text.splitlines() if line.startswith(f"{name}: "))
        for name in ("sent packets", "received packets")
    }
    sent, received = totals["sent packets"], totals["received packets"]
    in_buffer, in_server = 300, sent - received - 300 - 40
    for moment, seen in (("before", 0), ("after", 1)):
        counted = {
            "pkt4-received": 1000 + seen * (sent - in_buffer),
            "pkt4-receive-drop": 2,
            "pkt4-sent": 900 + seen * (received + 40),
            "subnet[1].assigned-addresses": 5 + seen * 1000,
            "subnet[2].assigned-addresses": seen * 60,
            "subnet[1].pool[0].assigned-addresses": 5 + seen * 1000,
        }
        statistics = {name: [[value, "2026-11-20 12:00:00.0"]] for name, value in counted.items()}
        answer = json.dumps([{"arguments": statistics, "result": 0}])
        (folder / f"rate2100.{moment}-kea.json").write_text(answer, "utf-8")
        (folder / f"rate2100.{moment}-udp.txt").write_text(
            UDP.format(dhcp=17 + seen * in_buffer, dns=seen * 5), "utf-8"
        )
    shutil.copy(EXAMPLE / "runs" / "v4_st_mysql_none" / "rep2" / "rate1350.txt", folder / "rate1350.txt")
    shutil.copy(CAPTURES / "kea-leases4.csv", folder / "rate1350-kea-leases4.csv")
    with asking(built(tmp_path / "home", folder, rejects=0)) as asked:
        assert asked(
            """select sent, unanswered, lost_in_receive_buffer, received_by_server, dropped_by_server,
                answered_by_server, lost_in_server from packet_accounting"""
        ) == [(sent, sent - received, in_buffer, sent - in_buffer, 0, received + 40, in_server)]
        assert asked("select offered_rate, leases_granted from trials order by all") == [(1350, 2), (2100, 1065)]
