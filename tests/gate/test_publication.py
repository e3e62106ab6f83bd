"""What is published, what is kept of before, and the way back."""

import os

import pytest

from dropline import publication
from dropline.errors import DroplineError
from dropline.paths import Home
from tests.dying import killed

PUBLISH = """
from dropline import publication
from dropline.paths import Home

def act(root):
    home = Home(root)
    with publication.alone(home, print):
        publication.publish(root / "built", home, keep=2)
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
    home = Home(tmp_path / "home")
    home.root.mkdir()
    return home


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
    with pytest.raises(DroplineError, match="there are: none"):
        publication.rollback(home)
    publish(home, "a")
    publish(home, "b")
    with pytest.raises(DroplineError, match=r"called 'x'; there are: 0001-"):
        publication.rollback(home, "x")
    assert home.warehouse.read_text() == "b"


def test_names_go_on_when_the_clock_steps_back(home):
    for text, day in (("a", 20_000), ("b", 10_000), ("c", 5_000)):
        publish(home, text)
        os.utime(home.warehouse, (day * 86_400, day * 86_400))
    publish(home, "d")
    assert kept(home) == ["a", "b", "c"]
    assert [each.made_at.year for each in publication.earlier(home)] == [2024, 1997, 1983]


def test_killed_at_any_instant_the_warehouse_is_the_old_file_or_the_new_one(home, tmp_path):
    for text in "abc":
        publish(home, text, keep=2)
    (home.root / "built").write_text("d")
    found = set()
    for root in killed(PUBLISH, home.root, tmp_path / "copies", 30):
        now = Home(root).warehouse.read_text()
        found.add(now)
        assert set(kept(Home(root))) >= ({"b"} if now == "c" else {"b", "c"}), "what was kept last is not lost"
    assert found == {"c", "d"}, "the instants lay on both sides of the rename"
