"""What DuckDB counts and lists is what Great Expectations finds on the same rows, whatever is in them."""

from __future__ import annotations

import math

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dropline.expectations import catalogue, rows, validation
from dropline.expectations.suite import Kind, Suite, above, at_least, at_most, between, not_above, one_of, present

SAID = {"severity": "warning", "reason": "Because.", "detail": "{a} and {b:.3g} and {word!r}"}
SUITE = Suite(
    "test/everything",
    "select row_number() over () - 1 as place, cast(place as varchar) as trial_id, * from given",
    (
        at_least("a", 0, code="a_low", **SAID),
        at_most("b", 1.5, code="b_high", **SAID),
        above("b", -1.5, code="b_strictly_low", **SAID),
        between("n", -2, 2, code="n_out", **SAID),
        between("b", 0, 0, code="b_not_zero", **SAID),
        not_above("a", "b", code="a_above_b", **SAID),
        not_above("n", "m", code="n_above_m", **SAID),
        not_above("n", "a", code="n_above_a", **SAID),
        one_of("word", ("nan", "it's", 'say "no"', ""), code="word_unknown", **SAID),
        present("word", code="word_missing", **SAID),
        present("b", code="b_missing", **SAID),
        present("n", code="n_missing", **SAID),
    ),
)
SCHEMA = pa.schema(
    [("a", pa.float64()), ("b", pa.float64()), ("n", pa.int64()), ("m", pa.int32()), ("word", pa.string())]
)

near = st.sampled_from([None, math.nan, math.inf, -math.inf, 0.0, -0.0, 1.5, -1.5, 1.5000000000000002, 5e-324])
reals = near | st.floats(-3, 3)
# A frame of pandas holds integers beside missing values as doubles: exact up to 2^53.
whole = st.none() | st.integers(-4, 4) | st.sampled_from([2**53, -(2**53), 2**53 - 1])
small = st.none() | st.integers(-4, 4)
words = st.none() | st.sampled_from(["nan", "it's", 'say "no"', "", "NaN", "null", "other"]) | st.text(max_size=3)
tables = st.lists(st.tuples(reals, reals, whole, small, words), min_size=1, max_size=12)


@pytest.fixture(scope="module")
def frames():
    """Great Expectations, ready to look at whole frames, which the gate never asks of it."""
    gx = validation.load()
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    asset = context.data_sources.add_pandas("test").add_dataframe_asset("rows")
    definition = asset.add_batch_definition_whole_dataframe("frame")
    suite = gx.ExpectationSuite(
        name="everything",
        expectations=[
            getattr(gx.expectations, each.kind)(**each.arguments, meta={"code": each.code})
            for each in SUITE.expectations
        ],
    )

    def failing(frame):
        result = definition.get_batch({"dataframe": frame}).validate(suite, result_format="COMPLETE")
        found = {}
        for outcome in result.results:
            assert not outcome.exception_info["raised_exception"], outcome.exception_info
            found[outcome.expectation_config.meta["code"]] = outcome.result.get("unexpected_index_list") or []
        return found

    return failing


@settings(max_examples=60)  # each is a whole validation
@given(table=tables)
def test_the_predicate_finds_the_very_rows_that_great_expectations_finds(frames, table):
    given_rows = pa.table([list(column) for column in zip(*table, strict=True)], schema=SCHEMA)
    expected = frames(given_rows.to_pandas())
    with duckdb.connect() as connection:
        connection.register("given", given_rows)
        profile = rows.profiles(connection, SUITE)[None]
        listed = [(each.finding, int(each.trial_id)) for each in rows.findings(connection, SUITE, SUITE.expectations)]
    assert profile.rows == len(table)
    assert profile.failing == {code: len(places) for code, places in expected.items()}
    assert sorted(listed) == sorted((code, place) for code, places in expected.items() for place in places)


def test_every_kind_of_expectation_is_compared():
    assert {each.kind for each in SUITE.expectations} == set(Kind)
    assert {each.kind for suite in catalogue.SUITES for each in suite.expectations} == set(Kind)
    known = {key for each in SUITE.expectations for key in each.arguments}
    used = {key for suite in catalogue.SUITES for each in suite.expectations for key in each.arguments}
    assert used <= known


def test_a_value_that_is_not_known_is_said_to_be_unknown():
    with duckdb.connect() as connection:
        connection.execute("create table given as select -1.0 as a, 'nan'::double as b, 0 as n, 0 as m, 'x' as word")
        low = [each for each in SUITE.expectations if each.code == "a_low"]
        rows.profiles(connection, SUITE)
        [finding] = rows.findings(connection, SUITE, low)
    assert finding.detail == "-1.0 and unknown and 'x'"


def test_great_expectations_judges_all_profiles_at_once():
    sound = rows.Profile(9, {each.code: 0 for each in SUITE.expectations})
    broken = rows.Profile(9, sound.failing | {"a_low": 3})
    other = rows.Profile(9, sound.failing | {"word_missing": 1})
    judge = validation.Judge()
    assert judge.failed(SUITE, [sound, sound]) == judge.failed(SUITE, []) == []
    assert [each.code for each in judge.failed(SUITE, [sound, broken, other])] == ["a_low", "word_missing"]


def test_what_great_expectations_cannot_judge_is_an_error():
    sound = rows.Profile(9, {"a_low": 0})
    with pytest.raises(RuntimeError, match="b_high could not be checked"):
        validation.Judge().failed(SUITE, [sound])
