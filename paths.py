"""Paths of an installation: the home with its lake, warehouse and quality reports."""

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from dropline.errors import DroplineError

CACHE: Final = "DROPLINE_CACHE"
ENDPOINT: Final = "DROPLINE_S3_ENDPOINT"

# Path, like shells, may reduce the two slashes to one. Bucket names:
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
_S3: Final = re.compile(r"s3:/{1,2}([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:/[\w.=+-]+)*)/?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Home:
    """A folder that holds all data; nothing is written outside it."""

    root: Path  # the folder
    address: str | None = None  # the bucket whose lake the folder mirrors, `s3://bucket/prefix`; see ingest/bucket.py

    @classmethod
    def chosen(cls, root: Path | str | None = None) -> Self:
        """Return the home that `root` names, else DROPLINE_HOME, else ./data; raise DroplineError if it is invalid."""
        named = str(root or os.environ.get("DROPLINE_HOME") or "data")
        if not named.startswith("s3:/"):
            root = Path(named).expanduser().absolute()
            if root.is_file():
                raise DroplineError(f"{root} is a file; a home is a folder")
            return cls(root)
        match = _S3.fullmatch(named)
        if not match or {".", ".."} & set(match[2].split("/")):
            # Do not print the address: people put their keys into it.
            raise DroplineError(
                "the address of a shared home is s3://bucket/folder, of letters, digits and any of . _ = + -; "
                "keys come from the environment or a profile, never from the address"
            )
        address = f"s3://{match[1]}{match[2]}"
        cache = Path(os.environ.get(CACHE) or "~/.cache/dropline").expanduser().absolute()
        digest = hashlib.sha256(f"{os.environ.get(ENDPOINT) or ''} {address}".encode()).hexdigest()
        return cls(cache / f"{match[1]}-{digest[:12]}", address)

    @property
    def name(self) -> str:
        """The value for `--home`."""
        return self.address or str(self.root)

    @property
    def lake(self) -> Path:
        """The folder of the lake: Parquet files and their log."""
        return self.root / "lake"

    @property
    def warehouse(self) -> Path:
        """The published DuckDB file."""
        return self.root / "warehouse.duckdb"

    @property
    def quality(self) -> Path:
        """The folder of the gate's last results."""
        return self.root / "quality"
