"""SQL literals for places where parameters are not allowed: ATTACH, CREATE VIEW, and queries to paste."""


def quoted(text: object) -> str:
    """Return a text or path as an SQL literal."""
    return "'" + str(text).replace("'", "''") + "'"
