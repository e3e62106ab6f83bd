"""Several visitors at once, over real websockets; and that the soak would notice what it looks for."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks import soak


def test_visitors_do_not_disturb_each_other(warehouse_home: Path) -> None:
    done = asyncio.run(soak.soak(warehouse_home, users=5, seconds=20, publications=False))
    assert done.seen.troubles == []
    assert done.log == ""
    assert len(done.seen.took) > 10
    assert len({page for page, _, _ in done.seen.took}) > 4, "different pages"
    assert done.seen.heavy, "while somebody asks what the console has to end"
    assert max(took for _, _, took in done.seen.took) < 15
    assert 50 < done.memory[-1][1] < 1500
    assert done.seen.batches, "the overview says what the newest batch is"


def test_an_exception_on_a_page_is_trouble() -> None:
    message = ForwardMsg()
    message.delta.new_element.exception.type = "KeyError"
    message.delta.new_element.exception.message = "hidden"
    fine = ForwardMsg()
    fine.delta.new_element.text.body = "all is well"
    assert soak.exceptions([fine, message, ForwardMsg()]) == ["KeyError: hidden"]


@pytest.mark.parametrize(("share", "rank"), [(0.5, 50), (0.95, 95), (0.99, 99), (1, 100)])
def test_a_percentile_is_a_time_that_was_measured(share: float, rank: int) -> None:
    assert soak.ranked([*range(100, 0, -1)], share) == rank
    assert soak.ranked([7.0], share) == 7


def test_the_report_tells_of_errors_waits_memory_and_publications() -> None:
    seen = soak.Seen(
        took=[("overview", 1000 + second, second / 100) for second in range(1, 101)],
        troubles=["sql: KeyError: hidden"],
        batches={"00000002-20261122T000000Z": 1033.5},
        heavy=[10.0],
    )
    published = [("00000002-20261122T000000Z", 1030.0, 25.0), ("00000003-20261122T000100Z", 1090.0, 27.0)]
    text = soak.report(soak.Soak(30, 120, seen, [(0, 100), (60, 200), (120, 210)], published, [1, 4], "line\n"))
    assert "30 visitors for 2.0 min" in text
    assert "Interactions: 100; errors: 1; lines in the log: 1." in text
    assert "p50 0.50 s, p95 0.95 s, p99 0.99 s, longest 1.00 s" in text
    assert "Publications: 2; shown to somebody: 1, at the latest 3.5 s after" in text
    assert "| 2.0 | 210 |" in text
    assert "- 1 x sql: KeyError: hidden" in text
