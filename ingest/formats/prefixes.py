"""Line prefixes added by logs and mails, detected in the head of a file and removed line by line.

Line numbers do not change. Writers that share a log are separated by name.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, pairwise
from os.path import commonprefix
from typing import Final, NamedTuple

from dropline.ingest.formats import fields
from dropline.ingest.formats.text import HEAD_BYTES, instant, plural, uncoloured

_DEEPEST: Final = 4  # nested prefixes
_SAMPLE: Final = 200  # non-blank lines of the head
_SHARE: Final = 0.6  # share of these that must begin alike
_MOST_WRITERS: Final = 50
_LONGEST: Final = 500  # characters of a line that are examined
CLOCK: Final = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: [AP]M)?+"
_DAY: Final = r"(?:\d{4}[-/]\d\d[-/]\d\d|\d{8}|\d\d[./]\d\d[./]\d{4})"
_ISO: Final = rf"{_DAY}[T ]{CLOCK}(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?"
_PRINTED: Final = re.compile(rb"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?)(Z|[+-]\d\d:?\d\d)?")
_MONTHS: Final = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_SYSLOG: Final = rf"{_MONTHS} [ \d]\d {CLOCK}"
_DATE: Final = rf"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) {_SYSLOG}(?: [A-Z]{{2,5}})? \d{{4}}"
TIME: Final = rf"(?:{_ISO}|{_DATE}|{_SYSLOG}(?: \d{{4}})?)"
_WRITER: Final = r"(?P<writer>[\w.@/-]{1,100})"
FILE: Final = r"[\w.@/+ -]{1,200}\.(?:csv|log|out|res|txt)"
_BEHIND: Final = r"(?:[ \t]*[|:](?=[ \t\r]|$)|[ \t]+-(?=[ \t\r]|$))?(?:[ \t]+|(?=\r|$))"
_FORMS: Final = tuple(
    re.compile(form, re.ASCII)
    for form in (
        rf"(?:{_SYSLOG}|{_ISO}) (?P<writer>[\w.-]{{1,100}} [\w./@-]{{1,100}}(?:\[\d{{1,10}}\])?):{_BEHIND}",
        rf"[\[(]?{TIME}[\])]?{_BEHIND}",
        rf"(?:{CLOCK}|[\[(]{CLOCK}[\])]){_BEHIND}",
        r"(?:\d{10}(?:\.\d{1,9})?|\[ *\d{1,10}\.\d{1,9}\])(?:[ \t]+|(?=\r|$))",  # seconds
        rf"{_WRITER}[ \t]+\|(?:[ \t]|(?=\r|$))",  # docker compose logs
        r"(?P<writer>[^\t\n]{1,100}\t[^\t\n]{1,100})\t",  # gh run view --log
        rf"\[{_WRITER}\]{_BEHIND}",  # kubectl logs --prefix
        rf"(?P<writer>{FILE}):(?:\d{{1,7}}:)?",  # grep -n "" */*.txt
        rf"{_WRITER}:(?:[ \t]|(?=\r|$))",  # clush
        r"(?:[>|#]|//)[ \t]?",  # a mail, a comment
        r"(?:[ \t]*(?:[-*+\u2022]|\d{1,3}[.)])[ \t]+|[ \t]{2,})",  # a list
    )
)
PROCESS: Final = re.compile(r"\[\d{1,10}\]", re.ASCII)
_BULLET: Final = re.compile(r"^[ \t]*[-*+][ \t]+(?=\S)", re.MULTILINE)
_STEADY: Final = re.compile(r".*[\s|>:#*\]]", re.DOTALL)  # a prefix never ends within a word or number
_IN_DOCKER: Final = '{"log":"'
# An output has several lines: an escaped string, or a list of strings. In sidecars, such a key may hold only its path.
IN_JSON: Final = rf'\{{"log":"|(?:{"|".join(fields.OUTPUTS)}|_lines)"\s*:\s*(?:"[^"\\]*\\|\[\s*")'
_OUTPUT: Final = re.compile(IN_JSON)
_KEYS: Final = tuple(f'{key}"' for key in (*fields.OUTPUTS, "_lines"))
_DOCKER: Final = re.compile(rf'\{{"log":({fields.STRING}),"stream":"[a-z]+",(?:"attrs":\{{.*\}},)?"time":"[^"]*"\}}\s*')


class _Line(NamedTuple):
    """A line without its prefix; the writer is None if there is no prefix."""

    writer: str | None
    text: str


def unwrapped(text: str, is_known: Callable[[str], object]) -> list[fields.Text]:
    """Return the texts behind line prefixes, or in JSON, for which `is_known` accepts the beginning."""
    if text.startswith(_IN_DOCKER):
        text = uncoloured("\n".join(map(_from_docker, text.split("\n"))))
        if is_known(text[:HEAD_BYTES]):
            return [fields.Text(1, text)]
    has_keys = any(map(text.__contains__, _KEYS))
    if has_keys and (strings := [each for each in fields.in_json(text) if is_known(each.text[:HEAD_BYTES])]):
        return strings
    lines = [_Line("", line) for line in text.split("\n")]
    for _ in range(_DEEPEST):
        form = _form([line.text for line in islice(lines, _SAMPLE * 2) if line.writer is not None])
        if not form:
            return []
        for number, line in enumerate(lines):
            if line.writer is not None and line.text.strip():
                match = form.match(line.text)
                own = match["writer"] if match and "writer" in form.groupindex else ""
                behind = _Line(f"{line.writer} {own}".strip(), line.text[match.end() :]) if match else None
                lines[number] = behind or _Line(None, line.text)
        if found := [each for each in _by_writer(lines) if is_known(each.text.lstrip("\n")[:HEAD_BYTES])]:
            return found
    return []


def without_bullets(text: str, is_known: Callable[[str], bool]) -> str:
    """Return `text` without bullets before lines for which `is_known` accepts the beginning."""

    def bare(bullet: re.Match[str]) -> str:
        return "" if is_known(text[bullet.end() : bullet.end() + _LONGEST]) else bullet[0]

    return _BULLET.sub(bare, text)


def printed_at(line: bytes) -> str | None:
    """Return the time in the prefix of a program's output, `2026-02-05 20:07:00`, in UTC if its zone is known."""
    found = _PRINTED.search(line, 0, _LONGEST)
    at = instant(f"{found[1].decode()}{(found[2] or b'Z').decode()}") if found else None
    return str(at.replace(microsecond=0, tzinfo=None)) if at else None


def may_be_json(text: str) -> bool:
    """Return whether JSON strings may hold a program's output, not only its path."""
    return _OUTPUT.search(text) is not None


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


def _by_writer(lines: Sequence[_Line]) -> Iterator[fields.Text]:
    """Yield the text of each writer, with blank lines in place of the others' lines."""
    names = _names(line.writer for line in lines if line.writer is not None and line.text.strip())
    writers = dict.fromkeys(names.values())
    bare = [number for number, line in enumerate(lines, 1) if line.writer is None]
    notes = []
    if bare:
        left_out = plural(len(bare), "line")
        notes.append(f"Left out, as they lack the prefix of the others: {left_out}, the first is line {bare[0]}.")
    if len(writers) > 1:
        notes.append(f"It is one of {len(writers)} writers whose lines are in this log.")
    for writer in islice(writers, _MOST_WRITERS):
        text = "\n".join(line.text if names.get(line.writer) == writer else "" for line in lines)
        yield fields.Text(1, text, tuple(notes), writer=writer)


def _names(writers: Iterable[str]) -> dict[str | None, str]:
    """Return the name of each writer: without its process id, unless two processes of a program wrote in turns."""
    processes: dict[str, list[str]] = {}
    for writer in writers:
        turns = processes.setdefault(PROCESS.sub("", writer), [writer])
        if turns[-1] != writer:
            turns.append(writer)
    return {
        writer: program if len({*turns}) == len(turns) else writer
        for program, turns in processes.items()
        for writer in turns
    }
