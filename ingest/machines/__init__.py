"""Machine facts: hardware and software of the hosts of a testbed.

Each module parses one source: `parse(data) -> Facts` is pure and raises only FactError. The files of one folder, as
written by `collect.sh`, describe one host.
"""

from dropline.ingest.machines.facts import FactError, Facts
from dropline.ingest.machines.host import PRECEDENCE, host
from dropline.ingest.machines.registry import SOURCES, recognise

__all__ = ["PRECEDENCE", "SOURCES", "FactError", "Facts", "host", "recognise"]
