"""Whether any reader may claim a file is seen for many at once, and never otherwise than by asking each."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dropline.ingest import files, formats
from dropline.ingest.files import HEAD_BYTES, survey
from dropline.ingest.formats import begins_like_json, contents, fields

ROOT = Path(__file__).parents[2]
REPORT = ROOT / "examples/kea-2.2-ha/runs/v4_mt4_memfile_load-balancing/rep2/rate740.txt"
HEADS = {
    str(file.relative_to(ROOT)): file.read_bytes()[:HEAD_BYTES]
    for folder in ("tests/captures", "examples")
    for file in sorted((ROOT / folder).rglob("*"))
    if file.is_file()
}
OF_JSON = {name: head for name, head in HEADS.items() if begins_like_json(head)}
CLAIMED = {name: head for name, head in OF_JSON.items() if formats.recognise(head)}


def in_question(heads):
    return formats.in_question(heads, files.IN_JSON)


def test_every_file_that_a_reader_claims_is_in_question():
    asked = dict(zip(HEADS, in_question([*HEADS.values()]), strict=True))
    assert all(asked[name] for name in CLAIMED)
    assert all(asked[name] for name in HEADS.keys() - OF_JSON.keys())
    readers = {reader.NAME for head in CLAIMED.values() if (reader := formats.recognise(head))}
    assert readers >= {"csit", "flame", "trex", "nfvbench"}


@pytest.mark.parametrize("key", fields.OUTPUTS)
def test_an_output_in_json_is_in_question_but_not_its_path(key):
    text = REPORT.read_text("utf-8")
    for value in (text, text.splitlines()):
        head = json.dumps({"rate": 500, key: value}, indent=1).encode()[:HEAD_BYTES]
        assert contents.behind(head)
        assert in_question([head]) == [True]
    assert in_question([json.dumps({"rate": 500, key: "rep1/rate500.txt"}).encode()]) == [False]


def test_sidecars_are_not_in_question():
    sidecars = [head for name, head in OF_JSON.items() if name.startswith("examples/kea-2.2-ha/runs/")]
    assert len(sidecars) > 10
    assert not any(in_question(sidecars))
    assert in_question([]) == []


def test_what_is_coloured_is_in_question():
    text = '{"a": 1}\n\x1b[1mTotal \x1b[0mrequests:\t\t5'
    assert in_question([text.encode(), b'{"a": 1}', b"Total", b""]) == [True, False, True, True]


@given(st.sampled_from(sorted(CLAIMED)), st.integers(0, 4000), st.integers(0, 40), st.binary(max_size=3))
def test_a_damaged_file_that_is_still_claimed_is_in_question(name, place, length, put):
    head = CLAIMED[name]
    head = head[:place] + put + head[place + length :]
    assert in_question([head]) == [True] or not formats.recognise(head)


@pytest.mark.parametrize("held_bytes", [0, 10_000])
def test_files_are_the_same_however_many_heads_are_held_at_once(tree, monkeypatch, held_bytes):
    at_once = [(item.path, item.kind, item.reject, item.reader, item.fact) for item in survey([tree])]
    monkeypatch.setattr(files, "_HEADS_BYTES", held_bytes)
    assert [(item.path, item.kind, item.reject, item.reader, item.fact) for item in survey([tree])] == at_once
