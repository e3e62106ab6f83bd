"""Base class of the errors that users can act on; the command line catches it."""


class DroplineError(Exception):
    """An expected failure; the message says what is wrong, where, and what to do."""
