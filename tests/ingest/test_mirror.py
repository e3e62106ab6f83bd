"""Homes on object storage, against an S3 server of this machine: what is pushed is seen whole, everywhere, and once."""

import json
import os
import subprocess
import sys
from collections import Counter
from datetime import datetime
from pathlib import Path

import duckdb
import pytest

from dropline import publication
from dropline.ingest import mirror
from dropline.ingest.backup import backup
from dropline.ingest.batches import digits, following, place
from dropline.ingest.bucket import Bucket, BucketUnusable
from dropline.ingest.compaction import compact
from dropline.ingest.intake import ingest
from dropline.ingest.lake import Lake
from dropline.ingest.verification import verify
from dropline.paths import Home, NoSuchHome
from tests.buckets import SECRET, ask

ROOT = Path(__file__).parents[2]
TRIALS = 7
SHOWN = "select count(*) as shown, count(distinct (source_path, report_index)) as different from trials"

# Forks a process for every step at which a push is killed; S3 is not touched before the fork.
KILLER = """
import os, signal, sys
from pathlib import Path
from dropline.paths import Home
from dropline.ingest import mirror
from dropline.ingest.bucket import Bucket
from dropline.ingest.intake import ingest
from dropline.ingest.lake import Lake

tree, address, caches = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])

def run(name, last_step):
    os.environ["DROPLINE_CACHE"] = str(caches / name)
    home = Home.chosen(f"{address}/{name}")
    mirror.sync(home)
    ingest([tree], Lake(home.lake))
    steps = 0
    def counted(method):
        def call(*arguments):
            nonlocal steps
            steps += 1
            if steps == last_step:
                os.kill(os.getpid(), signal.SIGKILL)
            return method(*arguments)
        return call
    for method in ("put", "upload", "listing", "folders"):
        setattr(Bucket, method, counted(getattr(Bucket, method)))
    mirror.push(home)
    print(name, steps, flush=True)
    os._exit(0)

for step in range(int(sys.argv[4]), -1, -1):
    os.waitpid(os.fork() or run(str(step), step), 0)
"""


def take(home, tree):
    """Ingest a tree into the mirror; the bucket knows nothing of it yet."""
    return ingest([tree], Lake(home.lake))


def trials(home):
    return Counter(Lake(home.lake).tables("trials", ["source_path"])["source_path"].to_pylist())


def shown(home):
    """How often the readers see each trial: by the newest batch of its file, as the models do."""
    lake = Lake(home.lake)
    newest = {key: place.batch for key, place in lake.places().items()}
    rows = lake.tables("trials", ["campaign", "source_path", "batch"]).to_pylist()
    return Counter(row["source_path"] for row in rows if newest[row["campaign"], row["source_path"]] == row["batch"])


def damage(address, ending):
    """Overwrite the object whose key ends so, with bytes of the same number, and return its address."""
    bucket = Bucket(address)
    (key,) = [key for key in bucket.listing("") if key.endswith(ending)]
    bucket.put(key, bytes(bucket.listing("")[key].size_bytes))
    return bucket.name(key)


def dropline(*arguments, cache, home):
    command = [sys.executable, "-m", "dropline", "--home", home, *arguments]
    environment = {**os.environ, "DROPLINE_CACHE": str(cache), "COLUMNS": "100"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)


def push_at_once(one, other, monkeypatch):
    """The worst that can happen: `other` pushes after `one` has looked and before it puts its last object."""
    put = Bucket.put

    def overtaken(bucket, key, data):
        monkeypatch.setattr(Bucket, "put", put)
        mirror.push(other)
        put(bucket, key, data)

    monkeypatch.setattr(Bucket, "put", overtaken)
    mirror.push(one)
    mirror.sync(other)


def test_two_pushes_of_one_tree_at_once_show_every_trial_once(machine, tree, monkeypatch):
    one, other = machine("one"), machine("other")
    assert take(one, tree).trials == take(other, tree).trials == TRIALS
    push_at_once(one, other, monkeypatch)
    third = machine("third")
    mirror.sync(one)
    assert Lake(one.lake).batches() == Lake(other.lake).batches() == Lake(third.lake).batches()
    assert set(trials(third).values()) == {2}, "both were pushed"
    assert set(shown(third).values()) == {1}
    assert len(shown(third)) == TRIALS
    assert not verify(third).faults


def test_what_machines_ingest_at_once_and_one_builds_another_sees_once(
    address, machine, tree, bare, tmp_path, monkeypatch
):
    caches = one, other, third = [tmp_path / name for name in ("one", "other", "third")]
    homes = [machine(cache.name) for cache in caches[:2]]
    for home in homes:
        take(home, tree)
    push_at_once(*homes, monkeypatch)
    assert "2 trials" in dropline("ingest", str(bare), cache=one, home=address).stdout
    built = dropline("build", cache=other, home=address)
    assert built.returncode == 0, built.stderr

    asked = dropline("sql", SHOWN, "-f", "json", cache=third, home=address)
    assert json.loads(asked.stdout) == [{"shown": TRIALS + 2, "different": TRIALS + 2}], asked.stderr
    said = dropline("status", cache=third, home=address).stdout
    assert address in said
    assert "up to date" in said
    assert "expectations hold" in said, "what the gate said came with the warehouse"
    assert "nothing new" in dropline("ingest", str(tree), cache=third, home=address).stdout
    verified = dropline("verify", cache=third, home=address)
    assert verified.returncode == 0, verified.stdout
    assert "4 batches merged into 1" in dropline("compact", cache=third, home=address).stdout
    assert "up to date" in dropline("status", cache=other, home=address).stdout
    asked = dropline("sql", SHOWN, "-f", "json", cache=other, home=address)
    assert json.loads(asked.stdout) == [{"shown": TRIALS + 2, "different": TRIALS + 2}], asked.stderr


def test_what_others_pushed_meanwhile_is_not_pushed_again(machine, tree):
    one, other = machine("one"), machine("other")
    take(one, tree)
    take(other, tree)
    mirror.push(one)
    mirror.push(other)
    assert set(trials(other).values()) == {1}
    assert Lake(other.lake).batches() == Lake(one.lake).batches()
    assert not [*Lake(other.lake).outbox.iterdir()]


def test_what_only_one_of_them_brought_is_not_lost(machine, tree, bare):
    one, other = machine("one"), machine("other")
    take(one, tree)
    ingest([tree, bare], Lake(other.lake))
    mirror.push(one)
    mirror.push(other)
    mirror.sync(one)
    assert trials(one) == trials(other)
    assert len(trials(one)) == TRIALS + 2
    assert set(trials(one).values()) == {1}


def test_the_version_that_was_pushed_last_is_the_one_that_counts(machine, tree):
    one, other = machine("one"), machine("other")
    (file,) = tree.rglob("rate740.txt")
    take(one, tree)
    file.write_text(file.read_text().replace("739.063", "738.5"))
    take(other, tree)
    mirror.push(one)
    mirror.push(other)
    third = machine("third")
    rows = Lake(third.lake).tables("trials", ["source_path", "batch", "achieved_rate"]).to_pylist()
    versions = [row for row in rows if row["source_path"].endswith("rate740.txt")]
    assert len(versions) == 2
    assert max(versions, key=lambda row: row["batch"])["achieved_rate"] == 738.5
    assert take(third, tree).ingested == 0, "the lake holds what lies in the tree"


def test_an_outbox_that_lies_for_long_is_pushed_after_everything_else(machine, tree, bare):
    late, busy = machine("late"), machine("busy")
    take(late, tree)
    for number in range(3):
        (bare / f"note-{number}.txt").write_text(f"nothing of use, {number}\n")
        take(busy, bare)
        mirror.push(busy)
    mirror.push(late)
    newest = Lake(late.lake).batches()[-1]
    assert {row["batch"] for row in Lake(late.lake).tables("trials", ["source_path", "batch"]).to_pylist()} > {newest}


def test_a_push_that_is_killed_at_any_step_shows_nothing_and_is_completed_by_the_next(
    address, tree, tmp_path, monkeypatch
):
    tables = len([*(Lake.create(tmp_path / "lake").folder("00000000-empty")).glob("*.parquet")])
    steps = tables + 4  # a look at the bucket before, two after, and the manifest
    command = [sys.executable, "-c", KILLER, str(tree), address, str(tmp_path), str(steps)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout.split() == ["0", str(steps)], "only the one that nobody killed came to its end, and had no more"
    monkeypatch.setenv("DROPLINE_CACHE", str(tmp_path / "reader"))
    seen = []
    for step in range(1, steps + 1):
        reader = Home.chosen(f"{address}/{step}")
        mirror.sync(reader)
        seen.append(len(trials(reader)))
        assert not verify(reader).faults
    assert set(seen) == {0}, seen
    for step in range(1, steps + 1):
        monkeypatch.setenv("DROPLINE_CACHE", str(tmp_path / str(step)))
        home = Home.chosen(f"{address}/{step}")
        mirror.sync(home)
        assert take(home, tree).trials == 0
        monkeypatch.setenv("DROPLINE_CACHE", str(tmp_path / "reader"))
        reader = Home.chosen(f"{address}/{step}")
        mirror.sync(reader)
        assert len(trials(reader)) == TRIALS
        assert set(trials(reader).values()) == {1}


def test_one_that_is_killed_after_its_last_object_is_pushed_once(machine, tree, monkeypatch):
    home = machine("one")
    take(home, tree)
    with monkeypatch.context() as killed:
        killed.setattr(mirror, "_seen", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            mirror.push(home)
    assert not trials(home)
    mirror.push(home)
    assert set(trials(home).values()) == set(trials(machine("other")).values()) == {1}


@pytest.mark.parametrize("ending", ["/trials.parquet", "/manifest.json"])
def test_a_damaged_object_is_named_and_everything_else_is_pulled(address, machine, tree, bare, ending):
    one = machine("one")
    take(one, tree)
    mirror.push(one)
    named = damage(address, ending)
    take(one, bare)
    mirror.push(one)
    with pytest.raises(mirror.Damaged) as raised:
        machine("other")
    assert str(raised.value).startswith(f"{named}: ")
    assert len(trials(Home.chosen(address))) == 2, "the sound batch is there"
    (fault,) = mirror.damaged(one)
    assert fault.startswith(f"{named}: ")


def test_a_batch_that_was_taken_out_of_the_bucket_is_set_aside_everywhere(address, machine, tree):
    home = machine("one")
    take(home, tree)
    mirror.push(home)
    batch = Lake(home.lake).batches()[-1]
    Bucket(address).remove(f"lake/batches/{batch}")
    (note,) = mirror.sync(home)
    assert batch in note
    assert (home.lake / "damaged" / batch / "trials.parquet").exists()
    assert take(home, tree).trials == TRIALS, "and can be ingested again"


class Tomorrow(datetime):
    """A clock that is a little more than a day ahead."""

    @classmethod
    def now(cls, zone):
        return datetime.now(zone) + 1.1 * mirror._ABANDONED


def test_what_a_killed_push_left_goes_after_a_day_and_what_is_not_ours_stays(address, machine, monkeypatch):
    bucket = Bucket(address)
    bucket.put("lake/batches/000000019999999999-20261120T134501Z/trials.parquet", b"half")
    bucket.put("lake/batches/notes/trials.parquet", b"of somebody else")
    machine("one")
    assert len(bucket.listing("lake")) == 2
    monkeypatch.setattr(mirror, "datetime", Tomorrow)
    machine("one")
    assert [*bucket.listing("lake")] == ["lake/batches/notes/trials.parquet"]


def test_a_push_that_was_killed_days_ago_is_completed_and_not_swept(address, machine, tree, monkeypatch):
    home = machine("one")
    take(home, tree)
    with monkeypatch.context() as killed:
        killed.setattr(Bucket, "put", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            mirror.push(home)
    assert Bucket(address).listing("lake")
    monkeypatch.setattr(mirror, "datetime", Tomorrow)
    mirror.push(home)
    assert len(trials(machine("other"))) == TRIALS
    assert not verify(home).faults
    assert len({key.split("/")[2] for key in Bucket(address).listing("lake")}) == 1, "and what it left is gone"


def build(home, built_at):
    """Publish in the mirror what passes for a warehouse."""
    file = home.root / "next.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("create table build_info (built_at timestamptz)")
        connection.execute("insert into build_info values (?)", [datetime.fromisoformat(built_at)])
    with publication.alone(home, print):
        publication.publish(file, home)


def built_at(home):
    return mirror._built_at(home.warehouse)


MORNING, NOON, EVENING = (f"2026-11-20T{hour}:00:00Z" for hour in ("08", "12", "18"))


def test_what_is_published_on_one_machine_is_published_on_all(machine):
    one, other = machine("one"), machine("other")
    build(one, MORNING)
    (one.quality).mkdir()
    (one.quality / "gate.json").write_text("{}")
    mirror.push(one)
    mirror.sync(other)
    assert other.warehouse.read_bytes() == one.warehouse.read_bytes()
    assert (other.quality / "gate.json").read_text() == "{}"
    before = other.warehouse.stat()
    mirror.sync(other)
    assert other.warehouse.stat() == before, "open pages follow a file that changes: this one does not"

    build(other, NOON)
    mirror.push(other)
    mirror.sync(one)
    assert built_at(one) == NOON
    publication.rollback(one)
    mirror.push(one)
    mirror.sync(other)
    assert built_at(other) == MORNING


def test_of_two_warehouses_that_were_built_at_once_the_later_one_stays(machine):
    one, other, third = machine("one"), machine("other"), machine("third")
    build(one, EVENING)
    build(other, MORNING)
    build(third, NOON)
    for home in (third, one, other, third):
        mirror.push(home)
    mirror.sync(third)
    assert {built_at(home) for home in (one, other, third)} == {EVENING}


def test_a_publication_that_was_killed_before_it_was_named_is_none(address, machine, monkeypatch):
    one, other = machine("one"), machine("other")
    build(one, MORNING)
    with monkeypatch.context() as killed:
        killed.setattr(Bucket, "put", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            mirror.push(one)
    mirror.sync(other)
    assert not other.warehouse.exists()
    mirror.push(one)
    mirror.sync(other)
    assert built_at(other) == MORNING


def test_a_damaged_publication_is_named_and_what_was_published_before_stays(address, machine):
    one, other = machine("one"), machine("other")
    build(one, MORNING)
    mirror.push(one)
    mirror.sync(other)
    build(one, NOON)
    mirror.push(one)
    bucket = Bucket(address)
    key = max(key for key in bucket.listing("publications"))
    bucket.put(key, b"half")
    with pytest.raises(mirror.Damaged, match=bucket.name(key)):
        mirror.sync(other)
    assert built_at(other) == MORNING
    assert [bucket.name(key) in fault for fault in mirror.damaged(one)] == [True]
    bucket.put("published.json", b"half")
    with pytest.raises(mirror.Damaged, match=r"published\.json"):
        mirror.sync(other)


def test_a_batch_that_rots_in_the_mirror_is_pulled_anew(machine, tree):
    home = machine("one")
    take(home, tree)
    mirror.push(home)
    file = Lake(home.lake).folder(Lake(home.lake).batches()[-1]) / "trials.parquet"
    file.write_bytes(bytes(file.stat().st_size))
    assert verify(home, set_aside=True).faults
    mirror.sync(home)
    assert not verify(home).faults
    assert len(trials(home)) == TRIALS


def test_a_follower_takes_over_what_is_published_and_ends_with_its_parent(address, machine):
    one, other = machine("one"), machine("other")
    build(one, MORNING)
    mirror.push(one)
    script = (
        "import os, sys\nfrom home import Home\nfrom ingest import mirror\n"
        "mirror.follow(Home.chosen(sys.argv[1]), print, beside=os.getppid(), poll_s=0.2)"
    )
    started = (
        f"{sys.executable} -c '{script}' {address} & echo $!; while [ ! -e {other.warehouse} ]; do sleep 0.1; done"
    )
    parent = subprocess.run(["sh", "-c", started], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert other.warehouse.read_bytes() == one.warehouse.read_bytes()
    assert parent.returncode == 0, "and its output ends, because the follower has ended, too"


def test_a_backup_of_a_shared_home_is_an_ordinary_one_that_can_be_compacted(machine, tree, bare, tmp_path):
    home = machine("one")
    for folder in (tree, bare):
        take(home, folder)
        mirror.push(home)
    backup(home, tmp_path / "backup")
    copy = Home(tmp_path / "backup")
    assert not Lake(copy.lake).shared
    assert len(compact(Lake(copy.lake)).into) == 1
    (bare / "note.txt").write_text("nothing of use\n")
    assert take(copy, tree).batch is None
    assert take(copy, bare).trials == 0
    assert len(Lake(copy.lake).batches()) == 2
    assert trials(copy) == trials(home)
    assert not verify(copy).faults


def test_the_numbers_of_batches_have_one_order_whoever_counts():
    numbers = [0, 1, 41]
    for shared in (True, False, True, True, False):
        numbers.append(following(numbers[-1], shared=shared))
    assert sorted(numbers, key=digits) == sorted(set(numbers)) == numbers
    assert len({following(41, shared=True) for _ in range(100)}) == 100
    assert [place(number) for number in numbers] == [0, 1, 41, 42, 42, 43, 44, 44]


def test_the_region_of_a_bucket_is_asked_for_where_nobody_names_it(monkeypatch):
    for name in ("DROPLINE_S3_ENDPOINT", "AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pyarrow.fs.resolve_s3_region", {"results": "eu-central-1"}.__getitem__)
    assert Bucket("s3://results/team")._files.region == "eu-central-1"


def reach(address):
    mirror.sync(Home.chosen(address))


def test_what_goes_wrong_is_said_in_words_and_no_key_is_among_them(address, server, monkeypatch):
    said = []
    with pytest.raises(BucketUnusable, match="no such bucket") as raised:
        reach("s3://nowhere/team")
    said.append(str(raised.value))
    ask(server, "POST", "/moto-api/reset-auth", "0")
    try:
        with pytest.raises(BucketUnusable, match="AWS_ACCESS_KEY_ID") as raised:
            reach(address)
        said.append(str(raised.value))
        monkeypatch.delenv("AWS_ACCESS_KEY_ID")
        monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
        monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
        monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
        with pytest.raises(BucketUnusable) as raised:
            reach(address)
        said.append(str(raised.value))
    finally:
        ask(server, "POST", "/moto-api/reset-auth", "inf")
    monkeypatch.setenv("DROPLINE_S3_ENDPOINT", "http://127.0.0.1:1")
    with pytest.raises(BucketUnusable, match="cannot be reached") as raised:
        reach(address)
    said.append(str(raised.value))
    assert not [text for text in said if SECRET in text or "somebody" in text or "Traceback" in text]


@pytest.mark.parametrize(
    "named",
    ["s3://", "s3://b", "s3://key:secret@bucket/x", "s3://bucket/a/../b", "s3://bucket/x?region=a", "s3://Bucket/x y"],
)
def test_an_address_that_is_none_is_refused_without_being_repeated(named):
    with pytest.raises(NoSuchHome) as raised:
        Home.chosen(named)
    assert "secret" not in str(raised.value)


def test_an_address_names_one_mirror_however_it_is_written(monkeypatch):
    homes = [Home.chosen(named) for named in ("s3://bucket/a", "s3://bucket/a/", Path("s3://bucket/a"))]
    assert len(set(homes)) == 1
    assert homes[0].name == "s3://bucket/a"
    monkeypatch.setenv("DROPLINE_S3_ENDPOINT", "http://127.0.0.1:9000")
    assert Home.chosen("s3://bucket/a").root != homes[0].root, "another server's bucket of that name"


@pytest.mark.parametrize("endpoint", ["127.0.0.1:9000", "http://key:secret@host", "ftp://host", "http://host/bucket"])
def test_an_endpoint_that_is_none_is_refused(address, monkeypatch, endpoint):
    monkeypatch.setenv("DROPLINE_S3_ENDPOINT", endpoint)
    with pytest.raises(BucketUnusable, match="expected http://host:port") as raised:
        reach(address)
    assert "secret" not in str(raised.value)
