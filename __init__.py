"""The embedded SQL warehouse for benchmark results of network servers."""

import os

# NumPy's OpenBLAS starts a thread for each core when it is imported: 0.05 s of CPU time, and nothing here uses them.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
