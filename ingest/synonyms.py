"""Synonyms: common words for values, mapped to the warehouse's vocabulary."""

import re
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Final

import pyarrow as pa

from dropline import beside
from dropline.ingest.schema import CONFIGURATION

Value = str | int | float
_VALUES: Final = (str, int, float)  # isinstance is faster with a tuple than with a union

WHOLE_NUMBERS: Final = frozenset(
    {name for name, kind in CONFIGURATION if pa.types.is_integer(kind)}
    | {"repetition", "exit_code", "requests_planned"}
)
_WORDS: Final[dict[str, dict[str, list[str]]]] = beside.words(__file__)
# The only values that the models and pages know.
CLOSED: Final = {column: tuple(_WORDS[column]) for column in ("protocol", "threading", "ha_mode")}
_ENUMERATIONS: Final = frozenset({"backend", "threading", "ha_mode", "scenario"})

_PRODUCTS: Final = _WORDS["product"]
PRODUCTS: Final = frozenset(_PRODUCTS)
_SYNONYMS: Final = {
    column: {spelling: word for word, spellings in words.items() for spelling in spellings}
    for column, words in _WORDS.items()
}
BACKENDS: Final = frozenset({*_WORDS["backend"], *_SYNONYMS["backend"]})
UNCLEAR: Final = frozenset({"on", "off", "yes", "no", "true", "false"})  # may belong to several columns
_MULTI: Final = ("mt", *(f"multi{hyphen}thread{end}" for hyphen in ("-", "") for end in ("", "ed", "ing")))
_ON: Final = ("{}-on", "{}-yes", "{}-true", "{}-enabled")
_OFF: Final = ("no-{}", "without-{}", "{}-no", "{}-off", "{}-false", "{}-disabled")
_SWITCHED: Final = ("ha", "failover")
# Words with a single meaning anywhere in a name; their hyphens may be other separators or missing.
_MEANINGS: Final[dict[str, tuple[str, str]]] = {
    **{  # without `named`, a common word, `bind`, also a backend of PowerDNS, and names with the protocol
        spelling.replace(" ", "-").replace("_", "-"): ("product", product)
        for product, spellings in _PRODUCTS.items()
        for spelling in {*spellings} - {"named", "bind", "bind 9", "isc bind 9", "kea-dhcp4", "kea-dhcp6"}
    },
    **{word: ("backend", _SYNONYMS["backend"].get(word, word)) for word in BACKENDS},
    **{
        word: ("protocol", said)
        for word, said in _SYNONYMS["protocol"].items()
        if word in {"v4", "v6", "ipv4", "ipv6", "dhcp4", "dhcp6", "dhcpv4", "dhcpv6"}
    },
    **dict.fromkeys(("st", "single-thread", "single-threaded"), ("threading", "single")),
    **{form.format(word): ("threading", "single") for word in _MULTI for form in _OFF},
    **{form.format(word): ("threading", "multi") for word in _MULTI for form in ("{}", *_ON)},
    **dict.fromkeys(("standalone", "single-server", "ha-none"), ("ha_mode", "none")),
    **{form.format(word): ("ha_mode", "none") for word in _SWITCHED for form in _OFF},
    **{form.format(word): ("ha_mode", "ha") for word in _SWITCHED for form in _ON},
    **dict.fromkeys(("hot-standby", "ha-hot-standby", "ha-hs"), ("ha_mode", "hot-standby")),
    **dict.fromkeys(("load-balancing", "ha-load-balancing", "ha-lb"), ("ha_mode", "load-balancing")),
    **dict.fromkeys(("passive-backup", "ha-passive-backup", "ha-pb"), ("ha_mode", "passive-backup")),
}
PARTNERED: Final = frozenset(CLOSED["ha_mode"]) - {"none"}
ALONE: Final = frozenset({"alone", "none", "single"})  # a server without a partner, in contrast to one with a partner
# A server with a partner, in contrast to one without: the word, and an unambiguous one.
PAIRED: Final = {"ha": "haon", "failover": "haon", "hs": "hahs", "lb": "halb", "pb": "hapb"}
_CLEAR: Final = {word.replace("-", ""): meaning for word, meaning in _MEANINGS.items()}
_HYPHENATED: Final = "|".join(sorted((word for word in _MEANINGS if "-" in word), key=len, reverse=True))
_OF_NEXT: Final = (  # `mt_no-ha`, not `mt_no_ha_no`
    r"(?<=[-_ .=])no(?=[-_ .](?:ha|failover|mt|multi[-a-z]*)(?![a-z]|[-_ .=](?:yes|no|on|off|true|false)(?![^\W_])))"
)
PHRASE: Final = re.compile(
    rf"(?<![^\W_])(?:{_HYPHENATED.replace('-', '[-_ .=]?')})(?![^\W_])(?<!{_OF_NEXT})", re.IGNORECASE
)
_SPELLINGS: Final = "|".join(sorted(_SYNONYMS["product"], key=len, reverse=True)).replace(" ", "[-_ ]")
# `kea-2.4.1`, `bind9_9.18.0rc1`, `Kea version 2.6.1`, `isc-kea=2.6.1`, or `isc-kea-dhcp4 (2.6.1`
VERSION: Final = re.compile(
    rf"(?<![^\W_])({_SPELLINGS})(?:-dhcp[46])?(?:[-_ =]|[-_ ]version[-_ :]{{1,2}}| \()?v?"
    r"([0-9]+(?:\.[0-9]+)+)(?:-?((?:alpha|beta|rc|git)[0-9]*))?(?![^\W_])",
    re.IGNORECASE,
)
_AS_LETTERS: Final = {
    re.sub(r"[-_ ]", "", spelling): next(filter(str.isalpha, spellings))
    for spellings in _PRODUCTS.values()
    for spelling in spellings
}
_BARE_VERSION: Final = re.compile(r"v([0-9]{1,2}(?:\.[0-9]{1,2}){2})")
_TOLD_VERSION: Final = re.compile(r"([a-z]+)([0-9]+(?:\.[0-9]+)+[a-z]*[0-9]*)")
# A number of three digits is more probably a rate.
THREADS: Final = re.compile(
    r"(?<![^\W_])(?<![0-9]\.)(?:([1-9][0-9]?)[-_ .]?)?(?:thread[-_ ](?:count|pool[-_ ]size)|thr(?:eads?)?)"
    r"(?:[-_ .=]?([1-9][0-9]?)(?![0-9]))?(?![^\W_])",
    re.IGNORECASE,
)
_MULTI_WITH_THREADS: Final = re.compile(r"(?:mt|multi)[-_ ]?(?:x)?([1-9][0-9]{0,5})")  # 0: off, or Kea's choice
_VERSION: Final = re.compile(r"[0-9]+(?:\.[0-9]+)+(?:-MariaDB)?")
# A release with its stage (`2.7.0-git`, `9.20.0rc1`, `9.16.1-P2`), without a distribution's suffix.
_PRODUCT_WITH_VERSION: Final = re.compile(
    r"(?P<product>[^(/]{1,80}?)[ /-]v?"
    r"(?P<version>[0-9]+(?:\.[0-9]+)+(?:-?(?:alpha|beta|rc|git|P|S)[0-9]*)?)(?![0-9A-Za-z.]).*"
)
_BACKEND_WITH_VERSION: Final = re.compile(r"([A-Za-z]+3?)[ /-]v?([0-9]+(?:\.[0-9]+)*)")  # PostgreSQL 15.3
_WHOLE: Final = re.compile(r"\+?[0-9]{1,10}(?:\.0+)?")


def normalise(column: str, value: object) -> Mapping[str, Value]:
    """Return `value` in the warehouse's vocabulary, usually as `{column: word}`.

    One value may set several columns (`mt4`: multi-threading, 4 threads; `Kea 2.2.0`: a known product and its version).
    An unknown word is kept, in lower case if the column is an enumeration; an empty one sets nothing. Raise ValueError
    if the column cannot hold the value, or allows only certain words and this is none of them.
    """
    if value is None:
        return {}
    if not isinstance(value, _VALUES):
        raise ValueError(f"{column}: expected one value, found {type(value).__name__}")
    return _normalised(column, value)


def meaning(word: str) -> Mapping[str, Value]:
    """Return the columns that a lower-case word in the name of a file or folder sets; usually none."""
    if _MULTI_WITH_THREADS.fullmatch(word):
        return _normalised("threading", word)
    if found := THREADS.fullmatch(word):
        return {"threads": int(found[2])} if found[2] else {}
    if (found := _TOLD_VERSION.fullmatch(word)) and (product := _SYNONYMS["product"].get(found[1])):
        return {"product": product, "product_version": found[2].replace("git", "-git")}
    if found := _BARE_VERSION.fullmatch(word):
        return {"product_version": found[1]}
    return _normalised(*_CLEAR[word]) if word in _CLEAR else {}


def with_version(found: re.Match[str]) -> str:
    """Return a product with its version as one word, e.g. `kea2.4.1`."""
    return f" {_AS_LETTERS[re.sub(r'[-_ ]', '', found[1].lower())]}{found[2]}{found[3] or ''} "


@lru_cache(maxsize=16_384, typed=True)  # nearly all files of a campaign repeat the same values
def _normalised(column: str, value: Value) -> Mapping[str, Value]:
    text = " ".join(str(value).encode("utf-8", "replace").decode().split())[:500]
    if not text:
        return {}
    if column in WHOLE_NUMBERS:
        digits = text.removeprefix("-") if column == "exit_code" else text
        if not _WHOLE.fullmatch(digits) or float(digits) >= 2**31:
            raise ValueError(f"{column}: expected a whole number, found {text!r:.80}")
        return {column: int(float(text))}
    if column == "offered_rate":
        rate = -1.0
        with suppress(ValueError):
            rate = float(text.removesuffix("k")) * (1000 if text.endswith("k") else 1)
        if not 0 < rate < 1e12:
            raise ValueError(f"offered_rate: expected packets per second above 0, found {text!r:.80}")
        return {column: rate}
    if column in {"backend_version", "tool_version"} and (version := _VERSION.search(text)):
        return {column: version[0]}
    if column == "product_version":
        return {column: re.sub(r"\A[vV](?=[0-9])", "", text)}
    if column == "product" and (found := _PRODUCT_WITH_VERSION.fullmatch(text)):
        product = _SYNONYMS["product"].get(found["product"].lower())
        return {"product": product, "product_version": found["version"]} if product else {"product": text}
    if column == "backend" and (found := _BACKEND_WITH_VERSION.fullmatch(text)) and found[1].lower() in BACKENDS:
        return {**_normalised(column, found[1]), "backend_version": found[2]}
    word = text.lower()
    if column in _ENUMERATIONS:
        text = word = re.sub(r"[ _]+", "-", word) if column == "ha_mode" else word
    clear = _CLEAR.get(re.sub(r"[-_ ]", "", word), ("", ""))
    word = _SYNONYMS.get(column, {}).get(word) or (clear[1] if clear[0] == column else text)
    if column == "threading" and (threads := _MULTI_WITH_THREADS.fullmatch(word)):
        return {"threading": "multi", "threads": int(threads[1])}
    if column in CLOSED and word not in CLOSED[column]:
        raise ValueError(f"{column}: expected one of {', '.join(CLOSED[column])}, found {word!r:.80}")
    return {"threading": "single", "threads": 1} if (column, word) == ("threading", "single") else {column: word}
