"""Progress of long work, as numbers of what is done and of all."""

from collections.abc import Callable

Progress = Callable[[int, int], None]  # takes (done, total)


def unseen(*_: object) -> None:
    """Show no progress."""
