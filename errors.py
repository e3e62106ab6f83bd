"""What can go wrong in a way that a person can do something about: one tree, caught once by the command line."""


class DroplineError(Exception):
    """An expected failure; its text says what was wrong, where, and what to do."""
