"""The how-to pages show what the commands print, and lead somewhere."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs" / "how-to").glob("*.md"))
BLOCKS = [
    (page.stem, command, shown)
    for page in PAGES
    for command, shown in re.findall(
        r'```console\n\$ \.venv/bin/dropline (sql ".*?")\n(.*?)```', page.read_text("utf-8"), re.DOTALL
    )
]


def test_every_console_block_is_a_command_with_its_output():
    assert len(BLOCKS) == sum(page.read_text("utf-8").count("```console") for page in PAGES) >= 4


@pytest.mark.parametrize(("page", "command", "shown"), BLOCKS, ids=[page for page, _, _ in BLOCKS])
def test_a_command_of_a_how_to_prints_what_is_shown(warehouse_home, page, command, shown):
    arguments = [sys.executable, "-m", "dropline", "--home", warehouse_home, *shlex.split(command)]
    done = subprocess.run(arguments, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (shown, ""), page
