"""Figures in words: bounds are shown as bounds, and text from files stays text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dropline.app import wording


@pytest.mark.parametrize(
    ("rate", "status", "qualifier", "shown"),
    [
        (11686.4, "bracketed", None, "11,686"),
        (12000, "never_exceeded", None, "≥ 12,000"),
        (12000, "generator_limited", None, "≥ 12,000"),
        (500, "exceeded_at_first_step", None, "< 500"),
        (8000, "published", "greater_than", "> 8,000"),
        (8000, "published", "approx", "≈ 8,000"),
        (70, "published", "at_most", "≤ 70"),
        (2396, "published", "exact", "2,396"),
        (0.694, "bracketed", None, "0.694"),
        (None, "bracketed", None, "-"),
        (float("nan"), "bracketed", None, "-"),
    ],
)
def test_a_capacity_carries_the_sign_of_its_bound(rate, status, qualifier, shown):
    assert wording.rate(rate, wording.bound(status, qualifier)) == shown


@pytest.mark.parametrize(
    ("upper_sign", "lower_sign", "shown"),
    [
        ("", "", "2 ×"),
        ("≥", "", "≥ 2 ×"),
        ("", "<", "≥ 2 ×"),
        ("<", "", "≤ 2 ×"),
        ("", "≥", "≤ 2 ×"),
        ("≥", "<", "≥ 2 ×"),
        ("≥", "≥", "?"),
        ("<", "<", "?"),
        ("≈", "", "≈ 2 ×"),
    ],
)
def test_a_ratio_of_bounds_is_a_bound_or_unknown(upper_sign, lower_sign, shown):
    assert wording.ratio(200, 100, upper_sign, lower_sign) == shown


@pytest.mark.parametrize(
    ("value", "shown"), [(0.6971, "0.697"), (1.5, "1.5"), (999.4, "999"), (999.6, "1,000"), (2345.6, "2,346")]
)
def test_a_factor_is_never_a_power_of_ten(value, shown):
    assert wording.factor(value) == shown


def test_a_ratio_over_nothing_is_a_dash():
    assert wording.ratio(1, 0) == wording.ratio(None, 1) == wording.ratio(float("nan"), 1) == "-"


def test_an_interval_without_repetitions_is_a_dash_and_never_made_up():
    assert wording.interval(None, None) == wording.interval(float("nan"), float("nan")) == "-"
    assert wording.interval(9500, 10500.2) == "9,500 to 10,500"
    assert wording.interval(9500, None) == "≥ 9,500"


@pytest.mark.parametrize(
    ("kind", "low", "high", "shown"),
    [
        ("confidence", 12239.64, 13759.09, "95 % interval 12,240 to 13,760"),
        ("confidence", 10429.4, 21677.0, "95 % interval 10,400 to 21,700"),
        ("bracket", 8287.5, 9750, "bracket 8,288 to 9,750"),
        ("bracket", 8287.5, None, "bracket ≥ 8,288"),
        ("bracket", 8287.5, float("nan"), "bracket ≥ 8,288"),
        ("bracket", 0, 292.5, "bracket below 292"),
        ("none", None, None, "-"),
        (None, 100, 200, "-"),
    ],
)
def test_a_range_says_whether_it_is_an_interval_or_a_bracket(kind, low, high, shown):
    assert wording.capacity_range(kind, low, high) == shown


@pytest.mark.parametrize(
    ("value", "low", "high", "shown"),
    [
        (8952.6, 8287.5, 9750, 8950),
        (15984.8, 10429.4, 21677.0, 16000),
        (1380.83, 1318.1, 1502.8, 1381),
        (0.4182, 0.41, 0.43, 0.418),
        (8952.6, None, None, 8952.6),
        (8952.6, 8000, None, 8952.6),
        (8952.6, 8952.6, 8952.6, 8952.6),
    ],
)
def test_an_estimate_has_no_digits_of_which_nothing_is_known(value, low, high, shown):
    assert wording.about(value, low, high) == pytest.approx(shown)


@pytest.mark.parametrize(
    ("status", "qualifier", "shown"),
    [
        ("bracketed", None, "≥ 8,488"),
        ("never_exceeded", None, "≥ 8,488"),
        ("exceeded_at_first_step", None, "< 8,488"),
        ("published", None, "8,488"),
        ("published", "at_most", "≤ 8,488"),
    ],
)
def test_what_passed_at_the_last_step_is_shown_as_a_lower_bound(status, qualifier, shown):
    assert wording.figure(8487.6, status, qualifier) == shown


@pytest.mark.parametrize(
    ("in_turn", "said"),
    [
        ([], ""),
        ([True, True], ""),
        ([False], "The pair was measured one after the other"),
        ([False, False], "All pairs were measured one after the other"),
        ([True, False, True], "1 of 3 pairs were measured one after the other"),
    ],
)
def test_drift_is_named_where_pairs_were_not_measured_in_turn(in_turn, said):
    assert wording.drift(in_turn).startswith(said)
    assert bool(wording.drift(in_turn)) == bool(said)


def test_only_runs_that_resemble_their_neighbours_widened_an_interval():
    said = wording.widened({"a": 0.6, "b": -0.6, "c": None, "d": float("nan")})
    assert said.endswith("widened the interval of a (2 times).")
    assert wording.widened({"b": 0.0}) == ""
    assert wording.widening(0.99) == wording.widening(0.9)


@given(st.text())
def test_no_markdown_survives_in_plain_text(text):
    shown = wording.plain(text)
    for sign in "*_`[]<>$~:#|!":
        assert shown.count(sign) == shown.count("\\" + sign)
    assert "\n" not in shown


@pytest.mark.parametrize(
    ("upper", "lower", "signs", "said"),
    [
        (300, 100, ("", ""), "3 times"),
        (300, 100, ("≥", ""), "At least 3 times"),
        (300, 100, ("", "<"), "At least 3 times"),
        (300, 100, ("", "≥"), "At most 3 times"),
        (300, 100, ("≥", "≥"), ""),
        (300, 0, ("", ""), ""),
    ],
)
def test_a_ratio_of_bounds_is_said_as_a_bound(upper, lower, signs, said):
    assert wording.times(upper, lower, *signs) == said


def test_a_span_of_one_number_is_that_number():
    assert (wording.span(9, 9), wording.span(5, 9)) == ("9", "5 to 9")
