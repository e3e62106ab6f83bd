"""Compaction of a lake in a bucket, which nobody can lock: whoever else pushes, every row is seen once."""

import threading
from collections import Counter

import pytest
from test_lake import raw_files, trials
from test_lake_compaction import everything
from test_mirror import Tomorrow

from dropline.ingest import mirror
from dropline.ingest.batches import ordered
from dropline.ingest.bucket import Bucket
from dropline.ingest.compaction import compact
from dropline.ingest.lake import Lake

REQUESTS = ("upload", "folders", "put")  # of a push: its first file, its look at the others, its manifest


def commit(home, **files):
    return Lake(home.lake).commit({"raw_files": raw_files(**files), "trials": trials(**files)})


def merge(home):
    compact(Lake(home.lake))
    return mirror.push(home)


def seen(home):
    return Counter(Lake(home.lake).tables("trials", ["trial_id"])["trial_id"].to_pylist())


def batches_in(address):
    """The batches of a bucket that readers see, those that were replaced, and what was left of others."""
    listed = mirror._listed(Bucket(address))
    whole = mirror._whole(listed)
    return *ordered(whole), sorted(listed.keys() - whole)


@pytest.fixture
def one(machine):
    """A machine that has pushed four batches, one of them with a second version of a file."""
    home = machine("one")
    for files in ({"a": "1"}, {"b": "1", "c": "1"}, {"a": "2"}, {"d": "1"}):
        commit(home, **files)
        mirror.push(home)
    return home


def pause(monkeypatch, **moments):
    """Hold a thread before its first request of a kind: `name=(kind, act)` has `act` done there by thread `name`."""
    waiting = {name: list(moment) for name, moment in moments.items()}

    def stopping(kind, method):
        def call(*arguments):
            wanted, act = waiting.get(name := threading.current_thread().name, (None, None))
            if kind == wanted:
                del waiting[name]
                act()
            return method(*arguments)

        return call

    for kind in REQUESTS:
        monkeypatch.setattr(Bucket, kind, stopping(kind, getattr(Bucket, kind)))


def test_one_machine_compacts_and_the_others_see_the_same_rows_in_one_batch(address, machine, one):
    other = machine("other")
    before = everything(Lake(other.lake))
    assert merge(one) == []
    (merged,), replaced, left = batches_in(address)
    assert (len(replaced), left) == (4, [])
    for home in (one, other, machine("third")):
        mirror.sync(home)
        assert Lake(home.lake).batches() == [merged]
        assert everything(Lake(home.lake)) == before
        assert [path.name for path in Lake(home.lake).folder(merged).parent.iterdir()] == [merged]
    assert mirror.damaged(one) == []
    commit(other, e="1")
    mirror.push(other)
    mirror.sync(one)
    assert len(Lake(one.lake).batches()) == 2
    assert merge(one) == []
    assert len(batches_in(address)[0]) == 1
    assert set(seen(one).values()) == {1}


def test_what_was_compacted_twice_before_a_push_is_pushed_once(address, one):
    compact(Lake(one.lake))
    assert len(merge(one)) == 1
    (merged,), replaced, left = batches_in(address)
    assert (Lake(one.lake).batches(), len(replaced), left) == ([merged], 4, [])
    assert set(seen(one).values()) == {1}


def test_what_was_replaced_is_removed_a_day_later_and_stays_where_the_merged_one_is_lost(
    address, machine, one, monkeypatch
):
    before = seen(one)
    merge(one)
    commit(one, e="1")
    mirror.push(one)
    merge(one)
    (merged,), replaced, _ = batches_in(address)
    assert len(replaced) == 6, "five commits, and the first compaction"
    lost = machine("lost")
    Bucket(address).remove(f"lake/batches/{merged}")
    (note,) = mirror.sync(lost)
    assert merged in note
    assert seen(lost) == before + Counter(["e-1"])
    assert merge(lost) == []
    monkeypatch.setattr(mirror, "datetime", Tomorrow)
    mirror.sync(one)
    (merged,), replaced, left = batches_in(address)
    assert (replaced, left) == ([], [])
    assert seen(machine("late")) == before + Counter(["e-1"])


def test_interrupted_at_any_request_it_changes_nothing_that_readers_see(address, machine, one, monkeypatch):
    other, before = machine("other"), everything(Lake(one.lake))
    outcomes = Counter()
    for last_step in range(1, 100):
        steps = 0

        def counted(method, last_step=last_step):
            def call(*arguments):
                nonlocal steps
                steps += 1
                if steps == last_step:
                    raise KeyboardInterrupt
                return method(*arguments)

            return call

        compact(Lake(one.lake))
        with monkeypatch.context() as interrupted:
            for kind in ("listing", *REQUESTS):
                interrupted.setattr(Bucket, kind, counted(getattr(Bucket, kind)))
            try:
                mirror.push(one)
                break
            except KeyboardInterrupt:
                pass
        mirror.sync(other)
        assert everything(Lake(other.lake)) == before
        given_up = mirror.sync(one)
        outcomes["given up" if given_up else "completed"] += 1
        assert not [*Lake(one.lake).outbox.iterdir()]
        assert batches_in(address)[2] == []
        if not given_up:
            commit(one, **{f"step{last_step}": "1"})  # so that there is something to merge again
            mirror.push(one)
            mirror.sync(other)
            before = everything(Lake(other.lake))
    assert min(outcomes["given up"], outcomes["completed"]) > 0, outcomes
    assert set(seen(machine("third")).values()) == {1}


@pytest.mark.parametrize("merging", REQUESTS)
@pytest.mark.parametrize("pushing", REQUESTS)
def test_a_commit_whose_number_comes_into_the_span_is_never_hidden(
    address, machine, one, monkeypatch, pushing, merging
):
    """`late` has looked before `one` takes a higher number, and goes on at some moment of the compaction."""
    late = machine("late")
    monkeypatch.setattr("dropline.ingest.batches.secrets.randbelow", lambda _: 1)
    commit(late, late="1")
    monkeypatch.setattr("dropline.ingest.batches.secrets.randbelow", lambda _: 5)
    looked, go_on = threading.Event(), threading.Event()
    push = threading.Thread(target=mirror.push, args=[late], name="late", daemon=True)

    def hold():
        looked.set()
        go_on.wait(60)

    def let_go():
        go_on.set()
        push.join(60)

    pause(monkeypatch, late=(pushing, hold), compacting=(merging, let_go))
    push.start()
    assert looked.wait(60)
    commit(one, e="1")
    mirror.push(one)
    compacting = threading.Thread(target=merge, args=[one], name="compacting", daemon=True)
    compacting.start()
    compacting.join(60)
    let_go()  # a compaction that gave way has no last request
    for home in (one, late, machine("third")):
        mirror.sync(home)
        assert seen(home) == Counter(["a-1", "a-2", "b-1", "c-1", "d-1", "e-1", "late-1"])
    assert batches_in(address)[2] == []
    assert merge(one) == []
    assert len(batches_in(address)[0]) == 1
    assert set(seen(machine("last")).values()) == {1}


@pytest.mark.parametrize("moment", REQUESTS)
def test_of_two_compactions_at_once_one_gives_way_at_least(address, machine, one, monkeypatch, moment):
    other, before = machine("other"), everything(Lake(one.lake))
    commit(other, e="1")
    mirror.push(other)  # so that their spans differ: `one` has not seen it
    told = []
    pause(monkeypatch, MainThread=(moment, lambda: told.append(merge(other))))
    told.append(merge(one))
    assert 1 <= sum(map(len, told)) <= 2
    mirror.sync(one)
    assert len(batches_in(address)[1]) in (0, 4, 5)
    assert set(seen(one).values()) == set(seen(machine("third")).values()) == {1}
    assert {*before[1]} < {*everything(Lake(one.lake))[1]}
    assert merge(one) == []
    assert len(batches_in(address)[0]) == 1
