"""Files that lie among results but are none."""


def describe(head: bytes) -> tuple[str, str] | None:
    """Return reason and hint for a file that is known to be no result."""
    return None
