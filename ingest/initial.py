"""First campaign.yaml for a folder: a guessed path template, everything else as comments."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Final, NamedTuple

from dropline.ingest.campaign import FILE_NAME, Campaign
from dropline.ingest.change_detection import Known
from dropline.ingest.files import Found, IntakeError, Kind, survey
from dropline.ingest.identity import Identities
from dropline.ingest.lake import Lake
from dropline.ingest.names import COUNTING, REPETITION, level_counts, numbers, words_of
from dropline.ingest.resolve import Resolver
from dropline.ingest.synonyms import BACKENDS, CLOSED, PHRASE, UNCLEAR, VERSION, normalise, told

_PARSED: Final = 500  # outputs parsed for their rates
_TIME_OF_DAY: Final = re.compile(r"[0-2]\d[-:.h]?[0-5]\d(?:[-:.m]?[0-5]\d)?")
_UNTOLD: Final = "?"  # in a template that would tell less of the set-ups than names without one
_NUMBERED: Final = re.compile(r"(?P<word>[A-Za-z]*)(?P<number>[0-9]+(?:\.[0-9]+)?)(?P<unit>[A-Za-z]*)")
_COUNTED: Final = {
    **dict.fromkeys(COUNTING, "repetition"),
    **dict.fromkeys(("rate", "qps", "pps", "lps"), "offered_rate"),
    **dict.fromkeys(("threads", "thr"), "threads"),
}
_UNCLEAR: Final = UNCLEAR | {"4", "6", "dhcp"}
_TEXT: Final = """\
# Found: {found}.
# docs/how-to/bring-your-own-results.md describes every key; only the name is required.
campaign: {name}

# title: What reports call it
# description: What was tested, where, and why
# started_on: 2026-11-20

{path}

# What no file says; these values are for every trial for which no better source has one.
# defaults:
#   product: ISC Kea
#   product_version: 2.6.1
#   backend: memfile            # memfile, mysql, postgresql, ...
#   threading: multi            # {threading}
#   threads: 4
#   ha_mode: none               # {ha_mode}
#   testbed: our lab

# Which machine was what, by the folder of its facts (see collect.sh).
# machines: {{machine: server}}

# Files to skip; those that are already in the lake then no longer count.
# ignore: [discarded/, "*.log"]
"""


class Begun(NamedTuple):
    """The campaign.yaml that was written, and how many outputs its path template matches."""

    file: Path
    outputs: int
    matched: int

    def text(self) -> str:
        """Return the result as text."""
        matched = f"its path templates match {self.matched} of {self.outputs} outputs"
        path = matched if self.matched else "no path template was found"
        return f"Wrote {self.file}: {path}. Review it, then type: dropline ingest --dry-run {self.file.parent}"


def begin(folder: Path, lake: Lake) -> Begun:
    """Write a campaign.yaml into `folder`; raise IntakeError if there is one, or no output of a traffic generator."""
    file = folder / FILE_NAME
    if file.exists():
        raise IntakeError(f"{file} already exists; it was not changed")
    found = [item for item in survey([folder]) if item.scope.folder == folder.resolve()]
    outputs = [item for item in found if item.kind is Kind.OUTPUT]
    if not outputs:
        raise IntakeError(f"{folder}: there is no output of a traffic generator; `dropline show FILE` explains a file")
    with lake.reading():
        (named,) = Identities(Known(lake)).named([found])
    templates = [*_templates(outputs)]
    text = _TEXT.format(
        found=_told(found),
        name=named[0].scope.name,
        path=_path(templates, outputs[0].path),
        **{column: ", ".join(words) for column, words in CLOSED.items()},
    )
    campaign = Campaign.parse(text.encode(), str(file))
    with file.open("x", encoding="utf-8") as written:
        written.write(text)
    return Begun(file, len(outputs), sum(bool(campaign.match(item.path)) for item in outputs))


def _told(found: Sequence[Found]) -> str:
    """Describe the contents of a folder by kind."""
    tools = Counter(item.reader.NAME for item in found if item.kind is Kind.OUTPUT)
    names = {
        Kind.SIDECAR: "sidecars",
        Kind.SERVER: "server configurations",
        Kind.WATCHED: "files of counters or probes",
    }
    kinds = Counter(names[item.kind] for item in found if item.kind in names)
    machines = len({item.folder for item in found if item.kind is Kind.MACHINE})
    parts = [f"{count} outputs of {tool}" for tool, count in tools.most_common()]
    parts += [f"{count} {kind}" for kind, count in kinds.most_common()]
    return ", ".join(parts + ([f"{machines} folders of machine facts"] if machines else []))


def _path(templates: Sequence[str], example: str) -> str:
    lines = [f"# What the paths of outputs say, such as {example}. {{_}} takes anything within a name."]
    if not templates:
        return "\n".join([*lines, '# path: "{protocol}_{backend}/rep{repetition}/rate{offered_rate}.txt"'])
    return "\n".join([*lines, "path:", *(f'  - "{template}"' for template in templates)])


def _templates(outputs: Sequence[Found]) -> Iterator[str]:
    """Yield a template for each shape of output path, if it extracts anything."""
    resolver = Resolver(outputs)
    rates: dict[str, float] = {}
    for item in outputs[:_PARSED]:
        trials = resolver.outcome(item).rows.get("trials", [])
        if len(trials) == 1 and trials[0].get("offered_rate"):
            rates[item.path] = trials[0]["offered_rate"]
    # The first matching template wins, and a last field matches the rest of a name.
    every = sorted((item.path for item in outputs), key=_shape, reverse=True)
    for _, alike in groupby(every, key=_shape):
        paths = [*alike]
        columns = [*zip(*(path.split("/") for path in paths), strict=True)]
        used: set[str] = set()
        template = "/".join(_name(names, [rates.get(path) for path in paths], used) for names in columns)
        if used and not {'"', _UNTOLD} & {*template}:
            yield template


def _shape(path: str) -> tuple[int, ...]:
    """Return the number of parts in each name of a path."""
    return tuple(name.count("_") for name in path.split("/"))


def _name(names: Sequence[str], rates: Sequence[float | None], used: set[str]) -> str:
    """Return the pattern of one folder or file name; `used` are the columns found so far."""
    endings = (re.search(r"(?<=.)\.[A-Za-z]\w*(?:\.gz)?\Z", name) for name in names)
    ends = {ending[0] if ending else "" for ending in endings}
    end = ends.pop() if len(ends) == 1 else ""
    stems = [name.removesuffix(end) for name in names]
    for mark in ("_", "-"):
        if any(mark in found[0] for stem in stems for phrase in (PHRASE, VERSION) for found in phrase.finditer(stem)):
            continue
        parts = [stem.split(mark) for stem in stems]
        if all(len(each) == len(parts[0]) for each in parts) and (len(parts[0]) > 1 or mark == "-"):
            columns = [*zip(*parts, strict=True)]
            first = ["", *(words[0] for words in columns), ""]
            return mark.join(map(partial(_part, rates, used), first, first[2:], columns)) + end
    return _part(rates, used, "", "", stems) + end


def _part(rates: Sequence[float | None], used: set[str], above: str, below: str, words: Sequence[str]) -> str:
    """Return the pattern of the text between two separators in some names, between the texts `above` and `below`."""
    column, before, after = _column(words, rates)
    if not column and all(map(str.isdecimal, words)) and len({*words}) > 1:
        column = "threads" if "threads" in {above, below} else None
    counts = level_counts(words[0], above, {*words}) or (above.lower() in COUNTING and words[0].isdecimal())
    if not column and len({*words}) > 1 and counts:
        column = "repetition"
    if column and column not in used:
        used.add(column)
        return f"{before}{{{column}}}{after}"
    if len({*words}) == 1 and not {"{", "}", "*"} & {*words[0]}:
        return words[0]
    told_of = zip(map(words_of, words), rates, strict=True)
    bare = [" ".join(word for word in those if rate not in numbers(word)) for those, rate in told_of]
    if len({*bare}) == 1 or column == "repetition" or not _are_set_ups(bare, rates):
        return "{_}"
    # names tell better what `1of3`, `#1` or `tuned 1` say
    unclear = any(
        len(words_of(word)) > 1 or word.startswith(("#", "(")) or REPETITION.fullmatch(word) for word in words
    )
    if unclear or "scenario" in used or any(told(each) for word in words for each in words_of(word)):
        return _UNTOLD
    used.add("scenario")
    return "{scenario}"


def _are_set_ups(words: Sequence[str], rates: Sequence[float | None]) -> bool:
    """Return whether words that differ may be set-ups: no times, and each tried at several rates if these are known."""
    tried: dict[str, set[float | None]] = defaultdict(set)
    for word, rate in zip(words, rates, strict=True):
        tried[word].add(rate)
    is_time = all(not words_of(word) or _TIME_OF_DAY.fullmatch(word) for word in words)
    follows_rate = len({*rates}) > 1 and any(len(each) == 1 and each != {None} for each in tried.values())
    return not is_time and not follows_rate


def _column(words: Sequence[str], rates: Sequence[float | None]) -> tuple[str | None, str, str]:
    """Return the column that fits all words, and the text before and after its value in them."""
    numbered = [_NUMBERED.fullmatch(word) for word in words]
    found = [each for each in numbered if each]
    around = {each.group("word", "unit") for each in found}
    if len(found) == len(words) and len(around) == 1:
        before, after = around.pop()
        if all(rate == float(each["number"]) for rate, each in zip(rates, found, strict=True)):
            return "offered_rate", before, after
        if column := _COUNTED.get((before or after).lower()):
            return column, before, after
    columns = ("protocol", "threading", "backend", "ha_mode")
    return next((column for column in columns if _all_of(column, words)), None), "", ""


def _all_of(column: str, words: Iterable[str]) -> bool:
    """Return whether all words are values of this column and of no other."""
    every = {word.lower() for word in words}
    try:
        meant = [word in BACKENDS if column == "backend" else normalise(column, word) for word in every]
    except ValueError:
        return False
    return all(meant) and not _UNCLEAR & every
