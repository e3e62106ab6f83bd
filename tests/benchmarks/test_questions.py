"""The benchmark of questions: each query of the dashboard can be asked with the values that it draws."""

import pytest

from benchmarks import queries


@pytest.fixture(scope="module")
def subjects(warehouse):
    return list(queries.drawn(warehouse, 2))


@pytest.mark.parametrize("name", queries.questions())
def test_a_question_of_the_dashboard_is_asked_with_drawn_values(name, warehouse, subjects):
    assert len(queries.timed(queries.questions()[name], warehouse, subjects).seconds) == 2
