"""Machine facts: hardware and software of the hosts of a testbed.

Each function in `hardware` and `software` parses one source; it is pure and raises only FactError. The files of one
folder, as written by `collect.sh`, describe one host.
"""

from dropline.ingest.machines import hardware, software  # imported to register their sources
from dropline.ingest.machines.facts import SOURCES, TRANSCRIPT, FactError, Facts, recognise
from dropline.ingest.machines.host import PRECEDENCE, host

__all__ = ["PRECEDENCE", "SOURCES", "TRANSCRIPT", "FactError", "Facts", "hardware", "host", "recognise", "software"]
