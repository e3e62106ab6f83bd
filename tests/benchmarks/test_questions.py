"""The benchmark of questions asks every query of the dashboard."""

from benchmarks import queries


def test_every_question_is_asked_with_the_values_that_are_drawn(warehouse):
    subjects = list(queries.drawn(warehouse, 2))
    for name, sql in queries.questions().items():
        assert len(queries.timed(sql, warehouse, subjects).seconds) == 2, name
