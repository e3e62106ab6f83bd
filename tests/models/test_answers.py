"""What was answered, how, and in which time: DNS captures, and files that differ from them in one thing."""

import shutil
from pathlib import Path

import pytest

from tests.homes import asking, built

CAPTURES = Path(__file__).parents[1] / "captures"
TOOLS = CAPTURES / "dns" / "tools"
RAMP = TOOLS / "dnsperf-ramp" / "lmdb"
RATES = (1000, 2000, 3000)
PATH = 'path: "Q{offered_rate}/dnsperf.out"\n'
LATE = ("Run time (s):         5.00", "Run time (s):         5.30")  # of a sending time of 5 s


def ramp(folder, edit, *campaign):
    """Write a ramp of dnsperf at three rates that answered everything, with every text of `edit` exchanged."""
    for rate in RATES:
        text = (RAMP / f"Q{rate:05}-r2" / "dnsperf.out").read_text()
        for old, new in edit.items():
            assert old in text, old
            text = text.replace(old, new)
        (folder / f"Q{rate}").mkdir(parents=True)
        (folder / f"Q{rate}" / "dnsperf.out").write_text(text)
    (folder / "campaign.yaml").write_text(f"campaign: {folder.name}\n{PATH}" + "\n".join(campaign))


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """A home with derived ramps and the captures of single tools, built once."""
    folder = tmp_path_factory.mktemp("answers")
    ramp(folder / "served", {})
    ramp(folder / "servfail", {"NOERROR": "SERVFAIL"})
    ramp(folder / "refused", {"NOERROR": "REFUSED"})
    ramp(folder / "blocklist", {"NOERROR": "REFUSED"}, "expected_rcodes: [refused]")
    ramp(folder / "late", {LATE[0]: LATE[1]})
    mixed = folder / "servfail-above"
    ramp(mixed, {})
    busy = mixed / "Q3000" / "dnsperf.out"
    told = busy.read_text()
    assert "NOERROR 15000 (100.00%)" in told
    busy.write_text(told.replace("NOERROR 15000 (100.00%)", "NOERROR 14970 (99.80%), SERVFAIL 30 (0.20%)"))
    for tool in ("dnsperf", "dnspyre", "flame", "kxdpgun", "resperf"):
        shutil.copytree(TOOLS / tool, folder / tool)
    shutil.copytree(CAPTURES / "perfdhcp" / "odd", folder / "odd")
    told = (folder / "odd" / "010_v4_x_l.txt").read_text()
    (folder / "damaged").mkdir()
    (folder / "damaged" / "perfdhcp.txt").write_text(told.replace("-p 2 ", "-p 1 "))
    with asking(built(tmp_path_factory.mktemp("home"), *folder.iterdir())) as asked:
        yield asked


def permille(answers, campaign):
    """Return the rate (per second, rounded) and status of a campaign's one configuration at 0.1 %."""
    return answers(f"select round(rate), status from capacity where campaign = '{campaign}' and loss_goal = 'permille'")


def test_a_server_that_answers_everything_is_sustained(answers):
    assert permille(answers, "served") == [(3000, "never_exceeded")]


@pytest.mark.parametrize("campaign", ["servfail", "refused"])
def test_a_server_that_only_fails_or_refuses_has_no_capacity(answers, campaign):
    assert permille(answers, campaign) == [(None, "exceeded_at_first_step")]
    assert answers(f"select distinct quality from capacity where campaign = '{campaign}'") == [("suspect",)]
    assert answers(f"""
        select distinct answered_ratio, successful_ratio, error_ratio from trials where campaign = '{campaign}'
    """) == [(1, 0, 1)]
    (detail,) = answers(
        f"select distinct detail from quality_findings where finding = 'unexpected_answers' and campaign = '{campaign}'"
    )
    assert detail[0].startswith(
        f"100.00 % of the queries got an answer with an unexpected code, mostly {campaign.upper()}"
    )
    (why,) = answers(
        f"select detail from quality_findings where finding = 'exceeded_at_first_step' and campaign = '{campaign}'"
    )
    assert "lost more" not in why[0].split(", though")[0]


def test_what_a_campaign_expects_is_no_error(answers):
    assert permille(answers, "blocklist") == [(3000, "never_exceeded")]


def test_a_step_with_more_errors_than_one_in_a_thousand_ends_the_ramp_at_every_goal(answers):
    assert permille(answers, "servfail-above") == [(2000, "bracketed")]
    assert answers("""
        select distinct round(run_capacity.rate), first_exceeding_rate, count(*) from run_capacity
        where campaign = 'servfail-above' group by all
    """) == [(2000, 3000, 5)]
    assert answers("select round(rate) from lps_at(0.5) where campaign = 'servfail-above'") == [(2000,)]
    assert answers("""
        select offered_rate, error_ratio from run_steps inner join runs using (run_id)
        where campaign = 'servfail-above' order by 1
    """) == [(1000, 0), (2000, 0), (3000, 0.002)]


def test_a_queue_that_is_answered_after_the_last_query_is_told(answers):
    """No query of lmdb-lagging is lost within its time-out of 1 s, but PowerDNS was 0.7 s behind after 5 s."""
    assert answers("select source_path, left(detail, 8) from quality_findings where finding = 'answers_lag'") == [
        ("lmdb-lagging/dnsperf.out", "11.70 % ")
    ]


def test_late_answers_are_no_slow_generator(answers):
    assert permille(answers, "late") == [(2999, "never_exceeded")]
    assert answers(
        "select count(*) from trials where campaign = 'late' and (is_unsustained or is_generator_limited)"
    ) == [(0,)]


@pytest.mark.parametrize(
    ("campaign", "path"),
    [
        ("dnsperf", "mysql-tcp/dnsperf.out"),  # 900 of 900, the run took 3.04 s
        ("flame", "mysql-Q1000/flame.json"),  # 1000 in every second, and one more second of waiting
        ("flame", "mysql-randomlabel/flame.json"),
        ("flame", "lmdb-v99/flame.json"),  # 50 in its one whole second
        ("flame", "server-down/flame.json"),
    ],
)
def test_a_generator_that_sent_as_asked_is_not_blamed(answers, campaign, path):
    (sent, offered, limited, unsustained) = answers(f"""
        select send_rate, offered_rate, is_generator_limited, is_unsustained from trials
        where campaign = '{campaign}' and source_path = '{path}'
    """)[0]
    assert sent == pytest.approx(offered, rel=0.01)
    assert not limited
    assert not unsustained


def test_a_loop_that_its_server_throttles_is_throughput(answers):
    """-Q 8000 with 500 outstanding: 494 of them waited in the mean, and 3270/s came back."""
    assert answers("""
        select is_held_back, is_generator_limited from trials where source_path = 'mysql-once/dnsperf.out'
    """) == [(True, False)]
    assert answers("""
        select kind, round(rate) from queries_per_second where configuration like '%mysql once' order by all
    """) == [("maximum throughput", 3270), ("sustained", None)]


def test_every_usual_dns_result_has_a_throughput_of_its_kind(answers):
    found = answers("""
        select campaign, kind, count(*) from queries_per_second
        where seen_in = 'throughput' and rate > 0 group by all order by all
    """)
    assert found == [
        ("dnsperf", "maximum throughput", 4),  # two without -Q, two held back
        ("dnspyre", "lower bound", 2),  # limited by -l
        ("dnspyre", "maximum throughput", 3),
        ("resperf", "lower bound", 1),  # a ramp to 5000/s that lost 12 of 29,999
        ("resperf", "maximum throughput", 4),
    ]
    assert answers("""
        select round(ratio, 3), verdict from ratios where campaign = 'dnsperf' and loss_goal = usual_goal and ratio > 1
    """) == [(round(27353.425 / 1804.435, 3), "not testable")]


def test_refused_answers_are_no_throughput(answers):
    assert answers("""
        select round(rate), quality from queries_per_second
        where configuration like '%lmdb table' and tool = 'dnspyre' or configuration like '%servfail_above' order by 1
    """) == [(996, "warn"), (None, "suspect")]  # of the 2500/s that resperf prints, from a server of 1000/s


def test_a_queue_that_resperf_counts_as_throughput_is_flagged(answers):
    """5284/s for a server that answered 14,973 of 39,987 queries; LMDB kept its 8876/s."""
    assert answers("""
        select source_path, severity from quality_findings
        where finding = 'queue_counted_as_throughput' and campaign = 'resperf'
    """) == [("mysql-default/resperf.out", "suspect")]


def test_latency_transport_and_shares_can_be_filtered(answers):
    assert answers("""
        select transport, latency_avg_ms, answered_ratio, error_ratio from trials
        where campaign = 'dnsperf' and transport = 'TCP'
    """) == [("TCP", 3.429, 1, 0)]
    assert answers("""
        select latency_p50_ms < latency_p95_ms and latency_p95_ms < latency_p99_ms from trials
        where source_path = 'mysql-table/dnspyre.out'
    """) == [(True,)]


def test_renewals_and_offers_are_no_grants(answers):
    assert answers("""
        select source_path, finding from quality_findings
        where finding in ('renewals', 'no_leases_asked') and campaign = 'odd' and source_path like '%_v4_%' order by all
    """) == [
        ("016_v4_t1_i_only.txt", "no_leases_asked"),
        ("019_v4_R1.txt", "renewals"),
        ("020_v4_R0.txt", "renewals"),
        ("029_v4_n1_W.txt", "renewals"),
        ("064_v4_u_R5.txt", "renewals"),
    ]


def test_more_requests_than_the_command_line_allows_are_a_finding(answers):
    assert answers("""
        select campaign, detail from quality_findings where finding = 'sent_exceeds_offered'
    """) == [
        (
            "damaged",
            "perfdhcp sent 20 requests/s when asked for 10: the rate or the period (-r, -p) belongs to another report.",
        )
    ]


def test_leases_granted_is_what_the_server_counts(sql):
    """Where nobody asked the server, it is null; perfdhcp's count stands in completed_exchanges."""
    wrong = sql("""
        select count(*) from trials
        inner join trial_observations as counted using (trial_id)
        where counted.metric = 'leases_in_db_after' and counted.label is distinct from 'rows'
            and counted.value > trials.leases_granted
    """)
    assert wrong == [(0,)]
    assert sql("""
        select completed_exchanges, leases_granted from trials
        where source_path = 'runs/v4_mt4_memfile_load-balancing/rep2/rate1450.txt'
    """) == [(4336, 4345)]
    assert sql("select count(*) from trials where leases_granted is null") == [(0,)]
