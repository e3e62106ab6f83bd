"""Homes on object storage, against an S3 server of this machine: what is pushed is seen whole, everywhere, and once."""

import json
import os
import subprocess
import sys
import urllib.request
from collections import Counter
from pathlib import Path

import duckdb
import pytest
from moto.server import ThreadedMotoServer

from home import Home, NoSuchHome
from ingest import mirror
from ingest.bucket import Bucket, BucketUnusable
from ingest.intake import ingest
from ingest.lake import Lake
from ingest.verification import verify

ROOT = Path(__file__).parents[2]
TRIALS = 7
SECRET = "this-is-the-secret-key"  # noqa: S105 - of nothing
SHOWN = "select count(*) as shown, count(distinct (source_path, report_index)) as different from trials"

# Forks a process for every step at which a push is killed; S3 is not touched before the fork.
KILLER = """
import os, signal, sys
from pathlib import Path
from home import Home
from ingest import mirror
from ingest.bucket import Bucket
from ingest.intake import ingest
from ingest.lake import Lake

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
    for method in ("put", "upload", "listing"):
        setattr(Bucket, method, counted(getattr(Bucket, method)))
    mirror.push(home)
    print(name, steps, flush=True)
    os._exit(0)

for step in range(int(sys.argv[4]), -1, -1):
    os.waitpid(os.fork() or run(str(step), step), 0)
"""


@pytest.fixture(scope="module")
def server():
    served = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    served.start()
    yield "http://{}:{}".format(*served.get_host_and_port())
    served.stop()


@pytest.fixture
def address(server, tmp_path, monkeypatch):
    """An empty bucket, and an environment that leads to it."""
    urllib.request.urlopen(urllib.request.Request(f"{server}/moto-api/reset", method="POST"))
    urllib.request.urlopen(urllib.request.Request(f"{server}/results", method="PUT"))
    for name, value in {
        "AWS_ACCESS_KEY_ID": "somebody",
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_EC2_METADATA_DISABLED": "true",
        "DROPLINE_S3_ENDPOINT": server,
        "DROPLINE_CACHE": str(tmp_path / "cache"),
    }.items():
        monkeypatch.setenv(name, value)
    return "s3://results/team/dns"


@pytest.fixture
def machine(address, tmp_path, monkeypatch):
    """What makes the mirror of the bucket on another machine, that is, in another cache."""

    def named(name):
        monkeypatch.setenv("DROPLINE_CACHE", str(tmp_path / name))
        home = Home.chosen(address)
        mirror.sync(home)
        return home

    return named


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
    command = [sys.executable, str(ROOT / "dropline.py"), "--home", home, *arguments]
    environment = {**os.environ, "DROPLINE_CACHE": str(cache), "COLUMNS": "100"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)


def test_what_one_machine_ingests_and_builds_another_sees(address, tree, tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    assert "7 trials" in dropline("ingest", str(tree), cache=one, home=address).stdout
    built = dropline("build", cache=one, home=address)
    assert built.returncode == 0, built.stderr

    asked = dropline("sql", SHOWN, "-f", "json", cache=other, home=address)
    assert json.loads(asked.stdout) == [{"shown": TRIALS, "different": TRIALS}], asked.stderr
    said = dropline("status", cache=other, home=address).stdout
    assert address in said
    assert "up to date" in said
    assert "expectations hold" in said, "what the gate said came with the warehouse"
    assert "nothing new" in dropline("ingest", str(tree), cache=other, home=address).stdout
    verified = dropline("verify", cache=other, home=address)
    assert verified.returncode == 0, verified.stdout
    refused = dropline("compact", cache=other, home=address)
    assert refused.returncode == 2
    assert "object-storage.md" in refused.stderr


def test_two_ingests_of_one_tree_at_once_show_every_trial_once_when_built(machine, tree, bare, monkeypatch):
    """The worst that can happen: one puts its last object after the other has looked and before it puts its own."""
    one, other = machine("one"), machine("other")
    assert take(one, tree).trials == take(other, tree).trials == TRIALS
    put = Bucket.put

    def overtaken(bucket, key, data):
        monkeypatch.setattr(Bucket, "put", put)
        mirror.push(other)
        put(bucket, key, data)

    monkeypatch.setattr(Bucket, "put", overtaken)
    mirror.push(one)
    third = machine("third")
    for home in (one, other):
        mirror.sync(home)
    assert Lake(one.lake).batches() == Lake(other.lake).batches() == Lake(third.lake).batches()
    assert set(trials(third).values()) == {2}, "both were pushed"
    assert set(shown(third).values()) == {1}
    assert len(shown(third)) == TRIALS
    built = subprocess.run([sys.executable, ROOT / "dropline.py", "--home", third.root, "build"], capture_output=True)
    assert built.returncode == 0, built.stderr
    with duckdb.connect(str(third.warehouse), read_only=True) as warehouse:
        assert warehouse.execute(SHOWN).fetchone() == (TRIALS, TRIALS)
    assert not verify(third).faults


def test_what_others_pushed_meanwhile_is_not_pushed_again(machine, tree, bare):
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
    lake = Lake(third.lake)
    newest = max(lake.tables("trials").filter(pa_ends(lake, "rate740.txt")).to_pylist(), key=lambda row: row["batch"])
    assert newest["achieved_rate"] == 738.5
    assert take(third, tree).ingested == 0, "the lake holds what lies in the tree"


def pa_ends(lake, ending):
    import pyarrow.compute as pc

    return pc.ends_with(lake.tables("trials")["source_path"], ending)


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
    steps = tables + 2  # the listing, and the manifest
    command = [sys.executable, "-c", KILLER, str(tree), address, str(tmp_path), str(steps + 1)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=300)
    monkeypatch.setenv("DROPLINE_CACHE", str(tmp_path / "reader"))
    seen = []
    for step in range(1, steps + 2):
        reader = Home.chosen(f"{address}/{step}")
        mirror.sync(reader)
        seen.append(len(trials(reader)))
        assert not verify(reader).faults
    assert set(seen) == {0}, (seen, done.stdout)
    for step in range(1, steps + 2):
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


def test_what_a_killed_push_left_goes_after_a_day(address, machine, monkeypatch):
    bucket, now = Bucket(address), mirror.datetime
    bucket.put("lake/batches/000000019999999999-20261120T134501Z/trials.parquet", b"half")
    bucket.put("lake/batches/notes/trials.parquet", b"of somebody else")
    machine("one")
    assert len(bucket.listing("lake")) == 2

    class Tomorrow(now):
        @classmethod
        def now(cls, zone):
            return now.now(zone) + 1.1 * mirror._ABANDONED

    monkeypatch.setattr(mirror, "datetime", Tomorrow)
    machine("one")
    assert [*bucket.listing("lake")] == ["lake/batches/notes/trials.parquet"]


def test_a_warehouse_is_published_everywhere_and_the_later_one_stays(machine, warehouse_home, published_home):
    one, other = machine("one"), machine("other")
    one.warehouse.hardlink_to(warehouse_home / "warehouse.duckdb")
    mirror.push(one)
    mirror.sync(other)
    assert other.warehouse.read_bytes() == one.warehouse.read_bytes()

    built = {home: mirror._built_at(home / "warehouse.duckdb") for home in (warehouse_home, published_home)}
    earlier, later = sorted(built, key=built.__getitem__)
    for home, made in ((one, later), (other, earlier)):
        home.warehouse.unlink()
        home.warehouse.hardlink_to(made / "warehouse.duckdb")
    mirror.push(one)
    mirror.push(other)
    assert other.warehouse.read_bytes() == one.warehouse.read_bytes() == (later / "warehouse.duckdb").read_bytes()


def test_a_follower_takes_over_what_is_published_and_ends_with_its_parent(address, machine, warehouse_home, tmp_path):
    one, other = machine("one"), machine("other")
    one.warehouse.hardlink_to(warehouse_home / "warehouse.duckdb")
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


def reach(address):
    mirror.sync(Home.chosen(address))


def test_what_goes_wrong_is_said_in_words_and_no_key_is_among_them(address, server, monkeypatch):
    said = []
    with pytest.raises(BucketUnusable, match="no such bucket") as raised:
        reach("s3://nowhere/team")
    said.append(str(raised.value))
    request = urllib.request.Request(f"{server}/moto-api/reset-auth", data=b"0", method="POST")
    urllib.request.urlopen(request)
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
        urllib.request.urlopen(urllib.request.Request(request.full_url, data=b"inf", method="POST"))
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
