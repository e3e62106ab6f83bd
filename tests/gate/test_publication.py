"""What is published, what is kept of before, and the way back."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dropline import publication
from dropline.paths import Home

ROOT = Path(publication.__file__).parent

PUBLISHER = """
import os, sys
from pathlib import Path
from dropline import publication
from dropline.paths import Home
from tests.dying import die_at

home, built, last_step = Home(Path(sys.argv[1])), Path(sys.argv[2]), int(sys.argv[3])
with publication.alone(home, print):
    steps = die_at(last_step)
    publication.publish(built, home, keep=2)
    print(len(steps), flush=True)
os._exit(0)
"""


def publish(home, text, keep=publication.KEPT):
    built = home.root / "next.duckdb"
    built.write_text(text)
    with publication.alone(home, print):
        publication.publish(built, home, keep)


def kept(home):
    return [each.file.read_text() for each in publication.earlier(home)]


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)


def test_the_last_ones_are_kept_and_older_ones_go(home):
    for text in "abcdef":
        publish(home, text)
    assert home.warehouse.read_text() == "f"
    assert kept(home) == ["c", "d", "e"]


def test_nothing_is_kept_when_asked_so(home):
    publish(home, "a")
    publish(home, "b", keep=0)
    assert kept(home) == []
    assert home.warehouse.read_text() == "b"


def test_rollback_goes_back_one_by_one_and_by_name_forward_again(home):
    for text in "abc":
        publish(home, text)
    newest = publication.rollback(home)
    assert (newest.file.read_text(), home.warehouse.read_text(), kept(home)) == ("b", "b", ["a", "c"])
    publication.rollback(home)
    assert (home.warehouse.read_text(), kept(home)) == ("a", ["b", "c"])
    name = publication.earlier(home)[-1].name
    assert publication.rollback(home, name).name == name
    assert (home.warehouse.read_text(), kept(home)) == ("c", ["a", "b"])


def test_a_build_after_a_rollback_keeps_both(home):
    for text in "ab":
        publish(home, text)
    publication.rollback(home)
    publish(home, "c")
    assert (home.warehouse.read_text(), kept(home)) == ("c", ["a", "b"])


def test_readers_keep_the_file_that_they_have_open(home):
    publish(home, "a")
    with home.warehouse.open() as reader:
        for text in "bcdef":
            publish(home, text)
        assert reader.read() == "a"


def test_without_an_earlier_one_it_says_what_there_is(home):
    with pytest.raises(publication.NoSuchPublication, match="there are: none"):
        publication.rollback(home)
    publish(home, "a")
    publish(home, "b")
    with pytest.raises(publication.NoSuchPublication, match=r"called 'x'; there are: 0001-"):
        publication.rollback(home, "x")
    assert home.warehouse.read_text() == "b"


def test_names_go_on_when_the_clock_steps_back(home):
    for text, day in (("a", 20_000), ("b", 10_000), ("c", 5_000)):
        publish(home, text)
        os.utime(home.warehouse, (day * 86_400, day * 86_400))
    publish(home, "d")
    assert kept(home) == ["a", "b", "c"]
    assert [each.made_at.year for each in publication.earlier(home)] == [2024, 1997, 1983]


def test_killed_at_each_step_the_warehouse_is_the_old_file_or_the_new_one(home):
    for text in "abc":
        publish(home, text, keep=2)
    (home.root / "built").write_text("z")
    script = [sys.executable, "-c", PUBLISHER, str(home.root), str(home.root / "built")]
    found = []
    for step in range(1, 40):
        (home.root / "built").write_text(text := f"new{step}")
        before, earlier = home.warehouse.read_text(), kept(home)
        done = subprocess.run([*script, str(step)], cwd=ROOT, capture_output=True, text=True, timeout=30)
        now = home.warehouse.read_text()
        assert now in {before, text}
        assert set(kept(home)) >= set(earlier[-1:]), "what was kept last is not lost"
        if now == text:
            assert before in kept(home)
        found.append(now == text)
        if done.returncode != -signal.SIGKILL:
            break
    assert done.returncode == 0, "the last one ran to its end"
    assert {True, False} == set(found), "the instants lay on both sides of the rename"
