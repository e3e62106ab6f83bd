"""What benchmarks/queries.py asks: every question of the dashboard, and of three engines the same."""

from pathlib import Path
from typing import Any

import pytest

from benchmarks import peers
from benchmarks.queries import Times, answered, drawn, parameters, questions
from dropline.app.warehouse import Warehouse


@pytest.fixture(scope="module")
def asked(examples_home: Path) -> Warehouse:
    return Warehouse.open(examples_home / "warehouse.duckdb")


@pytest.fixture(scope="module")
def subject(asked: Warehouse) -> dict[str, Any]:
    """What belongs to a trial of which the seconds are known."""
    known = set(asked.query("select distinct trial_id from trial_intervals")["trial_id"].to_pylist())
    return next(each for each in drawn(asked, 50) if each["trial_id"] in known)


@pytest.mark.parametrize("name", questions())
def test_a_question_of_the_dashboard_can_be_asked_with_what_is_drawn(
    asked: Warehouse, subject: dict[str, Any], name: str
) -> None:
    question = questions()[name]
    assert question(asked, **parameters(name, question, subject)) is not None or name == "trends.series_of"


@pytest.mark.parametrize("question", peers.QUESTIONS, ids=lambda question: question.name)
def test_pandas_gives_the_rows_of_duckdb(asked: Warehouse, subject: dict[str, Any], question: peers.Question) -> None:
    ours = answered(asked.query(question.sql, peers.wanted(question, subject)))
    theirs = answered(question.pandas(peers.frames(asked), subject))
    assert ours
    assert peers.same(ours, theirs)


@pytest.mark.skipif(not peers.has_postgres(), reason="PostgreSQL is not installed")
def test_postgresql_gives_the_rows_of_duckdb(asked: Warehouse, subject: dict[str, Any]) -> None:
    with peers.postgres(asked) as connection:
        differing = [
            each.name
            for each in peers.QUESTIONS
            if not peers.same(
                answered(asked.query(each.sql, peers.wanted(each, subject))),
                connection.execute(peers.for_postgres(each.sql), peers.wanted(each, subject)).fetchall(),
            )
        ]
    assert not differing


def test_rows_are_the_same_in_any_order_and_to_nine_digits() -> None:
    assert peers.same([("a", 1, None), ("b", 0.1 + 0.2, 2)], [("b", 0.3, 2.0), ("a", 1.0, float("nan"))])
    assert not peers.same([("a", 1)], [("a", 1.00001)])
    assert not peers.same([("a", 1)], [("a", 1), ("a", 1)])


def test_a_question_is_written_for_postgresql_with_its_own_percent_signs_kept() -> None:
    assert peers.for_postgres("like '%' || $word") == "like '%%' || %(word)s"


def test_times_are_told_in_milliseconds() -> None:
    times = Times([0.001] * 19 + [0.101], 0.0)
    assert times.p50_ms == pytest.approx(1)
    assert times.p95_ms == pytest.approx(6)  # a twentieth of the way from the 19th to the 20th
