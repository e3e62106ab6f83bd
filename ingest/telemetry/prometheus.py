r"""Reader of Prometheus metrics: a server's text exposition, and answers of the HTTP API.

The text is that of `curl .../metrics` (prometheus.io, "Exposition formats", 0.0.4), with timestamps in ms, or
OpenMetrics 1.0, in seconds, which their size distinguishes. Exemplars are skipped. The JSON is that of
`/api/v1/query_range` and `/api/v1/query`: a matrix or a vector of series.

The label is the set of labels, sorted and escaped as in the text, `a="b",c="d"`; the host comes from the label
`instance`. A series without a name, as from PromQL, is called `promql`. NaN and infinity are skipped.
"""

import re
from functools import lru_cache
from typing import Final

from dropline.ingest.formats import Reject
from dropline.ingest.formats.json_documents import Node, in_documents
from dropline.ingest.formats.text import in_head, instant, quote, real, words
from dropline.ingest.telemetry import Found, Sample
from dropline.ingest.telemetry.samples import accounted, each_line

NAME = "prometheus"
IN_JSON = ('"resultType"', '"errorType"')
NO_NUMBER: Final = frozenset({"nan", "inf", "+inf", "-inf"})
UNNAMED: Final = "promql"  # name for the unnamed result of an expression such as rate(x[1m])

_EXPECTED: Final = "expected the text of a /metrics page, or the JSON of /api/v1/query_range"
_BEGIN: Final = re.compile(r"\s*# (?:HELP [a-zA-Z_:][\w:]* |TYPE [a-zA-Z_:][\w:]* [a-z]+\s)", re.ASCII)
_API: Final = re.compile(r'\s*\{\s*"(?:status|data)"\s*:')
_SET: Final = r'\{(?P<labels>(?:[^"{}]++|"(?:[^"\\]++|\\.)*+")*+)\}'
_LINE: Final = re.compile(
    rf"(?P<name>[a-zA-Z_:][\w:]*+)\s*(?:{_SET})?\s*(?P<value>[-+.\w]+)(?:\s+(?P<at>[-+.\w]+))?(?:\s+# \{{.*)?", re.ASCII
)
_SERIES: Final = re.compile(rf"(?P<name>[a-zA-Z_:][\w:]*)?\s*{_SET}", re.ASCII)
_LABEL: Final = re.compile(r'([a-zA-Z_]\w*)\s*=\s*("(?:[^"\\]++|\\.)*+")', re.ASCII)
_ESCAPES: Final = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
_UNIT: Final = re.compile(r"_(seconds|bytes)(?:_total|_sum)?\Z")


def series(text: str) -> tuple[str, str | None, str | None] | None:
    """Parse `name{label="value"}` to metric, label and host; return None for other texts."""
    match = _SERIES.fullmatch(text.strip())
    return _named(match["name"], match["labels"]) if match else None


def labelled(labels: dict[str, str]) -> tuple[str, str | None, str | None]:
    """Return metric, label and host of a set of labels, which may include the name."""
    rest = {name: value for name, value in labels.items() if name != "__name__"}
    label = ",".join(f'{name}="{value.translate(_ESCAPES)}"' for name, value in sorted(rest.items()))
    return labels.get("__name__") or UNNAMED, label or None, _host(rest.get("instance"))


def unit(metric: str) -> str | None:
    """Return the unit in a metric's name (prometheus.io, "Metric and label naming"); None for a count."""
    match = _UNIT.search(metric)
    return {"seconds": "s", "bytes": "bytes"}[match[1]] if match else None


def _exposed(line: str) -> list[Sample] | None:
    if line.startswith("#"):
        return []
    match = _LINE.fullmatch(line)
    at = instant(match["at"]) if match and match["at"] else None
    if not match or (match["at"] and not at):
        return None
    if match["value"].lower() in NO_NUMBER:
        return []
    value = real(match["value"])
    metric, label, host = _named(match["name"], match["labels"] or "")
    return None if value is None else [Sample(at, metric, value, unit(metric), label, host)]


@lru_cache(maxsize=4096)  # appended scrapes repeat their series
def _named(name: str | None, labels: str) -> tuple[str, str | None, str | None]:
    found = {label: value[1:-1] for label, value in _LABEL.findall(labels)}
    metric = name or found.get("__name__") or UNNAMED
    sorted_labels = ",".join(f'{label}="{value}"' for label, value in sorted(found.items()) if label != "__name__")
    return metric, sorted_labels or None, _host(found.get("instance"))


def _host(instance: str | None) -> str | None:
    """Return the host of `<host>:<port>`, the default form of `instance`."""
    return (instance.rpartition(":")[0] or instance) if instance else None


def _read(text: bytes) -> Found:
    if text[:100].lstrip().startswith(b"{"):
        return in_documents(text, _answer)
    return each_line(text, _exposed, 'expected `name{label="value"} value`, as a /metrics page has it')


def _answer(line: int, answer: Node) -> Found:
    if answer.get("status") == "success":
        for result in answer.items("data.result"):
            yield from _result(line, result)
    else:
        reason = f"the query failed: {quote(str(answer.get('error')))}"
        yield Reject(line, reason, "repair the query and save its answer again")


def _result(line: int, result: Node) -> Found:
    labels = {str(words(name)): str(words(each.value)) for name, each in result.members("metric").items()}
    metric, label, host = labelled(labels)
    for pair in result.values("values") or [result.get("value")]:
        time, text = pair if isinstance(pair, list) and len(pair) == 2 else (None, None)
        at, value = instant(time), real(text)
        if at and value is not None:
            yield Sample(at, metric, value, unit(metric), label, host)
        elif not at or str(text).lower() not in NO_NUMBER:
            hint = 'expected [seconds, "value"]; histograms cannot be read, ask for their quantiles'
            yield Reject(line, f"not a time and a value: {quote(str(pair))} of {quote(metric)}", hint)


sniff = in_head(lambda text: _BEGIN.match(text) or (_API.match(text) and any(map(text.__contains__, IN_JSON))))
parse = accounted(_read, _EXPECTED)
