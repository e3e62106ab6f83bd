"""Command line, whose commands call the modules that do the work."""

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
        """Call a command; on Ctrl-C, print a message, which typer does not."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            _fail("interrupted; everything committed before is kept", 130)


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
    "`up` does all. Exit codes: 0 success; 1 something was rejected, missing or failed a check; 2 wrong usage.",
)

_SHOWN_FIGURES = 40

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
        str | None,
        Option(
            envvar="DROPLINE_HOME",
            help="Folder that holds all data, or s3://bucket/folder.",
            show_default="./data",
            metavar="PATH",
        ),
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
    read_all: Annotated[
        bool, Option("--read-all", help="Also read files whose size and time have not changed.")
    ] = False,
    campaign: Annotated[
        str | None, Option(help="Name of the campaign, for folders without a campaign.yaml.", metavar="NAME")
    ] = None,
    dry_run: Annotated[
        bool, Option("--dry-run", help="Store nothing; show the resulting configurations, runs, rates and files.")
    ] = False,
    list_ignored: Annotated[
        bool, Option("--list-ignored", help="Also list the files that a rule skipped, with the rule.")
    ] = False,
) -> None:
    """Read raw files into the lake, as one batch.

    Files are recognised by their content. Facts that they lack come from the Kea configuration, a JSON sidecar, the
    path, and campaign.yaml. Unchanged files are skipped; unusable files are listed with the reason. Tar and zip
    archives are read as folders.

    For example: dropline ingest results/2026-11/
    """
    take_in = _preview if dry_run else partial(_ingest, reread=read_all, list_ignored=list_ignored)
    summary = take_in(context.obj, paths, campaign=campaign)
    raise typer.Exit(1 if summary.rejects else 0)


@app.command("init")
def begin(
    context: Context, folder: Annotated[Path, Argument(exists=True, file_okay=False, help="Folder with results.")]
) -> None:
    """Write a campaign.yaml for a folder of results, with the facts found and the most common keys as comments.

    An existing campaign.yaml is not changed.

    For example: dropline init results/2026-11/
    """
    from dropline.ingest.initial import begin as write

    file = write(folder, _lake(context))
    typer.echo(f"Wrote {file}. Review it, then type: dropline ingest --dry-run {folder}")


@app.command()
def show(context: Context, file: Annotated[Path, Argument(exists=True, dir_okay=False)]) -> None:
    """Explain one file: how each line is read, and where each value of its trials comes from.

    Nothing is stored. Use it when a file is rejected, or when a trial has a value that you did not expect.

    For example: dropline show results/rep1/rate5000.txt
    """
    from dropline.ingest.show import show as explain

    typer.echo(explain(file, _lake(context)).text())


@app.command()
def rejects(context: Context) -> None:
    """List what was rejected: file, line, reason, and what to do about it.

    Only the current version of each file counts: a file that you repaired and ingested again is no longer listed.
    """
    from dropline.ingest import reparsing

    typer.echo(reparsing.rejects_text(reparsing.rejects(_lake(context))))


@app.command()
def forget(
    context: Context,
    name: Annotated[
        str, Argument(metavar="CAMPAIGN|PATH", help="A campaign, or CAMPAIGN/PATH for a file or folder in it.")
    ],
    undo: Annotated[bool, Option("--undo", help="Count it again.")] = False,
) -> None:
    """Take back a wrong import: a campaign, or one of its files or folders, no longer counts.

    The bytes stay in the lake until `compact --purge`. Until then `forget --undo` brings them back, and so does
    ingesting the same files again. Build afterwards.

    For example: dropline forget kea-lab/runs/rep3
    """
    from dropline.ingest import retraction

    typer.echo((retraction.remember if undo else retraction.forget)(_lake(context, create=True), name))


@app.command()
def rename(
    context: Context,
    old: Annotated[str, Argument(metavar="OLD", help="A campaign.")],
    new: Annotated[str, Argument(metavar="NEW", help="Its new name; no other campaign may have it.")],
) -> None:
    """Rename a campaign, with all its files.

    Later ingests of its folder use the new name, whatever its campaign.yaml says. You can also change the name in
    campaign.yaml: the next ingest notices. Build afterwards.

    For example: dropline rename results kea-3.0-lab
    """
    from dropline.ingest.retraction import rename as call

    typer.echo(call(_lake(context, create=True), old, new))


@app.command()
def reparse(context: Context) -> None:
    """Read all stored raw files again with the current readers, and show what changes.

    After an update with a better reader, this improves old results, too: files with other rows become a batch that
    replaces the old rows. If nothing changes, nothing is written. Build afterwards.
    """
    from dropline.ingest.reparsing import reparse as read_again

    with _bar("Rereading") as progress:
        changes = read_again(_lake(context, create=True), progress=progress)
    typer.echo(changes.text())


@app.command()
def build(context: Context) -> None:
    """Check the lake, compute all tables, check them, and publish the warehouse.

    If a check fails, nothing is published: the earlier warehouse stays.
    """
    _build(context.obj)


@app.command()
def watch(
    context: Context,
    folder: Annotated[Path, Argument(exists=True, file_okay=False, help="Folder where results are written.")],
    settle: Annotated[
        float, Option(min=0, help="Read a file once it has not changed for this many seconds.", metavar="SECONDS")
    ] = 0.3,
) -> None:
    """Watch a folder while you measure: ingest and publish each new result. Stop with Ctrl-C.

    Each publication prints a line with the affected capacities. As everything stays loaded, it takes less than two
    seconds. A file that is still being written is read again when it grows.

    For example: dropline watch results/2026-11/
    """
    from dropline.watch import watch as follow

    try:
        for line in follow(context.obj, folder, settle):
            typer.echo(line)
    except KeyboardInterrupt:
        typer.echo("Stopped. Everything published so far stays.")


@app.command()
def rollback(
    context: Context, name: Annotated[str | None, Argument(help="An earlier warehouse; `list` lists them.")] = None
) -> None:
    """Publish an earlier warehouse again: the previous one, or the one that you name.

    Builds keep the last three warehouses that they replaced; rollback also keeps the one that it replaces. The lake
    does not change, so the next build publishes all of it again.

    For example: dropline rollback 0007-20261120T134501Z
    """
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
    """Check the lake and the published warehouse without building.

    Great Expectations checks every batch once (physically impossible counters, losses that do not add up, clocks)
    and the published tables. Prints each finding with its reason; exit code 1 if any is critical.
    """
    from dropline import pipeline

    with _spinner("Checking") as say:
        report = pipeline.check(context.obj, progress=say)
    typer.echo(report.text())
    raise typer.Exit(0 if report.passed else 1)


@app.command()
def verify(
    context: Context,
    set_aside: Annotated[
        bool, Option("--set-aside", help="Exclude damaged batches, so that everything else works again.")
    ] = False,
) -> None:
    """Read everything in the home and report damaged or missing data.

    Compares each file of the lake with the size and SHA-256 in the log, each stored raw file with its own SHA-256, rows
    with the files they come from, and the published warehouse with the lake. Prints each fault with its file and its
    remedy; exit code 1 if there is one. Ingests and builds can run meanwhile.

    For example, on a backup: dropline --home /mnt/backup verify
    """
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
    purge: Annotated[
        bool, Option("--purge", help="Also delete forgotten data permanently. You cannot undo this.")
    ] = False,
) -> None:
    """Merge small batches of the lake into large ones, so that it stays fast after thousands of ingests.

    No row changes, and no build is needed afterwards. Ingests and builds can run meanwhile, and you can interrupt it at
    any time.
    """
    from dropline.ingest.compaction import compact as merge

    with _bar("Merging") as progress:
        done = merge(_lake(context, create=True), purge=purge, progress=progress)
    typer.echo(done.text())


@app.command()
def backup(
    context: Context,
    folder: Annotated[Path, Argument(help="New folder, or an earlier backup of this home.", file_okay=False)],
) -> None:
    """Copy the home to another folder and verify the copy. Ingests and builds can run meanwhile.

    If the folder holds an earlier backup, only new data is copied. A backup is a home: `dropline --home FOLDER` works
    on it. To restore it, copy it to where you need it.

    For example: dropline backup /mnt/backup
    """
    from dropline.ingest.backup import backup as copy

    with _bar("Backing up") as progress:
        done = copy(context.obj, folder, progress=progress)
    typer.echo(done)


@app.command()
def export(
    context: Context,
    folder: Annotated[Path, Argument(help="New folder; it appears once it is complete.", file_okay=False)],
    form: Annotated[Literal["parquet", "csv"], FORMAT] = "parquet",
    raw: Annotated[bool, Option("--raw", help="Also write the stored raw files, by campaign and path.")] = False,
) -> None:
    """Write every table of the warehouse as a plain file, with a list of all columns and what they mean.

    For other programs, or for leaving Dropline. In CSV, nested values are JSON.

    For example: dropline export everything --format csv --raw
    """
    from dropline.app.dump import appearing, dump
    from dropline.app.warehouse import Identity
    from dropline.ingest.unpack import unpack

    warehouse = Identity.of(context.obj.warehouse).path  # its error names the commands to type
    with appearing(folder) as made:
        with _bar("Writing tables") as progress:
            rows = dump(warehouse, made, form, raw=raw, progress=progress)
        written = f"{len(rows)} tables, {sum(rows.values()):,} rows"
        if raw:
            with _bar("Writing raw files") as progress:
                written += f", {unpack(_lake(context), made, progress=progress)} raw files"
    typer.echo(f"{folder}: {written}")


@app.command("app")
def open_app(
    context: Context,
    port: Port = 8501,
    browser: Annotated[bool, Option(help="Open the browser.")] = True,
    address: Annotated[str, Option(help="Address to listen on; 0.0.0.0 is all of them.")] = "127.0.0.1",
    host: Annotated[list[str] | None, Option(help="Host name that visitors use; repeat it for several.")] = None,
    secrets: Annotated[
        Path | None,
        Option(envvar="DROPLINE_SECRETS", help="How visitors sign in.", show_default="secrets.toml of the home"),
    ] = None,
    no_sign_in: Annotated[bool, Option("--no-sign-in", help="Let in anyone who can reach the address.")] = False,
    allow_upload: Annotated[bool, Option("--allow-upload", help="Let editors upload files.")] = False,
) -> None:
    """Open the dashboard. Stop with Ctrl-C.

    It listens on 127.0.0.1, for users of this machine. To let others in, set up sign-in: docs/how-to/sign-in.md.
    """
    from dropline.app.serve import serve

    let_in = {"no_sign_in": no_sign_in, "allow_upload": allow_upload}
    serve(context.obj, port, open_browser=browser, address=address, hosts=host or (), secrets=secrets, **let_in)


@app.command()
def up(
    context: Context,
    paths: Annotated[list[Path] | None, Argument(exists=True, help="What to ingest first.")] = None,
    port: Port = 8501,
    browser: Annotated[bool, Option(help="Open the browser.")] = True,
) -> None:
    """Ingest, build, check and open the dashboard in one go. Steps that are up to date are skipped.

    With an empty home and no paths, it shows the bundled examples. For example: dropline up results
    """
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


@app.command(context_settings={"ignore_unknown_options": True})  # a query may begin with `--`, a comment
def sql(
    context: Context,
    query: Annotated[str, Argument(help="One SELECT; `-` reads it from standard input.")],
    form: Annotated[Literal["table", "csv", "json", "markdown", "arrow", "parquet"], FORMAT] = "table",
    output: Output = None,
) -> None:
    """Query the warehouse in SQL, read-only.

    For example:

    dropline sql "select configuration, lps, ci_low, ci_high from leases_per_second order by lps desc"

    dropline sql "select * from multithreading_speedup" --format csv -o speedups.csv

    dropline sql "select table_name, comment from duckdb_tables()" lists the tables.
    """
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
    campaigns: Annotated[
        list[str] | None, Option("--campaign", help="Repeat it for several; default: all that were measured.")
    ] = None,
    form: Annotated[Literal["html", "markdown"], FORMAT] = "html",
) -> None:
    """Write a report to attach to a release: a single file that needs no network and no scripts.

    It has figures with intervals, the effect of threads, high availability and backends, published figures for
    comparison, charts (in HTML), method, machines, server configurations and findings. The same warehouse always gives
    the same file.

    For example: dropline report -o report.html --campaign kea-3.0-lab
    """
    from dropline.app.warehouse import Warehouse
    from dropline.report import make

    with _bar("Drawing") as progress:
        text = make(Warehouse.open(context.obj.warehouse), campaigns or (), form, progress)
    with output.open("wb") if output else nullcontext(sys.stdout.buffer) as file:
        file.write(text.encode())


@app.command()
def publish(
    context: Context,
    folder: Annotated[Path, Argument(file_okay=False, help="A new or empty folder, or one with an earlier site.")],
) -> None:
    """Write results, pairs, trends, published figures and the report as pages that need no server.

    The pages are those of the app. They open from disk or from any web server and load nothing else. Charts keep their
    tooltips, and each offers its data as Parquet.

    For example: dropline publish site
    """
    from dropline.app.site import publish as write

    write(context.obj, folder, typer.echo)
    typer.echo(f"Open {folder / 'index.html'}")


class _Calculator(TyperCommand):
    """`needs` command, with an option for each input of the calculator, which is loaded for this command only."""

    def get_params(self, ctx: Any) -> Any:
        from dropline.app.planner import PARAMETERS, written

        preset: Any
        preset, *others = super().get_params(ctx)
        inputs = [
            TyperOption(
                param_decls=[each.name, f"--{each.option}"],
                type_descriptor=preset.type_descriptor,  # of another option with a text
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
    preset: Annotated[str | None, Option(help="Inputs to start from; `list` lists the presets.")] = None,
    capacity: Annotated[
        str | None, Option(help="Measured LPS to use in the simulation.", show_default="the need")
    ] = None,
    like: Annotated[
        str | None,
        Option(help="Simulate this measured configuration: its capacity, and how much it answers when overloaded."),
    ] = None,
    form: Annotated[Literal["text", "markdown", "csv", "json"], FORMAT] = "text",
) -> None:
    """Compute the leases per second that a site needs, what happens after an outage, and which servers suffice.

    For example:

    dropline needs --clients 86400 --lease 24h

    dropline needs --preset power-cut --recovery 5m --capacity 40

    dropline needs --clients 350000 --lease 2h --boot 0.9 --boot-window 30m --utilisation 0.5
    """
    from dropline.app import planner

    if preset == "list":
        typer.echo("\n".join(f"{name:18}{each.title}. {each.source}" for name, each in planner.PRESETS.items()))
        return
    try:
        texts = context.meta["inputs"].items()
        given = {name: planner.parsed(name, text) for name, text in texts if text is not None}
        known, inputs = planner.opened(context.obj.warehouse), planner.complete(given, preset)
        setup = planner.measured_like(known, inputs, like) if like is not None else None
        measured_lps = None if capacity is None else planner.parsed_capacity(capacity)
        found = planner.answer(known, inputs, measured_lps, setup)
    except ValueError as error:
        _fail(planner.in_words(error), 2)
    typer.echo(getattr(planner, f"as_{form}")(found).rstrip("\n"))


@app.command()
def measure(
    plan: Annotated[Path, Argument(metavar="PLAN", help="A plan.yaml; with --init, the folder for a new one.")],
    folder: Annotated[
        Path | None, Option(help="Where to write the campaign.", show_default="next to the plan, under its name")
    ] = None,
    into: Annotated[str | None, Option(help="Home in which to ingest and build at the end.", metavar="HOME")] = None,
    init: Annotated[
        str | None, Option("--init", help="Write a plan for kea, kea6 or powerdns.", metavar="NAME")
    ] = None,
) -> None:
    """Find capacities automatically: drive a generator to the limit, and repeat until the interval is narrow.

    The result is a campaign, ready to ingest. With --into, the dashboard of that home shows the progress. Ctrl-C stops
    everything that was started; run the same command again to continue. Exit code 1 if time ran out before all runs
    were done.

    For example: dropline measure --init kea lab && dropline measure lab/plan.yaml --into data
    """
    from dropline.measure.drive import measure as find
    from dropline.measure.plan import Plan, begin
    from dropline.measure.progress import shown

    if init:
        typer.echo(f"{begin(init, plan)}: review it, then: dropline measure {plan / 'plan.yaml'}")
        return
    if not plan.is_file():
        lab = plan.parent if plan.suffix in {".yaml", ".yml"} else plan
        _fail(f"there is no plan {plan}: write one with `dropline measure --init kea {lab}`", 2)
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
            outcome = find(asked, plan, target, lambda text: typer.echo(text, err=True), see)
        except KeyboardInterrupt:
            _fail("stopped; run the same command again to continue", 130)
    typer.echo(outcome.text())
    if home:
        _ingest(home, [outcome.folder])
        _build(home)
    raise typer.Exit(1 if outcome.why_early else 0)


@app.command()
def doctor(plan: Annotated[Path, Argument(exists=True, dir_okay=False, help="A plan.yaml.")]) -> None:
    """Check a plan and its machines for anything that would distort the figures.

    Checks where generator and server run, pinning, Kea's pools and leases, the CPU governor, socket buffers, the clock
    and other load. Exit code 1 if it finds something. `measure` writes the same findings into the campaign.

    For example: dropline doctor lab/plan.yaml
    """
    from dropline.measure.doctor import examine
    from dropline.measure.plan import Plan

    findings = examine(Plan.load(plan), plan.parent)
    typer.echo("\n".join(f"{each.what}: {each.effect}" for each in findings) or "Nothing found")
    raise typer.Exit(1 if findings else 0)


@app.command()
def gate(
    context: Context,
    baseline: Annotated[str, Option(help="The version or campaign to compare with.")],
    fail_if: Annotated[str, Option(help="The drop that fails the gate.", metavar="CONDITION")] = "slower by 3 %",
    candidate: Annotated[
        str | None, Option(help="The version or campaign to judge.", show_default="the last one measured")
    ] = None,
    goal: Annotated[
        str | None,
        Option(help="Loss goal: ndr, permille, pdr, moj, isc or throughput.", show_default="each one's usual goal"),
    ] = None,
    junit: Annotated[Path | None, Option(help="Also write JUnit XML here.", metavar="FILE")] = None,
    self_test: Annotated[
        bool,
        Option(
            "--self-test", help="Compare the baseline with itself: how often does this test bed give a false alarm?"
        ),
    ] = False,
) -> None:
    """Fail a release that is slower: compare every configuration with the same one of a baseline, in Markdown.

    Exit code 0: a drop that large is ruled out. 1: something is slower, and not by chance. 2: the runs are inconclusive
    (the output says how many more you need), or nothing was judged (the message says what is wrong or missing).

    For example: dropline gate --baseline 2.7.4 --fail-if "slower by 3 %" --junit gate.xml
    """
    from dropline.app import queries
    from dropline.app.warehouse import Warehouse
    from dropline.measure import gate as judging

    try:
        drop = judging.parsed(fail_if)
        ask = partial(queries.own, Warehouse.open(context.obj.warehouse))
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
    """Show what is in the home: batches, campaigns, the last build, findings.

    Also shows whether the warehouse is behind the lake, that is, whether you need to `build`.
    """
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
    """Show a progress bar; yield the function that updates it with (done, total)."""
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
    for row in ask(warehouse, "set_ups_alike").to_pylist():
        typer.echo(f"note      {row['campaign']}: {row['advice']}")


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
        message = f"{error.filename}: {error.strerror}" if error.filename and error.strerror else error
        remedy = "Check the file or folder, and run the command again."
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            remedy = "Make room on the disk, and run the command again."
        elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            remedy = "The home must be writable: check its permissions, or choose another with --home."
        typer.echo(f"dropline: {message}\n{remedy} Everything committed before is unchanged.", err=True)
        sys.exit(1)
