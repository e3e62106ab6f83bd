"""From raw files to the Parquet lake."""

import sys

import pyarrow as pa


class _NoPandas:
    """Hides pandas while Arrow asks for it, which it does once, at its first conversion of Python values.

    The import takes longer than ingesting a thousand files. Arrow asks again when it converts from or to pandas.
    """

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        """Refuse to find pandas."""
        if name == "pandas":
            raise ImportError(name)


if "pandas" not in sys.modules:
    sys.meta_path.insert(0, _NoPandas)
    pa.array([])
    sys.meta_path.remove(_NoPandas)
