"""Line prefixes added by logs and mails: times, authors, quotes, or JSON.

The prefix is detected once, in the head of a file, and removed line by line, so that line numbers stay. Writers that
share a log are separated by name.
"""

from __future__ import annotations

import csv
import io
import json
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, compress, islice, pairwise, takewhile
from os.path import commonprefix
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from dropline.ingest.formats.text import HEAD_BYTES, MAX_TEXT_BYTES, plural, uncoloured, unpack

if TYPE_CHECKING:
    from dropline.ingest.formats import Report

_DEEPEST: Final = 4  # nested prefixes
_SAMPLE: Final = 200  # non-blank lines of the head
_SHARE: Final = 0.6  # of them that must begin alike
_MOST_WRITERS: Final = 50
_LONGEST: Final = 500  # characters of a line that are examined
_ABOVE: Final = 12  # lines above a report, among them commands
_MARKS: Final = " \t=#*~<-"  # around a title

_CLOCK: Final = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: [AP]M)?+"
_DAY: Final = r"(?:\d{4}[-/]\d\d[-/]\d\d|\d{8}|\d\d[./]\d\d[./]\d{4})"
_ISO: Final = rf"{_DAY}[T ]{_CLOCK}(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?"
_MONTHS: Final = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_SYSLOG: Final = rf"{_MONTHS} [ \d]\d {_CLOCK}"
_DATE: Final = rf"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) {_SYSLOG}(?: [A-Z]{{2,5}})? \d{{4}}"
TIME: Final = rf"(?:{_ISO}|{_DATE}|{_SYSLOG}(?: \d{{4}})?)"
_WRITER: Final = r"(?P<writer>[\w.@/-]{1,100})"
_BEHIND: Final = r"(?:[ \t]*[|:](?=[ \t\r]|$)|[ \t]+-(?=[ \t\r]|$))?(?:[ \t]+|(?=\r|$))"
_FORMS: Final = tuple(
    re.compile(form, re.ASCII)
    for form in (
        rf"(?:{_SYSLOG}|{_ISO}) (?P<writer>[\w.-]{{1,100}} [\w./-]{{1,100}}(?:\[\d{{1,10}}\])?):{_BEHIND}",
        rf"[\[(]?{TIME}[\])]?{_BEHIND}",
        rf"(?:{_CLOCK}|[\[(]{_CLOCK}[\])]){_BEHIND}",
        r"(?:\d{10}(?:\.\d{1,9})?|\[ *\d{1,10}\.\d{1,9}\])(?:[ \t]+|(?=\r|$))",  # seconds
        rf"{_WRITER}[ \t]+\|(?:[ \t]|(?=\r|$))",  # docker compose logs
        r"(?P<writer>[^\t\n]{1,100}\t[^\t\n]{1,100})\t",  # gh run view --log
        rf"\[{_WRITER}\]{_BEHIND}",  # kubectl logs --prefix
        r"(?:[>|#]|//)[ \t]?",  # a mail, a comment
        r"(?:[ \t]*(?:[-*+\u2022]|\d{1,3}[.)])[ \t]+|[ \t]{2,})",  # a list
    )
)
_BULLET: Final = re.compile(r"^[ \t]*[-*+][ \t]+(?=\S)", re.MULTILINE)
_STEADY: Final = re.compile(r".*[\s|>:#*\]]", re.DOTALL)  # a prefix never ends within a word or number
_STRING: Final = r'"(?:[^"\\]|\\.)*+"'
_OUTPUTS: Final = ("stdout", "msg", "output", "raw", "report", "result", "text")  # keys of JSON, YAML and CSV
_OUTPUT: Final = rf"(?:[\w.-]*[._-])?(?:{'|'.join(_OUTPUTS)})"
_STDOUT: Final = re.compile(rf'"{_OUTPUT}"\s*:\s*({_STRING})')
_STDOUT_LINES: Final = re.compile(rf'"{_OUTPUT}(?:_lines)?"\s*:\s*\[\s*((?:{_STRING}\s*,?\s*)++)')
_OF_OUTPUT: Final = re.compile(rf"{_OUTPUT}(?:_lines)?")
_YAML: Final = re.compile(rf"^[ \t]*(?:- +)?{_OUTPUT}: *\|[-+\d]*[ \t]*\r?$", re.MULTILINE)
_NO_TITLES: Final = frozenset({"", "~", "false", "null", "true"})
_FRACTION: Final = re.compile(r"[-+]?\d*\.\d+(?:e[-+]?\d+)?", re.IGNORECASE)
_Token = tuple[str, str, int]  # key, value, fraction, open or close; its text; the place of a key
_ONE: Final = re.compile(_STRING)
_TOKEN: Final = re.compile(
    rf"({_STRING})\s*:|({_STRING}|(?<![\w.+-])\d{{1,18}}(\.\d{{1,18}})?)(?=\s*[,}}\]])|[\[\]{{}}]"
)
_UNTITLED: Final = re.compile(  # keys of values that belong to one process
    rf"(?:.*[_.])?(?:{'|'.join(_OUTPUTS)}|stdout\w*|stderr\w*|log|cmd|command|args|argv|rc|code|exit\w*"
    r"|return\w*|status|state|p?id|uuid|ts|starte?d?|ende?d?|delta|elapsed\w*|duration\w*|seconds|secs|date\w*|time\w*"
    r"|created|finished|file|path|sent|received|recv|completed|lost|dropped|drops|answered|errors|queries|requests"
    r"|responses|replies|bytes|packets|count|total|m?s|us|var|percent|pct|switches|usage|used|free)"
    r"|(?:elapsed|duration|start|end|time|total|wall|mem)_\w+|(?:.*_)?rss\w*|_\w+",
    re.IGNORECASE,
)
_RATE: Final = re.compile(r"rate|load|offered|[clpqr]ps", re.IGNORECASE)
_NUMBER: Final = re.compile(r"\d{1,18}(?:\.\d{1,18})?%?")
_SEVERAL: Final = 5  # objects
_MOST_EVENTS: Final = 500_000  # of a YAML document; these take some seconds
_MOST_TOLD: Final = 20  # values beside an output, levels of objects around it
_SETTINGS: Final = re.compile(r"item|case|config|labels|meta|options|param\w*|scenario|set_?up|tags|test|vars")
_IN_DOCKER: Final = '{"log":"'
IN_JSON: Final = (_IN_DOCKER, *(f'{each}"' for each in (*_OUTPUTS, "_lines")))
_DOCKER: Final = re.compile(rf'\{{"log":({_STRING}),"stream":"[a-z]+",(?:"attrs":\{{.*\}},)?"time":"[^"]*"\}}\s*')
_TIMED: Final = rf"[ \t#=*-]*[\[(]?{TIME}[\])]?"
_FRAME: Final = r"[ \t]*[=#*~_-]{3,}[ \t]*"
_FRAMED: Final = re.compile(rf"^{_FRAME}\n[{_MARKS}]*(.*)\n{_FRAME}$", re.MULTILINE)
_TIMED_NAME: Final = re.compile(rf"{_TIMED}[ \t]*[-:|,]?[ \t]*([^\W\d_](?:[\w.-]{{0,61}}\w)?)[ \t#=*:-]*")
_TITLE: Final = re.compile(r"[ \t]*([=#*~>-])\1++>?[ \t]++(.{1,200})")  # `tail` prints `==> file <==`
_HEADING: Final = re.compile(rb"(#{1,6})[ \t]+(.{1,200})")  # of Markdown
_OF_BLOCKS: Final = (b"```", b"~~~", b"\n## ")
_PORT: Final = re.compile(r":(\d{1,5})\Z", re.ASCII)
_VALUES: Final = re.compile(r"[ \t]*\w+=[^\s=,;]+(?:[ \t,;]+\w+=[^\s=,;]+)+[ \t]*")  # backend=mysql rate=800
_OVER: Final = r"(?:complete|done|ended|fail|finish|lost|ok\b|pass|result|success|took)"  # of the trial before
_MOST_IN_PAIR: Final = 60  # characters of a value
_PAIR: Final = re.compile(  # Threads: 4, or RATE=800, also as a shell prints it
    r"[ \t]*(?:\++ )?(?:export[ \t]+)?(?:\w+[ _-])?"
    r"(?:(backend|benchmark|case|config(?:uration)?|ha|ha[ _-]mode|label|mode|name|product|protocol|rep|repetition|run"
    r"|scenario|server|set-?up|test|threading|threads|variant|version|workers)|lps|qps|rate)"
    rf"[ \t]*[:=][ \t]*[\"']?(?!{_OVER})([\w.][\w. /+-]{{0,{_MOST_IN_PAIR}}}?)[\"']?[ \t]*",
    re.IGNORECASE,
)
_SAID: Final = re.compile(  # Testing memfile at 800/s ...
    r"[ \t]*(?:\[|(?:now[ \t]+)?(?:begin|benchmark|measur|run|start|step|test|trial)\w*\b).*", re.IGNORECASE
)
_NOT_SAID: Final = re.compile(rf" --?\w|\b{_OVER}", re.IGNORECASE)  # a command with options, or an end
_ELEMENT: Final = re.compile(r'<[\w:-]+((?:\s+[\w:.-]+="[^"<]*")+)\s*/?>')  # of XML
_ELEMENTS: Final = re.compile(r"\s*(?:<[^<>]*>\s*)*+")
_HTML_HEADING: Final = re.compile(r"\s*<h([1-6])[^>]*>(.*)</h\1>\s*", re.IGNORECASE)
_HTML_MARKS: Final = "=#*~->"  # of titles, by the level of the heading
_ATTRIBUTE: Final = re.compile(r'([\w:.-]+)="([^"]*)"')
_NO_WORD: Final = re.compile(r"[^\w. /+-]+")
_FRAMING: Final = re.compile(  # blank lines, elements without attributes, strings of TOML that begin or end
    r"\s*(?:(?:\]\]>|</?[\w:-]+>|<!\[CDATA\[)+|(?:[\w.-]+[ \t]*=[ \t]*)?(?:\"{3}|'{3}))?\s*"
)
_RULE: Final = re.compile(r"[\W_]*|(?:date|time|started)\b.*", re.IGNORECASE)
_OTHER: Final = re.compile(  # than a set-up, a rate or a repetition
    rf"{TIME}|{_CLOCK}|(?<=\d)[ \t]*(?:/|of)[ \t]*\d+|/s\b|per second|[:/|\"']"
    r"|\b(?:backend|config|ha|ha_mode|mode|product|protocol|server|set_?up|threading)=|=",
    re.IGNORECASE,
)
_NO_NAMES: Final = frozenset(
    {
        *("a", "an", "and", "at", "begin", "benchmark", "for", "in", "leases", "of", "on", "perf", "queries"),
        *("requests", "running", "s", "start", "started", "starting", "test", "testing", "the", "to", "using", "with"),
    }
)
_COMMAND: Final = re.compile(  # of a shell, or a mere time
    rf"\++ \S|\$ |[\w.-]+@[\w.-]+:\S{{0,200}}[#$] |\[[\w.-]+@[^\]]{{1,200}}\][#$] |{_TIMED}[ \t]*\Z"
)


class Text(NamedTuple):
    """A text found behind a prefix, or in a string of JSON: its first line in the file, notes on it, and its title."""

    line: int
    text: str
    notes: tuple[str, ...] = ()
    title: str = ""


class _Line(NamedTuple):
    """A line without its prefix; the writer is None if the prefix is missing."""

    writer: str | None
    text: str


def unwrapped(text: str, is_known: Callable[[str], object]) -> list[Text]:
    """Return the texts behind line prefixes, or in JSON, for which `is_known` accepts the beginning."""
    if text.startswith(_IN_DOCKER):
        text = uncoloured("\n".join(map(_from_docker, text.split("\n"))))
        if is_known(text[:HEAD_BYTES]):
            return [Text(1, text)]
    if may_be_json(text) and (strings := [each for each in _strings(text) if is_known(each.text[:HEAD_BYTES])]):
        return strings
    lines = [_Line("", line) for line in text.split("\n")]
    for _ in range(_DEEPEST):
        form = _form([line.text for line in islice(lines, _SAMPLE * 2) if line.writer is not None])
        if not form:
            return []
        lines = [_behind(form, line) for line in lines]
        if found := [each for each in _by_writer(lines) if is_known(each.text[:HEAD_BYTES])]:
            return found
    return []


def without_bullets(text: str, is_known: Callable[[str], bool]) -> str:
    """Return `text` without bullets before lines for which `is_known` accepts the beginning."""

    def bare(bullet: re.Match[str]) -> str:
        return "" if is_known(text[bullet.end() : bullet.end() + _LONGEST]) else bullet[0]

    return _BULLET.sub(bare, text)


def may_be_json(text: str) -> bool:
    """Return whether strings of JSON may hold a program's output."""
    return text.startswith(_IN_DOCKER) or any(key in text for key in IN_JSON[1:])


def _from_docker(line: str) -> str:
    """Return the program's output in a line of docker's json-file log; empty if the line is truncated."""
    match = _DOCKER.fullmatch(line)
    try:
        return json.loads(match[1]).rstrip("\n") if match else ""
    except ValueError:
        return ""


def _form(lines: Sequence[str]) -> re.Pattern[str] | None:
    """Return the pattern of the prefix that most of the first lines share."""
    sample = list(islice((line for line in lines if line.strip()), _SAMPLE))
    constants = {match[0] for pair in pairwise(sample) if (match := _STEADY.match(commonprefix(pair)))}  # noqa: RUF071 -- of texts
    constant = sorted(constants, key=len)
    forms = [*_FORMS, *(re.compile(f"{re.escape(each)}|{re.escape(each.rstrip())}(?=\r?$)") for each in constant)]
    least = max(1, _SHARE * len(sample))
    return next((form for form in forms if sum(map(bool, map(form.match, sample))) >= least), None)


def _behind(form: re.Pattern[str], line: _Line) -> _Line:
    if line.writer is None or not line.text.strip():
        return line
    match = form.match(line.text)
    if not match:
        return _Line(None, line.text)
    own = match["writer"] if "writer" in form.groupindex else ""
    return _Line(f"{line.writer} {own}".strip(), line.text[match.end() :])


def _by_writer(lines: Sequence[_Line]) -> Iterator[Text]:
    """Yield the text of each writer, with blank lines in place of the others' lines."""
    writers = dict.fromkeys(line.writer for line in lines if line.writer is not None and line.text.strip())
    bare = [number for number, line in enumerate(lines, 1) if line.writer is None]
    notes = []
    if bare:
        left_out = plural(len(bare), "line")
        notes.append(f"Left out, as they lack the prefix of the others: {left_out}, the first is line {bare[0]}.")
    if len(writers) > 1:
        notes.append(f"It is one of {len(writers)} writers whose lines are in this log.")
    for writer in islice(writers, _MOST_WRITERS):
        yield Text(1, "\n".join(line.text if line.writer == writer else "" for line in lines), tuple(notes))


def _strings(text: str) -> Iterator[Text]:
    """Yield the texts in strings of JSON, such as `stdout` in Ansible's output, each once."""
    seen: set[str] = set()
    titles, line, at = _titles(_tokens_of_json(text)), 1, 0
    for match in sorted([*_STDOUT_LINES.finditer(text), *_STDOUT.finditer(text)], key=lambda found: found.start(1)):
        line, at = line + text.count("\n", at, match.start(1)), match.start(1)
        try:
            found = "\n".join(json.loads(string) for string in _ONE.findall(match[1]))
        except ValueError:
            continue
        if (words := found.strip()) not in seen:
            seen.add(words)
            note = f"It is in a string of JSON in line {line}: its lines are counted from there."
            notes = () if match.re is _STDOUT_LINES else (note,)
            yield Text(line, found + "\n", notes, titles.get(match.start(), ""))


def _of_yaml(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the line before each block of YAML, its last line and its title; a damaged document has those before it."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the second is slow
    tokens: list[_Token] = []
    blocks: dict[int, tuple[int, int]] = {}
    keys: list[tuple[str, int] | None] = []  # of the mappings around, None before a key; a sequence has an empty one
    with suppress(yaml.YAMLError):
        for event in islice(yaml.parse(text, loader), _MOST_EVENTS):
            if len(keys) > _MOST_TOLD:  # the time is quadratic in the depth
                break
            begin, end = (mark.line if mark else 0 for mark in (event.start_mark, event.end_mark))
            if isinstance(event, yaml.CollectionEndEvent):
                keys.pop()
                tokens.append(("close", "", 0))
            elif isinstance(event, yaml.ScalarEvent) and keys and keys[-1] is None:
                keys[-1] = event.value, begin
                tokens.append(("key", event.value, begin))
                continue
            elif isinstance(event, yaml.ScalarEvent):
                number = event.implicit[0] and _FRACTION.fullmatch(event.value)
                if not (event.implicit[0] and event.value.lower() in _NO_TITLES):
                    tokens.append(("fraction" if number else "value", event.value, 0))
                if event.style == "|" and keys and keys[-1]:
                    blocks[keys[-1][1]] = begin + 1, end
            if keys and keys[-1] and keys[-1][0]:
                keys[-1] = None
            if isinstance(event, yaml.CollectionStartEvent):
                keys.append(None if isinstance(event, yaml.MappingStartEvent) else ("", 0))
                tokens.append(("open", "", 0))
    titles = _titles(tokens)
    for place, (before, last) in blocks.items():
        yield before, last, titles.get(place, "")


def _of_csv(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the line before each row of CSV with an output of several lines, its last line and its title."""
    rows = csv.reader(io.StringIO(text, newline=""))
    tokens, blocks = list[_Token](), list[tuple[int, int]]()
    with suppress(csv.Error):
        header = [key.strip().lower() for key in next(rows, [])]
        if len(header) < 2 or not any(map(_OF_OUTPUT.fullmatch, header)):
            return
        before = rows.line_num
        for row in rows:
            if rows.line_num > before + 1:
                tokens.append(("open", "", 0))
                for key, value in zip(header, row, strict=False):
                    kind = "fraction" if _FRACTION.fullmatch(value) else "value"
                    tokens += [("key", key, before), (kind, value, 0)]
                tokens.append(("close", "", 0))
                blocks.append((before, rows.line_num))
            before = rows.line_num
    titles = _titles(tokens)
    yield from ((before, last, titles.get(before, "")) for before, last in blocks)


def _tokens_of_json(text: str) -> Iterator[_Token]:
    for token in _TOKEN.finditer(text):
        if token[1]:
            yield "key", token[1][1:-1], token.start()
        elif token[2]:
            yield "fraction" if token[3] else "value", token[2].strip('"'), 0
        else:
            yield "open" if token[0] in {"{", "["} else "close", "", 0


def _titles(tokens: Iterable[_Token]) -> dict[int, str]:
    """Return the title of each text of output in JSON or YAML, by the place of its key.

    It is what its object says beside it, below those keys of the objects around it that not all have; but no fraction,
    unless it is a version, and no number that was measured.
    """
    key, around, found = "", [("", list[tuple[str, str]]())], dict[int, tuple[list[str], list[tuple[str, str]]]]()
    for kind, value, place in tokens:
        if kind == "key":
            key = value
            if _OF_OUTPUT.fullmatch(key):
                found[place] = [name for name, _ in around[-_MOST_TOLD:]], around[-1][1]
            continue
        if kind == "open":
            around.append((key, around[-1][1] if _SETTINGS.fullmatch(key) else []))
        elif kind == "close":
            if len(around) > 1:
                around.pop()
        elif value and not _UNTITLED.fullmatch(key) and (kind == "value" or "version" in key):
            around[-1][1].append((key, value[:_LONGEST]))
        key = ""
    shared = set[str].intersection(*(set(names) for names, _ in found.values())) if found else set[str]()
    values = defaultdict[str, list[str]](list)
    for said in {id(said): said for _, said in found.values()}.values():  # once for several outputs of an object
        for key, value in said:
            values[key].append(value)
    measured = {key for key, each in values.items() if _are_measured(key, each)}
    titles = {}
    for place, (names, said) in found.items():
        told = [(key, value) for key, value in said if key not in measured][:_MOST_TOLD]
        numbered = [("rate" if key.endswith("_rate") else key, value) for key, value in told]
        words = [f"{key}={value}" if key and value.isdecimal() else value for key, value in numbered]
        titles[place] = " ".join([*(name for name in names if name not in shared), *words])
    return titles


def _are_measured(key: str, values: Sequence[str]) -> bool:
    """Return whether the numbers under a key of several objects differ from each other as only measured ones do.

    A setting is the same for the trials of a ramp, or is raised step by step; a repetition is not above their number.
    """
    if not key or _RATE.search(key) or len(values) < _SEVERAL or not all(map(_NUMBER.fullmatch, values)):
        return False
    numbers = [float(value.rstrip("%")) for value in values]
    return 2 * len({*numbers}) > len(numbers) < max(numbers) and numbers != sorted(numbers)


def banners(data: bytes, reports: Sequence[Report]) -> list[str]:
    """Return for each report of a file the words of the banner directly before it; those of a title are for all below.

    Shell commands may be between. A title with other marks (`--- 800 ---`) is below the last one (`=== mysql ===`).
    Lines of a known name and its value are for all below until another value. A line of several `name=value`, or of
    what is done, is a banner if it has the report's rate; else it may tell of the trial before. Any line with the rate
    is one if most reports, of several rates, have it. The title is, in Markdown, the headings above the block of code,
    in YAML and CSV the values beside it, in XML the attributes above it. Servers of equal words have their addresses.
    """
    if any(report.title for report in reports):
        found = [_words(report.title) for report in reports]
        return _with_servers(found, map(_target, reports))
    if all(report.line < 2 for report in reports):
        return [""] * len(reports)
    text = unpack(data, MAX_TEXT_BYTES)[0]
    lines = _lines(text)
    behind = {within: _lines(within.encode()) for within in {report.within for report in reports} - {""}}
    found, titles, blocks = [], dict[str, str](), [*_blocks(lines)] if any(each in text for each in _OF_BLOCKS) else []
    if _YAML.search(decoded := text.decode("utf-8", "replace")):
        blocks = [*_of_yaml(decoded)]
    blocks = blocks or [*_of_csv(decoded)]
    above_each = [
        _above(behind.get(report.within, lines)[max(report.line - _SAMPLE, 0) : report.line]) for report in reports
    ]
    rated = [
        report.facts.get("offered_rate") in _rates(above[0]) for report, above in zip(reports, above_each, strict=True)
    ]
    may_say = [has_rate and _may_say(above[0]) for has_rate, above in zip(rated, above_each, strict=True)]
    rates = {report.facts["offered_rate"] for report in compress(reports, may_say)}
    is_usual = len(rates) > 1 and 2 * sum(may_say) > len(reports)
    for report, above, has_rate, may in zip(reports, above_each, rated, may_say, strict=True):
        said = above[0].lstrip("$#+ \t") if may and (is_usual or _SAID.fullmatch(above[0])) else ""
        above = [line for line in above[bool(said) :] if _PAIR.fullmatch(line) or not _COMMAND.match(line)]
        above = _FRAMED.sub(r"== \1", "\n".join(above)).split("\n")
        nearest = (_TITLE.fullmatch(line.rstrip(_MARKS)) for line in above)
        for match in filter(None, reversed([*takewhile(bool, nearest)])):
            higher = [*titles.items()][: [*titles, match[1]].index(match[1])]
            titles = dict(higher) | {match[1]: _words(match[2])}
        block = bisect_left(blocks, report.line, key=lambda each: each[1])
        if block < len(blocks) and blocks[block][0] < report.line:
            titles = {"#": _words(blocks[block][2])}
        pairs = (_PAIR.fullmatch(line) for line in above if not _RULE.fullmatch(line))
        for pair in filter(None, reversed([*takewhile(bool, pairs)])):
            if pair[1]:  # the report knows its own rate; another one may be what the trial before reached
                titles |= {pair[1].lower(): _words(f"{pair[1]}={pair[2]}" if pair[2].isdecimal() else pair[2])}
        timed = _TIMED_NAME.fullmatch(above[0])
        values = _VALUES.fullmatch(above[0]) if has_rate and not said else None
        told = _words(timed[1]) if timed else _words(values[0]) if values else " ".join(titles.values())
        found.append(f"{told} {_words(said)}".strip())
    return _with_servers(found, map(_target, reports))


def _may_say(line: str) -> bool:
    """Return whether a line may tell what is done next, and is nothing clearer than that."""
    forms = _PAIR, _TIMED_NAME, _VALUES
    is_clear = _TITLE.fullmatch(line.rstrip(_MARKS)) or any(form.fullmatch(line) for form in forms)
    return not is_clear and not _NOT_SAID.search(line)


def _target(report: Report) -> Any:
    """Return the address of the server that a report is of, if it tells."""
    return json.loads(report.facts.get("details") or "{}").get("target")


def _with_servers(found: Sequence[str], targets: Iterable[str | None]) -> list[str]:
    """Return the words of each report, with the address of its server if reports with the same words have several."""
    servers = [_words(_PORT.sub(r" port \1", target.removesuffix(":53"))) if target else "" for target in targets]
    told = {(words, server) for words, server in zip(found, servers, strict=True) if server}
    several = {words for words, count in Counter(words for words, _ in told).items() if count > 1}
    pairs = zip(found, servers, strict=True)
    return [f"{words} {server}".strip() if words in several else words for words, server in pairs]


def _blocks(lines: Iterable[bytes]) -> Iterator[tuple[int, int, str]]:
    """Yield the first line, the last line and the headings of each block of code in Markdown, fenced or indented.

    The first heading of the highest level is the document's.
    """
    begin, document, headings = 0, 0, dict[int, str]()
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith((b"```", b"~~~")):
            if begin:
                yield begin, number, " ".join(headings.values())
            begin = 0 if begin else number
        elif not begin and (heading := _HEADING.match(line)):
            above = {depth: text for depth, text in headings.items() if depth < len(heading[1])}
            document = document or (number if len(heading[1]) == 1 else 0)
            own = {} if number == document else {len(heading[1]): heading[2].decode("utf-8", "replace")}
            headings = above | own
        elif headings and not begin and line.startswith((b"    ", b"\t")):
            yield number - 1, number, " ".join(headings.values())


def _lines(text: bytes) -> list[bytes]:
    return text.replace(b"\r\r\n", b"\n").replace(b"\r\n", b"\n").splitlines()


def _above(lines: Sequence[bytes]) -> list[str]:
    """Return what may tell of a report that begins in the last line, from below: the lines above, and its elements."""
    texts = (line[:_LONGEST].decode("utf-8", "replace") for line in reversed(lines))
    told = map(_without_elements, chain(_ELEMENTS.findall(next(texts, ""))[:1], texts))
    return [*islice((line for line in told if not _FRAMING.fullmatch(line)), _ABOVE)] or [""]


def _without_elements(line: str) -> str:
    """Return a heading of HTML as a title, and what the last attributes in a line of XML say as a name."""
    if heading := _HTML_HEADING.fullmatch(line):
        return f"{_HTML_MARKS[int(heading[1]) - 1] * 2} {heading[2]}"
    elements = _ELEMENT.findall(line)
    if not elements:
        return line
    pairs = [pair for pair in _ATTRIBUTE.findall(elements[-1]) if not _UNTITLED.fullmatch(pair[0])]
    numbers = (f"{key} {value}" for key, value in pairs if value.isdecimal() and not _RATE.search(key))
    said = " ".join([*(value for _, value in pairs if not value.isdecimal()), *numbers])
    words = " ".join(_NO_WORD.sub(" ", said).split())
    return f"name: {words[:_MOST_IN_PAIR]}" if words else ""


def _words(banner: str) -> str:
    """Return the words of a banner that may tell of the set-up, the rate or the repetition."""
    return " ".join(word for word in _OTHER.sub(" ", banner).split() if word.lower() not in _NO_NAMES)


def _rates(line: str) -> set[float]:
    return {float(number) for number in re.findall(r"(?<![\w.])\d{1,12}(?:\.\d{1,6})?(?![\d.]?\d)", line)}
