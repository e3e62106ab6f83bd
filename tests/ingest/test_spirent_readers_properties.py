"""What holds for any input of the readers of throughput tools, however it was cut, mixed or damaged."""

import json
import re
import time

from accounted import accounted
from hypothesis import given, settings
from hypothesis import strategies as st
from test_spirent_readers import CAPTURES, FILES, READERS, RECEIVED, SENT

from dropline.ingest.formats import Report, testcenter_periodic, testcenter_results

SECONDS = 5
SAMPLES = {name: (reader, (CAPTURES / name).read_bytes()) for name, (reader, _) in FILES.items()}
SAMPLES |= {
    "periodic results sent": (testcenter_periodic, SENT.encode()),
    "periodic results received": (testcenter_periodic, RECEIVED.encode()),
}
# A database is no text: two of them one behind the other are the first one.
TEXTS = {name: sample for name, sample in SAMPLES.items() if sample[0] is not testcenter_results}

# Every row is a trial.
ROW_TABLES = (
    *("2544-Tput-Summary-1_2012-05-14_10-20-30.csv", "vsperf_Rfc2544Tput.csv", "nfvi_traffic_summary.csv"),
    *("ixnetwork_AggregateResults.csv", "vsperf_result_0_phy2phy_tput_p2p.csv"),
)

readers = st.sampled_from(READERS)
samples = st.sampled_from(sorted(SAMPLES))
texts = st.sampled_from(sorted(TEXTS))
tokens = st.sampled_from(
    (
        *(b",", b"\n", b"\r", b'"', b"{", b"}", b"[", b"]", b"\0", b"-1", b"NaN", b"1e999", b"N/A", b"null"),
        *(b"99999999999999999999", b"Seconds Elapsed,", b"VLAN,1\n", b"Trial,Framesize,Iteration\n"),
        *(b"-Output {{1 2} {3", b"=== Periodic Results: x Record #1\n", b"\xff\xfe", b"\x1f\x8b", b'"\\ud800"'),
    )
)
edits = st.lists(st.tuples(st.integers(0, 6000), st.integers(0, 300), tokens | st.binary(max_size=20)), max_size=6)


def check(reader, data):
    """Read `data` in time and check what every part promises."""
    before = time.monotonic()
    parts = accounted(reader, data)
    assert time.monotonic() - before < SECONDS
    for facts in (part.facts for part in parts if isinstance(part, Report)):
        assert all(facts[name] is None or facts[name] >= 0 for name in ("sent", "received", "dropped", "duration_s"))
        assert any(facts[name] is not None for name in ("sent", "received", "achieved_rate"))
    return parts


@given(readers, st.binary(max_size=500) | st.text(max_size=500).map(str.encode))
@settings(max_examples=300, deadline=None)
def test_any_bytes_are_accounted_for(reader, data):
    reader.sniff(data)
    check(reader, data)


@given(samples, edits)
@settings(max_examples=250, deadline=None)
def test_damaged_captures_are_accounted_for(sample, changes):
    reader, data = SAMPLES[sample]
    for start, length, text in changes:
        data = data[:start] + text + data[start + length :]
    reader.sniff(data)
    check(reader, data)


@given(samples, st.integers(0, 50_000))
@settings(max_examples=150, deadline=None)
def test_cut_captures_give_no_more_trials_than_whole_ones(sample, end):
    reader, data = SAMPLES[sample]
    found = [part for part in check(reader, data[:end]) if isinstance(part, Report)]
    assert len(found) <= FILES.get(sample, (reader, 1))[1]


@given(st.sampled_from(ROW_TABLES), st.integers(0, 10_000))
@settings(max_examples=150, deadline=None)
def test_row_of_a_cut_table_is_as_in_the_whole_one_or_not_complete(name, end):
    reader, data = SAMPLES[name]
    found, whole = ([part for part in reader.parse(text) if isinstance(part, Report)] for text in (data[:end], data))
    for cut, full in zip(found, whole, strict=False):
        assert not cut.facts["completed"] or cut.facts == full.facts


@given(texts, st.integers(1, 6000))
@settings(max_examples=150, deadline=None)
def test_capture_behind_a_cut_one_is_read(sample, end):
    reader, data = SAMPLES[sample]
    alone = [part for part in reader.parse(data) if isinstance(part, Report)]
    parts = check(reader, data[:end].rstrip(b"\n") + b"\n" + data)
    if reader.sniff(data[:end]):
        reports = [part for part in parts if isinstance(part, Report)]
        assert reports
        assert reports[-1].facts["achieved_rate"] == alone[-1].facts["achieved_rate"]


@given(texts, st.integers(2, 4))
@settings(max_examples=60, deadline=None)
def test_appended_captures_give_their_trials_as_often(sample, times):
    reader, data = SAMPLES[sample]
    alone = [part.facts["achieved_rate"] for part in reader.parse(data)]
    parts = check(reader, (data.rstrip() + b"\n") * times)
    found = [part.facts["achieved_rate"] for part in parts if isinstance(part, Report)]
    assert found == alone * times


values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
DOCUMENTS = [name for name in sorted(TEXTS) if name.endswith(".json")]


@given(st.sampled_from(DOCUMENTS), st.data())
@settings(max_examples=200, deadline=None)
def test_any_value_may_stand_anywhere_in_a_document(sample, data):
    reader, text = SAMPLES[sample]
    node = document = json.loads(text)
    for _ in range(data.draw(st.integers(0, 5))):
        children = [key for key, child in node.items() if isinstance(child, dict)]
        if not children:
            break
        node = node[data.draw(st.sampled_from(children))]
    if node:
        node[data.draw(st.sampled_from(sorted(node)))] = data.draw(values)
    check(reader, json.dumps(document).encode())


NUMBERS = re.compile(rb"\d+(?:\.\d+)?")


@given(texts, st.data())
@settings(max_examples=150, deadline=None)
def test_any_number_may_be_huge_negative_or_none(sample, data):
    reader, text = SAMPLES[sample]
    matches = list(NUMBERS.finditer(text))
    for _ in range(data.draw(st.integers(1, 4))):
        match = data.draw(st.sampled_from(matches))
        wrong = data.draw(st.sampled_from([b"-5", b"1e308", b"9" * 400, b"NaN", b"", b"0", b"-0.0", b"1e-320"]))
        text = text[: match.start()] + wrong + text[match.end() :]
        matches = list(NUMBERS.finditer(text))
    check(reader, text)
