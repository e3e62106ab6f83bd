"""Errors that a person can act on: one tree, caught once by the command line."""


class DroplineError(Exception):
    """An expected failure; its text says what is wrong, where, and what to do."""
