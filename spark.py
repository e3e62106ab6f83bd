"""dbt on Apache Spark: `python spark.py build` runs `dbt build --target spark`; other dbt commands work likewise.

dbt-spark runs Python models on Databricks only. This module runs them in a Spark session of this process, which ends
with dbt.
"""

import os
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final
from zipfile import ZipFile

from dbt.adapters.base import PythonJobHelper
from dbt.adapters.spark.impl import SparkAdapter
from dbt.cli.main import dbtRunner
from pyspark import SparkContext
from pyspark.sql import SparkSession

PROJECT: Final = Path(__file__).resolve().parent
IMPORTED: Final = ("__init__.py", "inference/*.py")  # imported by the Python models


class SessionModel(PythonJobHelper):  # type: ignore[misc]
    """Runner of a Python model: its code in this process, its Spark operations on the executors."""

    def __init__(self, parsed_model: dict[str, Any], credentials: object, *, package: str) -> None:
        self._name = parsed_model["name"]
        self._package = package

    def submit(self, compiled_code: str) -> None:
        """Run the code that dbt compiled from the model; it also writes the table."""
        session = SparkSession.builder.getOrCreate()
        session.sparkContext.addPyFile(self._package)
        exec(compile(compiled_code, self._name, "exec"), {"__name__": self._name, "spark": session})  # noqa: S102 - ours


def run(arguments: Sequence[str]) -> bool:
    """Run a dbt command on Spark, e.g. ["build", "--select", "capacity"]; return whether it succeeded.

    Use the profile in DBT_PROFILES_DIR, by default the project's own: two executors on this machine.
    """
    for name in ("DBT_PROJECT_DIR", "DBT_PROFILES_DIR"):
        os.environ.setdefault(name, str(PROJECT))
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    with tempfile.TemporaryDirectory() as folder:
        package = _package(Path(folder) / "dropline.zip")
        SparkAdapter.default_python_submission_method = "session"
        SparkAdapter.python_submission_helpers = {"session": partial(SessionModel, package=package)}
        try:
            return bool(dbtRunner().invoke([*arguments, "--target", "spark"]).success)
        finally:
            if context := SparkContext._active_spark_context:
                executors = int(context._jsc.sc().getExecutorMemoryStatus().size()) - 1  # the driver counts, too
                print(f"Spark {context.version}, {context.master}: {executors} executors", file=sys.stderr)
                context.stop()


def _package(archive: Path) -> str:
    """Write an archive of the modules that the executors import."""
    with ZipFile(archive, "w") as written:
        for file in (file for pattern in IMPORTED for file in PROJECT.glob(pattern)):
            written.write(file, Path("dropline", file.relative_to(PROJECT)))
    return str(archive)


if __name__ == "__main__":
    sys.exit(not run(sys.argv[1:]))
