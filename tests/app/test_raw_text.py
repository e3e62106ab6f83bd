"""The raw text behind a trial."""

import gzip

import pytest

from dropline.app import raw_text
from dropline.paths import Home


def test_a_trial_leads_to_the_bytes_of_its_file_if_a_lake_holds_them(warehouse_home, warehouse, tmp_path):
    trials = warehouse.query(
        "select campaign, source_path, source_sha256, batch from trials order by hash(trial_id) limit 5"
    ).to_pylist()
    for trial in trials:
        content = raw_text.kept(Home(warehouse_home), trial)
        assert content is not None
        assert content.startswith(b"Running: perfdhcp")
        elsewhere = trial | {"batch": "99999999-later"}  # a batch that read the kept bytes anew
        assert raw_text.kept(Home(warehouse_home), elsewhere) == content
        assert raw_text.kept(Home(tmp_path), trial) is None
        for name in ("campaign", "source_path", "source_sha256"):
            assert raw_text.kept(Home(warehouse_home), trial | {name: "another"}) is None


def test_bytes_that_are_no_text_are_replaced():
    assert raw_text.part(b"\xff\x00<b>", None).text == "\ufffd\x00<b>"


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize(
    ("lines", "line", "first", "shown"),
    [
        (3, 2, 1, 3),
        (raw_text.MOST_LINES, 900, 1, raw_text.MOST_LINES),
        (5000, 4000, 4000, 1001),
        (5000, None, 1, raw_text.MOST_LINES),
    ],
    ids=["short", "just short enough", "long, from the trial on", "long, from the beginning"],
)
def test_a_long_text_is_cut_where_the_trial_begins(pack, lines, line, first, shown):
    text = "".join(f"line {number}\r\n" for number in range(1, lines + 1))
    part = raw_text.part(pack(text.encode()), line)
    assert (part.first, part.lines) == (first, lines)
    assert part.text.splitlines()[0] == f"line {first}"
    assert len(part.text.splitlines()) == shown
