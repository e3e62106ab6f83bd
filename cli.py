"""The command line. Each command hands over to the module that does the work."""

from __future__ import annotations

import errno
import subprocess
import sys
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal, NoReturn, cast

import typer

from dropline.errors import DroplineError
from dropline.paths import Home

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from typer.models import OptionInfo

    from dropline.ingest.loader import Summary
    from dropline.measure.drive import Seen

app = typer.Typer(
    name="dropline",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="The embedded SQL warehouse for benchmark results of network servers.\n\n"
    "Bring raw perfdhcp output in with `ingest`, compute leases per second with `build`, look at them with `app` or "
    "`sql`. `up` does all of it. Exit codes: 0 all well, 1 something was rejected or a check failed, 2 wrong use.",
)

_SHOWN_FIGURES = 40

Paths = Annotated[
    list[Path], typer.Argument(exists=True, help="Files or folders with raw output and what belongs to it.")
]
FORMAT: Final = typer.Option("--format", "-f", help="Form of the output.")
Said = str | None
Port = Annotated[int, typer.Option(min=1, max=65535, help="Port of the dashboard.")]


@app.callback()
def _choose_home(
    context: typer.Context,
    home: Annotated[
        str | None,
        typer.Option(
            envvar="DROPLINE_HOME",
            help="Folder that holds all data, or s3://bucket/folder.",
            show_default="./data",
            metavar="PATH",
        ),
    ] = None,
) -> None:
    context.obj = Home.chosen(home)
    if {"--help", "-h"} & set(sys.argv):
        return
    if context.obj.address:
        from dropline.ingest.lake import Lake

        with _bar("Pulling") as progress:
            Lake.shared(context.obj.lake, context.obj.address, progress)
    elif (context.obj.lake / "batches").is_dir():
        from dropline.ingest.migration import migrate

        migrate(context.obj.lake)


@app.command()
def ingest(
    context: typer.Context,
    paths: Paths,
    read_all: Annotated[
        bool, typer.Option("--read-all", help="Read also what has not changed by its size and time.")
    ] = False,
    campaign: Annotated[
        str | None, typer.Option(help="Name of the campaign, for folders without a campaign.yaml.", metavar="NAME")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would come of it: configurations, runs, rates, files.")
    ] = False,
    list_ignored: Annotated[
        bool, typer.Option("--list-ignored", help="List also what a rule left out, with the rule.")
    ] = False,
) -> None:
    """Read raw files into the lake, as one batch.

    Files are recognised by their content. What they do not say comes from the Kea configuration, a JSON sidecar, the
    path, and campaign.yaml. What is known and unchanged is skipped; what cannot be used is listed with its reason. Tar
    and zip archives are read as folders.

    For example: dropline ingest results/2026-11/
    """
    take_in = _preview if dry_run else partial(_ingest, reread=read_all, list_ignored=list_ignored)
    summary = take_in(context.obj, paths, campaign=campaign)
    raise typer.Exit(1 if summary.rejects else 0)


@app.command("init")
def begin(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(exists=True, file_okay=False, help="Folder with results.")],
) -> None:
    """Write a campaign.yaml for a folder of results: what was found, a guessed `path:`, all else as comments.

    A campaign.yaml that is there stays as it is. Read the new one through: what a path says, such as backend, threads
    and repetition, makes runs and configurations comparable.

    For example: dropline init results/2026-11/
    """
    from dropline.ingest.initial import begin as write
    from dropline.ingest.lake import Lake

    typer.echo(write(folder, Lake(context.obj.lake)).text())


@app.command()
def show(context: typer.Context, file: Annotated[Path, typer.Argument(exists=True, dir_okay=False)]) -> None:
    """Explain one file: what it is taken for, line by line, and where each value of its trials comes from.

    Nothing is stored. Use it when a file is rejected, or when a trial has a value that you did not expect.

    For example: dropline show results/rep1/rate5000.txt
    """
    from dropline.ingest.lake import Lake
    from dropline.ingest.show import show as explain

    typer.echo(explain(file, Lake(context.obj.lake)).text())


@app.command()
def rejects(context: typer.Context) -> None:
    """List what was refused: file, line, reason, and what to do about it.

    Only current versions of files count: what was repaired and ingested again is no longer listed.
    """
    from dropline.ingest.lake import Lake
    from dropline.ingest.reparsing import rejects as refused
    from dropline.ingest.reparsing import rejects_text

    typer.echo(rejects_text(refused(Lake(context.obj.lake))))


@app.command()
def forget(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="CAMPAIGN|PATH", help="A campaign, or CAMPAIGN/PATH of it.")],
    undo: Annotated[bool, typer.Option("--undo", help="Let it count again.")] = False,
) -> None:
    """Take a wrong import back: a campaign, or one of its files or folders, counts no longer.

    The bytes stay in the lake until `compact --purge`: until then `forget --undo` lets them count again, and so does
    an ingest of the same files. Build afterwards.

    For example: dropline forget kea-lab/runs/rep3
    """
    from dropline.ingest.lake import Lake
    from dropline.ingest.retraction import forget as take_back
    from dropline.ingest.retraction import remember

    typer.echo((remember if undo else take_back)(Lake.create(context.obj.lake), name).text())


@app.command()
def rename(
    context: typer.Context,
    old: Annotated[str, typer.Argument(metavar="OLD", help="A campaign.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="Its new name, which no other campaign has.")],
) -> None:
    """Give a campaign another name; all of its files go with it.

    Its folder is known again under the new name, whatever its campaign.yaml says. The other way round, an ingest sees
    by itself that a campaign.yaml has another name than before. Build afterwards.

    For example: dropline rename results kea-3.0-lab
    """
    from dropline.ingest.lake import Lake
    from dropline.ingest.retraction import rename as call

    typer.echo(call(Lake.create(context.obj.lake), old, new).text())


@app.command()
def reparse(context: typer.Context) -> None:
    """Read all kept raw bytes again with the present readers, and say what comes out otherwise.

    After an update with a better reader, history improves with it: what changed becomes a batch that supersedes the
    old rows. Where nothing changes, nothing is written. Build afterwards.
    """
    from dropline.ingest.lake import Lake
    from dropline.ingest.reparsing import reparse as read_again

    with _bar("Reading again") as progress:
        changes = read_again(Lake.create(context.obj.lake), progress=progress)
    typer.echo(changes.text())


@app.command()
def build(context: typer.Context) -> None:
    """Check the lake, compute all tables, check them, and publish the warehouse.

    Nothing is published when a check fails: the warehouse that people read stays as it was.
    """
    _build(context.obj)


@app.command()
def watch(
    context: typer.Context,
    folder: Annotated[
        Path, typer.Argument(exists=True, file_okay=False, help="Folder into which results are written.")
    ],
    settle: Annotated[
        float, typer.Option(min=0, help="Seconds for which nothing has changed before it is read.", metavar="SECONDS")
    ] = 0.3,
) -> None:
    """Follow a folder while you measure: ingest and publish what comes into it; Ctrl-C ends it.

    Prints a line with the capacities concerned each time. It stays loaded, so that a new run is published within two
    seconds. A file that is still written is read again when more of it is there.

    For example: dropline watch results/2026-11/
    """
    from dropline.watch import watch as follow

    try:
        for line in follow(context.obj, folder, settle):
            typer.echo(line)
    except KeyboardInterrupt:
        typer.echo("Stopped. What was published stays.")


@app.command()
def rollback(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(help="An earlier warehouse; `list` shows them.")] = None,
) -> None:
    """Publish an earlier warehouse again: the one before the present one, or the one named.

    The last three stay when a build replaces them; what rollback replaces stays, too. The lake is not touched: the
    next build publishes what it holds.

    For example: dropline rollback 0007-20261120T134501Z
    """
    from dropline import publication

    if name == "list":
        kept = publication.earlier(context.obj)
        typer.echo("\n".join(f"{each.name}  made {each.made_at:%Y-%m-%d %H:%M} UTC" for each in kept) or "none")
        return
    with _spinner("Going back") as say:
        chosen = publication.rollback(context.obj, name, progress=say)
    typer.echo(f"Published {chosen.name} again, made {chosen.made_at:%Y-%m-%d %H:%M} UTC: {context.obj.warehouse}")


@app.command()
def check(context: typer.Context) -> None:
    """Check the lake and the published warehouse without building.

    Great Expectations looks at every batch once (physically impossible counters, losses that do not add up, clocks)
    and at the published tables. Prints each finding with its reason; exit code 1 if a critical one is among them.
    """
    from dropline import pipeline

    with _spinner("Checking") as say:
        report = pipeline.check(context.obj, progress=say)
    typer.echo(report.text())
    raise typer.Exit(0 if report.passed else 1)


@app.command()
def verify(
    context: typer.Context,
    set_aside: Annotated[
        bool, typer.Option("--set-aside", help="Leave damaged batches out, so that all else works again.")
    ] = False,
) -> None:
    """Read everything that the home holds, and say what is not as it was written.

    Each file of the lake is held against the size and SHA-256 in the log, each kept raw file
    against its own, rows against what they belong to, the published warehouse against the lake. Prints each fault with
    its file and what to do; exit code 1 if there is one. Ingests and builds may go on meanwhile.

    For example, on a backup: dropline --home /mnt/backup verify
    """
    from dropline.ingest.verification import verify as read_all

    with _bar("Verifying") as progress:
        found = read_all(context.obj, set_aside=set_aside, progress=progress)
    typer.echo(found.text())
    damaged: list[str] = []
    if context.obj.address:
        from dropline.ingest.bucket import Bucket
        from dropline.ingest.lake import Lake

        lake = Lake(context.obj.lake)
        parts = [part for entry in lake.entries() for part in entry.files.values()]
        with _bar("Verifying the bucket") as progress:
            damaged = Bucket(context.obj.address).damaged(parts, progress=progress)
        typer.echo("\n".join([*damaged, f"{context.obj.address}: {len(damaged) or 'no'} faults"]))
    raise typer.Exit(1 if found.faults or damaged else 0)


@app.command()
def compact(
    context: typer.Context,
    purge: Annotated[
        bool, typer.Option("--purge", help="Also remove for good what was forgotten; nothing brings it back.")
    ] = False,
) -> None:
    """Merge small batches of the lake into large ones, so that thousands of ingests stay quick to read.

    No row changes, and nothing is built anew because of it. Ingests and builds may go on meanwhile, and it may be
    interrupted at any time.
    """
    from dropline.ingest.compaction import compact as merge
    from dropline.ingest.lake import Lake

    with _bar("Merging") as progress:
        done = merge(Lake.create(context.obj.lake), purge=purge, progress=progress)
    typer.echo(done.text())


@app.command()
def backup(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(help="New folder, or an earlier backup of this home.", file_okay=False)],
) -> None:
    """Copy the home to another folder, verified; ingests and builds may go on meanwhile.

    A folder that holds an earlier backup gets what is new. A backup is a home: `dropline --home FOLDER` works on it,
    and copying it to where it is needed restores it.

    For example: dropline backup /mnt/backup
    """
    from dropline.ingest.backup import backup as copy

    with _bar("Backing up") as progress:
        done = copy(context.obj, folder, progress=progress)
    typer.echo(done.text())


@app.command()
def export(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(help="New folder; it appears when all is in it.", file_okay=False)],
    form: Annotated[Literal["parquet", "csv"], FORMAT] = "parquet",
    raw: Annotated[bool, typer.Option("--raw", help="Also the kept raw files, by campaign and path.")] = False,
) -> None:
    """Write every table of the warehouse as a plain file, with a list of all columns and what they mean.

    For other programs, and for the day when this one is gone. In CSV nested values are JSON.

    For example: dropline export everything --format csv --raw
    """
    from dropline.app.dump import appearing, dump
    from dropline.app.warehouse import Identity
    from dropline.ingest.lake import Lake
    from dropline.ingest.unpack import unpack

    warehouse = Identity.of(context.obj.warehouse).path  # or says what to type
    with appearing(folder) as made:
        with _bar("Writing tables") as progress:
            rows = dump(warehouse, made, form, raw=raw, progress=progress)
        said = f"{len(rows)} tables, {sum(rows.values()):,} rows"
        if raw:
            with _bar("Writing raw files") as progress:
                said += f", {unpack(Lake(context.obj.lake), made, progress=progress)} raw files"
    typer.echo(f"{folder}: {said}")


@app.command("app")
def open_app(
    context: typer.Context,
    port: Port = 8501,
    browser: Annotated[bool, typer.Option(help="Open the browser.")] = True,
    address: Annotated[str, typer.Option(help="Where to listen; 0.0.0.0 is every address.")] = "127.0.0.1",
    host: Annotated[
        list[str] | None, typer.Option(help="Name under which visitors address it; may be repeated.")
    ] = None,
    secrets: Annotated[
        Path | None,
        typer.Option(envvar="DROPLINE_SECRETS", help="How visitors sign in.", show_default="secrets.toml of the home"),
    ] = None,
    no_sign_in: Annotated[bool, typer.Option("--no-sign-in", help="Let in whoever reaches the address.")] = False,
    allow_upload: Annotated[bool, typer.Option("--allow-upload", help="Let editors bring files in.")] = False,
) -> None:
    """Open the dashboard; Ctrl-C ends it.

    It listens on 127.0.0.1, for the users of this machine. For others, configure sign-in: docs/how-to/sign-in.md.
    """
    from dropline.app.serve import serve

    serve(
        context.obj,
        port,
        open_browser=browser,
        address=address,
        hosts=host or (),
        secrets=secrets,
        no_sign_in=no_sign_in,
        allow_upload=allow_upload,
    )


@app.command()
def up(
    context: typer.Context,
    paths: Annotated[list[Path] | None, typer.Argument(exists=True, help="What to ingest first.")] = None,
    port: Port = 8501,
    browser: Annotated[bool, typer.Option(help="Open the browser.")] = True,
) -> None:
    """Ingest, build, check and open the dashboard, in one go; what is up to date is not done again.

    An empty home shows the bundled examples. For example: dropline up results
    """
    from dropline import pipeline
    from dropline.ingest.lake import Lake

    if not paths and not Lake(context.obj.lake).batches():
        typer.echo("The home is empty: these are the bundled examples.")
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
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="One SELECT; `-` reads it from standard input.")],
    form: Annotated[Literal["table", "csv", "json", "markdown", "arrow", "parquet"], FORMAT] = "table",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File instead of standard output.")] = None,
) -> None:
    """Ask the warehouse a question; it is opened read-only.

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
    rows = Warehouse.open(context.obj.warehouse).query(text)
    if output:
        with output.open("wb") as file:
            write(rows, form, file)
    else:
        write(rows, form, sys.stdout.buffer)


@app.command()
def report(
    context: typer.Context,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File instead of standard output.")] = None,
    campaigns: Annotated[
        list[str] | None, typer.Option("--campaign", help="May be repeated; without it, all measured ones.")
    ] = None,
    form: Annotated[Literal["html", "markdown"], FORMAT] = "html",
) -> None:
    """Write a report to attach to a release: one file that needs nothing else, neither network nor scripts.

    Figures with their intervals, what threads, high availability and backends change, published figures beside them,
    charts (in HTML), method, machines, server configurations and findings. The same warehouse gives the same file.

    For example: dropline report -o report.html --campaign kea-3.0-lab
    """
    from dropline.app.warehouse import Warehouse
    from dropline.report import make

    text = make(Warehouse.open(context.obj.warehouse), campaigns or (), form)
    if not output:
        sys.stdout.buffer.write(text.encode())
        return
    try:
        output.write_text(text, "utf-8")
    except OSError as error:
        _fail(f"--output {output}: {error.strerror}; name a file in a folder that is there", 2)


def _input(option: str, text: str, default: str) -> OptionInfo:
    """Return an option of `needs`; its parameter has the name of an input of the calculator."""
    return cast("OptionInfo", typer.Option(option, help=text, show_default=default))


@app.command()
def publish(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(file_okay=False, help="New, empty, or with an earlier site.")],
) -> None:
    """Write Results, pairs, trends, published figures and the report as pages that need no server.

    They open from disk and in any web space, without network. Charts keep their hover; below each stands its data as
    Parquet. The pages are those of the app.

    For example: dropline publish site
    """
    from dropline.app.site import publish as write

    write(context.obj, folder, typer.echo)
    typer.echo(f"Open {folder / 'index.html'}")


@app.command()
def needs(
    context: typer.Context,
    preset: Annotated[str | None, typer.Option(help="Inputs to begin with; `list` shows them.")] = None,
    clients: Annotated[Said, _input("--clients", "Devices that hold a lease: 350000 or 350k.", "0")] = None,
    lease_s: Annotated[Said, _input("--lease", "Lease time: 24h, 90m, 1d12h or seconds.", "24h")] = None,
    preferred_ratio: Annotated[
        Said, _input("--preferred", "DHCPv6: preferred lifetime as a share of the lease.", "0.625, as Kea")
    ] = None,
    t1_ratio: Annotated[
        Said, _input("--t1", "When clients renew, as a share of the (preferred) lifetime.", "0.5")
    ] = None,
    t2_ratio: Annotated[
        Said, _input("--t2", "When they ask any server, as a share of it.", "0.875, DHCPv6 0.8")
    ] = None,
    renewing_ratio: Annotated[
        Said, _input("--renewing", "Share that renews; the others take a new lease.", "1")
    ] = None,
    leases_per_client: Annotated[
        Said, _input("--leases-per-client", "2 for an address and a prefix (IA_NA and IA_PD).", "1")
    ] = None,
    arriving_clients: Annotated[Said, _input("--arriving", "Devices that come for a new lease ...", "0")] = None,
    arrival_window_s: Annotated[Said, _input("--arrival-window", "... within this time.", "1h")] = None,
    moves_per_client_h: Annotated[
        Said, _input("--moves", "Moves to another network, per client and hour.", "0")
    ] = None,
    boot_ratio: Annotated[
        Said, _input("--boot", "Share of the clients that boots at once: 0.9 or 90% ...", "0")
    ] = None,
    boot_window_s: Annotated[Said, _input("--boot-window", "... within this time.", "10m")] = None,
    down_clients: Annotated[Said, _input("--down", "Clients that come back at once ...", "0")] = None,
    recovery_s: Annotated[Said, _input("--recovery", "... and shall have one again within this time.", "10m")] = None,
    remembering_ratio: Annotated[
        Said, _input("--remembering", "Share of those who boot or come back that asks for the lease it had.", "0")
    ] = None,
    outage_s: Annotated[Said, _input("--outage", "How long the server is down while clients run.", "0")] = None,
    ip_version: Annotated[Said, _input("--ip-version", "4 or 6.", "4")] = None,
    first_timeout_s: Annotated[
        Said, _input("--first-timeout", "After how long a client repeats.", "as in the RFC")
    ] = None,
    longest_timeout_s: Annotated[
        Said, _input("--longest-timeout", "Where the doubling of it ends.", "as in the RFC")
    ] = None,
    renewal_cost_ratio: Annotated[
        Said, _input("--renewal-cost", "Cost of a renewal over that of a new lease.", "1")
    ] = None,
    relay_ratio: Annotated[Said, _input("--relay-ratio", "LPS through relays over LPS without.", "1")] = None,
    ha_ratio: Annotated[Said, _input("--ha-ratio", "LPS with high availability over LPS without.", "1")] = None,
    utilisation_ratio: Annotated[
        Said, _input("--utilisation", "Share of the measured LPS that may be used.", "1")
    ] = None,
    capacity: Annotated[
        float | None,
        typer.Option(min=0, help="Measured LPS at which what follows is simulated.", show_default="what is needed"),
    ] = None,
    like: Annotated[
        str | None, typer.Option(help="Measured configuration: its capacity, and what it answers beyond it.")
    ] = None,
    form: Annotated[Literal["text", "markdown", "csv", "json"], FORMAT] = "text",
) -> None:
    """Compute the leases per second that a site needs, what comes after an outage, and who meets it.

    For example:

    dropline needs --clients 86400 --lease 24h

    dropline needs --preset power-cut --recovery 5m --capacity 40

    dropline needs --clients 350000 --lease 2h --boot 0.9 --boot-window 30m --utilisation 0.5
    """
    from dropline.app import planner

    if preset == "list":
        typer.echo("\n".join(f"{name:18}{each.title}. {each.source}" for name, each in planner.PRESETS.items()))
        return
    forms = {
        "text": planner.as_text,
        "markdown": planner.as_markdown,
        "csv": planner.as_csv,
        "json": planner.as_json,
    }
    try:
        said = {name: context.params[name] for name in planner.BY_NAME}
        given = {name: planner.parsed(name, text) for name, text in said.items() if text is not None}
        known, inputs = planner.opened(context.obj.warehouse), planner.complete(given, preset)
        setup = planner.measured_like(known, inputs, like) if like is not None else None
        found = planner.answer(known, inputs, capacity, setup)
    except ValueError as error:
        _fail(str(error), 2)
    typer.echo(forms[form](found).rstrip("\n"))


@app.command()
def measure(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="A plan.yaml; with --init, the folder for a new one.")],
    folder: Annotated[
        Path | None, typer.Option(help="Where the campaign is left.", show_default="beside the plan, by its name")
    ] = None,
    into: Annotated[str | None, typer.Option(help="Home to ingest and build in at the end.", metavar="HOME")] = None,
    init: Annotated[
        str | None, typer.Option("--init", help="kea, kea6 or powerdns: write a plan.", metavar="NAME")
    ] = None,
) -> None:
    """Find capacities by itself: drive a generator to the limit, and repeat until the interval is narrow.

    What it leaves is a campaign: ingest it as it is. With --into the dashboard of that home shows how far it is. Ctrl-C
    stops everything that was started; the same command goes on where it stopped. Exit code 1 if time ended before the
    runs did.

    For example: dropline measure --init kea lab && dropline measure lab/plan.yaml --into data
    """
    from dropline.measure.drive import measure as find
    from dropline.measure.initial import begin
    from dropline.measure.plan import Plan
    from dropline.measure.progress import shown

    if init:
        typer.echo(f"{begin(init, plan)}: read it through, then: dropline measure {plan / 'plan.yaml'}")
        return
    asked = Plan.load(plan)
    target = folder or plan.parent / asked.campaign
    home = Home.chosen(into) if into else None
    with _bar("Measuring") as progress, shown(asked, target, home) if home else nullcontext() as show:

        def see(seen: Seen) -> None:
            typer.echo(seen.text(), err=True)
            progress(seen.done, seen.wanted, "")
            if show:
                show(seen)

        outcome = find(asked, plan, target, lambda said: typer.echo(said, err=True), see)
    typer.echo(outcome.text())
    if home:
        _ingest(home, [outcome.folder])
        _build(home)
    raise typer.Exit(0 if outcome.is_done else 1)


@app.command()
def doctor(plan: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="A plan.yaml.")]) -> None:
    """Say what about a plan and its machines spoils the figure, and how.

    Looks at where generator and server run, pinning, pools and leases of Kea, the CPU's governor, socket buffers,
    clock and other load. Exit code 1 if there is something. `measure` writes the same into the campaign.

    For example: dropline doctor lab/plan.yaml
    """
    from dropline.measure.doctor import examine
    from dropline.measure.plan import Plan

    findings = examine(Plan.load(plan), plan.parent)
    typer.echo("\n".join(f"{each.what}: {each.effect}" for each in findings) or "Nothing found")
    raise typer.Exit(1 if findings else 0)


@app.command()
def gate(
    context: typer.Context,
    baseline: Annotated[str, typer.Option(help="The version or campaign to hold it against.")],
    fail_if: Annotated[str, typer.Option(help="What fails.", metavar="CONDITION")] = "slower by 3 %",
    candidate: Annotated[
        str | None, typer.Option(help="The version or campaign judged.", show_default="what was measured last")
    ] = None,
    goal: Annotated[str, typer.Option(help="Loss goal: ndr, permille, pdr, moj or isc.")] = "isc",
    junit: Annotated[Path | None, typer.Option(help="Also write JUnit XML here.", metavar="FILE")] = None,
    self_test: Annotated[
        bool, typer.Option("--self-test", help="Hold the baseline against itself: how often does this bench mislead?")
    ] = False,
) -> None:
    """Fail a release that is slower: every configuration against the same one of a baseline, in Markdown.

    Exit code 0: a drop as large is ruled out. 1: something is slower beyond chance. 2: the runs cannot tell; it says
    how many more would, or what is missing.

    For example: dropline gate --baseline 2.7.4 --fail-if "slower by 3 %" --junit gate.xml
    """
    from dropline.app.warehouse import Warehouse
    from dropline.measure import gate as judging

    try:
        drop = judging.parsed(fail_if)
        warehouse = Warehouse.open(context.obj.warehouse)
        if self_test:
            typer.echo(judging.self_test(warehouse, baseline, drop, goal))
            return
        judged = judging.judge(warehouse, baseline, candidate, drop, goal)
    except DroplineError as error:
        _fail(str(error), 2)
    typer.echo(judging.markdown(judged, fail_if))
    if junit:
        junit.write_text(judging.junit(judged, fail_if), "utf-8")
    raise typer.Exit(judging.exit_code(judged))


@app.command()
def status(context: typer.Context) -> None:
    """Say what the home holds: batches, campaigns, the last build, findings.

    Also says whether the warehouse is behind the lake, that is, whether `build` has something to do.
    """
    from dropline.app.status import describe

    if context.obj.address:
        typer.echo(f"shared     {context.obj.address}")
    typer.echo(describe(context.obj))


def _ingest(
    home: Home, paths: list[Path], *, reread: bool = False, campaign: str | None = None, list_ignored: bool = False
) -> Summary:
    from dropline.ingest.lake import Lake
    from dropline.ingest.loader import ingest as take_in

    with _bar("Reading") as progress:
        lake = Lake.create(home.lake)
        summary = take_in(paths, lake, progress=progress, reread=reread, campaign=campaign)
    typer.echo(summary.text(with_ignored=list_ignored))
    return summary


def _preview(home: Home, paths: list[Path], *, campaign: str | None = None) -> Summary:
    from dropline.app.output_formats import write
    from dropline.preview import preview

    with _bar("Reading") as progress:
        seen = preview(paths, home, campaign=campaign, progress=progress)
    write(seen.runs, "table", sys.stdout.buffer)
    typer.echo(f"\n{seen.summary.text(dry=True)}")
    return seen.summary


@contextmanager
def _bar(label: str) -> Iterator[Callable[[int, int, str], None]]:
    """Show how far it is; yields the function that takes (done, total, what)."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(label), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total, _: bar.update(task, completed=done, total=total)


def _build(home: Home) -> None:
    from dropline import pipeline

    try:
        with _spinner("Building") as say:
            report = pipeline.build(home, progress=say)
    except KeyboardInterrupt:
        _fail(
            f"Interrupted; {'the old warehouse stays' if home.warehouse.exists() else 'there is no warehouse yet'}", 130
        )
    typer.echo(report.text())
    _show_figures(home)


def _show_figures(home: Home) -> None:
    """Print what was measured, as far as it fits a screen."""
    from dropline.app.output_formats import write
    from dropline.app.status import own_figures
    from dropline.app.warehouse import Warehouse

    figures = own_figures(Warehouse.open(home.warehouse))
    if figures.num_rows:
        typer.echo()
        write(figures.slice(0, _SHOWN_FIGURES), "table", sys.stdout.buffer)
    if (more := figures.num_rows - _SHOWN_FIGURES) > 0:
        typer.echo(f"and {more} more, in the table `capacity`")


@contextmanager
def _spinner(label: str) -> Iterator[Callable[[str], None]]:
    """Show progress; yields the function that reports it."""
    from rich.console import Console
    from rich.markup import escape

    with Console(stderr=True).status(label) as status:
        yield lambda phase: status.update(f"{label}: {escape(phase)}")


def _fail(message: str, code: int) -> NoReturn:
    typer.echo(f"dropline: {message}", err=True)
    raise typer.Exit(code)


def _remedy(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return "Make room on the disk of the home, and repeat the command."
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return "The home must be writable: check its rights, or name another with --home."
    return "Check the file or folder, and repeat the command."


def main() -> None:
    """Run the command line; an expected failure becomes one message and exit code 1."""
    try:
        app(standalone_mode=True)
    except DroplineError as error:
        typer.echo(f"dropline: {error}", err=True)
        sys.exit(1)
    except OSError as error:
        typer.echo(f"dropline: {error}\n{_remedy(error)} What was committed before is untouched.", err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        typer.echo("dropline: interrupted; what was committed before stays", err=True)
        sys.exit(130)
