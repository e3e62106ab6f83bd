"""A short torture; `make torture` is the long one."""

from torture import torture


def test_what_was_committed_survives_any_kill(tmp_path):
    shares = {"ingest": 5, "compact": 4, "reparse": 3, "rollback": 3}
    survived = torture(tmp_path, 6, 7, shares, say=lambda *_, **__: None)
    assert survived.kills.total() == 6
