"""Reader of Ixia IxLoad's HTTP_Client.csv: captions after some lines of text, and one line below the samples.

The achieved rate is the mean total HTTP throughput (Mbit/s) of the steady samples; times are ms. The file lacks the
desired load.
"""

from typing import Final

from dropline.ingest.formats import Parts, Reject
from dropline.ingest.formats.throughput import MBITS, Series, Table, Trial, number, of_tables

NAME = "ixload"

_EXPECTED: Final = "expected HTTP_Client.csv of IxLoad, with the column `HTTP Total Throughput (Kbps)`"
_THROUGHPUT: Final = ("httptotalthroughput", "kbps")
_SERIES: Final = (
    Series("httpconnectionrate", "connection_rate", "connections/s"),
    Series("httptransactionrate", "transaction_rate", "transactions/s"),
    Series("httpconcurrentconnections", "concurrent_connections", "connections"),
    Series("httpsimulatedusers", "simulated_users", "users"),
)


def _trial(table: Table) -> Parts:
    trial = Trial("Ixia IxLoad", table.line, "HTTP client", MBITS)
    samples: list[tuple[float, float]] = []
    times: list[float] = []
    strange = [row for row in table.rows if number(row.cells[0]) is None]
    table.rows = [row for row in table.rows if number(row.cells[0]) is not None]
    records, faults = table.records(trial)
    for record in records:
        time_s = number(record.values[0], 1e-3) if record.columns.keys[0][0] == "elapsedtime" else None
        rate = record.number(_THROUGHPUT[0], unit=_THROUGHPUT[1], scale=1e-3)
        times += [time_s] if time_s is not None else []
        if rate is not None:
            samples.append((float(len(samples)) if time_s is None else time_s, rate))
        trial.observe("throughput", rate, MBITS, None, time_s)
        trial.follow(record, _SERIES, time_s)
    trial.completed = trial.completed and len(strange) == 1
    if not strange:
        trial.warnings.append("The line below the samples is missing: the file is cut off.")
    yield from faults
    for row in strange[:-1]:
        yield Reject(row.number, f"not a sample: {row.quoted}", _EXPECTED)
    trial.facts |= {"protocol": "HTTP", "achieved_rate": trial.mean_rate(samples)}
    trial.facts["duration_s"] = max(times, default=None)
    trial.details["load_layer"] = "goodput"
    yield trial.conclude()


sniff, parse = of_tables(lambda columns: _THROUGHPUT in columns.keys, _trial, _EXPECTED, has_prose=True)
