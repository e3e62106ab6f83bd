"""Every reader's result for every capture, and for files made after documentation: a line each in readings.jsonl.

The files in made/ are named after what they show. `python tests/ingest/test_readings.py` rewrites readings.jsonl; its
diff shows what a change to a reader does.
"""

import hashlib
import json
from itertools import groupby
from math import fsum
from pathlib import Path

import pyarrow as pa
import pytest

from dropline.ingest import figures, formats, machines, servers, telemetry, unsupported
from dropline.ingest.files import HEAD_BYTES
from dropline.ingest.formats import Reject, Rejected
from dropline.ingest.machines import SOURCES, FactError

TESTS = Path(__file__).parents[1]
READINGS = Path(__file__).parent / "readings.jsonl"
HARDWARE = "captures/perfdhcp/hardware"
FEW = 4  # parts of a file that are listed one by one


def files():
    found = (path for folder in ("captures", "ingest/made") for path in (TESTS / folder).rglob("*"))
    return sorted(
        path.relative_to(TESTS).as_posix()
        for path in found
        if path.is_file() and (path.parent.name != "odd" or path.suffix == ".txt")
    )


def reading(name):
    """Return what each reader that claims a file makes of it."""
    data = (TESTS / name).read_bytes()
    head = data[:HEAD_BYTES]
    found = {each.NAME: short([*map(part, each.parse(data))]) for each in formats.READERS if each.sniff(head)}
    found |= {
        each.NAME: short([*samples(each.parse(data))]) for each in telemetry.TELEMETRY_READERS if each.sniff(head)
    }
    if figures.recognise(head):
        found["figures"] = [*map(figure, figures.parse(data))]
    if server := servers.recognise(head):
        try:
            row = {column: value for column, value in server.parse(data).items() if value is not None}
            found["server"] = row | {"settings": json.loads(row["settings"]) if "made" in name else "those of the file"}
        except Rejected as error:
            found["server"] = part(error.reject)
    if what := servers.describe(head):
        found["described"] = what
    kind = machines.recognise(name, head)
    if kind:
        found["known by"] = "content" if machines.recognise("file.log", head) == kind else "name"
    if kind in SOURCES and (parse := SOURCES[kind].parse):
        try:
            found[kind] = parse(data)
        except FactError as error:
            found[kind] = str(error)
    if not found and (what := unsupported.describe(head)):
        found["unsupported"] = what
    return json.loads(json.dumps(found, default=str))


def reading_of_the_machine():
    contents = {path.name: path.read_bytes() for path in (TESTS / HARDWARE).iterdir()}
    row, rejects = machines.host(contents)
    return json.loads(json.dumps({**row, "facts": json.loads(row["facts"]), "rejects": rejects}))


def part(one):
    if isinstance(one, Reject):
        return one.line, one.reason, one.hint
    said = {**one.facts, **json.loads(one.facts.get("details") or "{}"), "details": None, "warnings": one.warnings}
    return {
        **{name: value for name, value in said.items() if value not in (None, [])},
        **({"exchanges": one.exchanges} if one.exchanges else {}),
        **({"intervals": pa.table(one.intervals).to_pylist()} if one.intervals.get("position") else {}),
        **series((each.metric, each.label, each.unit, each.t_s, each.value) for each in one.observations),
    }


def figure(one):
    return part(one) if isinstance(one, Reject) else {name: value for name, value in one.items() if value is not None}


def samples(parts):
    for are_rejects, run in groupby(parts, lambda one: isinstance(one, Reject)):
        if are_rejects:
            yield from map(part, run)
        else:
            yield series((s.metric, s.label, s.unit, time_and_host(s), s.value) for s in run)


def time_and_host(sample):
    return " ".join(str(each) for each in (sample.at, sample.host) if each) or None


def series(rows):
    """Return the value of each metric, or how many values it has, their sum, and the first and last time."""
    found = {}
    for metric, label, unit, at, value in rows:
        name = metric if label is None or label.isdigit() else f"{metric} of {label}"
        found.setdefault(f"{name} in {unit}", []).append((at, value))
    return {
        name: values[0][1]
        if len(values) == 1
        else (len(values), fsum(v for _, v in values), values[0][0], values[-1][0])
        for name, values in found.items()
    }


def short(parts):
    if len(parts) <= FEW:
        return parts
    digest = hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()
    return [parts[0], f"{len(parts)} parts, of all together the digest is {digest}", parts[-1]]


BEFORE = dict(map(json.loads, READINGS.read_text().splitlines())) if READINGS.exists() else {}


def test_every_file_has_a_line():
    assert [*BEFORE] == [*files(), HARDWARE]


@pytest.mark.parametrize("name", files())
def test_a_file_is_read_as_before(name):
    assert reading(name) == BEFORE[name]


def test_the_files_of_a_machine_are_read_as_before():
    assert reading_of_the_machine() == BEFORE[HARDWARE]


if __name__ == "__main__":
    now = {name: reading(name) for name in files()} | {HARDWARE: reading_of_the_machine()}
    READINGS.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in now.items()))
