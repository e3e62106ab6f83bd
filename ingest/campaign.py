"""campaign.yaml: the description of a set of runs, and the path templates of its files."""

import difflib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import date
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache, partial
from typing import Annotated, Any, Final, Literal, NoReturn, Self, get_args

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    StringConstraints,
    ValidationError,
    create_model,
    model_validator,
)
from pydantic_core import PydanticCustomError

from dropline.errors import DroplineError
from dropline.ingest.schema import CONFIGURATION
from dropline.ingest.synonyms import CLOSED, WHOLE_NUMBERS, normalise

FILE_NAME: Final = "campaign.yaml"
MAX_BYTES: Final = 256 * 1024
MAX_DEPTH: Final = 16
SIDECARS: Final = (
    *("{stem}.json", "{stem}.meta.json", "{prefix}-meta.json", "meta.json", "metadata.json"),
    *("{stem}.yaml", "{stem}.yml", "meta.yaml", "meta.yml", "metadata.yaml", "metadata.yml"),
)

# Columns besides the configuration that a path, a sidecar or the defaults may set for a trial.
FIELDS: Final = (*(name for name, _ in CONFIGURATION), "tool_version", "repetition", "offered_rate")

# https://www.iana.org/assignments/dns-parameters, "DNS RCODEs"
RCODES: Final = (
    *("NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED", "YXDOMAIN", "YXRRSET", "NXRRSET", "NOTAUTH"),
    *("NOTZONE", "DSOTYPENI", "BADVERS", "BADSIG", "BADKEY", "BADTIME", "BADMODE", "BADNAME", "BADALG", "BADTRUNC"),
    "BADCOOKIE",
)

_EXPECTED: Final = {  # replaces pydantic's message about a value
    **dict.fromkeys(("date_from_datetime_parsing", "date_parsing"), "expected a date such as 2026-11-20"),
    **dict.fromkeys(("int_parsing", "int_type"), "expected a whole number"),
}
_REMEDIES: Final = {  # part of PyYAML's message -> what to do
    "'\\t'": "indent with blanks instead of tabs",
    "mapping values are not allowed": "align the keys, or put a text with a colon in quotes",
    "<block end>": "align the keys, or put a text that begins with a bracket or brace in quotes",
    "quoted scalar": "close the quote",
    "byte string": "save the file as UTF-8",
}

Lines = dict[tuple[str | int, ...], int]  # path of a YAML entry -> its line
Text = Annotated[str, StringConstraints(max_length=2000, strip_whitespace=True)]
Words = Annotated[str, StringConstraints(min_length=1, max_length=200, strip_whitespace=True)]


def slug(name: str) -> str:
    """Return `name` as a campaign's short name; letters of every script are kept."""
    return re.sub(r"[^\w.-]+", "-", unicodedata.normalize("NFC", name).lower())[:100].strip("-._") or "campaign"


def _short_name(name: str) -> str:
    if not re.fullmatch(r"[^\W_][\w.-]{0,99}", name) or name != unicodedata.normalize("NFC", name).lower():
        message = f"{name!r} is not a name; use lower-case letters, digits, '.', '_' and '-', such as {slug(name)!r}"
        raise ValueError(message)
    return name


Slug = Annotated[str, AfterValidator(_short_name)]


class CampaignError(DroplineError):
    """A campaign.yaml is unusable; the message says where, why and what to write instead."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _half_or_none(ratio: float) -> float:
    if ratio not in {0, 0.5}:
        raise ValueError("must be 0.5 (the median of a step's trials counts) or 0 (the worst one counts)")
    return ratio


class Method(_Strict):
    """How trials become one figure.

    Attributes:
        discard_lowest, discard_highest: number of runs trimmed at either end.
        discard_from_runs: least number of runs for it.
        exceed_ratio: share of a step's trials that may exceed a loss goal: 0.5, so that their median counts (ETSI
        TST009), or 0, so that the worst does (RFC 2544). Both are goals of draft-ietf-bmwg-mlrsearch.
    """

    discard_lowest: Annotated[int, Field(ge=0, le=100)] = 1
    discard_highest: Annotated[int, Field(ge=0, le=100)] = 1
    discard_from_runs: Annotated[int, Field(ge=1, le=1000)] = 5
    exceed_ratio: Annotated[float, AfterValidator(_half_or_none)] = 0.5

    @model_validator(mode="after")
    def _leaves_a_run(self) -> Self:
        if self.discard_lowest + self.discard_highest >= self.discard_from_runs:
            raise ValueError("discard_lowest and discard_highest together must be fewer than discard_from_runs")
        return self


def _meant(column: str, word: str) -> str:
    """Return the word for a column; raise ValueError, with the allowed words, if it has another."""
    try:
        normalise(column, word)
    except ValueError as error:
        raise ValueError(str(error).removeprefix(f"{column}: ")) from None
    return word


_WHOLE = Annotated[int, Field(ge=0, lt=2**31)]
_DEFAULTS: Final[dict[str, Any]] = {
    **{
        name: (_WHOLE | None if name in WHOLE_NUMBERS else Words | None, None)
        for name in FIELDS
        if name != "offered_rate"
    },
    **{name: (Annotated[Words, AfterValidator(partial(_meant, name))] | None, None) for name in CLOSED},
}
Defaults = create_model(
    "Defaults",
    __base__=_Strict,
    __doc__="Values for every trial of the campaign, unless a better source has another.",
    **_DEFAULTS,
)


def match_template(template: str, path: str) -> re.Match[str] | None:
    """Return the match of `path` (forward slashes, relative to the campaign) with a group per field.

    In a template such as `{protocol}_{backend}/rep{repetition}/rate{offered_rate}.txt`, a field matches the shortest
    text within one folder or file name; numeric fields match only digits, a rate also `10k`. `{_}` matches anything
    within one name; one `**/` matches any folders. Raise ValueError for an invalid template.
    """
    return _template_pattern(template).fullmatch(path) if len(path) <= 4096 else None


@lru_cache(maxsize=1024)
def _template_pattern(text: str) -> re.Pattern[str]:
    """Compile a template; every field is an atomic group, so that a match costs at most folders * length."""
    if len(text) > 1000 or text.count("**/") > 1 or "*" in text.replace("**/", "", 1):
        raise ValueError(f"{text!r}: use {{_}} for anything within a name, and **/ at most once for any folders")
    pieces = [_name_pattern(name, text) for name in text.split("/")]
    pattern = "/".join(pieces).replace("**/", "(?:[^/]+/)*")
    names = re.findall(r"\?P<(\w+)>", pattern)
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"{text!r}: {{{twice[0]}}} appears twice; write {{_}} instead of one of them")
    return re.compile(pattern)


def _name_pattern(name: str, text: str) -> str:
    """Return the pattern of one folder or file name; the caller handles `**`."""
    if name == "**":
        return name
    parts = re.split(r"\{([^{}]*)\}", name)
    literals, fields = parts[0::2], parts[1::2]
    if not name or name in {".", ".."} or any("{" in part or "}" in part for part in literals):
        raise ValueError(f"{text!r}: {name!r} is not a name with {{field}}s")
    if "" in literals[1:-1]:
        raise ValueError(f"{text!r}: two fields touch in {name!r}; put the text that separates them between them")
    pattern = re.escape(literals[0])
    for position, (field, literal) in enumerate(zip(fields, literals[1:], strict=True), 1):
        if field != "_" and field not in FIELDS:
            raise ValueError(f"{text!r}: there is no field {{{field}}}; {_nearest(field, (*FIELDS, '_'))}")
        taken, end = ("[^/]+", r"(?=/|\Z)") if position == len(fields) else ("[^/]+?", "")
        if field in WHOLE_NUMBERS:
            taken = "[0-9]+"
        elif field == "offered_rate":
            taken = r"[0-9]+(?:\.[0-9]+)?k?"
            literal = literal.removeprefix("k")  # the thousands are part of the rate
        group = taken if field == "_" else f"(?P<{field}>{taken})"
        pattern += f"(?>{group}{re.escape(literal)}{end})"
    return pattern


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _inside(folder: str) -> str:
    """Return the normalised path of a folder of the campaign; raise ValueError if it leaves the campaign."""
    parts = [part for part in folder.split("/") if part not in {"", "."}]
    if folder.startswith("/") or ".." in parts:
        raise ValueError(f"{folder!r} leads out of the campaign's folder; name a folder inside it")
    return "/".join(parts) or "."


def _known_field(name: str) -> str:
    known = (*FIELDS, "command", "requests_planned", "started_at", "ended_at", "exit_code", "server_wiped")
    if name not in known:
        raise ValueError(f"there is no column {name!r}; {_nearest(name, known)}")
    return name


def _sidecar_template(text: str) -> str:
    _inside(text)
    if unknown := re.search(r"\{(?!(?:stem|name|prefix)\})[^}]*\}?", text):
        raise ValueError(
            f"{text!r}: {unknown[0]} is none of {{stem}} (the output's name without its ending), {{name}}, and "
            "{prefix} (its name up to the first '-')"
        )
    return text


def _rcode(name: str) -> str:
    if name not in RCODES and not re.search(r"[0-9]", name):  # tools print unnamed codes as numbers
        raise ValueError(f"there is no answer code {name!r}; {_nearest(name, RCODES)}")
    return name


Column = Annotated[str, BeforeValidator(_known_field)]
Rcode = Annotated[
    str, StringConstraints(min_length=1, max_length=40, strip_whitespace=True, to_upper=True), AfterValidator(_rcode)
]
PathTemplate = Annotated[Words, AfterValidator(lambda text: _template_pattern(text) and text)]
SidecarTemplate = Annotated[str, BeforeValidator(_sidecar_template)]
Folder = Annotated[str, BeforeValidator(_inside)]


class Campaign(_Strict):
    """The contents of a campaign.yaml; it covers its folder and all below, up to the next one."""

    campaign: Slug = Field(description="Short name, in lower case: the key under which the trials are kept.")
    title: Text | None = None
    description: Text | None = None
    started_on: date | None = None
    source_url: Annotated[str, StringConstraints(pattern=r"^https?://\S{1,2000}$")] | None = None
    tags: Annotated[tuple[Words, ...], BeforeValidator(_listed), Field(max_length=50)] = ()
    method: Method = Method()
    expected_rcodes: Annotated[tuple[Rcode, ...], BeforeValidator(_listed), Field(max_length=50)] | None = Field(
        None, description="DNS answer codes that are not errors; default: NOERROR and NXDOMAIN."
    )
    defaults: Defaults = Defaults()  # type: ignore[valid-type]
    path: Annotated[tuple[PathTemplate, ...], BeforeValidator(_listed), Field(max_length=50)] = Field(
        (), description="Templates of the outputs' paths; the first that matches is used."
    )
    values: dict[Column, dict[str, Words]] = Field(
        {}, description="Per column: the word in a path or a sidecar -> its meaning."
    )
    sidecar: Annotated[tuple[SidecarTemplate, ...], BeforeValidator(_listed), Field(max_length=20)] = Field(
        SIDECARS,
        description="Paths of an output's sidecar, relative to the output's folder; the first that exists is used.",
    )
    sidecar_fields: dict[Column, Words] = Field({}, description="Column -> key of the sidecar; dots lead into objects.")
    machines: dict[Folder, Literal["server", "generator", "database", "other"]] = Field(
        {}, description="Folders of machine facts, with the role of each machine."
    )
    ignore: Annotated[tuple[Words, ...], BeforeValidator(_listed), Field(max_length=100)] = Field(
        (), description="Globs of files to skip; a final / means a whole folder."
    )

    _where: str = PrivateAttr("path")  # where the key of the templates is, for messages

    @model_validator(mode="after")
    def _means_what_columns_hold(self) -> Self:
        for column, words in self.values.items():
            for written, word in words.items():
                try:
                    normalise(column, word)
                except ValueError as error:
                    kind, context = "meaning", {"place": ("values", column, written), "why": str(error)}
                    raise PydanticCustomError(kind, "{why}", context) from None
        return self

    @cached_property
    def said(self) -> tuple[tuple[str, Any], ...]:
        """Defaults for every trial, as pairs of column and value."""
        defaults: dict[str, Any] = dict(self.defaults)
        return tuple(each for each in defaults.items() if each[1] is not None)

    def match(self, path: str) -> re.Match[str] | None:
        """Return the match of the first matching path template, with a group per column, if it extracts anything."""
        found = next(filter(None, (match_template(text, path) for text in self.path)), None)
        return found if found and found.re.groups else None

    def doubts(self, paths: Iterable[str]) -> Iterator[str]:
        """Yield warnings about the templates: outputs among `paths` that they miss, and invalid values."""
        matched: list[str] = []
        missed: list[str] = []
        places: dict[tuple[str, str], list[str]] = defaultdict(list)
        for path in paths if self.path else ():
            found = self.match(path)
            (matched if found else missed).append(path)
            for field in found.groupdict().items() if found else ():
                places[field].append(path)
        wrong: dict[str, list[str]] = defaultdict(list)
        for (column, word), those in places.items():
            try:
                normalise(column, self.values.get(column, {}).get(word, word))
            except ValueError as error:
                wrong[str(error)] += those
        if missed:
            such = f", such as {matched[0]}" if matched else ""
            outputs = f"{len(matched) + len(missed)} outputs"
            yield f"{self._where}: matches {len(matched)} of {outputs}{such}; not {missed[0]}"
        for why, where in wrong.items():
            more = f" and {len(where) - 1} more" if len(where) > 1 else ""
            yield (
                f"{self._where}: {why} in {where[0]}{more}; it is left out. Move the placeholder, or say under "
                "`values:` what the word means"
            )

    def ignores(self, path: str) -> bool:
        """Return whether the campaign ignores a file (path relative to its folder)."""
        name = path.rpartition("/")[2]
        return bool(self.ignore) and any(
            fnmatchcase(path, glob + "*" if glob.endswith("/") else glob) or fnmatchcase(name, glob)
            for glob in self.ignore
        )

    @classmethod
    def parse(cls, data: bytes, where: str = FILE_NAME) -> Self:
        """Parse a campaign.yaml, called `where` in errors."""
        contents, lines = read_yaml(data, where)
        try:
            read = cls.model_validate(contents)
        except ValidationError as error:
            faults = [explain(fault, lines, where, Campaign) for fault in error.errors()]
            raise CampaignError("\n".join(faults)) from None
        read._where = f"{where}, line {lines.get(('path',), 1)}: path"
        return read


def read_yaml(data: bytes, where: str) -> tuple[object, Lines]:
    """Return the contents of a YAML file with every scalar as text, and the line of every entry.

    Scalars stay text so that version 2.10 does not become the number 2.1 and `off` no boolean; the model converts
    them. Aliases are rejected, as they let a small file expand without bound.
    """
    if len(data) > MAX_BYTES:
        raise CampaignError(f"{where}: larger than {MAX_BYTES} bytes; it should not hold data")
    lines: Lines = {}
    try:
        depth = 0
        for event in yaml.parse(data, Loader=yaml.SafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_DEPTH:
                return _refuse(event, where, f"nested deeper than {MAX_DEPTH} levels; flatten it")
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                return _refuse(event, where, "anchors and aliases (& and *) are not read; write it out")
        node = yaml.compose(data, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        line, why = "", " ".join(str(error).split())
        if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark:
            line, why = f", line {error.problem_mark.line + 1}", str(error.problem or error.context)
        why += next((f"; {remedy}" for message, remedy in _REMEDIES.items() if message in why), "")
        raise CampaignError(f"{where}{line}: not readable as YAML: {why}") from None
    if not isinstance(node, yaml.MappingNode):
        raise CampaignError(f"{where}: expected `key: value` lines, at least `campaign: a-short-name`")
    return _plain(node, (), lines, where), lines


def _plain(node: Any, place: tuple[str | int, ...], lines: Lines, where: str) -> object:
    lines[place] = node.start_mark.line + 1
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item, (*place, n), lines, where) for n, item in enumerate(node.value)]
    if isinstance(node, yaml.ScalarNode):
        return node.value
    entries: dict[str, object] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode) or key.value in entries:
            return _refuse(key, where, "every key must be a word that appears only once in its block")
        if value.tag != "tag:yaml.org,2002:null":
            entries[key.value] = _plain(value, (*place, key.value), lines, where)
        lines[(*place, key.value)] = key.start_mark.line + 1
    return entries


def _refuse(node: Any, where: str, why: str) -> NoReturn:
    raise CampaignError(f"{where}, line {node.start_mark.line + 1}: {why}")


def explain(fault: Any, lines: Lines, where: str, model: type[BaseModel]) -> str:
    """Return a pydantic error of a model as a sentence: file, line, key and what is allowed."""
    place = named = tuple(part for part in fault.get("ctx", {}).get("place", fault["loc"]) if part != "[key]")
    while place and place not in lines:
        place = place[:-1]
    if fault["type"] == "extra_forbidden":
        *parents, key = fault["loc"]
        block: Any = model
        for name in parents:
            is_block = hasattr(block, "model_fields")  # otherwise it is a mapping of blocks by name
            block = block.model_fields[name].annotation if is_block else get_args(block)[-1]
        fields = block.model_fields.items()
        allowed = [field.alias or name for name, field in fields]
        inner = (name for name, field in fields if key in getattr(field.annotation, "model_fields", ()))
        why = f"there is no such key; {_nearest(str(key), allowed)}"
        if below := next(inner, None):
            why = f"belongs below `{below}:`, indented"
    elif fault["type"] == "missing":
        why = "is missing"
    else:
        given = fault["input"]
        why = _EXPECTED.get(fault["type"], fault["msg"].removeprefix("Value error, "))
        why += f" (found {given!r:.80})" if isinstance(given, str) and repr(given) not in why else ""
    return f"{where}, line {lines.get(place, 1)}: {'.'.join(map(str, named)) or 'the file'}: {why}"


def _nearest(word: str, known: Iterable[str]) -> str:
    known = list(known)
    close = difflib.get_close_matches(word, known)
    return (f"did you mean {' or '.join(map(repr, close))}? " if close else "") + f"Allowed: {', '.join(known)}"
