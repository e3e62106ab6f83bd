"""Static site: the app's pages with their data, as files that need no server."""

import json
import logging
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

import jinja2
import pandas as pd
import pyarrow as pa
from markdown_it import MarkdownIt
from markupsafe import Markup

from dropline import report
from dropline.app import auth, downloads, output_formats, wording
from dropline.app.queries import ask
from dropline.app.warehouse import Warehouse
from dropline.errors import DroplineError
from dropline.paths import Home

HERE: Final = Path(__file__).parent
MOST_ROWS: Final = 500  # of a table on a page; its file has all rows
MOST_SERIES: Final = 40
DRAWING: Final = "vega.js"
SECONDS: Final = 300
_DIRECTIVE: Final = re.compile(r"(?<!\\):(?:[a-z-]+\[([^\]]*)\]|material/\w+:)")  # Streamlit's colours and icons
_MARKDOWN: Final = MarkdownIt("commonmark", {"html": False})


class Page(NamedTuple):
    """A page of the site: its file, its title, and the app's views that it shows, with their URL parameters."""

    file: str
    title: str
    views: list[tuple[str, dict[str, str]]]


@dataclass
class Writer:
    """Writer of a view's charts and tables as Parquet files, for elements.html."""

    folder: Path
    name: str
    title: str = ""  # replaces the view's title
    written: int = 0
    charts: list[dict[str, Any]] = field(default_factory=list)

    def chart(self, node: Any) -> str:
        """Keep the specification of a chart, and return the file of its data."""
        spec = json.loads(node.proto.spec)
        frames = {each.name: pa.ipc.open_stream(each.data.data).read_pandas() for each in node.proto.datasets}
        spec["datasets"] = spec.get("datasets", {}) | {
            name: json.loads(frame.to_json(orient="records", date_format="iso")) for name, frame in frames.items()
        }
        self.charts.append(spec)
        return self._parquet(downloads.together(list(frames.values())))

    def table(self, node: Any) -> dict[str, Any]:
        """Return the contents of a table, with numbers formatted as in the app's sentences."""
        frame, settings = node.value, json.loads(node.proto.columns or "{}")
        names = [name for name in frame if not settings.get(name, {}).get("hidden")]
        return {
            "head": [settings.get(name, {}).get("label") or name for name in names],
            "rows": [[_cell(value) for value in row] for row in frame[names].head(MOST_ROWS).itertuples(index=False)],
            "numbers": [pd.api.types.is_numeric_dtype(frame[name]) for name in names],
            "cut": f"The first {MOST_ROWS:,} of {len(frame):,} rows. " if len(frame) > MOST_ROWS else "",
            "file": self._parquet(frame),
        }

    def _parquet(self, frame: pd.DataFrame) -> str:
        self.written += 1
        name = f"{self.name}-{self.written}.parquet"
        data = output_formats.encoded(pa.Table.from_pandas(frame, preserve_index=False), "parquet")
        (self.folder / "data" / name).write_bytes(data)
        return name


def publish(home: Home, folder: Path, say: Callable[[str], None] = print) -> None:
    """Write the site of a home to a folder that is new, empty, or holds an earlier site.

    Raise WarehouseError without a warehouse, DroplineError if the folder holds other files or a page cannot be drawn.
    """
    import vl_convert

    warehouse = Warehouse.open(home.warehouse)
    if folder.exists() and any(folder.iterdir()) and not (folder / DRAWING).exists():
        advice = "choose a new folder, an empty one, or one with an earlier site"
        raise DroplineError(f"{folder} holds something else: {advice}")
    (folder / "data").mkdir(parents=True, exist_ok=True)
    (folder / DRAWING).write_text(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed"), "utf-8")
    for old in (folder / "data").glob("*.parquet"):
        old.unlink()
    pages = _pages(warehouse)
    with _open_to_us(home):
        for page in pages:
            say(f"{page.title}: {wording.plural(len(page.views), 'view')}")
            writer = Writer(folder, page.file.removesuffix(".html"))
            content = Markup("").join(_view(writer, *view) for view in page.views)
            charts = Markup(json.dumps(writer.charts).replace("<", "\\u003c"))  # noqa: S704 - contains no `<`
            shown = {"pages": pages, "page": page, "content": content, "charts": charts, "drawing": DRAWING}
            (folder / page.file).write_text(_template("site.html").render(shown), "utf-8")
    (folder / "report.html").write_text(report.make(warehouse), "utf-8")


def _pages(warehouse: Warehouse) -> list[Page]:
    series = [
        wording.series(each["label"], each["runs"], each["changes"])
        for each in ask(warehouse, "trends_series", loss_goal=None).to_pylist()[:MOST_SERIES]
    ]
    speedups = [("speedups", {"tab": each}) for each in wording.FACTORS.values()]
    return [
        Page("index.html", "Results", [("results", {})]),
        Page("pairs.html", "Pairs", [("compare", {}), *speedups]),
        Page("trends.html", "Trends", [("trends", {"series": each} if each else {}) for each in series or [""]]),
        Page("published.html", "Published", [("results", {"published": "true"}), ("claims", {})]),
    ]


@contextmanager
def _open_to_us(home: Home) -> Iterator[None]:
    """Let the pages see only this home's warehouse, without sign-in."""
    # Streamlit warns about running without a browser, which is intended here.
    logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context").disabled = True
    before = dict(os.environ)
    with TemporaryDirectory() as folder:
        (Path(folder) / home.warehouse.name).symlink_to(home.warehouse.absolute())
        os.environ.pop(auth.FILE, None)
        os.environ["DROPLINE_HOME"] = folder
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)


def _view(writer: Writer, view: str, address: dict[str, str]) -> Markup:
    from streamlit.testing.v1 import AppTest  # Streamlit's tool to run a page without a browser

    app = AppTest.from_file(str(HERE / "main.py"), default_timeout=SECONDS)
    if view != "results":
        app.switch_page(f"views/{view}.py")
    for name, value in address.items():
        app.query_params[name] = value
    app.run()
    if app.exception:
        raise DroplineError(f"the page {view} cannot be drawn: {app.exception[0].value}")
    writer.title = address.get("series") or address.get("tab") or ""
    module: Any = _template("elements.html").module
    return Markup(module.element(app.main, writer))  # noqa: S704 - escaped by the template


def _template(name: str) -> jinja2.Template:
    loader = jinja2.FileSystemLoader(HERE)
    templates = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)
    templates.filters |= {
        "inline": partial(_markdown, _MARKDOWN.renderInline),
        "block": partial(_markdown, _MARKDOWN.render),
    }
    return templates.get_template(name)


def _markdown(render: Callable[[str], str], text: str) -> Markup:
    return Markup(render(_DIRECTIVE.sub(r"\1", text)))  # noqa: S704 - without HTML of its own, by the options of the renderer


def _cell(value: Any) -> str:
    if isinstance(value, list | tuple) or hasattr(value, "tolist"):
        return ", ".join(map(str, value)) if not pd.api.types.is_scalar(value) else _cell(value.item())
    if not wording.is_known(value):
        return ""
    return wording.number(value) if isinstance(value, float) else str(value)
