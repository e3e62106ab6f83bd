"""Server configurations: how each kind is recognised, and the result of its module.

A module has `PRODUCT`, `sniff(head) -> bool` and `parse(data) -> Row`: a row of `schema.SERVER_CONFIGS` without the
columns that only the caller knows (batch, campaign, source_path, source_sha256). `parse` raises only ConfigError, if
the configuration is unusable. A module that also knows configurations of other programs names them by `describe(head)
-> str | None`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dropline.ingest.formats import begins_like_json
from dropline.ingest.servers import databases, kea, powerdns
from dropline.ingest.servers.plain import ConfigError

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["FORMATS", "IN_JSON", "ConfigError", "describe", "recognise"]

_MODULES: Final[tuple[ModuleType, ...]] = (kea, powerdns)
IN_JSON: Final = kea.IN_JSON
FORMATS: Final = frozenset(module.__name__.rpartition(".")[2] for module in _MODULES)


def recognise(head: bytes) -> ModuleType | None:
    """Return the module for a configuration that begins with `head` (64 KiB, or all of it)."""
    asked = (kea,) if begins_like_json(head) else _MODULES
    return next((module for module in asked if module.sniff(head)), None)


def describe(head: bytes) -> str | None:
    """Name a known configuration that no module reads, e.g. a control agent's or a database's; else None."""
    return kea.describe(head) or (None if begins_like_json(head) else databases.describe(head))
