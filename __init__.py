"""Embedded SQL warehouse for benchmark results of network servers."""

import os

# NumPy's OpenBLAS would start a thread per core on import, which costs 0.05 s of CPU time; nothing here needs them.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
