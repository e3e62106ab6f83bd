"""The tutorial shows what the commands print: each console block is run on the bundled examples."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TUTORIAL = ROOT / "docs" / "tutorial" / "first-steps.md"
BLOCKS = re.findall(r'```console\n\$ \.venv/bin/dropline (sql ".*?")\n(.*?)```', TUTORIAL.read_text("utf-8"), re.DOTALL)


def test_every_console_block_is_a_command_with_its_output():
    assert len(BLOCKS) == TUTORIAL.read_text("utf-8").count("```console") >= 8


@pytest.mark.parametrize(("command", "shown"), BLOCKS, ids=[f"block {number + 1}" for number in range(len(BLOCKS))])
def test_a_command_of_the_tutorial_prints_what_is_shown(warehouse_home, command, shown):
    arguments = [sys.executable, "-m", "dropline", "--home", warehouse_home, *shlex.split(command)]
    done = subprocess.run(arguments, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (shown, "")


def test_the_links_of_the_tutorial_lead_somewhere():
    links = re.findall(r"\]\((?!http)([^)#]+)", TUTORIAL.read_text("utf-8"))
    assert len(links) > 5
    assert [link for link in links if not (TUTORIAL.parent / link).exists()] == []
