"""SQL quoting where DuckDB takes no parameter: ATTACH, CREATE VIEW, and questions that run as pasted."""


def quoted(text: object) -> str:
    """Return a text, or the path of a file, as an SQL literal."""
    return "'" + str(text).replace("'", "''") + "'"
