"""Archives are folders: their members are kept as files are, and nothing in one can do harm."""

import gzip
import io
import os
import tarfile
import zipfile

import pytest

from dropline.ingest import archives
from dropline.ingest.files import IntakeError
from dropline.ingest.loader import ingest
from dropline.ingest.show import show
from tests.lakes import leftovers

ENDINGS = ["tar", "tar.gz", "tgz", "tar.xz", "tbz2", "zip"]


def pack(folder, archive, *, under=""):
    """Pack all files of a folder as its users would."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
            for file in files:
                made.write(file, under + str(file.relative_to(folder)))
        return
    modes = {".tar": "w", ".xz": "w:xz", ".tbz2": "w:bz2"}
    with tarfile.open(archive, modes.get(archive.suffix, "w:gz")) as made:
        for file in files:
            made.add(file, under + str(file.relative_to(folder)))


@pytest.fixture
def sent(tmp_path):
    """An empty folder for archives to be ingested from."""
    (tmp_path / "sent").mkdir()
    return tmp_path / "sent"


def of(lake, table, *columns):
    return [tuple(row.values()) for row in lake.tables(table, columns).select(columns).to_pylist()]


def reason(summary):
    (reject,) = summary.rejects
    assert reject["hint"]
    return reject["reason"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_members_of_an_archive_are_kept_as_files_of_a_folder(ending, tree, lake, sent):
    pack(tree, sent / f"kea.{ending}")
    packed, plain = ingest([sent], lake), sorted(of(lake, "raw_files", "source_path", "sha256"))
    assert (packed.trials, packed.campaigns, packed.rejects) == (7, {"kea-2.2-ha"}, [])
    assert ingest([tree], lake).batch is None, "the folder itself is known by that"
    assert sorted(of(lake, "raw_files", "source_path", "sha256")) == plain
    again = ingest([sent], lake)
    assert (again.batch, again.seen, again.skipped) == (None, packed.seen, packed.seen)
    assert not leftovers(lake), "what was unpacked is gone"


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_member_is_found_below_the_name_of_its_archive(ending, bare, lake, sent, tmp_path):
    pack(bare / "rep1", tmp_path / f"run2.{ending}")
    (tmp_path / f"run2.{ending}").rename(sent / f"run2.{ending}")
    for sidecar in bare.rglob("*.json"):
        sidecar.unlink()
    pack(bare / "rep1", sent / f"run2.{ending}")
    ingest([sent], lake)
    assert sorted(of(lake, "trials", "source_path", "context_path", "repetition", "offered_rate")) == [
        (f"run2.{ending}/rate1050.txt", ".", 2, 1050.0),
        (f"run2.{ending}/rate740.txt", ".", 2, 740.0),
    ]


def test_it_is_unpacked_where_the_next_ingest_sweeps_if_this_one_is_killed(bare, lake, sent, monkeypatch):
    copy, folders = archives.copyfileobj, []
    monkeypatch.setattr(archives, "copyfileobj", lambda *given: folders.append(leftovers(lake)) or copy(*given))
    pack(bare, sent / "runs.tgz")
    assert ingest([sent], lake).trials == 2
    assert all(folders)


def test_an_archive_that_is_named_alone_is_the_folder(bare, lake, tmp_path):
    pack(bare, tmp_path / "October.tgz")
    for sidecar in bare.rglob("*.json"):
        sidecar.unlink()
    pack(bare, tmp_path / "October.tgz")
    summary = ingest([tmp_path / "October.tgz"], lake)
    assert (summary.seen, summary.trials, summary.campaigns) == (2, 2, {"october"})
    assert sorted(of(lake, "trials", "source_path")) == [("rep1/rate1050.txt",), ("rep1/rate740.txt",)]


def test_a_member_that_changed_supersedes_even_if_its_size_and_time_did_not(bare, lake, tmp_path):
    archive = tmp_path / "sent" / "runs.tar"
    archive.parent.mkdir()
    output = bare / "rep1" / "rate740.txt"
    pack(bare, archive)
    os.utime(archive, (1_700_000_000, 1_700_000_000))
    ingest([archive.parent], lake)
    status = output.stat()
    output.write_bytes(output.read_bytes().replace(b"drops ratio", b"drops RATIO", 1))
    os.utime(output, ns=(status.st_atime_ns, status.st_mtime_ns))
    pack(bare, archive)
    summary = ingest([archive.parent], lake)
    assert (summary.ingested, summary.skipped) == (1, 3)


def test_an_archive_in_an_archive_is_one_folder_more_up_to_a_limit(bare, lake, tmp_path):
    folder = bare / "rep1"
    for level in range(1, 5):
        inner = tmp_path / str(level)
        inner.mkdir()
        pack(folder, inner / "in.zip")
        folder = inner
    assert ingest([tmp_path / "3"], lake).ingested == 4
    assert ("in.zip/in.zip/in.zip/rate740.txt",) in of(lake, "raw_files", "source_path")
    assert reason(ingest([tmp_path / "4"], lake)) == "an archive within 3 others"


def test_what_leads_out_of_an_archive_or_is_no_file_is_ignored_and_counted(bare, lake, tmp_path):
    folder = tmp_path / "sent"
    folder.mkdir()
    text = (bare / "rep1" / "rate740.txt").read_bytes()
    with tarfile.open(folder / "evil.tgz", "w:gz") as made:
        for name in ("../out.txt", "/abs.txt", "a/../../b.txt", "rate740.txt", "rate740.txt", "x" * 300, "d/e", "d"):
            member = tarfile.TarInfo(name)
            member.size = len(text)
            made.addfile(member, io.BytesIO(text))
        for name, kind in (("sym", tarfile.SYMTYPE), ("hard", tarfile.LNKTYPE), ("dev", tarfile.CHRTYPE)):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "/etc/passwd"
            made.addfile(member)
        pipe = tarfile.TarInfo("pipe")
        pipe.type = tarfile.FIFOTYPE
        made.addfile(pipe)
    with zipfile.ZipFile(folder / "evil.zip", "w") as made:
        made.writestr("../out.txt", text)
        link = zipfile.ZipInfo("link")
        link.external_attr = 0o120777 << 16
        made.writestr(link, "/etc/passwd")
        made.writestr("rate740.txt", text)
    summary = ingest([folder], lake)
    assert (summary.seen, summary.ingested, summary.rejected) == (15, 3, 0)
    told = [(each.path.removeprefix(f"{folder}/"), each.rule) for each in summary.ignored]
    assert sorted(told) == sorted(
        [
            *((f"evil.tgz/{name}", archives.ELSEWHERE) for name in ("../out.txt", "/abs.txt", "a/../../b.txt")),
            *((f"evil.tgz/{name}", archives.NO_FILE) for name in ("sym", "hard", "dev", "pipe")),
            ("evil.tgz/rate740.txt", archives.TWICE),
            *((f"evil.tgz/{name}", archives.NO_NAME) for name in ("x" * 300, "d")),
            ("evil.zip/../out.txt", archives.ELSEWHERE),
            ("evil.zip/link", archives.NO_FILE),
        ]
    )
    assert sorted(of(lake, "raw_files", "source_path")) == [
        ("evil.tgz/d/e",),
        ("evil.tgz/rate740.txt",),
        ("evil.zip/rate740.txt",),
    ]
    assert sorted(path.name for path in tmp_path.rglob("*.txt") if "bare" not in path.parts) == []


def zeros(archive, size):
    """Make an archive of one member that holds nothing but zeros."""
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made, made.open("zeros", "w") as member:
            for _ in range(size // 2**20):
                member.write(bytes(2**20))
        return
    with gzip.open(archive, "wb") as made:
        header = tarfile.TarInfo("zeros")
        header.size = size
        made.write(header.tobuf())
        for _ in range(size // 2**20):
            made.write(bytes(2**20))
        made.write(bytes(1024))


@pytest.mark.parametrize("ending", ["tgz", "zip"])
def test_a_bomb_is_refused_before_it_goes_off(ending, lake, sent):
    zeros(sent / f"bomb.{ending}", 40 * 2**20)
    assert reason(ingest([sent], lake)) == "an archive that unpacks to more than 200 times its size"
    assert of(lake, "raw_files", "source_path", "status") == [(f"bomb.{ending}", "rejected")]


def test_a_header_that_would_fill_the_memory_is_refused(lake, sent):
    with gzip.open(sent / "bomb.tgz", "wb") as made:
        header = tarfile.TarInfo("x")
        header.type, header.size = tarfile.XHDTYPE, 2**33
        made.write(header.tobuf())
        made.write(bytes(2**20))
    assert "damaged or truncated" in reason(ingest([sent], lake))


@pytest.mark.parametrize("ending", ENDINGS)
def test_more_members_than_the_limit_or_more_bytes_are_refused(ending, bare, lake, sent, monkeypatch):
    pack(bare, sent / f"many.{ending}")
    monkeypatch.setattr(archives, "MOST_MEMBERS", 3)
    assert reason(ingest([sent], lake)) == "an archive of more than 3 members"
    monkeypatch.setattr(archives, "MOST_MEMBERS", 4)
    monkeypatch.setattr(archives, "MOST_BYTES", 2000)
    assert "MiB unpacked" in reason(ingest([sent], lake))
    assert of(lake, "trials", "source_path") == []


def test_a_zip_file_whose_list_of_members_would_fill_the_memory_is_refused(lake, sent, monkeypatch):
    monkeypatch.setattr(archives, "_DIRECTORY_BYTES", 100)
    with zipfile.ZipFile(sent / "many.zip", "w") as made:
        for number in range(10):
            made.writestr(str(number), "")
    assert "members" in reason(ingest([sent], lake))


@pytest.mark.parametrize("ending", ENDINGS)
def test_of_a_damaged_or_cut_archive_nothing_is_taken(ending, bare, lake, sent):
    archive = sent / f"runs.{ending}"
    pack(bare, archive)
    whole = archive.read_bytes()
    middle = len(whole) // 2
    archive.write_bytes(whole[:middle])
    assert "damaged or truncated" in reason(ingest([sent], lake))
    if ending != "tar":  # a plain one has no checksum of what it holds
        turned = bytes(255 - byte for byte in whole[middle : middle + 50])
        archive.write_bytes(whole[:middle] + turned + whole[middle + 50 :])
        assert "damaged or truncated" in reason(ingest([sent], lake))
    assert of(lake, "trials", "source_path") == []
    archive.write_bytes(whole)
    assert ingest([sent], lake).trials == 2


def test_a_password_is_not_asked_for(lake, sent):
    archive = sent / "secret.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("rate740.txt", "x")
    data = bytearray(archive.read_bytes())
    data[6] |= 1  # the flag of an encrypted member, in its header and in the list
    data[data.find(b"PK\x01\x02") + 8] |= 1
    archive.write_bytes(data)
    assert "encrypted" in reason(ingest([sent], lake))


def test_a_member_that_is_too_large_is_refused_alone(bare, lake, sent, monkeypatch):
    (bare / "large.txt").write_bytes(os.urandom(5000))
    pack(bare, sent / "runs.zip")
    monkeypatch.setattr("dropline.ingest.files.MAX_BYTES", 4000)
    summary = ingest([sent], lake)
    assert reason(summary) == "5000 bytes are more than the limit of 4000"
    assert summary.trials == 2


@pytest.mark.parametrize("name", ["results.txt", "rate740.txt.gz", "results"])
def test_an_archive_under_another_name_is_never_read_as_one_text(name, bare, lake, sent, tmp_path):
    pack(bare, tmp_path / ("x.tgz" if name.endswith("gz") else "x.tar"))
    next(tmp_path.glob("x.*")).rename(sent / name)
    summary = ingest([sent], lake)
    assert (reason(summary), summary.trials) == ("an archive or a compressed file", 0)


def test_a_file_that_only_has_the_name_of_an_archive_is_what_it_holds(bare, lake):
    (bare / "rep1" / "rate740.txt").rename(bare / "rep1" / "rate740.tar")
    (bare / "empty.zip").touch()
    summary = ingest([bare], lake)
    assert (summary.trials, reason(summary)) == (2, "the file is empty")


def test_names_in_an_archive_obey_the_rules_of_a_folder(bare, lake, sent):
    (bare / "README.md").write_text("x")
    (bare / ".hidden").write_text("x")
    (bare / "campaign.yaml").write_text("campaign: packed\npath: rep{repetition}/rate{offered_rate}.txt\n")
    pack(bare, sent / "runs.tgz", under="runs/")
    summary = ingest([sent], lake)
    assert (summary.seen, summary.ingested, len(summary.ignored), summary.campaigns) == (7, 5, 2, {"packed"})
    assert set(of(lake, "trials", "campaign", "repetition")) == {("packed", 1)}
    (bare / "campaign.yaml").write_text("campain: x\n")
    pack(bare, sent / "runs.tgz", under="runs/")
    summary = ingest([sent], lake)
    assert (summary.ingested, summary.rejected) == (0, 6)
    assert "sent/runs.tgz/runs/campaign.yaml, line 1: campain" in summary.text()


def test_an_archive_among_the_files_of_a_campaign_does_not_hide_them_from_show(bare, tmp_path):
    pack(bare, bare / "runs.tgz")
    (bare / "campaign.yaml").write_text("campaign: a\n")
    assert show(bare / "rep1" / "rate740.txt").trials
    with pytest.raises(IntakeError, match="an archive; an ingest reads its members"):
        show(bare / "runs.tgz")
