"""Which rows fail an expectation, what is said of them, and how Great Expectations judges their number."""

import math

import duckdb
import pyarrow as pa
import pytest

from dropline.expectations import failing_rows, validation
from dropline.expectations.suite import Expectation, Suite

DETAIL = "{a} and {b:.3g} and {word!r}"
SUITE = Suite(
    "test/everything",
    "select cast(place as varchar) as trial_id, * from given",
    {
        "a_low": Expectation("warning", "a >= 0", DETAIL, "Because."),
        "b_out": Expectation("warning", "b between -1.5 and 1.5", DETAIL, "Because."),
        "a_above_b": Expectation("critical", "a <= b", DETAIL, "Because."),
        "word_unknown": Expectation("warning", "word in ('it''s', 'nan')", DETAIL, "Because."),
        "word_missing": Expectation("warning", "word is not null", DETAIL, "Because."),
        "b_missing": Expectation("warning", "b is not null", DETAIL, "Because."),
    },
)
NUMBERS = {"a": pa.float64(), "b": pa.float64(), "word": pa.string()}


def failing(*given):
    """The code, place and detail of everything found in some rows, which are counted alike."""
    columns = {name: [row[n] for row in given] for n, name in enumerate(NUMBERS)}
    schema = pa.schema([("place", pa.int64()), *NUMBERS.items()])
    with duckdb.connect() as connection:
        connection.register("given", pa.table({"place": range(len(given)), **columns}, schema=schema))
        counts = failing_rows.count_failing(connection, SUITE)
        found = list(failing_rows.findings(connection, SUITE, counts))
        nothing = list(failing_rows.findings(connection, SUITE, []))
    assert counts == {code: sum(each.finding == code for each in found) for code in SUITE.expectations}
    assert nothing == []
    return [(each.finding, each.trial_id, each.detail) for each in found]


@pytest.mark.parametrize(
    ("row", "codes"),
    [
        ((0.0, 1.5, "it's"), set()),
        ((-0.0, 0.0, "nan"), set()),
        ((-1.0, 0.0, "nan"), {"a_low"}),
        ((0.0, math.nextafter(1.5, 2), "nan"), {"b_out"}),
        ((0.0, -math.inf, "nan"), {"b_out", "a_above_b"}),
        ((1.0, 0.5, 'say "no"'), {"a_above_b", "word_unknown"}),
        ((None, 0.0, None), {"word_missing"}),
        ((math.nan, 0.0, "nan"), set()),
        ((-1.0, math.nan, "NaN"), {"a_low", "b_missing", "word_unknown"}),
    ],
)
def test_a_row_fails_what_is_false_and_nothing_that_is_unknown(row, codes):
    assert {code for code, _, _ in failing(row)} == codes


def test_each_failing_row_is_found_and_a_value_that_is_not_known_is_said_to_be_unknown():
    found = failing((1.0, 1.0, "nan"), (-1.0, math.nan, "it's"), (-2.0, 0.5, "nan"))
    assert found == [
        ("a_low", "1", '-1.0 and unknown and "it\'s"'),
        ("b_missing", "1", '-1.0 and unknown and "it\'s"'),
        ("a_low", "2", "-2.0 and 0.5 and 'nan'"),
    ]


def test_great_expectations_judges_the_number_of_failing_rows():
    sound = dict.fromkeys(SUITE.expectations, 0)
    assert validation.failed([SUITE], sound) == set()
    assert validation.failed([SUITE], sound | {"a_low": 3, "word_missing": 1}) == {"a_low", "word_missing"}


def test_what_great_expectations_cannot_judge_is_an_error():
    with pytest.raises(RuntimeError, match=r"b_out.* could not be checked"):
        validation.failed([SUITE], {"a_low": 0})
