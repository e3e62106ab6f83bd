"""Progress of long work: how much of how much is done."""

from collections.abc import Callable

Progress = Callable[[int, int], None]  # takes (done, total)


def unseen(*_: object) -> None:
    """Show no progress."""
