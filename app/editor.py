"""Editor of the SQL page: Monaco with completion, beside a list of tables with columns and comments."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import rocher
import streamlit as st
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles

LABEL: Final = "One SELECT (DuckDB's SQL)"
KEY: Final = "editor"
_HERE: Final = Path(__file__).parent
_MONACO: Final = Path(rocher.path())
_WORKER: Final = next(_MONACO.glob("assets/editor.worker-*.js")).relative_to(_MONACO).as_posix()
_HTML: Final = """<div class="sql-editor"><div class="text"></div>
<div class="tree" role="region" tabindex="0" aria-label="Tables and functions"></div>
<button type="button" class="run">Run</button></div>"""


def routes() -> list[BaseRoute]:
    """Return the routes that serve Monaco; they expose no data."""
    return [Mount("/editor", StaticFiles(directory=_MONACO))]


def show(text: str, revision: int, schema: dict[str, Any], on_run: Callable[[], None]) -> None:
    """Show the editor; Run and Ctrl-Enter call `on_run`, in which `asked` returns the visitor's query.

    A new `revision` replaces the editor's content by `text`; `schema`, from `queries.sql.schema`, is for completion.
    """
    css, js = ((_HERE / name).read_text("utf-8") for name in ("editor.css", "editor.js"))
    shown = st.components.v2.component("sql-editor", html=_HTML, css=css, js=js, isolate_styles=False)
    data = {"text": text, "revision": revision, "label": LABEL, "worker": _WORKER, **schema}
    shown(key=KEY, data=data, on_run_change=on_run)


def asked() -> str:
    """Return the query that the visitor just ran."""
    return re.sub(r"\r\n?", "\n", str(st.session_state[KEY].run or ""))
