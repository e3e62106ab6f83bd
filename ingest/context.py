"""Context of a trial: values from outside its report, with their sources and conflicts."""

import codecs
import hashlib
import json
import math
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from difflib import get_close_matches
from functools import lru_cache
from itertools import chain, pairwise
from os.path import commonprefix
from typing import Any, Final

from dropline import beside
from dropline.ingest.campaign import FIELDS, Campaign, CampaignError, read_yaml
from dropline.ingest.formats import Rejected, Row, dnsblast, dnsperf
from dropline.ingest.formats.perfdhcp_options import told_by_command
from dropline.ingest.formats.text import mapping, real
from dropline.ingest.names import SIZES, Name, is_same_rate, level, named_rates, numbers, split, words_of
from dropline.ingest.schema import CONFIGURATION
from dropline.ingest.servers import kea
from dropline.ingest.synonyms import ALONE, BACKENDS, PAIRED, PARTNERED, UNCLEAR, meaning, normalise

_KEYS: Final = beside.words(__file__, "sidecars")
# Column -> sidecar key. Several keys may set the same column; all are read.
SIDECAR_FIELDS: Final[tuple[tuple[str, str], ...]] = (
    *(field for each in _KEYS["columns"] for field in each.items()),
    *((c, c) for c in (*FIELDS, "command", "requests_planned", "exit_code", "started_at", "ended_at", "server_wiped")),
    ("product", "server"),
)
_RESOLVED: Final = frozenset({column for column, _ in SIDECAR_FIELDS})
_OF_ONE_PROCESS: Final = frozenset(
    {"started_at", "ended_at", "exit_code", "offered_rate", "completed", "command", "requests_planned"}
)
_SERVER_COLUMNS: Final = (
    *("product", "product_version", "protocol", "backend", "threading", "threads"),
    *("packet_queue_size", "ha_mode"),
)
_SERVERS_OWN: Final = ("product", "product_version", "backend", "backend_version", "threading", "threads", "ha_mode")
_ITS_OWN: Final = ("backend", "threading", "threads", "ha_mode")  # must agree for a configuration to be an output's
_MEASURED: Final = ("Spirent ",)  # tools that print the rate that they measured, not the requested one
RATELESS: Final = frozenset({"dnsblast", "kxdpgun"})  # tools that do not print the requested rate
_SEVERAL: Final = (dict, list)  # isinstance is faster with a tuple than with a union
_CONFIGURATION: Final = frozenset(name for name, _ in CONFIGURATION)
_VERSIONS: Final = re.compile(r"[0-9]+(?:\.[0-9]+)+")
_FILE_NAME: Final = "file name"
_BANNER: Final = "banner"
_NAMES: Final = "names of folders and file"
_SERVER: Final = "server configuration "
_DEFAULTS: Final = "campaign.yaml defaults"
SIDECAR_OF: Final = "sidecar "
_BESIDE_SIDECAR: Final = "path beside a sidecar"  # it may distinguish set-ups with equal sidecars
_SIDECARS_BESIDE: Final = f"{SIDECAR_OF}of similar outputs"
_SET_UP: Final = frozenset({"backend", "threading", "scenario"})  # a source of one of these describes the set-up
# Columns that may be read from any word of a path.
_IN_NAMES: Final = ("product", "product_version", "backend", "threading", "threads", "ha_mode")
_MISSPELT: Final = (*_IN_NAMES, "scenario", "testbed")  # columns whose misspelt keys in sidecars are reported
_ALIKE: Final = 0.85
MAX_OBSERVATIONS: Final = 1000
SERVERS: Final = ("config", "server_config", "config_sha256")  # sidecar keys that name a server's configuration
_DATABASES: Final = ("database", "db", "lease_database")
VAGUE: Final = ("version", *_DATABASES)  # sidecar keys that may also mean something else
NAME_KEYS: Final = frozenset({"name", "label", "labels", "title", "test", "test_name", "case", "setup", "tags"})
_NESTED: Final = frozenset(  # keys of nested objects that are read
    {*_DATABASES, *(key for column, key in SIDECAR_FIELDS if column in _SERVERS_OWN), *_SERVERS_OWN} - {"mode"}
)
METRICS: Final[dict[str, str]] = _KEYS["metrics"]
_COUNTED: Final = frozenset({*METRICS, "udp_delta", "leases_in_db_after"})
_OF_PARENT: Final = frozenset({"enable", "enabled", "mode", "name", "type"})
_OF_GENERATOR: Final = re.compile("client|dnsperf|generator|host|injector|loadgen|machine|perfdhcp|tester|tool|traffic")
_OF_SERVER: Final = re.compile("config|dut|kea|pdns|powerdns|server|sut")
_MODE: Final = re.compile(r" -g (single|multi)\b")
_ROUTER: Final = re.compile("[Rr][0-9]{1,2}")  # a repetition, unless the names of its files count repetitions
_THREADS: Final = "threads beside clients"
_OF_ONE_THREAD: Final = ("perfdhcp", "dnsblast", "queryperf", "resperf")
UNREAD: Final = "unread"
_WORD: Final = re.compile(r"[A-Za-z][\w .:/+-]{0,59}")  # no number, time or rate
_FLAGS: Final = {"true": True, "yes": True, "false": False, "no": False}
_SIDECAR: Final = json.JSONDecoder(parse_constant=lambda _: None)
_DIGESTED: Final = json.JSONEncoder(sort_keys=True, default=str, separators=(",", ":"), check_circular=False)


Claim = tuple[str, Any, str]
"""Value that a source gives for a column: (column, value, source)."""
Names = tuple[Name | None, int | None, tuple[tuple[int, Name | str | None], ...], Sequence[str], bool]
"""`name`, `level`, `folders` of a Context, words whose meaning follows from neighbours, `has_other_spelling`."""
WATCHED: Final = ("host", "label", "metric", "unit", "value")  # of schema.OBSERVATIONS, in the order of `digested`
Watched = tuple[str | None, str | None, str, str, float]
Holds = Callable[[str], bool]
"""Function that returns whether outputs are in a folder or below it."""


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """A server configuration among the files of one ingest."""

    row: Row  # of schema.SERVER_CONFIGS
    folder: str  # absolute path of its campaign's folder
    path: str  # relative to that folder
    sha256: str


@dataclass(frozen=True, slots=True)
class Context:
    """Everything joined to one output, in order of trust."""

    claims: tuple[Claim, ...] = ()  # values from the server configuration, the sidecar, the path and the defaults
    warnings: tuple[str, ...] = ()  # what is missing or unusable, one sentence each
    observations: tuple[Watched, ...] = ()  # rows of schema.OBSERVATIONS, with the columns WATCHED
    own: Row = field(default_factory=dict)  # columns with only one source: host_id, server_config_id
    path: str = ""  # of the output, relative to the campaign's folder
    shared: bool = False  # whether the sidecar belongs to the outputs of several processes
    name: Name | None = None  # of the output, if no path template matches and the name may contain more than a rate
    level: int | None = None  # index in the path of the folder whose number counts repetitions
    # Index and name of each folder whose name may contain the rate; no name if another number of the path equals the
    # rate; a text, without the number, if that only puts the folders in order.
    folders: tuple[tuple[int, Name | str | None], ...] = ()
    match: re.Match[str] | None = None  # match of a path template, with a group per column
    has_other_spelling: bool = False  # whether names beside it spell its backend differently: `mysql`, `mariadb`

    def sha256(self) -> str:
        """Return the digest of the context; a new digest makes a new version of the file."""
        written = self.digest_form() % {"observations": observations_json(self.observations)}
        return hashlib.sha256(written.encode()).hexdigest()

    def digest_form(self, source: str | None = None, columns: Collection[str] = ()) -> str:
        """Return the text that `sha256` hashes, as a %-format for contexts that differ only in some values.

        The values are the JSON of `observations` (a list without its brackets), of `source`, and of the `columns`.
        """
        claims = [
            f'["{column}",{f"%({column})s" if column in columns else digested(value).replace("%", "%%")},'
            f"{'%(source)s' if by == source else digested(by).replace('%', '%%')}]"
            for column, value, by in self.claims
        ]
        others: list[object] = [self.own, self.shared]
        if self.name or self.level is not None:
            others += [self.name, self.level]
        if self.folders:
            others += self.folders
        if self.has_other_spelling:
            others += ["spelled"]
        warnings, rest = (text.replace("%", "%%") for text in (digested(self.warnings), _DIGESTED.encode(others)[1:]))
        return f"[[{','.join(claims)}],{warnings},[%(observations)s],{rest}"

    def resolve(
        self, facts: Row, *, alone: bool = True, rates: Collection[float] = (), banner: Name | None = None
    ) -> Row:
        """Return the columns of schema.TRIALS for a report: its own facts, completed from the context.

        The report takes precedence, except for `scenario`, as a generator knows only its own, and for its start, which
        it knows only to the second. A sidecar's values for one process (times, exit code, rate and signal) are ignored
        if the file holds several reports or the sidecar serves several files. A trial is complete if, by the report or
        the sidecar, all requests were sent and nobody interrupted it. `rates` are the rates offered by all reports of
        the file, which help to read the file's name. The `banner` before the report may describe the set-up, too.
        """
        unsaid = frozenset() if alone and not self.shared else _OF_ONE_PROCESS
        if facts.get("command"):  # the report's command and the sidecar's differ in the program's folder
            unsaid |= {"command"}
        tool = facts.get("tool")
        outside = [claim for claim in _of_server(self.claims, facts, self.path) if claim[0] not in unsaid]
        asked: Row = {}
        if str(tool).startswith(_MEASURED) and (measured := facts.get("offered_rate")):
            # names contain the requested rate
            measured = math.nextafter(measured, 0)
            outside = [claim for claim in outside if claim[0] != "offered_rate" or not is_same_rate(claim[1], measured)]
            rates, asked = {math.nextafter(rate, 0) for rate in rates}, {"offered_rate": measured}
        strong = _RESOLVED - ({"scenario", "started_at"} & {claim[0] for claim in outside})
        text = [(column, value, "text") for column, value in facts.items() if column in strong]
        if banner:
            titled = _named(map("".join, banner.tokens), settle(text + outside)[0])
            outside += [(column, value, _BANNER) for column, value, _ in _of_server(titled, facts)]
        resolved, sources, conflicts = settle(text + outside)
        if sources.pop(UNREAD, None):
            facts = detailed(facts, **{UNREAD: resolved.pop(UNREAD)})
        if tool == "perfdhcp" and not facts.get("command"):  # -C suppresses it
            facts = facts | told_by_command(resolved.get("command"), facts)
        planned, sent = resolved.get("requests_planned"), facts.get("sent")
        is_cut = tool == dnsperf.NAME and not (facts.get("command") or resolved.get("command"))
        if (tool in RATELESS or is_cut) and "offered_rate" not in resolved:
            # it prints the replies and their rate since the start, which together give the time
            shown = sent and facts.get("received") and sent * (facts.get("achieved_rate") or 0) / facts["received"]
            titles = " ".join(map("".join, banner.tokens)) if banner else ""
            places = ((_BANNER, titles), (_NAMES, self.path))
            by_place = ((by, named_rates(place, None if is_cut else sent, shown)) for by, place in places)
            if found := next(((by, min(named)) for by, named in by_place if len(named) == 1), None):
                sources["offered_rate"], resolved["offered_rate"] = found
        if tool == dnsblast.NAME and planned is None and sent and not sent % resolved.get("offered_rate", math.inf):
            planned = sent  # whole seconds: it was probably stopped while it waited, not while it sent
        whole = bool(facts.get("completed")) or (planned is not None and sent is not None and sent >= planned)
        completed = whole and bool(resolved.get("completed", True))
        offered = {*rates, *filter(None, [asked.get("offered_rate") or resolved.get("offered_rate")])}
        threads, by = resolved.get("threads"), sources.get("threads", "")
        # Kea may ignore its thread-pool-size.
        if threads and "threading" not in resolved and not by.startswith(_SERVER):
            resolved["threading"], sources["threading"] = "multi" if threads > 1 else "single", by
        told_by_names = self._names(facts | asked, resolved, sources, offered, banner, alone=alone)
        return {
            **facts,
            **self.own,
            **told_by_names,
            **resolved,
            "completed": completed,
            "context_sources": sorted(sources.items()),
            "conflicts": conflicts,
        }

    def _names(
        self, facts: Row, resolved: Row, sources: dict[str, str], rates: Set[float], banner: Name | None, *, alone: bool
    ) -> Row:
        """Return the columns that folders, banner and file name add; set the repetition unless it is known."""

        def known() -> Row:
            return (
                {name: resolved[name] for name in resolved if name != "backend"}
                if self.has_other_spelling
                else resolved
            )

        def beside(name: Name, source: str, rates: Collection[float], above: str, *, alone: bool = True) -> str:
            content = name.says(rates, lambda word: _is_known(word, above, facts, known()), alone=alone)
            if content.repetition is not None and resolved.get("repetition") is None:
                resolved["repetition"], sources["repetition"] = content.repetition, source
            return content.words or ""

        left = beside_fields(self.path, self.match, sources, rates)
        folders = self.path.split("/")[:-1]
        levels = [*map(level, folders)]
        routers = [at for at, folder in enumerate(folders) if _ROUTER.fullmatch(folder)][-1:]
        if self.name and (routers or self.level is not None) and self.name.repeats(rates):  # the folder is a set-up
            left |= {at: folders[at] for at in routers}
            if self.level is not None:
                left[self.level] = levels[self.level].text
            if routers and sources.get("repetition") == "path":
                del resolved["repetition"], sources["repetition"]
        elif self.level is not None and sources.get("repetition") != "path":
            text, label, before, digits = levels[self.level]
            count = int(digits or 1)
            if not label and count not in rates and resolved.setdefault("repetition", count) == count:
                left[self.level] = before if digits else text
                sources.setdefault("repetition", "path")
        for at, name in self.folders:
            if isinstance(name, str):
                left[at] = name
            elif name is None:  # for `R3/500-3.txt`, the level is there already
                left.setdefault(at, levels[at].text)
            elif name.own(rates):
                left[at] = beside(name, "path", rates, "").replace(" ", "-")
        of_report = {"offered_rate": facts.get("offered_rate") or resolved.get("offered_rate")}
        is_counted = sources.get("repetition") == "path" or self.level in left
        folder = context_path(self.path, {**known(), **of_report}, left, is_counted=is_counted)
        above = self.path.rpartition("/")[0]
        own_rate = [rate] if (rate := of_report["offered_rate"]) is not None else []
        of_banner = beside(banner, _BANNER, own_rate, above) if banner else ""
        alone = alone and rates.isdisjoint(number for each in above.split("/") for number in numbers(each))
        of_file = beside(self.name, _FILE_NAME, rates, above, alone=alone) if self.name else ""
        of_sidecar = {column for column, _, by in self.claims if column in _SET_UP and by.startswith(SIDECAR_OF)}
        if "scenario" in of_sidecar:
            of_file = ""
        own_words = [word for word in of_file.split() if word not in of_banner.split()]  # 2-2 is neither 2-4 nor 2
        origins = {*([_BANNER] if of_banner else []), *([_FILE_NAME] if own_words else [])}
        name_words = " ".join([*dict.fromkeys(of_banner.split()), *own_words])
        # If the trial has its own description of the set-up, its folder's name is only a place.
        own = {by for column, _, by in self.claims if column in _SET_UP or (by == "path" and column != "repetition")}
        if folder != "." and own <= {_NAMES, _DEFAULTS}:
            folder, name_words, origins = ".", f"{folder}/{name_words}" if name_words else folder, {"path", *origins}
        elif folder != "." and all(by.startswith((_NAMES, _DEFAULTS, _SERVER)) for by in own):
            sources["context_path"] = "path"  # several folders may share the configuration
        elif of_sidecar and "scenario" not in of_sidecar and "path" not in own:
            sources["context_path"] = _BESIDE_SIDECAR
        if origins:
            sources["name_words"] = ", ".join(sorted(origins, reverse=True))
        return {"context_path": folder, "name_words": name_words or None}


class ServerConfigs:
    """Server configurations among the files of one ingest; paths in sidecars are looked up here, never opened."""

    def __init__(self, configs: Iterable[ServerConfig] = ()) -> None:
        self._by_digest: dict[str, list[ServerConfig]] = defaultdict(list)
        self._by_name: dict[str, list[ServerConfig]] = defaultdict(list)  # by file name
        self._by_campaign: dict[str, list[ServerConfig]] = defaultdict(list)
        self._placed = lru_cache(maxsize=4)(self._by_place)
        self.named = lru_cache(maxsize=1024)(self._named)  # all trials of a ramp share a configuration
        for config in configs:
            self._by_digest[config.sha256].append(config)
            self._by_name[config.path.rpartition("/")[2]].append(config)
            self._by_campaign[config.folder].append(config)

    def _named(
        self, config: str | None, server_config: str | None, digest: str | None, scope: str
    ) -> tuple[ServerConfig | None, list[str]]:
        """Return the configuration that the values of SERVERS name, and a warning if it is ambiguous.

        Configurations match by digest, else by the end of the path, first within the campaign's folder.
        """
        path = config or server_config
        if digest and (found := self._by_digest.get(digest)):
            return min(found, key=lambda c: (c.folder != scope, c.path != path, c.folder, c.path)), []
        if not path:
            return None, []
        named = f"server configuration {path!r:.200}"
        alike = self._by_name.get(path.rpartition("/")[2], [])
        found = [c for c in alike if f"/{c.path}".endswith("/" + path.removeprefix("./"))]
        # The sidecar has the path on the server; the copy among the results may be in a folder of the same name.
        found = found or [c for c in alike if "/" in c.path and path.endswith(f"/{c.path}")]
        found = [c for c in found if c.folder == scope] or found
        if not found:
            return None, [f"{named} is not among the ingested files"]
        if len(found) > 1:
            return None, [f"{named} matches {len(found)} of the ingested files, so none is used"]
        doubt = f"{named} was found by its path; its SHA-256 is not the one that the sidecar gives"
        return found[0], [doubt] if digest else []

    def above(self, path: str, scope: str, holds: Holds, protocol: str | None) -> tuple[ServerConfig | None, list[str]]:
        """Return the configuration in the file's folder or the nearest folder above that has one, or a warning.

        A folder that `holds` no outputs, such as `kea/` next to `runs/`, counts as the folder above it. Servers of
        another protocol than the output's are ignored.
        """
        placed = self._placed(scope, holds)
        here: list[ServerConfig] = []
        for folder in folders_above(path):
            near = placed.get(folder, ())
            here = [each for each in near if not protocol or each.row.get("protocol") in {None, protocol}]
            if here:
                break
        if len({each.row["server_config_id"] for each in here}) > 1:  # the same one may have two names
            if _are_of_pair(here):
                return min(here, key=lambda each: each.row.get("ha_role") != "primary"), []
            paths = ", ".join(each.path for each in here[:3])
            return None, [f"{len(here)} server configurations are nearest ({paths}), so none is used"]
        return here[-1] if here else None, []

    def _by_place(self, scope: str, holds: Holds) -> dict[str, list[ServerConfig]]:
        places: dict[str, list[ServerConfig]] = defaultdict(list)
        for config in self._by_campaign.get(scope, ()):
            places[next(filter(holds, folders_above(config.path)), "")].append(config)
        return places


def _are_of_pair(configs: Sequence[ServerConfig]) -> bool:
    """Return whether these are the servers of one fail-over pair, and agree in everything that defines a set-up."""
    names = {each.row.get("ha_server_name") for each in configs}
    alike = all(len({each.row.get(column) for each in configs}) == 1 for column in _SERVER_COLUMNS)
    return len(names) == len(configs) and alike and configs[0].row.get("ha_mode") not in {None, "none"}


def gather(
    path: str,
    scope: str,
    campaign: Campaign | None,
    servers: ServerConfigs,
    sidecar: tuple[str, Row] | None = None,
    host_id: str | None = None,
    sha256: str = "",
    *,
    shared: bool = False,
    names: Callable[[], Names] = lambda: (None, None, (), (), False),
    holds: Holds = bool,
    protocol: str | None = None,
    unread: Collection[str] = (),
    agreed: Row | None = None,
) -> Context:
    """Collect the context of the output `path`, with digest `sha256`, in the campaign's `scope`.

    `sidecar` is the path and contents of the output's sidecar, if it has one; `shared` means that it serves other
    processes, too. `names` is called if no path template matches; `holds` returns whether a folder has outputs;
    `protocol` is that of the output, if it is certain. `unread` are keys of sidecars that may distinguish set-ups;
    `agreed` has the values shared by the sidecars of similar outputs, for an output without a sidecar.
    """
    values = campaign.values if campaign else {}
    notes: list[str] = []
    claims: list[Claim] = []
    contents = sidecar[1] if sidecar else {}
    if sidecar:
        source = f"{SIDECAR_OF}{sidecar[0]}"
        claims += _of_sidecar(contents, source, campaign, unread, notes)
        if not NAME_KEYS.isdisjoint(contents):
            texts = chain.from_iterable(_texts(contents[key]) for key in NAME_KEYS & contents.keys())
            named = _named([word for text in texts for word in words_of(text)], settle(claims)[0])
            claims += ((column, value, source) for column, value, _ in named)
        if contents.get("output_sha256", sha256) != sha256:
            notes.append(f"{source} was written for another output: its output_sha256 differs")
        if contents.get("signal_sent"):
            claims.append(("completed", False, source))
    match = campaign.match(path) if campaign else None
    found = match.groupdict() if match else {}
    claims += _claims(found.items(), "path", values, notes)
    folders = path.split("/")[:-1]
    if "repetition" not in found:
        labelled = [("repetition", count) for folder in folders if (count := level(folder).repetition)]
        claims += _claims(labelled[-1:], "path", {}, notes)
    name, counting, rated, contrasts, has_other_spelling = (None, None, (), (), False) if match else names()
    naming = contents or agreed or {}
    if any(map(naming.get, SERVERS)):
        # The first of several servers is the one under test.
        server, doubts = servers.named(*[_first_text(naming.get(key)) for key in SERVERS], scope)
    else:
        server, doubts = servers.above(path, scope, holds, protocol)
        if server and (other := _against(server, path, match, claims, contrasts)):
            doubts, server = [f"{_SERVER}{server.path} says {other}: it is not used"], None
    notes += doubts
    defaults = _claims(campaign.said, _DEFAULTS, {}, notes) if campaign else []
    if server:
        by, row = f"{_SERVER}{server.path}", server.row
        in_names = () if match else (meaning(word).items() for each in path.split("/") for word in words_of(each))
        stated = ((column, value) for column, value, _ in [*claims, *defaults])
        version = next((value for column, value in chain(stated, *in_names) if column == "product_version"), None)
        is_unsaid = row.get("threading") is None and row.get("product") == kea.PRODUCT
        default = kea.default_threading(str(version)) if version and is_unsaid else None
        if default == "single":  # so the sizes have no effect
            row = row | {"threads": None, "packet_queue_size": None}
        of_server = [(column, row[column], by) for column in _SERVER_COLUMNS if row.get(column) is not None]
        by += f" (default of {kea.PRODUCT} {version})"
        claims = [
            *of_server,
            *((column, word, by) for column, word in normalise("threading", default).items()),
            *claims,
        ]
    if not match:
        words = [word for each in (path.split("/") if name else folders) for word in words_of(each)]
        words += contrasts
        claims += _named(words, settle(claims)[0])
    if not campaign:
        folder = scope.rpartition("/")[2]
        better = {column for column, *_ in claims}
        if len({*_VERSIONS.findall(f"{folder}/{path}")}) > 1:  # kea-2.4-against-2.6/2.6/...
            better.add("product_version")
        claims += [claim for claim in _named(words_of(folder), {}) if claim[0] not in better]
    alike = _of_sidecar(agreed, _SIDECARS_BESIDE, campaign, (), notes) if agreed else []
    claims += [claim for claim in alike if claim[0] in _CONFIGURATION]
    claims += defaults
    own = {"host_id": host_id, "server_config_id": server.row["server_config_id"] if server else None}
    every, seen = tuple(claims), tuple(watched(contents))
    return Context(every, tuple(notes), seen, own, path, shared, name, counting, rated, match, has_other_spelling)


def _of_sidecar(
    contents: Row, source: str, campaign: Campaign | None, unread: Collection[str], notes: list[str]
) -> list[Claim]:
    """Return the claims of a sidecar, with its name as the source."""
    values = campaign.values if campaign else {}
    claims: list[Claim] = []
    fields = sidecar_fields(campaign)
    if contents.get("kea_version") and not contents.get("product"):
        claims.append(("product", kea.PRODUCT, source))
    if any(column == "product" for column, _, _ in claims) or contents.get("product"):
        # Here `server` is a machine's name or an address family, or repeats the product.
        fields = [field for field in fields if field != ("product", "server")]
    fields = [*fields]  # to be extended by VAGUE keys with a clear value, unless a better key gives the column
    is_of_product = any(map(contents.get, ("product", "server"))) and not any("_version" in key for key in contents)
    if is_of_product and _VERSIONS.fullmatch(str(contents.get("version"))):
        fields.append(("product_version", "version"))
    if "backend" not in contents:
        named = {key: normalise("backend", str(contents.get(key))).get("backend") for key in _DATABASES}
        fields += (("backend", key) for key, backend in named.items() if backend in BACKENDS)
    for key in sorted(contents.keys() - {key for _, key in fields}):
        if (meant := misspelt(key)) and meant not in contents:
            notes.append(f"{source}: there is no key {key!r:.40}; did you mean {meant!r}?")
    values_ = ((column, _at(contents, key) if "." in key else contents.get(key)) for column, key in fields)
    claims += _claims([each for each in values_ if not isinstance(each[1], dict | None)], source, values, notes)
    known = {column for column, *_ in claims}
    if (
        {"clients", "threads"} <= contents.keys()
        and known.isdisjoint({"threading"})
        and "server_threads" not in contents
    ):
        claims = [(_THREADS if column == "threads" else column, value, by) for column, value, by in claims]
    if others := unread_values(contents, unread):
        claims.append((UNREAD, others, source))
    asked = dnsblast.told_by_command(contents.get("command"))
    claims += ((column, value, source) for column, value in asked.items() if column not in known)
    return claims


def _named(names: Iterable[str], known: Mapping[str, Any]) -> list[Claim]:
    """Return claims from the words of names that add to `known` or contradict it; two different words cancel out."""
    meanings = [*map(meaning, names)]
    versioned = [each for each in meanings if "product_version" in each]  # `kea-2.4.1` in `kea-vs-dhcpd`
    versioned = [each for each in versioned if "product" in each] or versioned  # `10.11.2` is of something else
    if versioned:
        meanings = [each for each in meanings if not each.keys() & {"product", "product_version"}] + versioned
    meant = {column: {each[column] for each in meanings if column in each} for column in _IN_NAMES}
    if len(meant["threading"]) > 1:  # `mt vs st`: the single thread of `st` is as uncertain
        del meant["threads"]
    if len(meant["ha_mode"]) > 1 or known.get("ha_mode") in PARTNERED:
        meant["ha_mode"].discard("ha")  # it has a mode
    clear = [(column, values.pop()) for column, values in meant.items() if len(values) == 1]
    # Leave out what a name only repeats, perhaps shortened: `2.4` for 2.4.1.
    longer = {column: f"{value}." for column, value in known.items() if isinstance(value, str)}
    return [
        (column, value, _NAMES)
        for column, value in clear
        if not (column in known and (column == "product" or value == known[column]))
        and not longer.get(column, "").startswith(f"{value}.")
    ]


def _against(
    server: ServerConfig, path: str, match: re.Match[str] | None, claims: Iterable[Claim], contrasts: Iterable[str]
) -> str:
    """Return how a configuration contradicts the names of an output below the folder that they share.

    `claims` include the values that the `match` of a path template took from the names, `contrasts` are words whose
    meaning follows from neighbours.
    """
    names = path.split("/")
    shared = commonprefix([server.path.split("/")[:-1], names[:-1]])  # noqa: RUF071 -- of lists
    if match:
        begin = len("/".join([*shared, ""]))
        below = {column for column in match.re.groupindex if match.start(column) >= begin}
        below |= {"threads"} if "threading" in below else set()  # mt4
        named = {column: value for column, value, by in claims if by == "path" and column in below}
    else:
        words = [word for name in names[len(shared) :] for word in words_of(name)]
        named = {column: value for column, value, _ in _named(words if shared else [*words, *contrasts], {})}
    if "threading" not in named:  # the threads may be the generator's
        named.pop("threads", None)
    if named.get("ha_mode") == "ha" and server.row.get("ha_mode") in PARTNERED:
        del named["ha_mode"]
    columns = ((column, server.row.get(column), named.get(column)) for column in _ITS_OWN)
    return " and ".join(
        f"{column} {its}, not {other}" for column, its, other in columns if its and other and its != other
    )


def _of_server(claims: Iterable[Claim], facts: Row, path: str = "") -> list[Claim]:
    """Return the claims about the server, without those about the generator.

    These may be: a mere number of threads in a name, as in `threads4`, unless the generator has a single one; `single`
    or `multi` in a path if that is the mode (-g) of perfdhcp; threads of a sidecar that also has the clients, if the
    report has the same number.
    """
    claims = [*claims]
    mode = _MODE.search(facts.get("command") or "") if facts.get("tool") == "perfdhcp" else None
    unclear: set[str] = set()
    words = {word for name in path.split("/") for word in words_of(name)} if mode else set()
    if mode and mode[1] in words and not any("threading" in meaning(word) for word in words):
        unclear = {"threading", "threads"} if ("threading", mode[1], _NAMES) in claims else set()
    elif not _has_one_thread(facts) and not any(claim[::2] == ("threading", _NAMES) for claim in claims):
        unclear = {"threads"}
    rate = facts.get("offered_rate")
    claims = [
        claim
        for claim in claims
        if claim[2] != _NAMES or not (claim[0] in unclear or (claim[0] == "threads" and is_same_rate(claim[1], rate)))
    ]
    if any(column == _THREADS for column, *_ in claims):
        own = json.loads(facts.get("details") or "{}").get("threads")
        claims = [
            ("threads" if column == _THREADS else column, value, by)
            for column, value, by in claims
            if (column, value) != (_THREADS, own)
        ]
    return claims


def _has_one_thread(facts: Row) -> bool:
    """Return whether a report's generator has a single thread, so that threads in names are the server's."""
    command = facts.get("command") or " -T"  # an unknown command may contain it
    return facts.get("tool") in _OF_ONE_THREAD or (facts.get("tool") == "dnsperf" and " -T" not in command)


def detailed(facts: Row, **further: Any) -> Row:
    """Return the facts of a report with further `details`."""
    return facts | {"details": json.dumps(json.loads(facts.get("details") or "{}") | further)}


def settle(claims: Iterable[Claim]) -> tuple[Row, dict[str, str], list[str]]:
    """Return the value and the source of every column, for which the first claim wins, and the conflicts."""
    values: Row = {}
    sources: dict[str, str] = {}
    conflicts: list[str] = []
    single = set()
    for column, value, source in claims:
        if (column, value) == ("threading", "single"):
            single.add(source)
        if value is None:
            continue
        if column not in values:
            values[column], sources[column] = value, source
        elif column == "threads" and values.get("threading") == "single" and source == sources[column]:
            continue  # the size of a pool that is off
        elif values[column] != value:
            conflicts.append(f"{column}: {values[column]} ({sources[column]}) is used, not {value} ({source})")
    if values.get("threading") == "multi" and sources.get("threads") in single:  # a pool has more than its one thread
        del values["threads"], sources["threads"]
    return values, sources, list(dict.fromkeys(conflicts))


@lru_cache(maxsize=4096)
def misspelt(key: str) -> str | None:
    """Return the column that a sidecar's key probably means, if one or two letters differ."""
    return next(iter(get_close_matches(key, _MISSPELT, 1, _ALIKE)), None) if key not in _RESOLVED else None


def snake_case(key: str) -> str:
    """Return a key in snake case, e.g. `ha_mode` for `HA-Mode`."""
    return key.lower().replace("-", "_")


def read_sidecar(data: bytes, *, is_yaml: bool = False) -> Row:
    """Return the values of a sidecar, also under their keys in snake case; raise Rejected if it is not one object."""
    contents = parse_sidecar(data, is_yaml=is_yaml)
    return {snake_case(key): value for key, value in contents.items()} | with_nested(contents)


def parse_sidecar(data: bytes, *, is_yaml: bool = False) -> Row:
    """Parse a sidecar, one JSON object or the YAML of one, whose scalars are texts; raise Rejected otherwise."""
    line = 1
    try:
        if is_yaml:
            return mapping(read_yaml(data, "sidecar")[0])
        contents = _SIDECAR.decode(data.removeprefix(codecs.BOM_UTF8).decode())
    except CampaignError as error:
        why = str(error)
    except json.JSONDecodeError as error:
        line, why = error.lineno, f"not readable as JSON: {error.msg}"
    except (ValueError, RecursionError) as error:
        why = f"not readable as JSON: {error}"
    else:
        if isinstance(contents, dict):
            return contents
        why = f"expected a JSON object, found a {type(contents).__name__}"
    raise Rejected(why, "repair it, or remove it, and ingest again", line)


def nested(contents: Row) -> dict[str, tuple[str, Any]]:
    """Return what one nested object of a sidecar says of the set-up, and no other: key -> dotted key, and value.

    `{"ha": {"mode": ...}}` and `{"mt": {"enabled": ...}}` say it of their names, `{"kea": {"version": ...}}` of both.
    """
    found: dict[str, list[tuple[str, Any]]] = defaultdict(list)
    objects = {key: value for key, value in contents.items() if value.__class__ is dict and key not in _COUNTED}
    for key, value in leaves(objects):
        above, _, own = snake_case(key).rpartition(".")
        if _OF_GENERATOR.search(above) or (own == "threads" and not _OF_SERVER.search(above)):
            continue
        parent = above.rpartition(".")[2]
        own = parent if own in _OF_PARENT else f"{parent}_version" if own == "version" else own
        is_clear = value is not None if own not in _DATABASES else str(value).lower() in BACKENDS
        if own in _NESTED and is_clear and isinstance(contents.get(own), dict | None):
            found[own].append((key, value))
    return {own: values[0] for own, values in found.items() if len(values) == 1}


def with_nested(contents: Row) -> Row:
    """Return a sidecar with what its nested objects say of the set-up."""
    return contents | {own: value for own, (_, value) in nested(contents).items()}


def leaves(contents: Row, above: str = "", depth: int = 4) -> Iterator[tuple[str, Any]]:
    """Yield the keys and values of a JSON object, with keys of nested objects as `above.key`."""
    for key, value in contents.items():
        if isinstance(value, dict) and depth:
            yield from leaves(value, f"{above}{key}.", depth - 1)
        else:
            yield f"{above}{key}", value


def context_path(path: str, known: Mapping[str, Any], beside: Mapping[int, str], *, is_counted: bool = False) -> str:
    """Return a file's folder without the levels that repeat `known` columns of schema.TRIALS; `.` if none is left.

    Such levels contain the offered rate, or are a word of the configuration, such as the backend; the last one equal to
    the repetition counts it, unless it `is_counted` elsewhere in the path. A level in `beside` is replaced by its text
    there, without words that repeat known values.
    """
    words = {str(known[column]).lower() for column in _CONFIGURATION if known.get(column) is not None}
    folders = path.split("/")[:-1]
    rate, repetition = known.get("offered_rate"), known.get("repetition")
    texts = [beside.get(at, level(name).text) for at, name in enumerate(folders)]
    counts = [at for at, text in enumerate(texts) if text.isdecimal() and int(text) == repetition]
    # in `4/rep4` the label tells it
    counted = [] if is_counted or any(level(each).repetition for each in folders) else counts[-1:]
    own = []
    for at, text in enumerate(texts):
        is_rate = any(is_same_rate(number, rate) for number in numbers(text))
        if at not in beside and (text.lower() in words or is_rate or at in counted):
            continue
        every = words_of(text)
        left = [
            word
            for before, word in pairwise(("", *every))
            if not _repeats(word, known)
            and (word != str(known.get("threads")) or meaning(before).get("threading") != "multi")  # `mt-8`
        ]
        own.append(text if len(left) == len(every) else "-".join(left))
    return "/".join(filter(None, own)) or "."


def beside_fields(
    path: str, match: re.Match[str] | None, sources: Mapping[str, str], rates: Collection[float]
) -> dict[int, str]:
    """Return, by index, the rest of each folder's name besides the values that a path template extracts."""
    if not match:
        return {}
    rest = path
    for column in match.re.groupindex:
        if sources.get(column) == "path" or column == "offered_rate":
            begin, end = match.span(column)
            rest = rest[:begin] + "\0" * (end - begin) + rest[end:]
    cut = ((at, name.replace("\0", " ")) for at, name in enumerate(rest.split("/")[:-1]) if "\0" in name)
    rests = ((at, Name(split(name)).says(rates, lambda _: False).words) for at, name in cut)
    return {at: (words or "").replace(" ", "-") for at, words in rests}


def _repeats(word: str, known: Mapping[str, Any]) -> bool:
    """Return whether a word only repeats known values; one such as `single` needs other words to be clear."""
    mode = known.get("ha_mode")
    if word == known.get("threading") or (word in ALONE and mode == "none"):
        return True
    if mode in PARTNERED and word in PAIRED:
        word = PAIRED[word]
    if mode in PARTNERED and meaning(word).get("ha_mode") == "ha":
        return True
    meant = meaning(word) or normalise("product", word)
    if str(meant.get("product")).startswith(f"{known.get('product')} "):  # PowerDNS, of which one is authoritative
        meant = {**meant, "product": known["product"]}
    return bool(meant) and meant.items() <= known.items()


def _is_known(word: str, above: str, facts: Row, known: Row) -> bool:
    """Return whether a word of a file's name is the tool, a folder, the clients, or a known part of the set-up."""
    clients = facts.get("clients")  # part of the method
    if word in (facts.get("tool"), *(f"{label}{clients}" for label in ("", "c", "r", "clients"))):
        return True
    if any(word in words_of(name) for name in above.split("/")):
        return True
    if _repeats(word, known):
        return True
    clear = _CONFIGURATION - {"protocol"} if word.isdecimal() else _CONFIGURATION  # a bare 4 does not mean DHCPv4
    for column in clear & known.keys() if word not in UNCLEAR else ():
        with suppress(ValueError):
            if (meant := normalise(column, word)) and meant.items() <= known.items():
                return True
    return False


def sidecar_fields(campaign: Campaign | None) -> Iterable[tuple[str, str]]:
    """Return (column, key) of every value that is read from a sidecar."""
    own = campaign.sidecar_fields if campaign else {}
    return [*own.items(), *((c, key) for c, key in SIDECAR_FIELDS if c not in own)] if own else SIDECAR_FIELDS


def unread_values(contents: Row, keys: Iterable[str]) -> str:
    """Return the values of these keys of a sidecar, for which there are no columns, as text."""
    values = ((key, _at(contents, key)) for key in sorted(keys))
    return ", ".join(f"{key}={str(value).lower()}" for key, value in values if may_tell(key, value))


def may_tell(key: str, value: object) -> bool:
    """Return whether a key with this value, a short word, a flag or a size, may distinguish set-ups."""
    is_size = value.__class__ is int and not SIZES.isdisjoint(re.split(r"[._]", snake_case(key)))
    is_word = value.__class__ is bool or (isinstance(value, str) and bool(_WORD.fullmatch(value)))
    return (is_word or is_size) and bool(_WORD.fullmatch(key))


def _at(contents: Row, key: str) -> Any:
    """Return the value at a dotted key such as `ramp.step`, which may also be one key with a dot."""
    if key in contents:
        return contents[key]
    value: Any = contents
    for step in key.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    return value


def _claims(
    given: Iterable[tuple[str, Any]], source: str, translations: Mapping[str, Mapping[str, str]], notes: list[str]
) -> list[Claim]:
    """Return a source's values in the warehouse's vocabulary; invalid values become notes."""
    claims: list[Claim] = []
    for column, value in given:
        meant = translations[column].get(str(value), value) if column in translations else value
        try:
            if column in {"started_at", "ended_at"}:
                claims.append((column, instant(column, meant), source))
            elif column == "server_wiped":
                if (flag := _FLAGS.get(str(meant).lower())) is None:
                    raise ValueError(f"{column}: expected true or false, found {meant!r:.80}")
                claims.append((column, flag, source))
            else:
                claims += [(name, word, source) for name, word in normalise(column, meant).items()]
        except ValueError as error:
            notes.append(f"{source}: {error}; it is left out")
    return claims


def folders_above(path: str) -> Iterator[str]:
    """Yield the folders above a file, the nearest first; the last one is the campaign's folder, an empty text."""
    while path:
        path = path.rpartition("/")[0]
        yield path


def instant(column: str, value: object) -> datetime:
    """Parse an ISO 8601 time, by default in UTC."""
    try:
        instant = datetime.fromisoformat(str(value))
        return (instant if instant.tzinfo else instant.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(f"{column}: expected a time such as 2026-11-20T13:10:45Z, found {value!r:.80}") from None


def _texts(value: object) -> list[str]:
    return [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str)]


def _first_text(value: object) -> str | None:
    if isinstance(value, list):
        value = value[0] if value else None
    return value if isinstance(value, str) and value else None


def watched(sidecar: Row) -> list[Watched]:
    """Return a sidecar's observations of its trial: CPU, load, UDP counters, leases."""
    host = _first_text(sidecar.get("host"))
    rows: list[Watched] = []
    for metric, unit in METRICS.items():
        value = sidecar.get(metric)
        if metric == "loadavg_before":
            value = str(_first_text(value) or "").split(" ")[0]
        elif metric == "server_deaths":
            value = len(value) if isinstance(value, list) else None
        if value is not None:
            rows += _numbers(metric, value, unit, host)
    for namespace, counters in mapping(sidecar.get("udp_delta")).items():
        for counter, value in mapping(counters).items():
            rows += _numbers(f"udp.{counter}", value, "packets", namespace)
    leases = sidecar.get("leases_in_db_after")
    for server, counts in mapping(leases).items() or [("", leases)]:
        rows += _numbers("leases_in_db_after", counts, "leases", server or host)
    return rows[:MAX_OBSERVATIONS]


def _numbers(metric: str, value: object, unit: str, host: str | None) -> list[Watched]:
    """Return a row for a number, or a labelled row per entry of a list or an object."""
    if isinstance(value, _SEVERAL):
        entries = value.items() if isinstance(value, dict) else enumerate(value)
        found = ((label, real(entry)) for label, entry in entries)
        return [(host, str(label), metric, unit, number) for label, number in found if number is not None]
    number = real(value)
    return [] if number is None else [(host, None, metric, unit, number)]


@lru_cache(maxsize=16_384, typed=True)  # nearly all files of a campaign repeat the same values
def digested(value: object) -> str:
    """Return a value of a context as JSON, for `Context.sha256`."""
    return f'"{value}"' if isinstance(value, datetime) else _DIGESTED.encode(value)


def observations_json(rows: Sequence[Watched]) -> str:
    """Return the JSON of observations that is digested."""
    return _labels_form(tuple([row[:-1] for row in rows])) % tuple([row[-1] for row in rows])


@lru_cache(maxsize=1024)
def _labels_form(labels: tuple[tuple[str | None, ...], ...]) -> str:
    """Return a %-format of the digested JSON of observations that differ only in their values."""
    rows = [dict(zip(WATCHED, each, strict=False)) for each in labels]
    said = [_DIGESTED.encode({k: v for k, v in row.items() if k != "label" or v is not None}) for row in rows]
    return ",".join([f'{text[:-1].replace("%", "%%")},"value":%r}}' for text in said])
