"""YAML files beside the modules that read them."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml


@cache
def words(module: str, name: str = "") -> Any:
    """Return the contents of the YAML file `name` beside a module (its `__file__`), by default of the module's name."""
    file = Path(module)
    return yaml.load(file.with_name(f"{name or file.stem}.yml").read_text("utf-8"), yaml.CSafeLoader)
