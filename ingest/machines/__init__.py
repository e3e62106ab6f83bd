"""Machine facts: what the hosts of a testbed say of their hardware and software.

Each module reads one source: `parse(data) -> Facts` is pure and raises FactError alone. The files
of one folder, as `collect.sh` writes them, make one host.
"""

from dropline.ingest.machines.facts import FactError, Facts
from dropline.ingest.machines.host import PRECEDENCE, host
from dropline.ingest.machines.registry import SOURCES, recognise

__all__ = ["PRECEDENCE", "SOURCES", "FactError", "Facts", "host", "recognise"]
