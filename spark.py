"""dbt on Apache Spark: `python spark.py build` is `dbt build --target spark`, and so are dbt's other commands.

dbt-spark runs models in Python on Databricks only. A session of Spark in this process can do so as well: here is what
that needs, and the session ends with dbt.
"""

from __future__ import annotations

import os
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from zipfile import ZipFile

from dbt.adapters.base import PythonJobHelper
from dbt.adapters.spark.impl import SparkAdapter
from dbt.cli.main import dbtRunner
from pyspark import SparkContext
from pyspark.sql import SparkSession

if TYPE_CHECKING:
    from collections.abc import Sequence

PROJECT: Final = Path(__file__).resolve().parent
IMPORTED: Final = ("__init__.py", "inference/*.py")  # by the models in Python


class SessionModel(PythonJobHelper):  # type: ignore[misc]
    """Runs the code of a model in this process; what the code leaves to Spark, the executors run."""

    def __init__(self, parsed_model: dict[str, Any], credentials: object, *, package: str) -> None:
        self._name = parsed_model["name"]
        self._package = package

    def submit(self, compiled_code: str) -> None:
        """Run the code that dbt made of the model, which also writes the table."""
        session = SparkSession.builder.getOrCreate()
        session.sparkContext.addPyFile(self._package)
        exec(compile(compiled_code, self._name, "exec"), {"__name__": self._name, "spark": session})  # noqa: S102 - ours


def run(arguments: Sequence[str]) -> bool:
    """Run a command of dbt on Spark, e.g. ["build", "--select", "capacity"]; return whether all went well.

    The profile is that of DBT_PROFILES_DIR, by default the project's own: two executors on this machine.
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
                print(f"Spark {context.version}, {context.master}: {_executors(context)} executors", file=sys.stderr)
                context.stop()


def _package(archive: Path) -> str:
    """Write the part of the package that the executors import."""
    with ZipFile(archive, "w") as written:
        for file in (file for pattern in IMPORTED for file in PROJECT.glob(pattern)):
            written.write(file, Path("dropline", file.relative_to(PROJECT)))
    return str(archive)


def _executors(context: SparkContext) -> int:
    """Return how many executors run, without the driver, which Spark counts as one."""
    return int(context._jsc.sc().getExecutorMemoryStatus().size()) - 1


if __name__ == "__main__":
    sys.exit(not run(sys.argv[1:]))
