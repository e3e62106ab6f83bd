"""Answers are kept for the next who asks, within their bytes, and a page still shows the SQL behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from dropline.app import behind
from dropline.app.remembered import Answers
from dropline.app.warehouse import QueryRefused, Warehouse

if TYPE_CHECKING:
    from pathlib import Path


def answer(rows: int) -> pa.Table:
    """Return a table of eight bytes a row."""
    return pa.table({"value": pa.array(range(rows), pa.int64())})


@pytest.mark.parametrize(
    ("most_bytes", "asked", "kept"),
    [
        (0, ["a"], set()),
        (4 * 81 - 1, ["a"], set()),  # more than a quarter
        (4 * 81, ["a", "b", "c", "d"], {"a", "b", "c", "d"}),
        (4 * 81, ["a", "b", "c", "d", "e"], {"b", "c", "d", "e"}),
        (4 * 81, ["a", "b", "c", "d", "a", "e"], {"a", "c", "d", "e"}),
    ],
)
def test_what_was_not_asked_for_longest_is_forgotten(most_bytes: int, asked: list[str], kept: set[str]) -> None:
    answers = Answers(most_bytes)
    for question in asked:
        if answers.find(question) is None:
            answers.keep(question, answer(10))
    assert {question for question in "abcde" if answers.find(question) is not None} == kept


def test_an_empty_answer_takes_the_room_of_its_question() -> None:
    answers = Answers(100)
    for place in range(1000):
        answers.keep(f"{place:010}", answer(0))
    assert sum(answers.find(f"{place:010}") is not None for place in range(1000)) == 10


def test_a_question_asked_again_is_answered_from_memory_and_noted(warehouse_home: Path) -> None:
    warehouse = Warehouse.open(warehouse_home / "warehouse.duckdb", remembered_bytes=2**20)
    sql = "select count(*) as runs from runs where rate_unit = $unit"
    first = warehouse.query(sql, {"unit": "leases/s"})
    with behind.recorded() as questions:
        assert warehouse.query(sql, {"unit": "leases/s"}) is first
    assert list(questions) == ["select count(*) as runs from runs where rate_unit = 'leases/s'"]
    assert warehouse.query(sql, {"unit": "queries/s"}) is not first


def test_without_room_every_question_is_asked_anew(warehouse: Warehouse) -> None:
    assert warehouse.query("select 1") is not warehouse.query("select 1")


def test_what_is_refused_is_neither_kept_nor_noted(warehouse_home: Path) -> None:
    warehouse = Warehouse.open(warehouse_home / "warehouse.duckdb", remembered_bytes=2**20)
    for _ in range(2):
        with behind.recorded() as questions, pytest.raises(QueryRefused):
            warehouse.query("drop table runs")
        assert not questions
