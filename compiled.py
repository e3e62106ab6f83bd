"""What dbt executed to build this project: kept as SQL, and executed again without dbt.

`compiled.json` is of the models as they are (`make compiled`), `<home>/build/compiled.json` of models changed since. A
build creates all tables in empty files, so dbt executes the same statements each time. They are valid for one digest:
of the project, of dbt's version, and of the columns of the lake.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing, nullcontext
from graphlib import TopologicalSorter
from importlib.metadata import version
from pathlib import Path
from queue import SimpleQueue
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import duckdb
import yaml
from jinja2 import Template

from dropline.ingest.parquet import replacing
from dropline.ingest.schema import TABLES
from dropline.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from dropline.transform import Places

NAME: Final = "compiled.json"
_DECIDES: Final = ("dbt_project.yml", "profiles.yml", "models", "macros", "seeds", "tests/dbt")
_KINDS: Final = frozenset({".sql", ".yml", ".csv", ".py", ".md"})
_WRITES: Final = frozenset({"create", "insert", "alter", "comment", "drop", "update", "delete"})
_SIGNATURE: Final = re.compile(r"\A\s*/\*.*?\*/", re.DOTALL)  # dbt signs each statement
_THREADS: Final = 2
_SMALL_BYTES: Final = 256 * 2**20  # of a lake, some 350,000 trials: two of its tables at once take 1.5 GB
_SEED: Final = "copy {table} from '@project@/{file}' (format csv, header true)"


class Node(NamedTuple):
    """A seed, model, test or hook of dbt: what leads to it, its statements, and the source of a model in Python."""

    name: str
    parents: Sequence[str]
    statements: Sequence[str]
    python: str = ""


def play(project: Path, places: Places, up_to: str | None = None) -> bool:
    """Build and test all tables, or those that the model `up_to` needs; return whether that succeeded.

    It fails without statements for this project and lake; after a failed one, dbt can report the reason.
    """
    try:
        with closing(_opened(project, places)) as connection:
            nodes = _kept(project, places, _digest(connection, project, places))
            nodes = _leading(nodes, up_to) if up_to else nodes
            if not nodes or not _played(nodes, connection, places):
                return False
            if not up_to:  # nobody reads the intermediate tables
                connection.execute("pragma disable_checkpoint_on_shutdown")
            for database in (places.database.stem, *(("scratch",) if up_to else ())):  # closing hides errors
                connection.execute(f'checkpoint "{database}"')
            return True
    except Exception:
        return False


def record(project: Path, places: Places, executed: Iterable[tuple[str, str]], results: Iterable[Any]) -> None:
    """Save the statements that dbt executed, `executed` as (node, statement), with the results of its nodes."""
    made = {result.node.unique_id: result.node for result in results}
    statements: dict[str, list[str]] = {
        name: [] for name, _ in executed if name
    }  # else a look round, or a schema there is
    for name, statement in ((name, _SIGNATURE.sub("", signed).strip()) for name, signed in executed if name):
        verb = statement.split(maxsplit=1)[0].lower()
        if verb == "copy":  # dbt tells the beginning of it only
            statements[name].append(_SEED.format(table=made[name].relation_name, file=made[name].original_file_path))
        elif verb in _WRITES or (name.startswith("test.") and "should_error" in statement):
            for place, token in ((places.lake, "@lake@"), (places.quality, "@quality@")):
                statement = statement.replace(_inside(place), token)
            statements[name].append(statement)
    nodes = []
    for name, each in statements.items():
        node: Any = made.get(name)
        python = ""
        if getattr(node, "language", "") == "python":  # its code, its references, and the code that stores its rows
            python = (places.work / "target/run" / node.package_name / node.original_file_path).read_text("utf-8")
        parents = getattr(getattr(node, "depends_on", None), "nodes", ())  # a seed depends on macros only
        nodes.append(Node(name, parents, each, python))
    with closing(_opened(project, places)) as connection:
        kept = {"digest": _digest(connection, project, places), "nodes": nodes}
    with replacing(places.work / NAME) as file:
        file.write(json.dumps(kept, indent=0).encode() + b"\n")


def _kept(project: Path, places: Places, digest: str) -> list[Node]:
    for file in (places.work / NAME, project / NAME):
        if not file.exists():
            continue
        text = file.read_text("utf-8")
        for token, path in (("@lake@", places.lake), ("@quality@", places.quality), ("@project@", project)):
            text = text.replace(token, json.dumps(_inside(path))[1:-1])
        if (kept := json.loads(text))["digest"] == digest:
            return [Node(*node) for node in kept["nodes"]]
    return []


def _leading(nodes: Sequence[Node], *models: str) -> list[Node]:
    parents = {node.name: node.parents for node in nodes}
    wanted: set[str] = set()
    waiting = [name for name in parents if name.startswith("model.") and name.rpartition(".")[2] in models]
    while waiting:
        wanted.add(name := waiting.pop())
        waiting += {*parents.get(name, ())} - wanted
    return [node for node in nodes if node.name in wanted]


def _played(nodes: Sequence[Node], connection: duckdb.DuckDBPyConnection, places: Places) -> bool:
    """Execute the nodes on two threads, tests last; return whether all tests pass."""
    size_bytes = sum(file.stat().st_size for file in places.lake.rglob("*.parquet"))
    # Two large tables at once would not fit into memory; a model in Python needs little of it.
    alone = nullcontext() if size_bytes < _SMALL_BYTES else Lock()
    cursors = [connection.cursor() for _ in range(_THREADS)]
    idle: SimpleQueue[duckdb.DuckDBPyConnection] = SimpleQueue()
    for cursor in cursors:
        cursor.execute(f'use "{places.database.stem}"')
        idle.put(cursor)
    with ThreadPoolExecutor(_THREADS) as pool:
        # Python models import much, which takes no time beside the first tables.
        models = {node.name: pool.submit(_loaded, node.python) for node in nodes if node.python}

        def made(node: Node) -> bool:
            cursor = idle.get()
            try:
                with nullcontext() if node.python else alone:
                    return _made(cursor, node, models.get(node.name))
            finally:
                idle.put(cursor)

        try:
            tests = [node for node in nodes if node.name.startswith("test.")]
            return _in_order([node for node in nodes if node not in tests], made, pool) and all(pool.map(made, tests))
        except BaseException:
            for cursor in cursors:
                cursor.interrupt()
            raise
        finally:
            pool.shutdown(cancel_futures=True)
            for cursor in cursors:
                cursor.close()


def _in_order(nodes: Sequence[Node], made: Callable[[Node], bool], pool: ThreadPoolExecutor) -> bool:
    """Make the nodes after their parents, first what leads to models in Python, which take longest, and last hooks."""
    named = {node.name: node for node in nodes}
    models = {name: {*node.parents} & named.keys() for name, node in named.items() if not name.startswith("operation.")}
    order = TopologicalSorter(models | {name: {*models} for name in named.keys() - models.keys()})
    order.prepare()
    first = {node.name for node in _leading(nodes, *(each.name.rpartition(".")[2] for each in nodes if each.python))}
    ready: list[str] = []
    running: dict[Future[bool], str] = {}
    while order.is_active():
        ready = sorted([*ready, *order.get_ready()], key=lambda name: name not in first)
        while ready and len(running) < _THREADS:
            name = ready.pop(0)
            running[pool.submit(made, named[name])] = name
        for done in wait(running, return_when=FIRST_COMPLETED).done:
            if not done.result():
                return False
            order.done(running.pop(done))
    return True


def _loaded(python: str) -> dict[str, Any]:
    import pyarrow.dataset  # noqa: F401 - through it DuckDB reads the rows of a model

    module: dict[str, Any] = {}
    exec(python, module)  # noqa: S102 - the project's own model
    return module


def _made(connection: duckdb.DuckDBPyConnection, node: Node, model: Future[dict[str, Any]] | None) -> bool:
    """Execute a node in its own transaction, as dbt does; return False if a test fails."""
    connection.begin()
    if model:
        module = model.result()
        relations = module["dbtObj"](lambda table: connection.query(f"select * from {table}"))  # noqa: S608 - its own tables
        module["materialize"](module["model"](relations, connection), connection)
    for statement in node.statements:
        rows = connection.execute(statement)
        if node.name.startswith("test.") and rows.fetchall()[0][2]:
            return False
    connection.commit()
    return True


def _opened(project: Path, places: Places) -> duckdb.DuckDBPyConnection:
    """Open the databases of a build with the settings of profiles.yml, without a write-ahead log."""
    profile = yaml.safe_load((project / "profiles.yml").read_text("utf-8"))["dropline"]["outputs"]["duckdb"]
    connection = duckdb.connect(config=profile["config_options"])
    for name, value in profile["settings"].items():
        connection.execute(f"set global {name} = {quoted(Template(str(value)).render(env_var=os.environ.get))}")
    for name, file in ((places.database.stem, places.database), ("scratch", places.scratch)):
        connection.execute(f'attach {quoted(file)} as "{name}" (recovery_mode no_wal_writes)')
    connection.execute(f'use "{places.database.stem}"')
    return connection


def _digest(connection: duckdb.DuckDBPyConnection, project: Path, places: Places) -> str:
    parts = [project / name for name in _DECIDES]
    files = (file for part in parts for file in (part.rglob("*") if part.is_dir() else (part,)))
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for file in sorted(file for file in files if file.suffix in _KINDS and file.is_file()):
        digest.update(f"{file.relative_to(project)}\n".encode() + file.read_bytes())
    for table in TABLES:
        rows = f"read_parquet({quoted(places.lake / table / '*.parquet')}, union_by_name = true)"
        digest.update(repr(connection.execute(f"describe select * from {rows}").fetchall()).encode())  # noqa: S608 - ours
    digest.update(f"{places.database.stem} {version('dbt-core')} {version('dbt-duckdb')}".encode())
    return digest.hexdigest()


def _inside(place: Path) -> str:
    """Escape a path for use inside an SQL literal."""
    return quoted(place)[1:-1]
