"""Usual reports taken by columns: whatever this tells of a file, reading it alone tells, too."""

import json
import shutil
from collections import Counter
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_perfdhcp_properties import TOKENS

from dropline.ingest import loader, machines, ramps
from dropline.ingest.formats.perfdhcp_forms import START
from dropline.ingest.lake import Lake
from dropline.ingest.loader import ingest
from dropline.ingest.parallel import in_order
from dropline.ingest.schema import TABLES

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
RUN = EXAMPLES / "kea-2.2-ha" / "runs" / "v4_st_memfile_hot-standby"
EDITS = st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 8), st.sampled_from(TOKENS)), max_size=3)
ODD = st.sampled_from(
    (None, True, 0, 1, -1, 0.5, 2**40, 2**70, 1e300, "", "7", "%s", "Zürich", "2026-11-20T13:10:45Z", [], ["a"], {})
)


def edited(data, edits):
    for start, length, token in edits:
        data = data[:start] + token + data[start + length :]
    return data


def test_no_machine_fact_begins_like_a_report():
    assert machines.recognise("x", START) is None


def rows(folder, *, by_columns):
    """Return all rows of a lake with the files of a folder, and what the ingest said; the batch is left out."""
    with TemporaryDirectory() as home, pytest.MonkeyPatch.context() as patch:
        if not by_columns:
            patch.setattr(ramps.Ramps, "outcomes", lambda *_: {})
        patch.setattr(loader, "in_order", partial(in_order, workers=1))
        lake = Lake.create(Path(home) / "lake")
        said = ingest([folder], lake).text().replace(lake.batches()[-1], "")
        held = {name: lake.tables(name).drop_columns("batch").to_pylist() for name in TABLES}
        return {
            name: Counter(json.dumps(row, default=str, sort_keys=True) for row in held[name]) for name in held
        }, said


def test_the_lake_has_the_same_rows(monkeypatch):
    taken = []
    outcomes = ramps.Ramps.outcomes

    def counted(*given):
        found = outcomes(*given)
        taken.append(sum(outcome.raw["trials"] for outcome in found.values()))
        return found

    monkeypatch.setattr(ramps.Ramps, "outcomes", counted)
    assert rows(EXAMPLES, by_columns=True) == rows(EXAMPLES, by_columns=False)
    assert sum(taken) > 250


@given(
    st.lists(st.tuples(st.integers(0, 6), EDITS), max_size=3),
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 99), ODD), max_size=4),
    st.booleans(),
)
@settings(max_examples=20, deadline=None)
def test_a_ramp_with_damaged_files_gives_the_same_rows(reports, sidecars, described):
    with TemporaryDirectory() as name:
        tree = Path(name) / "kea"
        run = tree / "runs" / RUN.name / "rep1"
        shutil.copytree(RUN / "rep1", run)
        shutil.copytree(EXAMPLES / "kea-2.2-ha" / "configs", tree / "configs")
        if described:
            shutil.copy(EXAMPLES / "kea-2.2-ha" / "campaign.yaml", tree)
        outputs = sorted(run.glob("*.txt"))
        for number, edits in reports:
            output = outputs[number % len(outputs)]
            output.write_bytes(edited(output.read_bytes(), edits))
        for number, key, value in sidecars:
            sidecar = outputs[number % len(outputs)].with_suffix(".json")
            said = json.loads(sidecar.read_bytes())
            said[[*said][key % len(said)]] = value
            sidecar.write_text(json.dumps(said), "utf-8")
        assert rows(tree, by_columns=True) == rows(tree, by_columns=False)
