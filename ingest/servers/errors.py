"""What the readers of server configurations raise."""


class ConfigError(ValueError):
    """A configuration that cannot be used; its text says why.

    Attributes:
        hint: what to do about it.
        line: where in the file, from 1; None when it concerns the whole of it.

    """

    def __init__(self, reason: str, hint: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.hint = hint
        self.line = line
