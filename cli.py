"""The command line. Each command hands over to the module that does the work."""

from __future__ import annotations

import errno
import subprocess
import sys
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NoReturn

import typer
from typer import Argument, Context, Option
from typer.core import TyperCommand, TyperGroup, TyperOption

from dropline.errors import DroplineError
from dropline.paths import Home

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dropline.ingest.lake import Lake
    from dropline.ingest.loader import Summary
    from dropline.measure.drive import Seen


class _Commands(TyperGroup):
    def invoke(self, ctx: Any) -> Any:
        """Call a command; say what Ctrl-C leaves, as typer says nothing."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            _fail("interrupted; everything committed before is kept", 130)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command; one that is asked for help with what cli.yml says of it, which no other command reads."""
        command: Any
        name, command, rest = super().resolve_command(ctx, args)
        if {"--help", "-h"} & {*rest}:
            import yaml

            texts = yaml.load(Path(__file__).with_suffix(".yml").read_text("utf-8"), yaml.CSafeLoader)[name]
            command.help = "\n\n".join([command.help, *filter(None, [texts.get("told")])])
            for parameter in command.params:
                parameter.help = texts.get(parameter.name, parameter.help)
        return name, command, rest


app = typer.Typer(
    name="dropline",
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="The embedded SQL warehouse for benchmark results of network servers.\n\n"
    "`ingest` reads what benchmark tools wrote, `build` computes leases per second, `app` and `sql` show them; "
    "`up` does all. Exit codes: 0 success, 1 something was rejected or a check failed, 2 wrong usage.",
)

_SHOWN_FIGURES = 40
_HOME: Final = "Folder that holds all data, or s3://bucket/folder."

Paths = Annotated[list[Path], Argument(exists=True, help="Files or folders with raw output and its context files.")]
FORMAT: Final = Option("--format", "-f", help="Output format.")
Output = Annotated[Path | None, Option("--output", "-o", help="Write to this file instead of standard output.")]
Port = Annotated[int, Option(min=1, max=65535, help="Port of the dashboard.")]


def _show_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"dropline {version('dropline')}")
        raise typer.Exit


@app.callback()
def _choose_home(
    context: Context,
    home: Annotated[
        str | None, Option(envvar="DROPLINE_HOME", help=_HOME, show_default="./data", metavar="PATH")
    ] = None,
    version: Annotated[
        bool, Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    context.obj = Home.chosen(home)
    if {"--help", "-h"} & set(sys.argv):
        return
    if context.obj.address:
        from dropline.ingest.lake import Lake

        with _bar("Downloading") as progress:
            Lake.shared(context.obj.lake, context.obj.address, progress)
    elif (context.obj.lake / "batches").is_dir():
        from dropline.ingest.migration import migrate

        migrate(context.obj.lake)


@app.command()
def ingest(
    context: Context,
    paths: Paths,
    read_all: Annotated[bool, Option("--read-all")] = False,
    campaign: Annotated[str | None, Option(metavar="NAME")] = None,
    dry_run: Annotated[bool, Option("--dry-run")] = False,
    list_ignored: Annotated[bool, Option("--list-ignored")] = False,
) -> None:
    """Read raw files into the lake, as one batch."""
    take_in = _preview if dry_run else partial(_ingest, reread=read_all, list_ignored=list_ignored)
    summary = take_in(context.obj, paths, campaign=campaign)
    raise typer.Exit(1 if summary.rejects else 0)


@app.command("init")
def begin(context: Context, folder: Annotated[Path, Argument(exists=True, file_okay=False)]) -> None:
    """Write a campaign.yaml for a folder of results, with what was found and the most common keys as comments."""
    from dropline.ingest.initial import begin as write

    file = write(folder, _lake(context))
    typer.echo(f"Wrote {file}. Review it, then type: dropline ingest --dry-run {folder}")


@app.command()
def show(context: Context, file: Annotated[Path, Argument(exists=True, dir_okay=False)]) -> None:
    """Explain one file: how each line is read, and where each value of its trials comes from."""
    from dropline.ingest.show import show as explain

    typer.echo(explain(file, _lake(context)).text())


@app.command()
def rejects(context: Context) -> None:
    """List what was rejected: file, line, reason, and what to do about it."""
    from dropline.ingest import reparsing

    typer.echo(reparsing.rejects_text(reparsing.rejects(_lake(context))))


@app.command()
def forget(
    context: Context,
    name: Annotated[str, Argument(metavar="CAMPAIGN|PATH")],
    undo: Annotated[bool, Option("--undo")] = False,
) -> None:
    """Take back a wrong import: a campaign, or one of its files or folders, no longer counts."""
    from dropline.ingest import retraction

    typer.echo((retraction.remember if undo else retraction.forget)(_lake(context, create=True), name))


@app.command()
def rename(
    context: Context, old: Annotated[str, Argument(metavar="OLD")], new: Annotated[str, Argument(metavar="NEW")]
) -> None:
    """Rename a campaign, with all its files."""
    from dropline.ingest.retraction import rename as call

    typer.echo(call(_lake(context, create=True), old, new))


@app.command()
def reparse(context: Context) -> None:
    """Read all stored raw files again with the current readers, and say what changes."""
    from dropline.ingest.reparsing import reparse as read_again

    with _bar("Rereading") as progress:
        changes = read_again(_lake(context, create=True), progress=progress)
    typer.echo(changes.text())


@app.command()
def build(context: Context) -> None:
    """Check the lake, compute all tables, check them, and publish the warehouse."""
    _build(context.obj)


@app.command()
def watch(
    context: Context,
    folder: Annotated[Path, Argument(exists=True, file_okay=False)],
    settle: Annotated[float, Option(min=0, metavar="SECONDS")] = 0.3,
) -> None:
    """Watch a folder while you measure: ingest and publish each new result. Stop with Ctrl-C."""
    from dropline.watch import watch as follow

    try:
        for line in follow(context.obj, folder, settle):
            typer.echo(line)
    except KeyboardInterrupt:
        typer.echo("Stopped. Everything published so far stays.")


@app.command()
def rollback(context: Context, name: Annotated[str | None, Argument()] = None) -> None:
    """Publish an earlier warehouse again: the previous one, or the one that you name."""
    from dropline import publication

    if name == "list":
        kept = publication.earlier(context.obj)
        typer.echo("\n".join(f"{each.name}  made {each.made_at:%Y-%m-%d %H:%M} UTC" for each in kept) or "none")
        return
    with _spinner("Rolling back") as say:
        chosen = publication.rollback(context.obj, name, progress=say)
    typer.echo(f"Published {chosen.name} again, made {chosen.made_at:%Y-%m-%d %H:%M} UTC: {context.obj.warehouse}")


@app.command()
def check(context: Context) -> None:
    """Check the lake and the published warehouse without building."""
    from dropline import pipeline

    with _spinner("Checking") as say:
        report = pipeline.check(context.obj, progress=say)
    typer.echo(report.text())
    raise typer.Exit(0 if report.passed else 1)


@app.command()
def verify(
    context: Context,
    set_aside: Annotated[bool, Option("--set-aside")] = False,
) -> None:
    """Read everything in the home and report whatever is damaged or missing."""
    from dropline.ingest.verification import verify as read_all

    with _bar("Verifying") as progress:
        found = read_all(context.obj, set_aside=set_aside, progress=progress)
    typer.echo(found.text())
    damaged: list[str] = []
    if context.obj.address:
        from dropline.ingest.bucket import Bucket

        parts = [part for entry in _lake(context).entries() for part in entry.files.values()]
        with _bar("Verifying the bucket") as progress:
            damaged = Bucket(context.obj.address).damaged(parts, progress=progress)
        typer.echo("\n".join([*damaged, f"{context.obj.address}: {len(damaged) or 'no'} faults"]))
    raise typer.Exit(1 if found.faults or damaged else 0)


@app.command()
def compact(
    context: Context,
    purge: Annotated[bool, Option("--purge")] = False,
) -> None:
    """Merge small batches of the lake into large ones, so that it stays fast after thousands of ingests."""
    from dropline.ingest.compaction import compact as merge

    with _bar("Merging") as progress:
        done = merge(_lake(context, create=True), purge=purge, progress=progress)
    typer.echo(done.text())


@app.command()
def backup(context: Context, folder: Annotated[Path, Argument(file_okay=False)]) -> None:
    """Copy the home to another folder and verify the copy. Ingests and builds can run meanwhile."""
    from dropline.ingest.backup import backup as copy

    with _bar("Backing up") as progress:
        done = copy(context.obj, folder, progress=progress)
    typer.echo(done)


@app.command()
def export(
    context: Context,
    folder: Annotated[Path, Argument(file_okay=False)],
    form: Annotated[Literal["parquet", "csv"], FORMAT] = "parquet",
    raw: Annotated[bool, Option("--raw")] = False,
) -> None:
    """Write every table of the warehouse as a plain file, with a list of all columns and what they mean."""
    from dropline.app.dump import appearing, dump
    from dropline.app.warehouse import Identity
    from dropline.ingest.unpack import unpack

    warehouse = Identity.of(context.obj.warehouse).path  # or says what to type
    with appearing(folder) as made:
        with _bar("Writing tables") as progress:
            rows = dump(warehouse, made, form, raw=raw, progress=progress)
        said = f"{len(rows)} tables, {sum(rows.values()):,} rows"
        if raw:
            with _bar("Writing raw files") as progress:
                said += f", {unpack(_lake(context), made, progress=progress)} raw files"
    typer.echo(f"{folder}: {said}")


@app.command("app")
def open_app(
    context: Context,
    port: Port = 8501,
    browser: bool = True,
    address: str = "127.0.0.1",
    host: list[str] | None = None,
    secrets: Annotated[Path | None, Option(envvar="DROPLINE_SECRETS", show_default="secrets.toml of the home")] = None,
    no_sign_in: Annotated[bool, Option("--no-sign-in")] = False,
    allow_upload: Annotated[bool, Option("--allow-upload")] = False,
) -> None:
    """Open the dashboard. Stop with Ctrl-C."""
    from dropline.app.serve import serve

    let_in = {"no_sign_in": no_sign_in, "allow_upload": allow_upload}
    serve(context.obj, port, open_browser=browser, address=address, hosts=host or (), secrets=secrets, **let_in)


@app.command()
def up(
    context: Context,
    paths: Annotated[list[Path] | None, Argument(exists=True)] = None,
    port: Port = 8501,
    browser: bool = True,
) -> None:
    """Ingest, build, check and open the dashboard in one go. Steps that are up to date are skipped."""
    from dropline import pipeline

    if not paths and not _lake(context).batches():
        typer.echo("The home is empty, so this shows the bundled examples.")
        paths = [pipeline.PROJECT / "examples"]
    if paths:
        _ingest(context.obj, paths)
    if pipeline.is_current(context.obj):
        typer.echo("The warehouse is up to date.")
    else:
        # In processes of their own: Great Expectations would stay in the memory of the dashboard.
        command = [sys.executable, "-m", "dropline", "--home", context.obj.name]
        if code := subprocess.run([*command, "build"]).returncode:  # noqa: S603 - ourselves
            raise typer.Exit(code)
        checked = subprocess.run([*command, "check"], stdout=subprocess.PIPE, text=True)  # noqa: S603 - ourselves
        typer.echo(checked.stdout if checked.returncode else checked.stdout.splitlines()[-1])
        if checked.returncode:
            raise typer.Exit(checked.returncode)
    open_app(context, port, browser)


@app.command()
def sql(
    context: Context,
    query: str,
    form: Annotated[Literal["table", "csv", "json", "markdown", "arrow", "parquet"], FORMAT] = "table",
    output: Output = None,
) -> None:
    """Query the warehouse in SQL, read-only."""
    from dropline.app.output_formats import BINARY, write
    from dropline.app.warehouse import Warehouse

    if form in BINARY and output is None and sys.stdout.isatty():
        _fail(f"--format {form} is binary: name a file with --output", 2)
    text = sys.stdin.read() if query == "-" else query
    if not text.strip():
        _fail("the query is empty: write one SELECT", 2)
    rows = Warehouse.open(context.obj.warehouse).query(text)
    with output.open("wb") if output else nullcontext(sys.stdout.buffer) as file:
        write(rows, form, file)


@app.command()
def report(
    context: Context,
    output: Output = None,
    campaigns: Annotated[list[str] | None, Option("--campaign")] = None,
    form: Annotated[Literal["html", "markdown"], FORMAT] = "html",
) -> None:
    """Write a report to attach to a release: a single file that needs no network and no scripts."""
    from dropline.app.warehouse import Warehouse
    from dropline.report import make

    with _bar("Drawing") as progress:
        text = make(Warehouse.open(context.obj.warehouse), campaigns or (), form, progress)
    with output.open("wb") if output else nullcontext(sys.stdout.buffer) as file:
        file.write(text.encode())


@app.command()
def publish(context: Context, folder: Annotated[Path, Argument(file_okay=False)]) -> None:
    """Write results, pairs, trends, published figures and the report as pages that need no server."""
    from dropline.app.site import publish as write

    write(context.obj, folder, typer.echo)
    typer.echo(f"Open {folder / 'index.html'}")


class _Calculator(TyperCommand):
    """`needs`, with an option for each input of the calculator, which only this command loads."""

    def get_params(self, ctx: Any) -> Any:
        from dropline.app.planner import PARAMETERS, written

        preset: Any
        preset, *others = super().get_params(ctx)
        inputs = [
            TyperOption(
                param_decls=[each.name, f"--{each.option}"],
                type_descriptor=preset.type_descriptor,  # also a text
                help=f"{each.full_label}: {each.help}",
                show_default=written(each.name, each.default),
            )
            for each in PARAMETERS
        ]
        return [preset, *inputs, *others]

    def invoke(self, ctx: Any) -> Any:
        from dropline.app.planner import BY_NAME

        ctx.meta["inputs"] = {name: ctx.params.pop(name) for name in BY_NAME}
        return super().invoke(ctx)


@app.command(cls=_Calculator)
def needs(
    context: Context,
    preset: str | None = None,
    capacity: Annotated[str | None, Option(show_default="what is needed")] = None,
    like: str | None = None,
    form: Annotated[Literal["text", "markdown", "csv", "json"], FORMAT] = "text",
) -> None:
    """Compute the leases per second that a site needs, what happens after an outage, and which servers suffice."""
    from dropline.app import planner

    if preset == "list":
        typer.echo("\n".join(f"{name:18}{each.title}. {each.source}" for name, each in planner.PRESETS.items()))
        return
    try:
        said = context.meta["inputs"].items()
        given = {name: planner.parsed(name, text) for name, text in said if text is not None}
        known, inputs = planner.opened(context.obj.warehouse), planner.complete(given, preset)
        setup = planner.measured_like(known, inputs, like) if like is not None else None
        measured_lps = None if capacity is None else planner.parsed_capacity(capacity)
        found = planner.answer(known, inputs, measured_lps, setup)
    except ValueError as error:
        _fail(planner.in_words(error), 2)
    typer.echo(getattr(planner, f"as_{form}")(found).rstrip("\n"))


@app.command()
def measure(
    plan: Annotated[Path, Argument(metavar="PLAN")],
    folder: Annotated[Path | None, Option(show_default="next to the plan, under its name")] = None,
    into: Annotated[str | None, Option(metavar="HOME")] = None,
    init: Annotated[str | None, Option("--init", metavar="NAME")] = None,
) -> None:
    """Find capacities automatically: drive a generator to the limit, and repeat until the interval is narrow."""
    from dropline.measure.drive import measure as find
    from dropline.measure.plan import Plan, begin
    from dropline.measure.progress import shown

    if init:
        typer.echo(f"{begin(init, plan)}: review it, then: dropline measure {plan / 'plan.yaml'}")
        return
    if not plan.is_file():
        _fail(f"there is no plan {plan}: write one with `dropline measure --init kea {plan.stem}`", 2)
    asked = Plan.load(plan)
    target = folder or plan.parent / asked.campaign
    home = Home.chosen(into) if into else None
    with _bar("Measuring") as progress, shown(asked, target, home) if home else nullcontext() as show:

        def see(seen: Seen) -> None:
            typer.echo(seen.text(), err=True)
            progress(seen.done, seen.wanted)
            if show:
                show(seen)

        try:
            outcome = find(asked, plan, target, lambda said: typer.echo(said, err=True), see)
        except KeyboardInterrupt:
            _fail("stopped; run the same command again to continue", 130)
    typer.echo(outcome.text())
    if home:
        _ingest(home, [outcome.folder])
        _build(home)
    raise typer.Exit(1 if outcome.why_early else 0)


@app.command()
def doctor(plan: Annotated[Path, Argument(exists=True, dir_okay=False)]) -> None:
    """Check a plan and its machines for anything that would distort the figures, and how."""
    from dropline.measure.doctor import examine
    from dropline.measure.plan import Plan

    findings = examine(Plan.load(plan), plan.parent)
    typer.echo("\n".join(f"{each.what}: {each.effect}" for each in findings) or "Nothing found")
    raise typer.Exit(1 if findings else 0)


@app.command()
def gate(
    context: Context,
    baseline: Annotated[str, Option()],
    fail_if: Annotated[str, Option(metavar="CONDITION")] = "slower by 3 %",
    candidate: Annotated[str | None, Option(show_default="what was measured last")] = None,
    goal: Annotated[str | None, Option(show_default="isc for DHCP, else permille")] = None,
    junit: Annotated[Path | None, Option(metavar="FILE")] = None,
    self_test: Annotated[bool, Option("--self-test")] = False,
) -> None:
    """Fail a release that is slower: compare every configuration with the same one of a baseline, in Markdown."""
    from dropline.app.warehouse import Warehouse
    from dropline.measure import gate as judging

    try:
        drop = judging.parsed(fail_if)
        ask = Warehouse.open(context.obj.warehouse).query
        if self_test:
            typer.echo(judging.self_test(ask, baseline, drop, goal))
            return
        candidate = candidate or judging.newest(ask, baseline)
        judged = judging.judge(ask, baseline, candidate, drop, goal)
    except DroplineError as error:
        _fail(str(error), 2)
    typer.echo(judging.markdown(judged, f"{candidate} is {fail_if} than {baseline}"))
    if junit:
        junit.write_text(judging.junit(judged, fail_if), "utf-8")
    raise typer.Exit(judging.exit_code(judged))


@app.command()
def status(context: Context) -> None:
    """Show what is in the home: batches, campaigns, the last build, findings."""
    from dropline.app.status import describe

    if context.obj.address:
        typer.echo(f"shared     {context.obj.address}")
    typer.echo(describe(context.obj))


def _lake(context: Context, *, create: bool = False) -> Lake:
    from dropline.ingest.lake import Lake

    return Lake.create(context.obj.lake) if create else Lake(context.obj.lake)


def _ingest(
    home: Home, paths: list[Path], *, reread: bool = False, campaign: str | None = None, list_ignored: bool = False
) -> Summary:
    from dropline.ingest.lake import Lake
    from dropline.ingest.loader import ingest as take_in

    with _bar("Reading") as progress:
        summary = take_in(paths, Lake.create(home.lake), progress=progress, reread=reread, campaign=campaign)
    typer.echo(summary.text(with_ignored=list_ignored))
    return summary


def _preview(home: Home, paths: list[Path], *, campaign: str | None = None) -> Summary:
    from dropline.app.output_formats import write
    from dropline.preview import preview

    with _bar("Reading") as progress:
        summary, runs = preview(paths, home, campaign=campaign, progress=progress)
    write(runs, "table", sys.stdout.buffer)
    typer.echo(f"\n{summary.text(dry=True)}")
    return summary


@contextmanager
def _bar(label: str) -> Iterator[Callable[[int, int], None]]:
    """Show how far it is; yields the function that takes (done, total)."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(label), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _build(home: Home) -> None:
    from dropline import pipeline

    try:
        with _spinner("Building") as say:
            report = pipeline.build(home, progress=say)
    except KeyboardInterrupt:
        kept = "the old warehouse is kept" if home.warehouse.exists() else "there is no warehouse yet"
        _fail(f"Interrupted; {kept}", 130)
    typer.echo(report.text())
    _show_figures(home)


def _show_figures(home: Home) -> None:
    """Print the measured figures, up to a screenful."""
    import pyarrow as pa

    from dropline.app import wording
    from dropline.app.output_formats import write
    from dropline.app.queries import ask
    from dropline.app.warehouse import Warehouse

    warehouse = Warehouse.open(home.warehouse)
    figures = ask(warehouse, "own_figures", {"labels": "labels"})
    shown = [
        {
            **{name: figure[name] for name in ("campaign", "configuration", "runs")},
            "at least": None if figure["rate"] is None else f"{wording.number(figure['rate'])} {figure['rate_unit']}",
            "rate at the limit": wording.capacity_range(*[figure[name] for name in wording.RANGE_COLUMNS]),
            **{name: figure[name] for name in ("status", "quality")},
        }
        for figure in figures.slice(0, _SHOWN_FIGURES).to_pylist()
    ]
    if shown:
        typer.echo()
        write(pa.Table.from_pylist(shown), "table", sys.stdout.buffer)
    if (more := figures.num_rows - _SHOWN_FIGURES) > 0:
        typer.echo(f"and {more} more, in the tables `capacity` and `queries_per_second`")
    for told in ask(warehouse, "set_ups_alike").to_pylist():
        typer.echo(f"note      {told['campaign']}: {told['advice']}")


@contextmanager
def _spinner(label: str) -> Iterator[Callable[[str], None]]:
    from rich.console import Console
    from rich.markup import escape

    with Console(stderr=True).status(label) as status:
        yield lambda phase: status.update(f"{label}: {escape(phase)}")


def _fail(message: str, code: int) -> NoReturn:
    typer.echo(f"dropline: {message}", err=True)
    raise typer.Exit(code)


def main() -> None:
    """Run the command line; an expected failure becomes one message and exit code 1."""
    try:
        app(standalone_mode=True)
    except DroplineError as error:
        typer.echo(f"dropline: {error}", err=True)
        sys.exit(1)
    except OSError as error:
        told = f"{error.filename}: {error.strerror}" if error.filename and error.strerror else error
        remedy = "Check the file or folder, and run the command again."
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            remedy = "Make room on the disk, and run the command again."
        elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            remedy = "The home must be writable: check its permissions, or choose another with --home."
        typer.echo(f"dropline: {told}\n{remedy} Everything committed before is unchanged.", err=True)
        sys.exit(1)
