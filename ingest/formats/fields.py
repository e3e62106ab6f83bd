"""Outputs of tools in fields of JSON, YAML and CSV, whose neighbouring fields name the set-up."""

import csv
import io
import json
import re
from bisect import bisect
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain, islice
from typing import Final, NamedTuple

from dropline.ingest import synonyms

STRING: Final = r'"(?:[^"\\]|\\.)*+"'
OUTPUTS: Final = ("stdout", "msg", "output", "raw", "report", "result", "text")  # keys of JSON, YAML and CSV
_OUTPUT: Final = rf"(?:[\w.-]*[._-])?(?:{'|'.join(OUTPUTS)})"
_STDOUT: Final = re.compile(rf'"{_OUTPUT}"\s*:\s*({STRING})')
_STDOUT_LINES: Final = re.compile(rf'"{_OUTPUT}(?:_lines)?"\s*:\s*\[\s*((?:{STRING}\s*,?\s*)++)')
_OF_OUTPUT: Final = re.compile(rf"{_OUTPUT}(?:_lines)?")
_YAML: Final = re.compile(rf"^[ \t]*(?:- +)?{_OUTPUT}: *\|[-+\d]*[ \t]*\r?$", re.MULTILINE)
_NO_TITLES: Final = frozenset({"", "~", "null"})
STATES: Final = dict.fromkeys(("enabled", "on", "true", "yes"), "on") | dict.fromkeys(
    ("disabled", "false", "no", "off"), "off"
)
_FRACTION: Final = re.compile(r"[-+]?\d*\.\d+(?:e[-+]?\d+)?", re.IGNORECASE)
_Token = tuple[str, str, int]  # kind (key, value, fraction, open or close), text, and the place of a key
_ONE: Final = re.compile(STRING)
_TASK: Final = re.compile(r"^TASK \[(.{1,200})\] \*{3,}\r?$", re.MULTILINE)  # of Ansible, above a task's output
_TOKEN: Final = re.compile(
    rf"({STRING})\s*:|({STRING}|(?<![\w.+-])(?:false|true|\d{{1,18}}(\.\d{{1,18}})?))(?=\s*[,}}\]])|[\[\]{{}}]"
)
UNTITLED: Final = re.compile(  # keys of values that belong to one process
    rf"(?:.*[_.])?(?:{'|'.join(OUTPUTS)}|stdout\w*|stderr\w*|log|cmd|command|args|argv|rc|code|exit\w*"
    r"|return\w*|status|state|p?id|uuid|ts|starte?d?|ende?d?|delta|elapsed\w*|duration\w*|seconds|secs|date\w*|time\w*"
    r"|created|finished|file|path|sent|received|recv|completed|lost|dropped|drops|answered|errors|queries|requests"
    r"|responses|replies|bytes|packets|count|total|m?s|us|var|percent|pct|switches|usage|used|free)"
    r"|(?:elapsed|duration|start|end|time|total|wall|mem)_\w+|(?:.*_)?rss\w*|_\w+",
    re.IGNORECASE,
)
RATE: Final = re.compile(r"rate|load|offered|[clpqr]ps", re.IGNORECASE)
_LONGEST: Final = 500  # characters of a value
_NUMBER: Final = re.compile(r"\d{1,18}(?:\.\d{1,18})?%?")
_SEVERAL: Final = 5  # objects
_MOST_EVENTS: Final = 500_000  # of a YAML document, which take some seconds
_MOST_KEPT: Final = 20  # values beside an output, and levels of objects around it
_SETTINGS: Final = re.compile(r"item|case|config|labels|meta|options|param\w*|scenario|set_?up|tags|test|vars")


class Text(NamedTuple):
    """A text behind a prefix or in a JSON string: its first line in the file, notes, title and writer.

    The title consists of the values beside it in the JSON, the writer is the program or host in the prefix.
    `printed_at` is the time in the prefix of a report's first line, from `prefixes.printed_at`.
    """

    line: int
    text: str
    notes: tuple[str, ...] = ()
    title: str = ""
    writer: str = ""
    printed_at: str | None = None


def in_json(text: str) -> Iterator[Text]:
    """Yield the texts in strings of JSON, such as `stdout` in Ansible's output, each once."""
    seen: set[str] = set()
    tokens: list[_Token] = []
    for token in _TOKEN.finditer(text):
        if token[1]:
            tokens.append(("key", token[1][1:-1], token.start()))
        elif token[2]:
            tokens.append(("fraction" if token[3] else "value", token[2].strip('"'), 0))
        else:
            tokens.append(("open" if token[0] in {"{", "["} else "close", "", 0))
    titles, line, at = _titles(tokens), 1, 0
    matches = sorted([*_STDOUT_LINES.finditer(text), *_STDOUT.finditer(text)], key=lambda found: found.start(1))
    tasks = [(0, ""), *((task.start(), task[1]) for task in _TASK.finditer(text))]
    above = [tasks[bisect(tasks, (match.start(),)) - 1][1] for match in matches]
    differ = len({*above}) > 1
    for match, task in zip(matches, above, strict=True):
        line, at = line + text.count("\n", at, match.start(1)), match.start(1)
        try:
            found = "\n".join(json.loads(string) for string in _ONE.findall(match[1]))
        except ValueError:
            continue
        if (words := found.strip()) not in seen:
            seen.add(words)
            note = f"It is in a string of JSON in line {line}: its lines are counted from there."
            notes = () if match.re is _STDOUT_LINES else (note,)
            yield Text(line, found + "\n", notes, titles.get(match.start()) or task * differ)


def in_yaml(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the line before each YAML block, its last line and its title, up to any damage in the document."""
    if not _YAML.search(text):
        return
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the second is slow
    tokens: list[_Token] = []
    blocks: dict[int, tuple[int, int]] = {}
    keys: list[tuple[str, int] | None] = []  # of the enclosing mappings, None before a key; empty for a sequence
    with suppress(yaml.YAMLError):
        for event in islice(yaml.parse(text, loader), _MOST_EVENTS):
            if len(keys) > _MOST_KEPT:  # the time grows with the square of the depth
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
                is_bare = event.implicit[0]
                if not (is_bare and event.value.lower() in _NO_TITLES):
                    tokens.append(_value(event.value) if is_bare else ("value", event.value, 0))
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


def in_csv(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield, for each CSV row with an output of several lines, the line before it, its last line and its title."""
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
                    tokens += [("key", key, before), _value(value)]
                tokens.append(("close", "", 0))
                blocks.append((before, rows.line_num))
            before = rows.line_num
    titles = _titles(tokens)
    yield from ((before, last, titles.get(before, "")) for before, last in blocks)


def _value(text: str) -> _Token:
    return "fraction" if _FRACTION.fullmatch(text) else "value", text, 0


def _titles(tokens: Iterable[_Token]) -> dict[int, str]:
    """Return the title of each output by its place.

    It has the values beside the output in its object, and the keys of the objects around it unless all outputs share
    these; but no fractions except versions, and no measured numbers.
    """
    found = _outputs(tokens)
    shared = set[str].intersection(*(set(names) for names, _ in found.values())) if found else set[str]()
    values = defaultdict[str, list[str]](list)
    for key, value in chain(*{id(pairs): pairs for _, pairs in found.values()}.values()):  # an object may have several
        values[key].append(value)
    # A setting is the same for all trials of a ramp, or rises step by step; a repetition does not exceed their number.
    measured = set()
    for key, each in values.items():
        if key and not RATE.search(key) and len(each) >= _SEVERAL and all(map(_NUMBER.fullmatch, each)):
            numbers = [float(value.rstrip("%")) for value in each]
            if 2 * len({*numbers}) > len(numbers) < max(numbers) and numbers != sorted(numbers):
                measured.add(key)
    titles = {}
    for place, (names, pairs) in found.items():
        kept = [(key, value) for key, value in pairs if key not in measured][:_MOST_KEPT]
        numbered = [("rate" if key.endswith("_rate") else key, value) for key, value in kept]
        words = []
        for key, value in numbered:  # `n=3`; `mt-off` for `"mt": false`; nothing for other booleans
            state = STATES.get(value.lower())
            if key and value.isdecimal():
                words.append(f"{key}={value}")
            elif state and synonyms.meaning("".join(filter(str.isalpha, f"{key}{state}".lower()))):
                words.append(f"{key}-{state}")
            elif value.lower() not in {"false", "true"}:
                words.append(value)
        titles[place] = " ".join(filter(None, [*(name for name in names if name not in shared), *words]))
    return titles


def _outputs(tokens: Iterable[_Token]) -> dict[int, tuple[list[str], list[tuple[str, str]]]]:
    """Return, by an output's place, the keys of the objects around it, and the keys and values of its own object."""
    key, around, found = "", [("", list[tuple[str, str]]())], {}
    for kind, value, place in tokens:
        if kind == "key":
            key = value
            if _OF_OUTPUT.fullmatch(key):
                found[place] = [name for name, _ in around[-_MOST_KEPT:]], around[-1][1]
            continue
        if kind == "open":
            around.append((key, around[-1][1] if _SETTINGS.fullmatch(key) else []))
        elif kind == "close":
            if len(around) > 1:
                around.pop()
        elif value and not UNTITLED.fullmatch(key) and (kind == "value" or "version" in key):
            around[-1][1].append((key, value[:_LONGEST]))
        key = ""
    return found
