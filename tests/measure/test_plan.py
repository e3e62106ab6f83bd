"""Plans: what is understood, and what a wrong one is told."""

import re
from pathlib import Path

import pytest
import yaml

from dropline.errors import DroplineError
from dropline.measure.plan import PRODUCTS, Plan, begin

WRONG = yaml.safe_load(Path(__file__).with_name("wrong_plans.yml").read_text("utf-8"))
WHOLE = """campaign: lab
generator: {tool: perfdhcp, target: 10.0.0.1}
rates: {from: 100, to: 1000}
server: {stop: stop all, limit_s: 5}
defaults: {product: ISC Kea, backend: memfile}
configurations:
  single: {defaults: {threading: single}}
  multi: {defaults: {backend: mysql}, server: {start: start it}}
"""


def planned(tmp_path, text):
    path = tmp_path / "plan.yaml"
    path.write_text(text)
    return Plan.load(path)


def test_a_configuration_says_what_differs_from_the_plan(tmp_path):
    plan = planned(tmp_path, WHOLE)
    assert plan.defaults_of("single") == {"product": "ISC Kea", "backend": "memfile", "threading": "single"}
    assert plan.defaults_of("multi") == {"product": "ISC Kea", "backend": "mysql"}
    server = plan.server_of("multi").model_dump(exclude_none=True)
    assert server == {"start": "start it", "stop": "stop all", "limit_s": 5}
    assert [goal.limit for goal in plan.loss_goals] == [0.025]
    assert planned(tmp_path, WHOLE.replace("tool: perfdhcp", "tool: dnsperf")).loss_goals[0].name == "permille"


@pytest.mark.parametrize(("line", "wrong", "told"), WRONG)
def test_a_wrong_plan_is_told_where_and_what_to_write(tmp_path, line, wrong, told):
    assert line in WHOLE
    with pytest.raises(DroplineError) as caught:
        planned(tmp_path, WHOLE.replace(line, wrong))
    assert re.search(told, str(caught.value)), caught.value


def test_a_plan_of_more_than_may_be_read_is_refused_whole(tmp_path):
    with pytest.raises(DroplineError, match="larger than"):
        planned(tmp_path, f"{WHOLE}{'#' * 2**20}")


@pytest.mark.parametrize("product", PRODUCTS)
def test_the_bundled_plans_can_be_used_as_they_are(tmp_path, monkeypatch, product):
    for name in ("kea-dhcp4", "kea-dhcp6", "pdns_server"):
        (tmp_path / name).write_text("#!/bin/sh\necho Nov 27 01:05:27 Server 2.6.1 >&2\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    plan = Plan.load(begin(product, tmp_path / "lab"))
    assert len(plan.configurations) == 2
    assert plan.defaults.product_version == "2.6.1"
    with pytest.raises(DroplineError, match="is not empty"):
        begin(product, tmp_path / "lab")


def test_a_plan_of_an_unknown_product_is_refused(tmp_path):
    with pytest.raises(DroplineError, match="expected kea or kea6 or powerdns"):
        begin("bind", tmp_path / "lab")
