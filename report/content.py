"""Contents of the report, from the summary to the findings, as sections."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from dropline.app import headlines, queries, wording
from dropline.app.warehouse import Warehouse
from dropline.report import capacities, comparisons, curves
from dropline.report.scope import Row, Scope, chosen, grouped, printable, web
from dropline.report.sections import Cell, Report, Section, Table, text

METHOD: Final = Path(__file__).with_name("method.txt")


def report(warehouse: Warehouse, campaigns: Sequence[str] = ()) -> Report:
    """Return the report on some campaigns, as `chosen` gives them; raise DroplineError if one is unknown."""
    scope = chosen(warehouse, campaigns)
    rows = scope.rows("campaigns")
    figures = capacities.figures(scope)
    pairs = comparisons.pairs(scope, figures)
    answered = "Answered share, as the generator prints it and by the counters of the server and the network"
    unpaced = "Throughput without a set rate, or at a higher rate than the server could take"
    servers = scope.tables("Values from the servers' own configurations", "servers")
    findings = scope.tables("Findings by severity; if there are several alike, the first by file", "findings")
    sections = [
        _summary(scope, rows, figures, pairs),
        *capacities.sections(scope, figures),
        Section("throughput", "Throughput", scope.tables(unpaced, "throughputs")),
        comparisons.section(scope, pairs),
        Section("queries", "Where the queries went", scope.tables(answered, "accounting")),
        capacities.beside_published(scope, figures),
        curves.loss(scope, figures),
        curves.seconds(scope),
        _method(scope, figures),
        Section("machines", "Machines", tuple(map(_machine, scope.rows("machines")))),
        Section("servers", "Server configurations", servers),
        Section("findings", "Findings", findings or ("There are no findings about these campaigns.",)),
    ]
    [built] = printable(warehouse.query("select built_at, dropline_version from build_info"))
    return Report(
        f"Benchmark report: {_subject(rows)}",
        f"From the warehouse built {text(built['built_at'])} by Dropline {built['dropline_version']}",
        tuple(section for section in sections if section.blocks),
    )


def _subject(campaigns: Sequence[Row]) -> str:
    products = sorted({product for row in campaigns for product in row["products"]})
    if len(campaigns) == 1:
        return str(campaigns[0]["title"] or campaigns[0]["campaign"])
    return ", ".join(products) if 1 <= len(products) <= 3 else f"{len(campaigns)} campaigns"


def _summary(scope: Scope, campaigns: Sequence[Row], figures: Sequence[Row], pairs: Sequence[Row]) -> Section:
    table = Table.of(
        "Campaigns",
        (
            {
                "Campaign": Cell(row["campaign"], row["title"] or "", url=web(row["source_url"])),
                "Origin": row["origin"],
                "Date": row["started_on"],
                "Products": ", ".join(row["products"]),
                "Configurations": row["configurations"],
                "Runs": row["runs"],
                "Trials": row["trials"],
                "Files rejected": row["rejected_files"],
                "First trial": row["first_started_at"],
                "Last trial": row["last_started_at"],
            }
            for row in campaigns
        ),
    )
    about = (f"{row['campaign']}: {row['description']}" for row in campaigns if row["description"])
    title, changes = queries.since_versions(scope.warehouse, None, scope.campaigns)
    levels = comparisons.changed_levels(scope, changes)
    answers = [*comparisons.between_versions(scope, title, changes), *_answers(figures), *levels]
    for row in scope.rows("throughputs")[:1]:
        label = scope.labels[row["configuration"]]
        answers.append(f"Throughput: up to {wording.number(row['rate'])} {row['unit']}, {label}.")
    answers = answers or ["No figure yet; dropline rejects lists the files that could not be used."]
    return Section("summary", "Summary", (*answers, *comparisons.summary(pairs), table, *about))


def _answers(figures: Sequence[Row]) -> Iterable[str]:
    """Return the fastest set-up of each protocol and unit, most runs first, in the words of the page Results."""
    kinds = grouped(figures, lambda row: repr((row["protocol"], row["rate_unit"], headlines.is_throughput(row))))
    for known in sorted(kinds.values(), key=lambda rows: -sum(row["runs"] or 0 for row in rows)):
        newest = [row for row in known if row["is_newest"]]
        rows = newest if newest and len(known) > headlines.MOST_ALIKE else known
        failed = headlines.at_first_step(rows)
        if best := headlines.fastest(headlines.named(rows)):
            yield f"{headlines.headline(best, alone=len(rows) == 1)}. {headlines.certainty(best)} {failed}".strip()
        else:
            yield f"{headlines.none_holds(rows)}. {failed}"


def _method(scope: Scope, figures: Sequence[Row]) -> Section:
    used = {row["loss_goal"] for row in figures}
    goals = printable(scope.warehouse.query("select * from loss_goals order by loss_goal"))
    texts = (f"Loss goal {row['loss_goal']}: {row['description']}." for row in goals if row["loss_goal"] in used)
    rules_of_all = (" ".join(rule.split()) for rule in METHOD.read_text("utf-8").split("\n\n"))
    generators = "Generators and their options; the drop time is how long an answer may take"
    tables = *scope.tables("Which runs the mean leaves out", "rules"), *scope.tables(generators, "generators")
    return Section("method", "Method", ((*texts, *rules_of_all), *tables))


def _machine(host: Row) -> Table:
    facts = {name: str(value) for name, value in host.items() if value is not None}
    caption = f"Machine {facts.pop('name')} ({facts.pop('campaigns')})"
    texts = {wording.REPORTED.get(name, name.replace("_", " ")): value for name, value in facts.items()}
    return Table.of(caption, ({"Fact": name, "Value": value} for name, value in texts.items()))
