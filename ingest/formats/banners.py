"""Banners: lines above the reports of a file that describe their set-ups.

They are titles, names with values, headings of Markdown and HTML, attributes of XML, and messages of scripts.
"""

import json
import re
from bisect import bisect_left
from collections import ChainMap, Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import lru_cache
from itertools import chain, islice, pairwise, takewhile
from typing import Any, Final, NamedTuple

from dropline.ingest import synonyms
from dropline.ingest.formats import Report, fields
from dropline.ingest.formats.perfdhcp_options import server
from dropline.ingest.formats.prefixes import CLOCK, FILE, PROCESS, TIME
from dropline.ingest.formats.text import unpack
from dropline.ingest.names import named_rates, words_of

_SAMPLE: Final = 200  # lines above a report that are read
_LONGEST: Final = 500  # characters of each that are read
_SEVERAL: Final = 3  # reports
_ABOVE: Final = 12  # lines above a report, among them commands
_MARKS: Final = " \t=#*~<_-"  # around a title
_TIMED: Final = rf"[ \t#=*-]*[\[(]?{TIME}[\])]?"
_FRAME: Final = r"[ \t]*[=#*~_-]{3,}[ \t]*"
_FRAMED: Final = re.compile(rf"^{_FRAME}\n[{_MARKS}]*(.*)\n{_FRAME}$", re.MULTILINE)
_TIMED_NAME: Final = re.compile(rf"{_TIMED}[ \t]*[-:|,]?[ \t]*([^\W\d_](?:[\w.-]{{0,61}}\w)?)[ \t#=*:-]*")
_TITLE: Final = re.compile(r"[ \t]*([=#*~>_-])\1++>?[ \t]++(.{1,200})")  # also of `tail`: `==> file <==`
_HEADING: Final = re.compile(rb"(#{1,6})[ \t]+(.{1,200})")  # of Markdown
_OF_BLOCKS: Final = (b"```", b"~~~", b"\n## ")
_FILE: Final = re.compile(FILE)
_PORT: Final = re.compile(r"\A(\[.*\]|[^:]*):(\d{1,5})\Z", re.ASCII)  # not of `2001:db8::53`
_BRACKETS: Final = str.maketrans("", "", "[]")
_VALUES: Final = re.compile(r"[ \t]*\w+=[^\s=,;]+(?:[ \t,;]+\w+=[^\s=,;]+)+[ \t]*")  # backend=mysql rate=800
_OVER: Final = r"(?:complete|done|ended|fail|finish|lost|ok\b|pass|result|success|took)"  # about the previous trial
_MOST_IN_PAIR: Final = 60  # characters of a value
_PAIR: Final = re.compile(  # Threads: 4, or RATE=800, also as a shell prints it
    r"[ \t]*(?:\++ |#+ )?(?:export[ \t]+)?(?:\w+[ _-])?"
    r"(?:(backend|benchmark|case|config(?:uration)?|ha|ha[ _-]mode|label|mode|name|product|protocol|rep|repetition|run"
    r"|scenario|server|set-?up|test|threading|threads|variant|version|workers)|lps|qps|rate)"
    rf"[ \t]*[:=][ \t]*[\"']?(?!{_OVER})([\w.][\w. /+-]{{0,{_MOST_IN_PAIR}}}?)[\"']?[ \t]*",
    re.IGNORECASE,
)
_SETTING: Final = re.compile(  # lfc=on, `# LFC off`, `Testing with lfc on`, cache-size: 100
    r"[ \t]*(?:\++ |#+ )?(?:(?:export|(?:run|start|test)\w*)[ \t]+)?(?:with[ \t]+)?"
    r"(?:([a-z][\w-]{1,30})(?:[ \t]*[:=][ \t]*|[ \t]+)(on|off|true|false|yes|no|enabled|disabled)"
    r"|([a-z]\w*(?:-\w+)+)[ \t]*[:=][ \t]*(\d{1,9}))[ \t]*",
    re.IGNORECASE,
)
_ANNOUNCEMENT: Final = re.compile(  # Testing memfile at 800/s ...
    r"[ \t]*(?:\[|(?:now[ \t]+)?(?:begin|benchmark|measur|run|start|step|test|trial)\w*\b).*", re.IGNORECASE
)
_NO_ANNOUNCEMENT: Final = re.compile(rf" --?\w|\b{_OVER}", re.IGNORECASE)  # a command with options, or an end
_ELEMENT: Final = re.compile(r'<[\w:-]+((?:\s+[\w:.-]+="[^"<]*")+)\s*/?>')  # of XML
_SAME_LINE: Final = re.compile(  # by `echo -n`, before a tool's first output
    r"[\s\[=*#~>-]*(\w[^\n\[\]{}<>\"]{0,60}?)[\]:\s=*#~>-]+"
    r"(?:Running: perfdhcp|DNS (?:Query |Resolution )?Performance Testing Tool"
    r"|using interface \S+, XDP |Using \d+ hostnames|binding to (?:0\.0\.0\.0|::))"
)
_ELEMENTS: Final = re.compile(r"\s*(?:<[^<>]*>\s*)*+")
_ANSIBLE: Final = re.compile(r"(\S{1,100}) \| (?:CHANGED|FAILED|SUCCESS|UNREACHABLE)\b.* >>")  # ad hoc, by host
_HTML_HEADING: Final = re.compile(r"\s*<h([1-6])[^>]*>(.*)</h\1>\s*", re.IGNORECASE)
_HTML_MARKS: Final = "=#*~->"  # of titles, by the level of the heading
_ATTRIBUTE: Final = re.compile(r'([\w:.-]+)="([^"]*)"')
_NO_WORD: Final = re.compile(r"[^\w. /+-]+")
_FRAMING: Final = re.compile(  # blank lines, dnsperf's version, elements without attributes, ends of TOML's strings
    r"Version \d[\w.]*|\s*(?:(?:\]\]>|</?[\w:-]+>|<!\[CDATA\[)+|(?:[\w.-]+[ \t]*=[ \t]*)?(?:\"{3}|'{3}))?\s*"
)
_RULE: Final = re.compile(r"[\W_]*|(?:date|time|started)\b.*", re.IGNORECASE)
_OTHER: Final = re.compile(  # neither set-up nor rate nor repetition
    rf"{TIME}|{CLOCK}|(?<=\d)[ \t]*(?:/|of)[ \t]*\d+|/s\b|per second|[:/|\"']"
    r"|\brc=\d+|\b(?:backend|config|ha|ha_mode|mode|product|protocol|server|set_?up|threading)=|=",
    re.IGNORECASE,
)
_NO_NAMES: Final = frozenset(
    {
        *("a", "an", "and", "at", "begin", "benchmark", "completed", "done", "ended", "finished", "for", "in"),
        *("leases", "of", "on", "perf", "queries"),
        *("requests", "running", "s", "start", "started", "starting", "test", "testing", "the", "to", "using", "with"),
    }
)
_SAID: Final = frozenset({"backend", "threading", "threads", "ha_mode", "product_version"})
_ALONE: Final = synonyms.ALONE - {"single"}
_WITHOUT_HA: Final = re.compile(rf"(?<![\w-])(?:{'|'.join(sorted(_ALONE))})(?![\w-])", re.IGNORECASE)
_MODES: Final = "|".join(mode.replace("-", "[-_ ]?") for mode in sorted(synonyms.PARTNERED))
_HA: Final = re.compile(rf"(?<![\w-])(?:{_MODES})(?![\w-])", re.IGNORECASE)
_VERSION: Final = re.compile(r"\b(?:release|testing|version)\b\W+v?(\d+\.\d+\.\d+)\b", re.IGNORECASE)
_SWITCH: Final = re.compile(r"\b(?:chang|mov|switch)\w*\b.*\bto\b", re.IGNORECASE)
_ENDED: Final = re.compile(rf"\b{_OVER}", re.IGNORECASE)
_RATE: Final = re.compile(r"(?<![\w.])\d{1,12}(?:\.\d{1,6})?(?![\d.]?\d)")
_COMMAND: Final = re.compile(  # a shell command, or only a time
    rf"\++ \S|\$ |[\w.-]+@[\w.-]+:\S{{0,200}}[#$] |\[[\w.-]+@[^\]]{{1,200}}\][#$] |{_TIMED}[ \t]*\Z"
)


class _Place(NamedTuple):
    """Place where a report begins, with the lines above it, the nearest first."""

    line: int
    rate: float | None
    above: list[str]
    has_rate: bool  # whether the nearest line has the rate
    may_announce: bool  # whether the nearest line may announce the next step, without clearer words


_TOP: Final = _Place(0, None, [], False, False)


class _Clear(NamedTuple):
    """An unambiguous word, and whether its line announces a switch."""

    word: str
    value: Any
    is_switch: bool


class _Titles:
    """Titles that apply to all reports below them, until another title of their kind."""

    def __init__(self, blocks: Sequence[tuple[int, int, str]], places: Iterable["_Place"] = ()) -> None:
        self._blocks = blocks
        self._settings: dict[str, set[str]] = defaultdict(set)
        lines = chain.from_iterable(_parts(line) for place in places for line in place.above)
        for key, value in filter(None, map(_setting, lines)):
            self._settings[key].add(value)
        self._found: dict[str, str] = {}

    def read(self, begin: int, above: Sequence[str]) -> str:
        nearest = (_TITLE.fullmatch(line.rstrip(_MARKS)) for line in above)
        for match in filter(None, reversed([*takewhile(bool, nearest)])):
            higher = [*self._found.items()][: [*self._found, match[1]].index(match[1])]
            self._found = dict(higher) | {match[1]: _words(match[2])}
        block = bisect_left(self._blocks, begin, key=lambda each: each[1])
        if block < len(self._blocks) and self._blocks[block][0] < begin:
            self._found = {"#": _words(self._blocks[block][2])}
        pairs = (self._pairs(line) for line in above if not (_RULE.fullmatch(line) or self._is_for_all(line)))
        for key, words in chain.from_iterable(reversed([*takewhile(bool, pairs)])):
            if key:  # the report knows its own rate; another one may be the result of the previous trial
                self._found[key] = words
        return " ".join(self._found.values())

    def _is_for_all(self, line: str) -> bool:
        setting = None if _PAIR.fullmatch(line) else _setting(line)
        return setting is not None and len(self._settings[setting[0]]) == 1

    def _pairs(self, line: str) -> list[tuple[str, str]]:
        """Return the known keys of a line and their words; settings only if they have several values in the file."""
        found = []
        for each in _parts(line):
            if (setting := _setting(each)) and len(self._settings[setting[0]]) > 1:
                found.append((setting[0], "".join(setting)))
            elif pair := _PAIR.fullmatch(each):
                found.append(((pair[1] or "").lower(), _of_pair(pair[1] or "", pair[2] or "")))
        return found


def banners(data: bytes, reports: Sequence[Report]) -> list[str]:
    """Return the banner's words for each report of a file: of the lines directly before it, and of titles above it.

    Shell commands may be in between. A title with other marks (`--- 800 ---`) is subordinate to the previous one
    (`=== mysql ===`). Lines with a known name and its value apply to all reports below until another value. A line with
    several `name=value`, or about a step, is a banner if it has the report's rate; so is any line if most reports, at
    several rates, have such lines. Titles are also headings above a block in Markdown, values beside one in YAML and
    CSV, and attributes above one in XML; all may be below their reports. If there are none, prose with unambiguous
    words counts. If several servers have the same words, their addresses are added.
    """
    found = [_words(report.within.title) for report in reports]
    if not any(found):
        text = unpack(data)[0]
        first = text[:_LONGEST].decode("utf-8", "replace")
        if not reports or (all(report.line < 2 for report in reports) and not _SAME_LINE.match(first)):
            return found
        found = _above_each(text, reports)
        writers = [report.within.writer for report in reports]
        counts = Counter(re.sub(r"\d+", "#", who) if _FILE.fullmatch(who) else who for who in writers)
        if len({*writers}) > 1 and min(counts.values()) > 1:  # each wrote several reports
            found = [
                f"{_words(PROCESS.sub(' ', who))} {words}".strip() for who, words in zip(writers, found, strict=True)
            ]
    modes = {synonyms.meaning(word).get("ha_mode") for words in {*found} for word in words_of(words)}
    clear = dict.fromkeys(_ALONE, "ha-none") if modes & synonyms.PARTNERED else {}
    clear |= synonyms.PAIRED if "none" in modes else {}
    if clear:
        found = [" ".join(clear.get(word.strip(",;").lower(), word) for word in words.split(" ")) for words in found]
    return _with_servers(found, reports)


def _above_each(text: bytes, reports: Sequence[Report]) -> list[str]:
    lines, decoded = _lines(text), text.decode("utf-8", "replace")
    behind = {within: _lines(within.encode()) for within in {report.within.text for report in reports} - {""}}
    places = [_place(report, behind.get(report.within.text, lines)) for report in reports]
    code = [*_blocks(lines)] if any(each in text for each in _OF_BLOCKS) else []
    blocks = [*fields.in_yaml(decoded)] or code or [*fields.in_csv(decoded)]
    found = _titled(places, blocks)
    below: list[_Place] = []
    if not (found[0] or blocks or behind) and len(places) >= _SEVERAL:  # perhaps each title is below its report
        ends = [*(place.line for place in places[1:]), len(lines) + 1]
        lines.append(b"")
        below = [_place(report, lines, end) for report, end in zip(reports, ends, strict=True)]
        titled = [_titled([place], [])[0] for place in below]
        found = titled if all(titled) and len({*titled}) > 1 else found
    return found if any(found) else _between(places, below)


def _titled(places: Sequence[_Place], blocks: Sequence[tuple[int, int, str]]) -> list[str]:
    announced = [place.rate for place in places if place.may_announce]
    is_usual = len({*announced}) > 1 and 2 * len(announced) > len(places)
    titles = _Titles(blocks, places)
    found: list[str] = []
    for place in places:
        announces = place.may_announce and bool(is_usual or _ANNOUNCEMENT.fullmatch(place.above[0]))
        above = [line for line in place.above[announces:] if _is_pair(line) or not _COMMAND.match(line)]
        above = _FRAMED.sub(r"== \1", "\n".join(above)).split("\n")
        words = titles.read(place.line, above)
        if timed := _TIMED_NAME.fullmatch(above[0]):
            words = _words(timed[1])
        elif place.has_rate and not announces and (values := _VALUES.fullmatch(above[0])):
            words = _words(values[0])
        step = _words(place.above[0].lstrip("$#+ \t")) if announces else ""
        found.append(f"{words} {step}".strip())
    return found


def _parts(line: str) -> list[str]:
    return re.split(r"[\s,;]+", line.strip()) if _VALUES.fullmatch(line) else [line]


def _is_pair(line: str) -> bool:
    return bool(_PAIR.fullmatch(line) or _setting(line))


@lru_cache(maxsize=1024)  # reports end with the same lines, and each line is examined several times
def _setting(line: str) -> tuple[str, str] | None:
    """Return key and value of a setting, e.g. `lfc` and `-on`; a number is joined to its key, as it is no rate."""
    found = _SETTING.fullmatch(line)
    if not found:
        return None
    key = (found[1] or found[3]).lower()
    value = found[4] or f"-{fields.STATES[found[2].lower()]}"
    return ("mt" if key == "threading" else "ha" if key == "ha-mode" else key), value


def _of_pair(key: str, value: str) -> str:
    if key.lower().startswith("ha") and value.lower() in {"none", "off", "false", "no"}:
        return "ha-none"
    return _words(f"{key}={value}" if value.isdecimal() else value)


def _clear(lines: Iterable[str], forms: Set[str]) -> dict[str, _Clear]:
    """Return the unambiguous words of lines, nearest first; `none` is a mode if a line of the same form has another."""
    parts = (
        _clear_words(_WITHOUT_HA.sub("ha-none", line) if _WITHOUT_HA.sub("#", line, count=1) in forms else line)
        for line in lines
    )
    return dict(ChainMap(*parts))


@lru_cache(maxsize=1024)
def _forms(line: str) -> Sequence[str]:
    """Return the forms of a line: `#` replaces a word for a mode of high availability."""
    return [line[: word.start()] + "#" + line[word.end() :] for word in _HA.finditer(line)]


def _between(places: Sequence[_Place], below: Sequence[_Place]) -> list[str]:
    """Return the unambiguous words between reports, each for all reports until another: `Switching to mysql`.

    They are for the report above if every report has some below. They must have several values of one column, or
    announce a switch.
    """
    forms = {form for place in places for line in place.above for form in _forms(line)}
    clear = [_clear(place.above[: place.line - before.line - 1], forms) for before, place in pairwise([_TOP, *places])]
    after = [_clear(place.above, forms) for place in below]
    clear = after if after and all(after) and not clear[0] else clear
    meant = {column: {each[column].value for each in clear if column in each} for column in _SAID}
    differing = {column for column, values in meant.items() if len(values) > 1}
    found, own = [], dict[str, str]()
    for each in clear:
        own |= {column: word.word for column, word in each.items() if column in differing or word.is_switch}
        found.append(" ".join(dict.fromkeys(own.values())))
    return found


@lru_cache(maxsize=1024)  # reports end with the same lines
def _clear_words(line: str) -> dict[str, _Clear]:
    """Return the unambiguous words of a line by column; none if it reports an end or contradicts itself."""
    if _ENDED.search(line):
        return {}
    is_switch = bool(_SWITCH.search(line))
    meanings = [(word, each) for word in words_of(line) for each in synonyms.meaning(word).items()]
    if not meanings and (version := _VERSION.search(line)):
        meanings = [(version[1], ("product_version", version[1]))]
    clear = [(column, _Clear(word, value, is_switch)) for word, (column, value) in meanings if column in _SAID]
    return dict(clear) if all(dict(clear)[column].value == each.value for column, each in clear) else {}


def _place(report: Report, lines: Sequence[bytes], begin: int = 0) -> _Place:
    """Return the place of a report, or one below it before the line `begin`."""
    line, top = begin or report.line, report.line if begin else 0
    rate, above = report.facts.get("offered_rate"), _above(lines[max(line - _SAMPLE, top) : line])
    nearest = above[0]
    if rate is None and not report.facts.get("command"):  # the report does not know its rate
        rate = next(iter(named_rates(nearest, None, None)), None)
    has_rate = rate in {*map(float, _RATE.findall(nearest))}
    pair = _PAIR.fullmatch(nearest)
    named = _TITLE.fullmatch(nearest.rstrip(_MARKS)) or _TIMED_NAME.fullmatch(nearest) or _VALUES.fullmatch(nearest)
    is_clear = pair[1] if pair else named
    may_announce = has_rate and not is_clear and not _NO_ANNOUNCEMENT.search(nearest)
    return _Place(line, rate, above, has_rate, may_announce)


def _with_servers(found: Sequence[str], reports: Iterable[Report]) -> list[str]:
    """Return the words of each report, with the server's address if reports with equal words have several servers."""
    servers = []
    for report in reports:
        target = json.loads(report.facts.get("details") or "{}").get("target")
        if not target and report.facts.get("tool") == "perfdhcp":
            target = server(report.facts.get("command") or "")
        servers.append(_PORT.sub(r"\1 port \2", target).translate(_BRACKETS).removesuffix(" port 53") if target else "")
    placed = {(words, server) for words, server in zip(found, servers, strict=True) if server}
    several = {words for words, count in Counter(words for words, _ in placed).items() if count > 1}
    pairs = zip(found, servers, strict=True)
    return [f"{words} {server}".strip() if words in several else words for words, server in pairs]


def _blocks(lines: Iterable[bytes]) -> Iterator[tuple[int, int, str]]:
    """Yield first line, last line and headings of each Markdown code block; a single `#` is the document's title."""
    begin, documents, headings = 0, 0, dict[int, str]()
    found: list[tuple[int, int, dict[int, str]]] = []
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith((b"```", b"~~~")):
            if begin:
                found.append((begin, number, headings))
            begin = 0 if begin else number
        elif not begin and (heading := _HEADING.match(line)):
            depth = len(heading[1])
            documents += depth == 1
            headings = {above: text for above, text in headings.items() if above < depth}
            headings[depth] = heading[2].decode("utf-8", "replace")
        elif headings and not begin and line.startswith((b"    ", b"\t")):
            found.append((number - 1, number, headings))
    for begin, end, texts in found:
        yield begin, end, " ".join(text for depth, text in texts.items() if depth > 1 or documents > 1)


def _lines(text: bytes) -> list[bytes]:
    return text.replace(b"\r\r\n", b"\n").replace(b"\r\n", b"\n").splitlines()


def _above(lines: Sequence[bytes]) -> list[str]:
    """Return the lines that may describe a report in the last line, from below: those above, and XML elements in it."""
    texts = (line[:_LONGEST].decode("utf-8", "replace") for line in reversed(lines))
    first = next(texts, "")
    own = [first] if _SAME_LINE.match(first) else _ELEMENTS.findall(first)[:1]
    bare = map(_without_elements, chain(own, texts))
    return [*islice((line for line in bare if not _FRAMING.fullmatch(line)), _ABOVE)] or [""]


def _without_elements(line: str) -> str:
    """Return a heading as a title, and the last attributes in a line of XML as a name."""
    if title := _ANSIBLE.fullmatch(line) or _SAME_LINE.match(line):
        return f"== {title[1]}"
    if heading := _HTML_HEADING.fullmatch(line):
        return f"{_HTML_MARKS[int(heading[1]) - 1] * 2} {heading[2]}"
    elements = _ELEMENT.findall(line)
    if not elements:
        return line
    pairs = [pair for pair in _ATTRIBUTE.findall(elements[-1]) if not fields.UNTITLED.fullmatch(pair[0])]
    numbers = (f"{key} {value}" for key, value in pairs if value.isdecimal() and not fields.RATE.search(key))
    said = " ".join([*(value for _, value in pairs if not value.isdecimal()), *numbers])
    words = " ".join(_NO_WORD.sub(" ", said).split())
    return f"name: {words[:_MOST_IN_PAIR]}" if words else ""


def _words(banner: str) -> str:
    return " ".join(word for word in _OTHER.sub(" ", banner).split() if word.lower() not in _NO_NAMES)
