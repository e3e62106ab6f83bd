"""Parsing of files with their context: neighbours, sidecar, server configuration, machine facts."""

import os.path
import re
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from hashlib import sha256
from itertools import chain
from typing import Any, Final, NamedTuple
from zlib import crc32

from dropline.ingest import figures, machines, unsupported
from dropline.ingest.campaign import slug
from dropline.ingest.change_detection import Known
from dropline.ingest.context import (
    SERVERS,
    VAGUE,
    Context,
    Names,
    ServerConfig,
    ServerConfigs,
    folders_above,
    gather,
    leaves,
    may_tell,
    nested,
    parse_sidecar,
    read_sidecar,
    sidecar_fields,
    with_nested,
)
from dropline.ingest.files import HEAD_BYTES, MAX_BYTES, Found, Kind, Unreadable, by_scope, whole
from dropline.ingest.formats import READERS, Reject, Rejected, Row, contents, perfdhcp, recognise
from dropline.ingest.formats.perfdhcp_options import EXCHANGES
from dropline.ingest.formats.text import MAX_TEXT_BYTES, head_text, is_packed, unpack
from dropline.ingest.lake import Key, Version
from dropline.ingest.names import PLACES, Name, counts, level, level_counts, names, numbers, without_order, words_of
from dropline.ingest.rows import Content, Outcome, campaign_row, output, published, raw_row, rejected, watched
from dropline.ingest.schema import CONFIGURATION
from dropline.ingest.synonyms import ALONE, PAIRED, PARTNERED, PRODUCTS, meaning

_MAX_SIDECAR_BYTES: Final = 1024 * 1024
_READERS: Final = {reader.NAME: reader for reader in READERS}
_SERVER: Final = re.compile(r"(?:server|dut|sut)s?\d*")
_GENERATOR: Final = re.compile(  # not HPE's servers, Gen8 and later
    r"(?:client|generator|tester|injector|attacker|dnsperf|perfdhcp|loadgen|traf(?:fic)?(?:gen)?|tg|gen(?!([89]|1\d)$))s?\d*"
)
_LARGE: Final = re.compile(r"[0-9]{2}|[0-9]k", re.IGNORECASE)  # a number that may be a rate
_CONTRASTED: Final = {"product", "threading", "ha_mode"}
_OPPOSITES: Final = {"single": "multi", "multi": "single"}  # side by side, they are the threading of a DHCP server
_SET_UP: Final = frozenset(name for name, _ in CONFIGURATION)
_NUMBERS: Final = re.compile("[0-9]+")
_FILE: Final = re.compile(r"/|\.(?:cfg|conf|ini|json|toml|txt|ya?ml)\Z", re.IGNORECASE)
# `mt-8` beside `mt-4` is a pool of eight threads; `mt-1` to `mt-3` may be repetitions
_POOL: Final = re.compile(r"(?<![^\W_])(?:mt|multi[-_ ]?thread(?:ed|ing)?)[-_ =]([1-9][0-9]?)(?![^\W_])", re.IGNORECASE)
_MOST_SHOWN: Final = 4  # folders in a note
_SAMPLED: Final = 12  # sidecars of folders whose names differ only in numbers
_MOST_VALUES: Final = 8
_HELD: Final = 4  # cached scopes, and cached folders of machine facts
_UNRECOGNISED: Final = (
    "not recognised: not a traffic generator's output, counters, server configuration or machine facts",
    "check that it is complete; if it is not a result, list it under `ignore:` in campaign.yaml",
)
_CAMPAIGN: Final = re.compile(r"campaign\.ya?ml", re.IGNORECASE)
_MISNAMED: Final = ("not read, because a campaign is described in campaign.yaml", "rename it, and ingest again")
_UNWRAP: Final = "remove what comes before the lines of the tool; if it is not a result, list it under `ignore:`"

Read = Callable[[Found, int], tuple[bytes, int]]
"""Function that returns the bytes of a file, up to a limit, and its mtime in us; it raises Unreadable."""


class _Machine(NamedTuple):
    """A parsed folder of machine facts: its host, and the outcome of each file by path."""

    host_id: str | None
    outcomes: dict[str, Outcome]


def server_configs(found: Iterable[Found], read: Read) -> Iterator[ServerConfig]:
    """Yield the usable server configurations among some files."""
    for item in found:
        if item.kind is Kind.SERVER:
            try:
                data, _ = read(item, MAX_BYTES)
                row = {name: value for name, value in item.reader.parse(data).items() if name != "settings"}
                yield ServerConfig(row, item.scope.place, item.path, sha256(data).hexdigest())
            except Rejected:  # its own outcome reports it
                continue


class Neighbours:
    """Files of one scope, after `adopt`."""

    def __init__(self, items: Sequence[Found]) -> None:
        self.machines: dict[str, list[Found]] = defaultdict(list)  # folder of machine facts -> its files
        self.outputs: dict[str, dict[str, Found]] = defaultdict(dict)  # folder -> stem -> output
        self._entries: dict[str, set[str]] = defaultdict(set)  # folder -> its outputs, folder/ -> its subfolders
        self.described: set[str] = set()  # folders with sidecars
        served: dict[Found, set[str]] = defaultdict(set)  # sidecar -> stems of its outputs
        for item in items:
            if item.kind is Kind.MACHINE:
                self.machines[item.folder].append(item)
            elif item.kind is Kind.OUTPUT:
                stem = item.stem
                self._entries[item.folder].add(item.name)
                self.outputs[item.folder].setdefault(stem, item)
                if item.sidecar:
                    served[item.sidecar].add(stem)
                    self.described.add(item.folder)
        self.shared = {sidecar for sidecar, stems in served.items() if len(stems) > 1}  # sidecars of several processes
        # Sorted so that stems with a common prefix are adjacent.
        self._stems = {folder: sorted(outputs) for folder, outputs in self.outputs.items()}
        self._names: dict[str, dict[str, Name]] = {}  # folder -> parsed names; a cached method would create a cycle
        self._sidecars: dict[str, dict[str, list[Found]]] = {}  # folder -> name with `#` for numbers -> sidecars
        self._words: dict[str, set[str]] = {}
        self._shapes: dict[str, set[frozenset[str]]] = {}
        self._pools: dict[str, set[str]] = {}
        self._unordered: dict[str, dict[str, str]] = {}  # folder -> numbered subfolders -> their names without numbers
        self._spellings: dict[str, dict[object, set[str]]] = {}  # place -> backend -> words used for it
        self._numbers: dict[tuple[str, str], set[str]] = defaultdict(set)  # folder, words -> numbers of its subfolders
        for folder in self.outputs:
            for above, name in _levels(folder):
                self._entries[f"{above}/"].add(name)
                _, _, words, number = level(name)
                if number:  # `1` and `2` count even beside a folder without a number
                    self._numbers[above, words].add(number)
        for (above, words), counted in self._numbers.items():
            if words in self._entries[f"{above}/"] and not meaning(f"{words}-2".lower()):
                counted.add("1")

    def similar(self, item: Found) -> Sequence[Found]:
        """Return the sidecars of outputs in the same folder whose names differ from this one only in numbers."""
        if item.folder not in self.described:
            return ()
        if item.folder not in self._sidecars:
            found = self._sidecars[item.folder] = defaultdict(list)
            for each in self.outputs[item.folder].values():
                if each.sidecar:
                    found[_NUMBERS.sub("#", each.name)].append(each.sidecar)
        return self._sidecars[item.folder].get(_NUMBERS.sub("#", item.name), ())

    def holds(self, folder: str) -> bool:
        """Return whether there are outputs in a folder or below it."""
        return folder in self.outputs or f"{folder}/" in self._entries

    def name(self, place: str, name: str) -> Name:
        """Return the parsed name of an output in `place`, or of a folder in `place/`, compared with its neighbours."""
        if place not in self._names:
            self._names[place] = names(self._entries[place])
        return self._names[place].get(name) or names([name])[name]

    def names(self, item: Found) -> Names:
        """Return the parsed names of an output and its folders, compared with their neighbours."""
        own, counting = self.name(item.folder, item.name), None
        rated: list[tuple[int, Name | str | None]] = []
        pools: list[str] = []
        for at, (above, name) in enumerate(_levels(item.folder)):
            if above not in self._unordered:
                self._unordered[above] = without_order(self._entries[f"{above}/"])
            if left := self._unordered[above].get(name):
                rated.append((at, left))
                continue
            _, _, words, number = level(name)
            first = name if number else f"{name}-1"  # `memfile` beside `memfile-2`
            beside = self._numbers.get((above, words if number else name), ())
            if beside and level_counts(first, above.rpartition("/")[2], beside):
                counting = at
            else:
                pools += self._pool(f"{above}/", name)
            also, outputs = numbers(name) & numbers(item.name), self._below(f"{above}/{name}".removeprefix("/"))
            if also and any(also.isdisjoint(numbers(other)) for other in outputs):  # so it is no rate
                rated.append((at, None))
            elif _LARGE.search(name) and not name.isdecimal():
                parsed = self.name(f"{above}/", name)
                if not parsed.is_plain:
                    rated.append((at, parsed))
        pools += self._pool(item.folder, item.name)
        return (
            None if own.is_plain else own,
            counting,
            tuple(rated),
            [*self._contrasts(item), *pools],
            self._has_other_spelling(item),
        )

    def _pool(self, place: str, name: str) -> list[str]:
        """Return an unambiguous word for a pool of threads in a name whose number does not count repetitions."""
        pool = _POOL.search(name)
        if not pool:
            return []
        if place not in self._pools:
            self._pools[place] = {found[1] for each in self._entries[place] if (found := _POOL.search(each))}
        sizes = self._pools[place]
        return [f"mt{pool[1]}"] if not counts(sizes) or sizes == {pool[1]} != {"1"} else []

    def _below(self, folder: str) -> Iterator[str]:
        """Yield the names of the outputs in a folder and below it."""
        yield from self._entries.get(folder, ())
        for name in self._entries.get(f"{folder}/", ()):
            yield from self._below(f"{folder}/{name}")

    def _contrasts(self, item: Found) -> list[str]:
        """Return unambiguous words for the words in an output's names that neighbouring names explain.

        `bind` beside `unbound` is a product, beside `lmdb` a backend of PowerDNS. For a DHCP server, `single` beside
        `multi` or `mt4` is the threading, beside `hot-standby` a server without a partner, and `ha` beside that or
        beside the same name without it one with a partner. `1-thread` beside `st` is a pool of one thread.
        """
        found = []
        for place, name in _places(item):
            words = words_of(name)
            own = {word for word, after in zip(words, (*words[1:], ""), strict=False) if after not in PLACES}
            beside = self._meant(place)
            clear = {column for word in own for column in meaning(word)}
            if "product" not in clear and "bind" in own and not PRODUCTS.isdisjoint(beside):
                found.append("bind9")
            if item.reader is not perfdhcp:
                continue
            if "threading" not in clear:
                threading = {word for word in own if _OPPOSITES.get(word) in beside}
                found += [f"{word}thread" for word in sorted(threading)]
                own -= threading
            if "threads1" in own and "single" in beside:
                found.append("mt1")
            if "ha_mode" not in clear and own & ALONE and beside & PARTNERED:
                found.append("standalone")
            elif "ha_mode" not in clear and (modes := own & PAIRED.keys()) and self._has_alone(place, words, modes):
                found += [PAIRED[mode] for mode in sorted(modes)]
        return found

    def _has_other_spelling(self, item: Found) -> bool:
        """Return whether names beside those of an output spell its backend differently."""
        for place, name in _places(item):
            if place not in self._spellings:
                self._spellings[place] = defaultdict(set)
                for word in {word for each in self._entries[place] for word in words_of(each)}:
                    self._spellings[place][meaning(word).get("backend")].add(word)
            backends = (meaning(word).get("backend") for word in words_of(name))
            if any(backend and len(self._spellings[place][backend]) > 1 for backend in backends):
                return True
        return False

    def _has_alone(self, place: str, words: Sequence[str], modes: Set[str]) -> bool:
        """Return whether a name beside one with words for a pair says that there is no partner, or lacks only them."""
        if place not in self._shapes:
            self._shapes[place] = {_shape(words_of(each)) for each in self._entries[place]}
        rest = _shape({*words} - modes)
        is_only_mode = not rest and len(self._entries[place]) > 1
        return is_only_mode or not ALONE.isdisjoint(self._meant(place)) or rest in self._shapes[place]

    def _meant(self, place: str) -> set[str]:
        """Return the words of the names in a place, and the product, threading and high availability they mean."""
        if place not in self._words:
            words = {word for name in self._entries[place] for word in words_of(name)}
            meant = (meaning(word) for word in words)
            self._words[place] = words | {str(each[column]) for each in meant for column in _CONTRASTED & each.keys()}
        return self._words[place]

    def beside(self, item: Found) -> Found | None:
        """Return the output that a file of counters belongs to: the one with the longest common prefix of the name.

        If no name has a common prefix, it is the output of the only process in the folder; None if there are several.
        """
        stems = self._stems.get(item.folder, [])
        place = bisect(stems, item.stem)
        near = stems[max(place - 2, 0) : place + 2]
        alike = [len(os.path.commonprefix([stem, item.stem])) for stem in near]  # noqa: RUF071 -- any text, not a path
        if not near or alike.count(max(alike)) > 1:
            return None
        return self.outputs[item.folder][near[alike.index(max(alike))]]


def _shape(words: Iterable[str]) -> frozenset[str]:
    """Return the words of a name without their numbers."""
    return frozenset(_NUMBERS.sub("", word) for word in words) - {""}


class Resolver:
    """Parser of the files of one call, after `adopt`, with their context, in any order.

    Files whose version is in `known` need no rows. `configs` are the server configurations of the call, by default
    those among the files.
    """

    def __init__(
        self,
        found: Iterable[Found],
        read: Read = whole,
        known: Known | None = None,
        configs: Iterable[ServerConfig] | None = None,
        named: Callable[[str, str], str] | None = None,
    ) -> None:
        self._by_kind = {
            Kind.OUTPUT: self._output,
            Kind.WATCHED: self._watched,
            Kind.NOTES: self._notes,
            Kind.UNKNOWN: self._unknown,
        }
        self._files = by_scope(found)
        every = chain.from_iterable(self._files.values())
        self._servers = ServerConfigs(server_configs(every, read) if configs is None else configs)
        self.named = named or (known.campaign if known else lambda _, name: name)  # the campaign that sidecars name
        self._bytes = read
        self._known: Known | dict[Key, Version] = known or {}
        self.around = lru_cache(maxsize=_HELD)(lambda place: Neighbours(self._files[place]))  # files of the same scope
        self._machine = lru_cache(maxsize=_HELD)(self._load_machine)
        self.host_ids = lru_cache(maxsize=_HELD)(self._load_host_ids)
        self._said = lru_cache(maxsize=16)(self._load_sidecar)
        self._agreed = lru_cache(maxsize=_HELD)(self._load_agreed)
        self.unread = lru_cache(maxsize=_HELD)(self._load_unread)

    def outcome(self, item: Found) -> Outcome:
        """Return the outcome of a file."""
        if item.reject and item.kind is Kind.UNREADABLE:
            return rejected(item, item.scope.name, [item.reject])
        if item.kind is Kind.MACHINE:
            return self._machine(item.scope.place, item.folder).outcomes[item.path]
        content = None
        try:
            content = self.content(item)
            return self._by_kind.get(item.kind, self._described)(item, content)
        except Rejected as error:
            return rejected(item, self._campaign(item), [error.reject], content)

    def _described(self, item: Found, content: Content) -> Outcome:
        """Return the outcome of a file that describes trials, or from which nothing is read."""
        rows: dict[str, list[Row]] = {}
        kind = item.kind.value
        if item.kind is Kind.FIGURES:
            return published(item, item.scope.name, content, [*_parsed(figures.NAME, figures.parse(content.data))])
        if item.kind is Kind.SIDECAR and isinstance(sidecar := self._said(item), Rejected):
            raise sidecar
        if item.kind is Kind.SERVER:
            source = {"campaign": item.scope.name, "source_path": item.path, "source_sha256": content.sha256}
            kind, rows["server_configs"] = item.reader.NAME, [item.reader.parse(content.data) | source]
        elif item.kind is Kind.CAMPAIGN and item.scope.campaign:
            rows["campaigns"] = [campaign_row(item.scope.name, item.scope.campaign)]
        return Outcome(raw_row(item, self._campaign(item), content, kind), rows)

    def content(self, item: Found) -> Content:
        """Return the bytes of a file; raise Unreadable."""
        limit = _MAX_SIDECAR_BYTES if item.kind is Kind.SIDECAR else MAX_BYTES
        data, modified_us = self._bytes(item, limit)
        return Content(data, modified_us, sha256(data).hexdigest())

    def _notes(self, item: Found, content: Content) -> Outcome:
        """Return the outcome of notes, in which a report may follow far below the head."""
        for place in range(HEAD_BYTES // 2, len(content.data), HEAD_BYTES // 2):
            item.reader = recognise(content.data[content.data.find(b"\n", place) + 1 or place :][:HEAD_BYTES])
            if item.reader:
                return self._output(item, content)
        raw = raw_row(item, item.scope.name, content, item.kind.value, "ignored")
        return Outcome(raw, place=f"{item.scope.place}/{item.path}")

    def _load_machine(self, scope: str, folder: str) -> _Machine:
        """Parse a folder of machine facts; the host is written with the first new file."""
        outcomes: dict[str, Outcome] = {}
        contents: dict[str, tuple[Found, Content]] = {}
        for item in self.around(scope).machines[folder]:
            try:
                contents[item.name] = item, self.content(item)
            except Unreadable as error:
                outcomes[item.path] = rejected(item, item.scope.name, [error.reject])
        if not contents:
            return _Machine(None, outcomes)
        of_server = {item.fact for item, _ in contents.values() if not _names_generator(item.name)}
        host, rejects = machines.host(
            {  # lscpu-server.txt beside lscpu-client.txt
                name: held.data
                for name, (item, held) in contents.items()
                if item.fact not in of_server or not _names_generator(name)
            }
        )
        rows: list[Row] = [{**host, "campaign": item.scope.name, "source_path": folder}]
        for name, (item, content) in contents.items():
            if faults := [reject for reject in rejects if reject.reason.startswith(f"{name}:")]:
                outcomes[item.path] = rejected(item, item.scope.name, faults, content)
                continue
            outcome = Outcome(raw_row(item, item.scope.name, content, item.fact or item.kind.value))
            if self._known.get(outcome.key) != outcome.version:
                outcome.rows["hosts"], rows = rows, []
            outcomes[item.path] = outcome
        is_known = any(outcome.raw["status"] != "rejected" for outcome in outcomes.values())
        return _Machine(host["host_id"] if is_known else None, outcomes)

    def _load_host_ids(self, scope: str) -> dict[str, str | None]:
        """Return the machine under test by folder of reports: that of the nearest folder above that has one.

        A folder of facts without outputs, such as `machine/`, counts as the folder above it, and so does `rep1/` if no
        other machine is near. Only the servers of campaign.yaml count, else machines without a role that are servers by
        name, else those that are not generators by name. Of several, the one named in the reports' folders is taken,
        else the first of the servers of campaign.yaml. A machine that is nearest to no output may be the server of all;
        then no machine is known.
        """
        around, campaign = self.around(scope), self._files[scope][0].scope.campaign
        roles = campaign.machines if campaign else {}
        servers = [folder for folder, role in roles.items() if role == "server"]
        others = [folder for folder in around.machines if folder not in roles and not _is_generator(folder, around)]
        named = [folder for folder in others if any(map(_SERVER.fullmatch, words_of(folder.rpartition("/")[2])))]
        every = [folder for folder in servers or named or others if folder in around.machines]
        owned: dict[str, list[str]] = defaultdict(list)
        of_runs: dict[str, list[str]] = defaultdict(list)
        for folder in every:
            owner = next(filter(around.holds, (folder, *folders_above(folder))), "")
            owned[owner].append(folder)
            of_runs[_without_repetitions(owner)].append(folder)
        near: dict[str, list[str]] = {}
        for place in {item.folder for item in self._files[scope] if item.kind in {Kind.OUTPUT, Kind.NOTES}}:
            levels = (place, *folders_above(place))
            found = next(filter(None, (of.get(each) for of in (owned, of_runs) for each in levels)), [])
            named = [each for each in found if each.rpartition("/")[2] in place.split("/")]
            near[place] = (named or found)[: 1 if servers else None]
        if not servers and {folder for place in around.outputs for folder in near[place]} != {*every}:
            near = dict.fromkeys(near, every)
        ids = {
            place: {self._machine(scope, each).host_id for each in folders} - {None} for place, folders in near.items()
        }
        return {place: found.pop() if len(found) == 1 else None for place, found in ids.items()}

    def machines_in_doubt(self, items: Iterable[Found]) -> Iterator[str]:
        """Yield a note for each scope with machine facts, but with results whose machine is unknown."""
        for place, scope in {item.scope.place: item.scope for item in items}.items():
            machines, ids = self.around(place).machines, self.host_ids(place)
            if machines and None in ids.values() and not (scope.campaign and scope.campaign.machines):
                folders = ", ".join(sorted(machines)[:_MOST_SHOWN])
                yield (
                    f"{scope.name}: the facts in {folders} do not tell which machine served some results: name it "
                    "under `machines:` in campaign.yaml"
                )

    def _load_sidecar(self, item: Found) -> Row | Rejected:
        """Return the contents of a sidecar, or why it is unusable."""
        try:
            return read_sidecar(self.content(item).data, is_yaml=_is_yaml(item))
        except Rejected as error:
            return error

    def _load_agreed(self, *sidecars: Found) -> Row:
        """Return the values that several sidecars share."""
        first, *others = [contents for each in sidecars if isinstance(contents := self._said(each), dict)] or [{}]
        return {key: first[key] for key in first if others and all(each.get(key) == first[key] for each in others)}

    def _load_unread(self, scope: str) -> frozenset[str]:
        """Return the keys of sidecars without a column that distinguish set-ups, judging by a sample.

        Their values are words, flags or sizes, at least two of which are in several sidecars each.
        """
        fields = sidecar_fields(self._files[scope][0].scope.campaign)
        known = {key for _, key in fields} | {*SERVERS, *VAGUE, "campaign", "signal_sent", "output_sha256", "tool"}
        alike: dict[str, list[Found]] = defaultdict(list)
        for item in self._files[scope]:
            if item.kind is Kind.SIDECAR:
                alike[_NUMBERS.sub("", item.folder)].append(item)
        seen: dict[tuple[str, ...], dict[str, Counter[object]]] = defaultdict(lambda: defaultdict(Counter))
        for form, items in alike.items():
            every = max(len(items) // _SAMPLED, 1)
            for item in (each for each in items if not crc32(each.path.encode()) % every):
                with suppress(Rejected):
                    contents = parse_sidecar(self._bytes(item, _MAX_SIDECAR_BYTES)[0], is_yaml=_is_yaml(item))
                    flat, read = dict(leaves(with_nested(contents))), {key for key, _ in nested(contents).values()}
                    set_up = seen[form, *(str(flat.get(key)) for column, key in fields if column in _SET_UP)]
                    for key, value in flat.items():
                        is_name = key in SERVERS and not _FILE.search(str(value))
                        if (key not in known | read or is_name) and may_tell(key, value):
                            set_up[key][value] += 1
        found = ((key, [*counts.values()]) for keys in seen.values() for key, counts in keys.items())
        return frozenset(key for key, counts in found if len(counts) <= _MOST_VALUES and sum(n > 1 for n in counts) > 1)

    def _unknown(self, item: Found, content: Content) -> Outcome:
        """Return the reject of an unrecognised file; if empty, as output of the generator that its sidecar names."""
        sidecar = self._said(item.sidecar) if item.sidecar and not content.data else None
        reader = _READERS.get(str(sidecar.get("tool"))) if isinstance(sidecar, dict) else None
        parts = _parsed(reader.NAME, reader.parse(b"")) if reader else ()
        rejects = [part for part in parts if isinstance(part, Reject)] or [*filter(None, [item.reject])]
        if not rejects:
            head = content.data[:HEAD_BYTES]
            reason, hint = _MISNAMED if _CAMPAIGN.fullmatch(item.name) else unsupported.describe(head) or _UNRECOGNISED
            seen = contents.mentioned(head_text(head)) if b"\0\0" not in head else None  # binary, even if it has text
            rejects = [Reject(1, f"{reason}; {seen}" if seen else reason, _UNWRAP if seen else hint)]
        return rejected(item, item.scope.name, rejects, content)

    def _campaign(self, item: Found) -> str:
        """Return the campaign of a file, from its campaign.yaml, its sidecar or its folder."""
        if item.kind is Kind.WATCHED:
            beside = self.around(item.scope.place).beside(item)
            return self._campaign(beside) if beside else item.scope.name
        if item.scope.campaign or item.kind not in {Kind.OUTPUT, Kind.SIDECAR}:
            return item.scope.name
        sidecar = item if item.kind is Kind.SIDECAR else item.sidecar
        contents = self._said(sidecar) if sidecar else None
        name = contents.get("campaign") if isinstance(contents, dict) else None
        return self.named(item.scope.name, slug(name)) if isinstance(name, str) and name else item.scope.name

    def context(self, item: Found, content: Content) -> Context:
        """Return the context of an output."""
        around = self.around(item.scope.place)
        sidecar = item.sidecar
        contents = self._said(sidecar) if sidecar else None
        firsts = EXCHANGES.items() if item.reader is perfdhcp else ()
        protocols = [protocol for protocol, (first, *_) in firsts if first.encode() in content.data]
        context = gather(
            item.path,
            item.scope.place,
            item.scope.campaign,
            self._servers,
            (sidecar.path, contents) if sidecar and isinstance(contents, dict) else None,
            self.host_ids(item.scope.place)[item.folder],
            # The sidecar has the digest of the uncompressed output.
            sha256(unpack(content.data, MAX_TEXT_BYTES)[0]).hexdigest() if is_packed(content.data) else content.sha256,
            shared=sidecar in around.shared,
            names=partial(around.names, item),
            holds=around.holds,
            protocol=protocols[0] if len(protocols) == 1 else None,
            unread=self.unread(item.scope.place),
            agreed=None if sidecar else self._agreed(*around.similar(item)[:_SAMPLED]),
        )
        if sidecar and isinstance(contents, Rejected):
            return replace(context, warnings=(*context.warnings, f"sidecar {sidecar.path} cannot be used: {contents}"))
        return context

    def _output(self, item: Found, content: Content) -> Outcome:
        campaign, context = self._campaign(item), self.context(item, content)
        found = _parsed(item.reader.NAME, contents.parse(item.reader, content.data))
        known = self._unchanged(item, campaign, content, context, "trials")
        return known or output(item, campaign, content, context, list(found))

    def _watched(self, item: Found, content: Content) -> Outcome:
        beside = self.around(item.scope.place).beside(item)
        moments = re.findall("before|after", item.name)
        own = {"beside": beside.stem if beside else None, "moment": moments[-1] if moments else None}
        campaign, context = self._campaign(beside) if beside else item.scope.name, Context(own=own)
        found = _parsed(item.reader.NAME, item.reader.parse(content.data))
        known = self._unchanged(item, campaign, content, context, "observations")
        return known or watched(item, campaign, content, context, found)

    def _unchanged(self, item: Found, campaign: str, content: Content, context: Context, status: str) -> Outcome | None:
        """Return an outcome without rows if the lake has this version of the file and nothing was rejected."""
        known = self._known.get((campaign, item.path))
        if not known or (known.sha256, known.status) != (content.sha256, status):
            return None
        if known.context_sha256 != context.sha256():
            return None
        return Outcome(raw_row(item, campaign, content, item.kind.value, known.status, known.context_sha256))


def _levels(path: str) -> Iterator[tuple[str, str]]:
    """Yield the parent and the name of each folder in a path."""
    names = path.split("/")
    return (("/".join(names[:at]), name) for at, name in enumerate(names))


def _is_yaml(sidecar: Found) -> bool:
    return sidecar.name.endswith((".yaml", ".yml"))


def _places(item: Found) -> Iterator[tuple[str, str]]:
    """Yield the place, as in `Neighbours.name`, and the name of each folder of an output and of the output itself."""
    yield from ((f"{above}/", name) for above, name in _levels(item.folder))
    yield item.folder, item.name


def _is_generator(folder: str, around: Neighbours) -> bool:
    """Return whether a folder of machine facts belongs to a generator, by its name."""
    return not around.holds(folder) and _names_generator(folder.rpartition("/")[2])


def _names_generator(name: str) -> bool:
    return any(map(_GENERATOR.fullmatch, words_of(name)))


def _without_repetitions(folder: str) -> str:
    while folder and level(folder.rpartition("/")[2]).repetition:
        folder = folder.rpartition("/")[0]
    return folder


def _parsed(name: str, found: Iterable[Any]) -> Iterator[Any]:
    """Yield the results of the named reader; if it crashes, yield a reject with the error."""
    try:
        yield from found
    except Exception as error:
        fault = f"the {name} reader failed: {type(error).__name__}: {error}"
        yield Reject(1, fault, "this is a bug in the reader: report it with the file")
