"""Ingest of raw files into the Parquet lake."""

import sys

import pyarrow as pa


class _NoPandas:
    """Import hook that hides pandas from Arrow, which looks for it once, at its first conversion of Python values.

    Importing it takes longer than ingesting a thousand files. Arrow looks again when it converts from or to pandas.
    """

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        """Pretend that pandas is not installed."""
        if name == "pandas":
            raise ImportError(name)


if "pandas" not in sys.modules:
    sys.meta_path.insert(0, _NoPandas)
    pa.array([])
    sys.meta_path.remove(_NoPandas)
