"""Configurations of database servers: named but not parsed, as they serve no clients.

Sections are those of the MariaDB and MySQL manuals ("Option Files"), parameters those of the
PostgreSQL manual (chapter "Server Configuration").
"""

from __future__ import annotations

import re
from typing import Final

_MYSQL: Final = re.compile(
    rb"^[ \t]*\[(?:mysqld|mariadbd?|mysqld_safe|mysql|client-server)(?:-[0-9.]{1,9})?\]", re.MULTILINE
)
_POSTGRESQL: Final = re.compile(
    rb"^[ \t]*(?:#[ \t]*)?(shared_buffers|max_connections|work_mem|maintenance_work_mem|effective_cache_size|wal_level"
    rb"|fsync|synchronous_commit|checkpoint_timeout|max_wal_size|random_page_cost|listen_addresses|data_directory"
    rb"|hba_file|dynamic_shared_memory_type|log_timezone)[ \t]*=",
    re.MULTILINE,
)


def describe(head: bytes) -> str | None:
    """Name the database server configured by a file that begins with `head`, or return None."""
    if _MYSQL.search(head):
        return "an option file of MariaDB or MySQL"
    if len(set(_POSTGRESQL.findall(head))) > 1:
        return "a configuration of PostgreSQL"
    return None
