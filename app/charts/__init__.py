"""Charts: a table in, an Altair chart out; no page, no database."""
