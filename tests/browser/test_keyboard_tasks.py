"""What people come for, done without a mouse, in no more steps than a mouse would click; answers are from SQL."""

from pathlib import Path

import pytest
from conftest import written_sql
from test_accessibility import SCHEMES, reached_by_tab, violations
from test_sql_page import offered

from dropline.app import wording
from dropline.app.queries import ask, row

FILE = Path(__file__).parents[2] / "examples/kea-2.2-backends/runs/v4_st_memfile_none/rep1/rate10800.txt"


class Hand:
    """A visitor who goes by Tab, Enter and letters; `steps` are what a mouse would click."""

    def __init__(self, watched):
        self.watched, self.page, self.steps = watched, watched.page, 0

    def to(self, role, name, text=None):
        """Go to a control; press it, or write a text into it in place of what it holds."""
        assert reached_by_tab(self.page, role, name), f"no Tab leads to the {role} {name!r}"
        self.steps += 1
        if text is None:
            self.page.keyboard.press("Enter")
            return
        self.page.keyboard.press("Control+A")
        self.page.keyboard.type(text)
        self.page.keyboard.press("Enter")

    def to_page(self, name, heading, menu=None):
        """Follow a link, or an entry of a menu, to a page."""
        if menu:
            self.to("button", menu)
            entry = self.page.get_by_role("menuitem", name=name)
            entry.wait_for()
            while not entry.evaluate("each => each === document.activeElement"):
                self.page.keyboard.press("ArrowDown")
            self.page.keyboard.press("Enter")
            self.steps += 1
        else:
            self.to("link", name)
        self.page.get_by_role("heading", name=heading, exact=True).wait_for()
        self.watched.settle()

    def reads(self, text):
        """Wait for a text that can be seen."""
        self.page.get_by_text(text).filter(visible=True).first.wait_for()


def rows(warehouse, sql, **params):
    return list(warehouse.query(sql, params).to_pylist())


def the_fastest_backend_for_dhcpv6_with_ha(hand, warehouse):
    ranked = rows(
        warehouse,
        """
        select backend, max(lps) as lps from leases_per_second
        where protocol = 'DHCPv6' and ha_mode <> 'none' group by backend order by lps desc
        """,
    )
    hand.watched.go()
    hand.to("searchbox", "Search everything", "DHCPv6 high availability")
    hand.reads(f"{ranked[0]['backend']}, multi-threaded")
    hand.page.get_by_role("heading", name=f"{ranked[0]['lps']:,.0f} leases/s").wait_for()
    hand.reads(f"{ranked[0]['lps'] / ranked[1]['lps']:.2g} times {ranked[1]['backend']}")


def whether_threads_are_worth_it_here_and_why_not(hand, warehouse):
    cpus = rows(warehouse, "select cpu_threads from hosts where origin = 'measured'")[0]["cpu_threads"]
    hand.watched.go()
    hand.page.get_by_role("heading", name="Multi-threading costs").wait_for()
    hand.reads(f"4 threads ran on {cpus} CPUs")


def one_percent_instead_of_two_and_a_half(hand, warehouse):
    begun = row(warehouse, "compare_beginning")
    pair = [begun["baseline_id"], begun["treatment_id"]]
    at = {"configuration_ids": pair, "limit": 0.01, "basis": "worst_exchange"}
    found = ask(warehouse, "compare_capacities_at", **at).to_pylist()
    estimates = {each["configuration_id"]: each["rate_interpolated"] for each in found}
    hand.watched.go()
    hand.to_page("Compare", "Compare")
    hand.to("spinbutton", "Limit (%)", "1")
    hand.watched.chart("red: the limit of 1 %").wait_for()
    hand.reads(wording.change(estimates[pair[1]] / estimates[pair[0]]))


def the_run_with_a_dip_and_its_second(hand, warehouse):
    dip = rows(
        warehouse,
        """
        select runs.configuration || ' (' || runs.campaign || '), run ' || runs.repetition as run, min(t_s) as second
        from trends
        inner join runs using (run_id)
        inner join run_capacity on run_capacity.run_id = runs.run_id and run_capacity.loss_goal = 'isc'
        inner join trials on trials.run_id = runs.run_id and trials.offered_rate = run_capacity.first_exceeding_rate
        inner join trial_intervals using (trial_id)
        where trends.is_dip and trial_intervals.interval_drops > 0
        group by all
        limit 1
        """,
    )[0]
    hand.watched.go()
    hand.to("searchbox", "Search everything", "dip")
    hand.page.get_by_role("heading", name="Runs", exact=True).wait_for()
    hand.watched.settle()
    hand.to_page(f"{dip['run']}, which dipped", "Run")
    hand.watched.chart(f"the loss begins in second {dip['second']:.0f}").wait_for()


def what_hardware_differs_between_two_campaigns(hand, warehouse):
    cpus = rows(warehouse, "select cpu_model from hosts where name in ('vm', 'isc-r340-kea20') order by origin")
    hand.watched.go()
    hand.to_page("Machines", "Machines", menu="Data")
    hand.to("combobox", "Compare with", "isc-kb-kea-2.0")
    hand.page.get_by_role("heading", name="What differs").wait_for()
    hand.watched.settle()
    table = hand.watched.cells("What differs between")
    [processor] = [row for row in table if "Processor" in row]
    assert {each["cpu_model"] for each in cpus} <= set(processor)


def what_serves_350000_subscribers_after_an_outage(hand, warehouse):
    needed = 350_000 / 3600 + 50_000 / 431.904  # they come within a minute
    known = rows(
        warehouse,
        "select count(*) filter (missing_lps = 0) as enough, count(*) as known "
        "from configurations_meeting($lps, also_missing := true) where protocol = 'DHCPv4'",
        lps=needed,
    )[0]
    hand.watched.go()
    hand.to_page("Plan", "Plan")
    for field, text in (("Clients", "350k"), ("Lease time", "2 h"), ("Clients to recover", "50k")):
        hand.to("textbox", field, text)
    hand.reads(f"You need {needed:,.0f} leases/s in the busiest minute")
    hand.reads(f"{known['enough']} of {known['known']} known DHCPv4 configurations are fast enough")
    hand.reads("Of these that were measured here, ISC Kea")


def what_a_raw_file_is_and_where_it_stands(hand, warehouse):
    hand.watched.go()
    hand.to_page("Try a file", "Try a file", menu="Data")
    hand.page.locator("input[type=file]").set_input_files(FILE)
    hand.page.get_by_role("heading", name="Output of perfdhcp").wait_for()
    known = rows(
        warehouse, "select rate from capacity where origin = 'measured' and protocol = 'DHCPv4' and loss_goal = 'isc'"
    )
    hand.watched.chart(f"of {len(known)} known capacities").wait_for()


def the_sql_and_the_csv_of_a_chart(hand, warehouse):
    names = rows(warehouse, "select count(*) as n from capacity where origin = 'measured' and loss_goal = 'isc'")
    hand.watched.go()
    hand.to("button", "Data and SQL")
    with hand.page.expect_download() as downloading:
        hand.to("button", "CSV")
    assert 0 < len(downloading.value.path().read_text("utf-8").splitlines()) - 1 <= names[0]["n"]
    hand.reads("from capacity")


def a_join_typed_with_completion(hand, warehouse):
    hand.watched.go()
    hand.to_page("SQL", "SQL")
    asked = "select count(*) as n from trial_exchanges e join trials t using (trial_id)"
    hand.page.wait_for_selector(".monaco-editor .view-line")
    assert reached_by_tab(hand.page, "textbox", "One SELECT (DuckDB's SQL)")
    hand.page.keyboard.press("Control+A")
    hand.page.keyboard.type("select count(*) as n from trial_ex", delay=20)
    offered(hand.page, "trial_exchanges")
    hand.page.keyboard.type(" e join trials", delay=20)
    offered(hand.page, "trials")
    hand.page.keyboard.type(" t using (trial_id)", delay=20)
    assert written_sql(hand.page) == asked
    hand.page.keyboard.press("Control+Enter")
    hand.reads("1 row, 1 column")
    hand.watched.settle()
    [answer] = rows(warehouse, asked)
    assert hand.watched.cells("Answer to the query")[1][-1] == str(answer["n"])


# What somebody wants to know, and in how many clicks at most.
TASKS = {
    the_fastest_backend_for_dhcpv6_with_ha: 2,
    whether_threads_are_worth_it_here_and_why_not: 2,
    one_percent_instead_of_two_and_a_half: 2,
    the_run_with_a_dip_and_its_second: 4,
    what_hardware_differs_between_two_campaigns: 3,
    what_serves_350000_subscribers_after_an_outage: 4,
    the_sql_and_the_csv_of_a_chart: 2,
    what_a_raw_file_is_and_where_it_stands: 2,
    a_join_typed_with_completion: 2,
}


@pytest.mark.parametrize(("task", "clicks"), TASKS.items(), ids=[task.__name__ for task in TASKS])
def test_a_task_is_done_by_keyboard_in_few_steps(watched, warehouse, task, clicks):
    hand = Hand(watched)
    task(hand, warehouse)
    assert hand.steps <= clicks
    watched.settle()
    assert violations(watched.page, SCHEMES[0]) == []
