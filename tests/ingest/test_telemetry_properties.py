"""What holds for any input of the readers of watched files, however it was cut, mixed or damaged."""

import gzip
import json
import math
import time
from collections.abc import Iterator
from datetime import UTC
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dropline.ingest.formats import Reject
from dropline.ingest.formats.text import instant, real
from dropline.ingest.telemetry import TELEMETRY_READERS, Sample, samples

CAPTURES = Path(__file__).parents[1] / "captures" / "watched"
NOON_S = 1795176000
MADE = (
    f'"Time","{{__name__=""up"", i=""a:1""}}","CPU"\n{NOON_S}000,1,45%\n{NOON_S}001,,1\n'.encode(),
    f"name,job,timestamp,value\nup,node,{NOON_S},1\nup,node,{NOON_S + 1},0\n".encode(),
    f'# TYPE a counter\na_bucket{{le="1"}} 5 # {{t="x"}} 1\na{{b="\\""}} 2 {NOON_S}.5\n# EOF\n'.encode(),
    b"Full label,a,b\nId,m1,m2\nLabel,CPU,Net\nUnit,Percent,Bytes\n2026/11/20 12:00:00,1,2\n2026/11/20 12:01:00,1,\n",
    json.dumps(
        {
            "status": "success",
            "data": {
                "resultType": "matrix",
                "result": [{"metric": {"__name__": "up"}, "values": [[NOON_S, "1"], [NOON_S + 1, "NaN"]]}],
            },
        }
    ).encode(),
    b'{"MetricDataResults":[{"Id":"m","Label":"x","Timestamps":["2026-11-20T12:00:00Z"],"Values":[1.0]}]}',
    b'{"Label":"CPU","Datapoints":[{"Timestamp":"2026-11-20T12:00:00Z","Average":1.0,"Unit":"Percent"}]}',
)
MOST_REJECTS = samples.MAX_REJECTS + 1


@cache
def texts() -> tuple[tuple[object, bytes], ...]:
    """All captures and what is made after documentation, each with its reader."""
    found = [path.read_bytes() for path in sorted(CAPTURES.iterdir())] + list(MADE)
    return tuple((watcher, data) for data in found for watcher in TELEMETRY_READERS if watcher.sniff(data[:65536]))


watchers = st.sampled_from(TELEMETRY_READERS)
known = st.deferred(lambda: st.sampled_from(texts()))
tokens = st.sampled_from(
    (
        *(b"\n", b"\r", b"\r\n", b"\0", b"\t", b",", b";", b'"', b"{", b"}", b"[", b"]", b"=", b" ", b":", b"-", b"#"),
        *(
            b"NaN",
            b"-inf",
            b"1e999",
            b"9" * 400,
            b"null",
            b"true",
            b"\xd9\xa3",
            b"\xff",
            b"\\ud800",
            b"\xf0\x9f\x98\x80",
        ),
        *(b'"utc": ', b'"utc":0,', b'"value":', b'"Timestamps":[', b"Udp: 1 2\n", b"Udp: A B\n", b"sep=;\n", b"Time,"),
        *(b"0001-01-01T00:00:00+14:00", b"9999-12-31T23:59:59-14:00", b"2026-11-20 12:00:00", b"1795176000000"),
        *(
            b"0100007F:14B4",
            b"# HELP a b\n",
            b"Full label,",
            b"name,timestamp,value\n",
            b'"statistics": [',
            b"\x1b[31m",
        ),
    )
)
edits = st.lists(st.tuples(st.integers(0, 16_000), st.integers(0, 300), tokens | st.binary(max_size=20)), max_size=6)


anything = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5) | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def places(document: object) -> Iterator[tuple[Any, Any]]:
    """Yield each (object or list, key or index) inside a JSON document."""
    keys = document.keys() if isinstance(document, dict) else range(len(document)) if isinstance(document, list) else ()
    for key in list(keys):
        yield document, key
        yield from places(document[key])


def check(watcher, data: bytes) -> list[Sample]:
    """Read `data`, check what every part promises, and return the samples."""
    parts = list(watcher.parse(data))
    found = [part for part in parts if isinstance(part, Sample)]
    rejects = [part for part in parts if isinstance(part, Reject)]
    assert len(found) + len(rejects) == len(parts)
    assert found or len(rejects) == 1
    assert len(rejects) <= MOST_REJECTS
    for sample in found:
        assert sample.at is None or sample.at.tzinfo is UTC
        assert isinstance(sample.value, float)
        assert math.isfinite(sample.value)
        assert sample.metric
        for text in sample[1:2] + sample[3:]:
            assert text is None or text.encode()
    for reject in rejects:
        assert reject.line >= 1
        assert reject.reason.encode()
        assert reject.hint
        assert len(reject.reason) < 500
    return found


@given(watchers, st.binary(max_size=1000))
@settings(max_examples=200, deadline=None)
def test_any_bytes_are_accounted_for(watcher, data) -> None:
    check(watcher, data)
    watcher.sniff(data)


@given(watchers, st.lists(known, min_size=1, max_size=3), edits)
@settings(max_examples=400, deadline=None)
def test_damaged_texts_are_accounted_for(watcher, chosen, changes) -> None:
    data = b"".join(data for _, data in chosen)
    for start, length, text in changes:
        data = data[:start] + text + data[start + length :]
    check(watcher, data)
    check(chosen[0][0], data)


@given(known, st.integers(0, 16_000))
@settings(max_examples=300, deadline=None)
def test_a_cut_text_gives_what_stood_before_the_cut(pair, end) -> None:
    watcher, data = pair
    whole, kept = check(watcher, data), check(watcher, data[: end % (len(data) + 1)])
    # A last row may lack its end of line there; between two rows nobody can tell that a lease file was cut.
    if watcher.NAME not in {"prometheus_csv", "cloudwatch", "kea_leases"}:
        assert kept == whole[: len(kept)]


@given(known, st.data())
@settings(max_examples=100, deadline=None)
def test_a_text_that_was_appended_to_gives_what_each_part_gives_alone(pair, draw) -> None:
    watcher, data = pair
    own = [text for other, text in texts() if other is watcher and text[:1] == data[:1]]
    second = draw.draw(st.sampled_from(own))
    data, second = (text if text.endswith(b"\n") else text + b"\n" for text in (data, second))
    assert check(watcher, data + second) == check(watcher, data) + check(watcher, second)


@given(known.filter(lambda pair: pair[1][:1] in b"[{"), st.integers(0, 10**6), anything)
@settings(max_examples=300, deadline=None)
def test_json_of_another_shape_is_accounted_for(pair, place, value) -> None:
    watcher, data = pair
    document = json.loads(data.splitlines()[0] if b'{"utc"' in data else data)
    nodes = list(places(document))
    holder, key = nodes[place % len(nodes)]
    holder[key] = value
    check(watcher, json.dumps(document).encode() + b"\n")


@given(known, st.integers(0, 10**6))
@settings(max_examples=100, deadline=None)
def test_damaged_gzip_is_accounted_for(pair, end) -> None:
    watcher, data = pair
    packed = gzip.compress(data)
    check(watcher, packed[: end % (len(packed) + 1)])


@given(st.one_of(st.floats(), st.integers(), st.text(max_size=40), st.none(), st.booleans()))
@settings(max_examples=300)
def test_numbers_and_instants_of_anything_never_raise(value) -> None:
    number, at = real(value), instant(value)
    assert number is None or math.isfinite(number)
    assert at is None or at.tzinfo is UTC


@pytest.mark.parametrize("watcher", TELEMETRY_READERS, ids=lambda watcher: watcher.NAME)
def test_hostile_text_takes_linear_time(watcher) -> None:
    head = next(data for other, data in texts() if other is watcher)
    pieces = (
        *(b"\r", b"\n", b"\x1b[", b"{", b'{"a":', b"[", b"1", b" ", b"a", b'"', b'""', b"\\", b",", b";", b"=", b"a="),
        *(b'a{b="', b'{b="c",', b'a{b="c"} 1 # {', b"a.b", b";a=b", b"Udp: a ", b"Ip6", b"1 2 ", b"1:2:", b"# HELP a"),
        *(b"a=1,", b"Time,", b"00000000", b"sep=", b"\xff", b'{"utc":"', b"2026-11-20T12:00:00Z,"),
    )
    started = time.process_time()
    for piece in pieces:
        text = piece * (100_000 // len(piece))
        check(watcher, head + text)
        check(watcher, text + b"\n")
        watcher.sniff(text[:65536])
    # Anything quadratic needs minutes for 100 kB.
    assert time.process_time() - started < 20
