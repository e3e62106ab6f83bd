"""The command line, run within the process of a test: starting another takes longer than most commands."""

import sys
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from typer.testing import CliRunner

from dropline import cli


class Said(NamedTuple):
    """What a command ended with, and what it printed."""

    code: int
    stdout: str
    stderr: str


def dropline(*words: str | Path, home: str | Path | None = None, stdin: str | None = None) -> Said:
    """Run `dropline` as its entry point does, over a home."""
    arguments = ["dropline", *(("--home", str(home)) if home else ()), *map(str, words)]
    with patch.object(sys, "argv", arguments), CliRunner().isolation(stdin) as (out, err, _):
        try:
            cli.main()
        except SystemExit as ended:
            code = int(ended.code or 0)
        return Said(code, out.getvalue().decode(), err.getvalue().decode())
