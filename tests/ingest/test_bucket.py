"""Homes on object storage, against an S3 server of this machine: a commit is seen whole, everywhere, and once."""

import itertools
import json
from collections import Counter
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import obstore
import pytest

from dropline.errors import DroplineError
from dropline.ingest import bucket as bucket_module
from dropline.ingest.backup import backup
from dropline.ingest.bucket import Bucket, DamagedObject
from dropline.ingest.compaction import compact
from dropline.ingest.lake import Lake
from dropline.ingest.loader import ingest
from dropline.ingest.verification import verify
from dropline.paths import Home
from tests.buckets import SECRET, ask
from tests.commands import dropline

TRIALS = 7


def lake_of(home):
    return Lake.shared(home.lake, home.address)


def trials(home):
    return Counter(lake_of(home).tables("trials", ["source_path"])["source_path"].to_pylist())


def keys(address, folder="lake/files"):
    return {each["path"] for page in obstore.list(Bucket(address)._store, folder) for each in page}


def beaten_to_it(monkeypatch, act):
    """Have `act` happen after a commit has looked, and before it puts its entry."""
    commit = Bucket.commit

    def later(bucket, root, entry):
        monkeypatch.setattr(Bucket, "commit", commit)
        act()
        return commit(bucket, root, entry)

    monkeypatch.setattr(Bucket, "commit", later)


def test_what_one_machine_commits_all_others_see_once(machine, tree, bare):
    one, other = machine("one"), machine("other")
    assert ingest([tree], lake_of(one)).trials == TRIALS
    assert ingest([tree], lake_of(other)).batch is None
    ingest([bare], lake_of(other))
    third = machine("third")
    assert trials(one) == trials(other) == trials(third)
    assert lake_of(one).batches() == lake_of(third).batches()
    assert set(trials(third).values()) == {1}
    assert not verify(third).faults


def test_of_two_that_commit_at_once_one_takes_the_next_number_without_what_the_other_brought(
    machine, tree, bare, monkeypatch
):
    one, other = lake_of(machine("one")), lake_of(machine("other"))
    beaten_to_it(monkeypatch, lambda: ingest([tree], other))
    assert ingest([bare, tree], one).trials == 2
    assert [name[:8] for name in one.batches()] == ["00000001", "00000002"]
    third = machine("third")
    assert (len(trials(third)), set(trials(third).values())) == (TRIALS + 2, {1})
    assert not verify(third).faults


def test_a_compaction_gives_way_to_a_faster_one_and_not_to_an_ingest(machine, tree, bare, monkeypatch):
    one, other = lake_of(machine("one")), lake_of(machine("other"))
    for path in (tree / "configs", tree / "machine", tree):
        ingest([path], one)
    other.pull()
    beaten_to_it(monkeypatch, lambda: ingest([bare], other))
    assert compact(one).merged == 3
    ingest([tree / "runs"], one)
    other.pull()
    beaten_to_it(monkeypatch, lambda: compact(other))
    assert compact(one).into == 0
    third = machine("third")
    assert len(lake_of(third).entries()) == 1
    assert sum(trials(third).values()) >= TRIALS + 2
    assert not verify(third).faults


def test_cut_off_at_any_request_nothing_is_seen_and_the_next_commits(machine, tree, monkeypatch):
    home, put, puts = machine("one"), obstore.put, []

    def at_most(most):
        puts.clear()

        def counted(*arguments, **options):
            puts.append(arguments)
            if len(puts) > most:
                raise KeyboardInterrupt
            return put(*arguments, **options)

        return counted

    for step in itertools.count():
        monkeypatch.setattr(obstore, "put", at_most(step))
        with suppress(KeyboardInterrupt):
            assert ingest([tree], lake_of(home)).trials == TRIALS
            break
        assert lake_of(machine(f"other{step}")).batches() == []
    assert step > 5
    assert not verify(machine("third")).faults


def test_an_answer_that_was_lost_is_no_reason_to_commit_twice(machine, tree, monkeypatch):
    home = machine("one")
    put = obstore.put

    def twice(store, key, data, **options):
        put(store, key, data, **options)
        return put(store, key, data, **options)

    monkeypatch.setattr(obstore, "put", twice)
    assert ingest([tree], lake_of(home)).batch.startswith("00000001-")
    monkeypatch.undo()
    assert len(Lake(home.lake).entries()) == 1


def test_a_damaged_or_missing_object_is_named(address, machine, tree):
    ingest([tree], lake_of(machine("one")))
    key = next(key for key in keys(address) if key.endswith("trials.parquet"))
    store = Bucket(address)._store
    data = bytes(obstore.get(store, key).bytes())
    obstore.put(store, key, bytes(len(data)))
    with pytest.raises(DamagedObject, match=r"trials\.parquet: .*SHA-256"):
        machine("other")
    obstore.delete(store, key)
    with pytest.raises(DamagedObject, match=r"trials\.parquet: is missing"):
        machine("third")
    obstore.put(store, key, data)
    assert sum(trials(machine("third")).values()) == TRIALS


def test_what_rots_in_a_copy_is_fetched_anew(machine, tree):
    home = machine("one")
    ingest([tree], lake_of(home))
    file = Lake(home.lake).files("trials")[1]
    file.write_bytes(b"PAR1 torn")
    assert verify(home, set_aside=True).set_aside == []
    assert not verify(home).faults
    assert sum(trials(machine("other")).values()) == TRIALS


def test_what_is_replaced_goes_from_the_bucket_a_day_later(address, machine, tree, bare, monkeypatch):
    lake = lake_of(machine("one"))
    ingest([tree], lake)
    ingest([bare], lake)
    before = keys(address)
    compact(lake)
    assert before < keys(address)
    monkeypatch.setattr(bucket_module, "_ABANDONED", timedelta(0))
    compact(lake)
    (entry,) = lake.entries()
    assert keys(address) == {f"lake/{part.path}" for part in entry.files.values()}


def test_a_backup_of_a_shared_home_is_an_ordinary_one(machine, tree, bare, tmp_path):
    home = machine("one")
    ingest([tree], lake_of(home))
    copy = Home.chosen(tmp_path / "backup")
    backup(home, copy.root)
    ingest([bare], Lake(copy.lake))
    assert (len(Lake(copy.lake).batches()), len(lake_of(home).batches())) == (2, 1)


def test_the_command_line_works_on_a_bucket(address, machine, tree, bare):
    machine("one")
    assert "2 trials" in dropline("ingest", bare, home=address).stdout
    machine("other")
    assert "7 trials" in dropline("ingest", tree, home=address).stdout
    said = dropline("status", home=address).stdout
    assert address in said
    assert "2 batches" in said
    verified = dropline("verify", home=address)
    assert "no faults" in verified.stdout.splitlines()[-1], verified.stderr
    machine("one")
    built = dropline("build", home=address)
    assert built.code == 0, built.stderr
    asked = dropline("sql", "select count(*) as trials from trials", "-f", "json", home=address)
    assert json.loads(asked.stdout) == [{"trials": 9}]


def reach(address):
    lake_of(Home.chosen(address))


def test_what_goes_wrong_is_said_in_words_and_no_key_is_among_them(address, server, monkeypatch):
    said = []
    with pytest.raises(DroplineError, match="no such bucket") as raised:
        reach("s3://nowhere/team")
    said.append(str(raised.value))
    ask(server, "POST", "/moto-api/reset-auth", "0")
    try:
        with pytest.raises(DroplineError, match="AWS_ACCESS_KEY_ID") as raised:
            reach(address)
        said.append(str(raised.value))
    finally:
        ask(server, "POST", "/moto-api/reset-auth", "inf")
    monkeypatch.setenv("DROPLINE_S3_ENDPOINT", "http://127.0.0.1:1")
    with pytest.raises(DroplineError, match="cannot be reached") as raised:
        reach(address)
    said.append(str(raised.value))
    assert not [text for text in said if SECRET in text or "somebody" in text or "Traceback" in text]


def test_keys_come_from_a_profile_too(address, machine, tree, tmp_path, monkeypatch):
    profiles = tmp_path / "credentials"
    profiles.write_text(f"[lab]\naws_access_key_id = somebody\naws_secret_access_key = {SECRET}\n")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(profiles))
    monkeypatch.setenv("AWS_PROFILE", "lab")
    assert ingest([tree], lake_of(machine("one"))).trials == TRIALS


def test_a_bucket_of_before_the_log_is_refused_with_what_to_do(address):
    obstore.put(Bucket(address)._store, "lake/batches/00000001-20261120T134501Z/manifest.json", b"{}")
    with pytest.raises(DroplineError, match=r"docs/how-to/object-storage\.md"):
        reach(address)


@pytest.mark.parametrize(
    "named",
    ["s3://", "s3://b", "s3://key:secret@bucket/x", "s3://bucket/a/../b", "s3://bucket/x?region=a", "s3://Bucket/x y"],
)
def test_an_address_that_is_none_is_refused_without_being_repeated(named):
    with pytest.raises(DroplineError) as raised:
        Home.chosen(named)
    assert "secret" not in str(raised.value)


def test_an_address_names_one_copy_however_it_is_written(monkeypatch):
    homes = [Home.chosen(named) for named in ("s3://bucket/a", "s3://bucket/a/", Path("s3://bucket/a"))]
    assert len(set(homes)) == 1
    assert homes[0].name == "s3://bucket/a"
    monkeypatch.setenv("DROPLINE_S3_ENDPOINT", "http://127.0.0.1:9000")
    assert Home.chosen("s3://bucket/a").root != homes[0].root, "another server's bucket of that name"


@pytest.mark.parametrize("endpoint", ["127.0.0.1:9000", "http://key:secret@host", "ftp://host", "http://host/bucket"])
def test_an_endpoint_that_is_none_is_refused(address, monkeypatch, endpoint):
    monkeypatch.setenv("DROPLINE_S3_ENDPOINT", endpoint)
    with pytest.raises(DroplineError, match="expected http://host:port") as raised:
        reach(address)
    assert "secret" not in str(raised.value)
