"""Errors that users can act on: one class hierarchy, caught once by the command line."""


class DroplineError(Exception):
    """An expected failure; the text says what was wrong, where, and what to do."""
