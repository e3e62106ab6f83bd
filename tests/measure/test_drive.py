"""Whole measurements with a generator that needs no network: what is left, and that nothing is left running."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from dropline.app.queries.sql import examples
from dropline.errors import DroplineError
from dropline.ingest.lake import Lake
from dropline.ingest.loader import ingest
from dropline.measure.bench import HookFailed, run
from dropline.measure.drive import measure
from dropline.measure.folder import Folder
from dropline.measure.plan import Plan
from tests.homes import asking, built

ROOT = Path(__file__).parent.parent.parent
PLAN = """campaign: lab
generator: {{tool: perfdhcp, target: 10.0.0.1, prefix: "{python} -S -E {lab}/fake_perfdhcp.py"}}
rates: {{from: 200, to: 40000}}
trial_s: 1
warm_up_s: 0
pause_s: 0
runs: {{at_least: 2, at_most: 2, width: 0.02}}
set_up: echo set up >> {lab}/log
tear_down: echo torn down >> {lab}/log
server: {{stop: "echo stop >> {lab}/log", reset: "echo reset >> {lab}/log", limit_s: 5}}
defaults: {{product: ISC Kea, product_version: 2.2.0, backend: memfile, testbed: none}}
configurations:
  single: {{defaults: {{threading: single}}, server: {{start: "echo 3000 > {lab}/knee; echo single >> {lab}/log"}}}}
  multi: {{defaults: {{threading: multi}}, server: {{start: "echo 4000 > {lab}/knee; echo multi >> {lab}/log"}}}}
"""


class Lab:
    """A folder with a plan, the generator, and a log of what the hooks did."""

    def __init__(self, root):
        self.root = root
        shutil.copy(ROOT / "tests/measure/fake_perfdhcp.py", root)
        self.plan = root / "plan.yaml"
        self.plan.write_text(PLAN.format(lab=root, python=sys.executable))
        self.said, self.seen = [], []

    def change(self, before, after):
        text = self.plan.read_text()
        assert before in text
        self.plan.write_text(text.replace(before, after))

    def measure(self):
        return measure(Plan.load(self.plan), self.plan, self.root / "lab", self.said.append, self.seen.append)

    def start(self):
        command = [sys.executable, "-m", "dropline", "measure", str(self.plan)]
        return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    @property
    def log(self):
        return (self.root / "log").read_text().split("\n")[:-1]

    def outputs(self):
        """Return the outputs of all runs, finished or not."""
        paths = (path.relative_to(self.root / "lab").as_posix() for path in self.root.glob("lab/*/rep*/*.txt"))
        return sorted(path.replace(".unfinished/", "/") for path in paths)


@pytest.fixture
def lab(tmp_path, monkeypatch):
    monkeypatch.setattr("dropline.measure.drive._Measurement._collect", lambda self: None)
    return Lab(tmp_path)


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A lab whose measurement ran to its end, and what came of it. Read only."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dropline.measure.drive._Measurement._collect", lambda self: None)
        lab = Lab(tmp_path_factory.mktemp("lab"))
        return lab, lab.measure()


def within(seconds, happens):
    deadline = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_configurations_take_turns_and_the_answer_holds_the_truth(measured):
    lab, outcome = measured
    assert [(each.configuration, each.runs) for each in outcome.found] == [("multi", 2), ("single", 2)]
    for each, knee in zip(outcome.found, (4000, 3000), strict=True):
        assert each.rate == pytest.approx(knee, rel=0.01)
    begun = [line for line in lab.log if line in ("single", "multi")]
    assert begun == ["single", *["single", "multi"] * 2]  # the first is the generator's own limit
    assert lab.log[0] == "torn down"  # of what a killed measurement left
    assert lab.log[-1] == "torn down"
    assert lab.log.count("reset") == len(lab.outputs())


def test_what_is_left_is_ingested_without_a_word(measured, tmp_path):
    lab, outcome = measured
    lake = Lake.create(tmp_path / "lake")
    summary = ingest([outcome.folder], lake)
    assert (summary.ingested, summary.rejects) == (2 * len(lab.outputs()) + 1, [])
    sidecar = json.loads((lab.root / "lab" / lab.outputs()[0].replace(".txt", ".json")).read_bytes())
    assert sidecar["threading"] == "multi"
    assert {"command", "started_at", "ended_at", "exit_code", "loadavg_before", "output_sha256"} <= sidecar.keys()


def test_where_no_trial_may_exceed_the_goal_a_burst_bounds_the_capacity_and_a_build_judges_alike(lab):
    lab.change("generator:", "method: {exceed_ratio: 0}\ngenerator:")
    (lab.root / "burst").write_text("800")
    outcome = lab.measure()
    with asking(built(lab.root / "home", outcome.folder, rejects=0)) as asked:
        rows = asked("""
            select configurations.threading, rate_interpolated, ci_low, ci_high
            from capacity inner join configurations using (configuration_id)
            where capacity.origin = 'measured' and loss_goal = 'isc' order by configurations.threading
        """)
        (bounds,) = asked(f"""
            select relevant_lower_bound, relevant_upper_bound, lower_bound_trials
            from ({examples()["Do all trials together say the same as the runs one by one?"]})
            where loss_goal = 'isc' and configuration like '%single%'
        """)
    assert rows == [
        (each.configuration, *(rate and pytest.approx(rate) for rate in each[3:6])) for each in outcome.found
    ]
    assert bounds[0] < bounds[1] <= 800
    assert bounds[2] >= 3


def test_a_shuffled_order_has_each_configuration_once_a_round(lab):
    lab.change("warm_up_s", "order: shuffled\nwarm_up_s")
    lab.change("at_least: 2, at_most: 2", "at_least: 5, at_most: 5")
    lab.measure()
    begun = [line for line in lab.log if line in ("single", "multi")][1:]
    pairs = list(zip(begun[::2], begun[1::2], strict=True))
    assert {frozenset(pair) for pair in pairs} == {frozenset({"single", "multi"})}
    assert len(set(pairs)) == 2


def test_a_generator_that_reaches_its_own_limit_is_told_and_not_taken_for_the_server(lab):
    lab.change("at_least: 2, at_most: 2", "at_least: 1, at_most: 1")
    (lab.root / "most").write_text("2500")
    outcome = lab.measure()
    assert [each.rate for each in outcome.found] == [None, None]
    assert "The generator can send only 2,500/s" in outcome.text()
    assert {int(name.split("/rate")[1].partition("-")[0]) for name in lab.outputs()} == {200, 400, 800, 1600, 2500}


def test_runs_go_on_until_every_interval_is_narrow(lab):
    lab.change("at_least: 2, at_most: 2, width: 0.02", "at_least: 2, at_most: 5, width: 0.2")
    lab.change("warm_up_s", "bracket: 0.05\nwarm_up_s")
    found = lab.measure().found
    assert len({each.runs for each in found}) == 1
    assert found[0].runs == 5 or all(each.width <= 0.2 for each in found)


def test_each_trial_tells_how_far_it_is(measured):
    lab, outcome = measured
    first, last = lab.seen[0], lab.seen[-1]
    assert first.text() == "single run 1: 200/s lost 0.00 %, isc between 200 and ?"
    assert (first.done, first.wanted, last.done, last.wanted) == (0, 4, 4, 6)
    assert [each.rate for each in lab.seen if each.is_exceeding]
    assert last.text().endswith("0 min left")
    low, high = last.brackets["isc"]
    assert low < outcome.found[0].rate / 0.975 < high


def test_time_over_ends_tidily_and_the_same_command_goes_on(lab):
    lab.change("warm_up_s", "within_s: 1.5\nwarm_up_s")
    early = lab.measure()
    assert early.why_early
    assert "run it again to continue" in early.text()
    made = lab.outputs()
    lab.change("within_s: 1.5\n", "")
    assert not lab.measure().why_early
    assert set(made) < set(lab.outputs())
    whole = lab.outputs()
    assert not lab.measure().why_early
    assert lab.outputs() == whole


def test_another_plan_does_not_mix_with_what_was_measured(lab):
    lab.change("at_least: 2, at_most: 2", "at_least: 1, at_most: 1")
    lab.measure()
    lab.change("backend: memfile", "backend: mysql")
    with pytest.raises(DroplineError, match="defaults changed"):
        lab.measure()


def test_two_measurements_do_not_share_a_folder(lab):
    with Folder(lab.root / "lab").alone(), pytest.raises(DroplineError, match="another dropline measure runs"):
        lab.measure()


def test_a_trial_that_broke_off_is_kept_and_made_again(lab):
    lab.change("at_least: 2, at_most: 2", "at_least: 1, at_most: 1")
    lab.change(f"echo reset >> {lab.root}/log", f"[ -e {lab.root}/once ] || touch {lab.root}/once {lab.root}/breaks")
    outcome = lab.measure()
    assert len(list(outcome.folder.glob("*/rep1/*.broken"))) == 1
    assert ingest([outcome.folder], Lake.create(lab.root / "home/lake")).rejects == []


def test_a_generator_that_never_finishes_ends_the_measurement_and_all_is_stopped(lab):
    lab.change(f"echo reset >> {lab.root}/log", f"touch {lab.root}/breaks")
    with pytest.raises(DroplineError, match=r"failed 4 times at 200/s: .*perfdhcp"):
        lab.measure()
    assert lab.log[-2:] == ["stop", "torn down"]


def test_hosts_are_reached_by_ssh_and_tell_of_themselves(lab, monkeypatch):
    monkeypatch.undo()
    ssh = lab.root / "bin" / "ssh"
    ssh.parent.mkdir()
    ssh.write_text(
        f"""#!/bin/sh
        while case "$1" in -o) shift 2 ;; *) false ;; esac do :; done
        echo "$1" >> {lab.root}/hosts
        shift
        exec sh -c "$*"
        """
    )
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{ssh.parent}:{os.environ['PATH']}")
    lab.change("at_least: 2, at_most: 2", "at_least: 1, at_most: 1")
    lab.change("target: 10.0.0.1", "target: 10.0.0.1, host: me@generator")
    lab.change("server: {stop", "server: {host: me@server, stop")
    outcome = lab.measure()
    assert {*(lab.root / "hosts").read_text().split()} == {"me@generator", "me@server"}
    for machine in ("server", "generator"):
        assert (outcome.folder / "machine" / machine / "lscpu.txt").stat().st_size > 100
    assert ingest([outcome.folder], Lake.create(lab.root / "home/lake")).rejects == []


@pytest.mark.parametrize(
    ("hook", "told"),
    [
        ("echo out of leases; exit 3", r"start: .* failed with 3\n    out of leases"),
        ("sleep 60", r"start: 'sleep 60' took longer than 1 s"),
    ],
)
def test_a_hook_that_fails_or_hangs_is_told_and_all_is_stopped(lab, hook, told):
    lab.change("limit_s: 5", "limit_s: 1")
    lab.change(f"echo 3000 > {lab.root}/knee; echo single >> {lab.root}/log", hook)
    with pytest.raises(HookFailed, match=told):
        lab.measure()
    assert lab.log[-2:] == ["stop", "torn down"]


def test_a_server_that_ends_by_itself_is_told_with_its_last_words(lab):
    lab.change('start: "echo 3000 > ', 'serve: "sh -c \'echo no such pool; exit 1\'", ready: "false; : ')
    with pytest.raises(HookFailed, match=r"the server exited with 1: .*\n    no such pool"):
        lab.measure()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -9)])
def test_a_measurement_that_is_ended_leaves_nothing_running_and_goes_on(lab, number, code):
    lab.change('start: "echo 3000 > ', 'serve: "sleep 987654", ready: "echo 3000 > ')
    lab.change("pause_s: 0", "pause_s: 0.1")
    process = lab.start()
    within(60, lambda: len(lab.outputs()) >= 3)
    process.send_signal(number)
    said, _ = process.communicate(timeout=30)
    assert process.returncode == code
    within(10, lambda: not _running("sleep", "987654"))
    if number != signal.SIGKILL:
        assert "dropline: stopped; run the same command again to continue" in said
        assert lab.log[-2:] == ["stop", "torn down"]
    made, lake = lab.outputs(), Lake.create(lab.root / "home/lake")
    assert ingest([lab.root / "lab"], lake).trials == 0  # a run without a bracket would turn the interval into a bound
    lab.change("at_least: 2, at_most: 2", "at_least: 1, at_most: 1")
    assert not lab.measure().why_early
    assert set(made) < set(lab.outputs())
    assert ingest([lab.root / "lab"], lake).trials == len(lab.outputs())
    assert not _running("sleep", "987654")


def _running(*words):
    wanted = "\0".join(words).encode() + b"\0"
    found = []
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += [each.parent.name] if each.read_bytes() == wanted else []
        except OSError:
            continue
    return found


def test_a_command_is_ended_with_all_that_it_started():
    done = run(["sh", "-c", "sleep 987655 & echo begun; wait"], 0.5)
    assert (done.exit_code, done.output) == (None, b"begun\n")
    assert not _running("sleep", "987655")


def test_a_signal_that_a_library_swallows_ends_the_measurement_before_the_next_trial(lab):
    def swallow(_):
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)

    with pytest.raises(KeyboardInterrupt):
        measure(Plan.load(lab.plan), lab.plan, lab.root / "lab", lab.said.append, swallow)
    assert len(lab.outputs()) == 1
    assert lab.log[-2:] == ["stop", "torn down"]


def test_a_signal_within_a_fork_is_not_lost():
    script = """if True:
        import os, signal
        from dropline.measure.bench import run
        from dropline.measure.drive import _ended_tidily
        os.register_at_fork(after_in_parent=lambda: os.kill(os.getpid(), signal.SIGTERM))
        with _ended_tidily():
            print(run(["true"], 60))
    """
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (ended.stdout, ended.stderr.splitlines()[-1]) == ("", "KeyboardInterrupt")
