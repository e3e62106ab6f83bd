"""Progress of long work: told to whoever shows it."""

from collections.abc import Callable

Progress = Callable[[int, int], None]  # takes (done, total)


def unseen(*_: object) -> None:
    """Show no progress."""
