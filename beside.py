"""YAML beside the modules that read it."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml


@cache
def words(module: str, name: str = "") -> Any:
    """Return the contents of the YAML file beside a module (its `__file__`), of the module's name unless given."""
    file = Path(module)
    return yaml.load(file.with_name(f"{name or file.stem}.yml").read_text("utf-8"), yaml.CSafeLoader)
