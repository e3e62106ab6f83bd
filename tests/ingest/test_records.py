"""Rows by column are the same sequence of rows as a list of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dropline.ingest.records import Records

ROWS = [{"a": 1, "b": "x"}, {"a": 2, "b": None}, {"a": None, "b": "z"}]
names = st.lists(st.sampled_from("abcd"), unique=True, min_size=1)


@given(names.flatmap(lambda names: st.lists(st.fixed_dictionaries(dict.fromkeys(names, st.none() | st.integers())))))
def test_rows_come_back_as_they_were(rows):
    held = Records.of(rows)
    assert held == rows
    assert (len(held), list(held), [*reversed(held)]) == (len(rows), rows, rows[::-1])
    assert [held[n] for n in range(-len(rows), 0)] == rows
    assert held[1:] == rows[1:]


def test_what_a_row_lacks_is_none():
    assert Records.of([{"a": 1}, {"b": 2}]) == [{"a": 1, "b": None}, {"a": None, "b": 2}]


def test_rows_of_which_the_values_stand_in_order_are_named():
    assert Records.named(("a", "b"), [(1, "x"), (2, None), (None, "z")]) == ROWS
    assert Records.named(("a", "b"), []) == []


@pytest.mark.parametrize("held", [Records(), Records({"a": []})])
def test_no_rows_are_an_empty_sequence(held):
    assert (len(held), list(held), held[:], held == [], bool(held)) == (0, [], [], True, False)
    with pytest.raises(IndexError):
        held[0]
