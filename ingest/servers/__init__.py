"""Server configurations: how each kind is recognised, and the result of its module.

A module has `NAME`, `PRODUCT`, `sniff(head) -> bool` and `parse(data) -> Row`: a row of `schema.SERVER_CONFIGS` without
the columns that only the caller knows. `parse` raises only Rejected. `describe(head) -> str | None` names others.
"""

import re
from types import ModuleType
from typing import Final

from dropline.ingest.formats import begins_like_json
from dropline.ingest.servers import kea, powerdns

_MODULES: Final[tuple[ModuleType, ...]] = (kea, powerdns)
IN_JSON: Final = kea.IN_JSON
FORMATS: Final = frozenset(module.NAME for module in _MODULES)
# Database servers are not under test. The sections are those of the MariaDB and MySQL manuals ("Option Files"), the
# parameters those of the PostgreSQL manual (chapter "Server Configuration").
_MYSQL: Final = re.compile(
    rb"^[ \t]*\[(?:mysqld|mariadbd?|mysqld_safe|mysql|client-server)(?:-[0-9.]{1,9})?\]", re.MULTILINE
)
_POSTGRESQL: Final = re.compile(
    rb"^[ \t]*(?:#[ \t]*)?(shared_buffers|max_connections|work_mem|maintenance_work_mem|effective_cache_size|wal_level"
    rb"|fsync|synchronous_commit|checkpoint_timeout|max_wal_size|random_page_cost|listen_addresses|data_directory"
    rb"|hba_file|dynamic_shared_memory_type|log_timezone)[ \t]*=",
    re.MULTILINE,
)


def recognise(head: bytes) -> ModuleType | None:
    """Return the module for a configuration that begins with `head` (64 KiB, or all of it), if any."""
    asked = (kea,) if begins_like_json(head) else _MODULES
    return next((module for module in asked if module.sniff(head)), None)


def describe(head: bytes) -> str | None:
    """Return the name of a known kind of configuration that no module reads, e.g. a database's; else None."""
    if (named := kea.describe(head)) or begins_like_json(head):
        return named
    if _MYSQL.search(head):
        return "an option file of MariaDB or MySQL"
    return "a configuration of PostgreSQL" if len(set(_POSTGRESQL.findall(head))) > 1 else None
