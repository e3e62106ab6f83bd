"""Trial data in names of files and folders: rate, repetition, and the words that distinguish set-ups.

A number in a name may be the rate, count repetitions or steps, or belong to the set-up (`mt4`, `kea-2.2`). The report
shows which number is the rate. Comparing names of the same form in the folder shows the others: a number that counts
from 0 or 1 without a gap counts repetitions, unless there is exactly one such number for every rate. A number that
differs in all names may count trials, which the models then group into runs.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from typing import Final, NamedTuple

from dropline import beside
from dropline.ingest.synonyms import PHRASE, THREADS, VERSION, with_version

Slot = tuple[int, int]  # index of a token, and of a part in it
_Parts = tuple[str, ...]

_PACKED: Final = ("bz2", "gz", "xz")  # what formats.text decompresses
_WORDS: Final[dict[str, frozenset[str]]] = {kind: frozenset(words) for kind, words in beside.words(__file__).items()}
_ENDINGS: Final = _WORDS["endings"].union(_PACKED)
_ROTATED: Final = re.compile(rf"\.(?:{'|'.join(sorted(_ENDINGS))})(?=\.\d{{1,3}}\Z)")  # 800.txt.1
PACKED: Final = re.compile(rf"\.(?:{'|'.join(_PACKED)})\Z")
ARCHIVES: Final = re.compile(rf"\.(?:tar(?:\.(?:{'|'.join(_PACKED)}))?|tgz|txz|tbz2?|zip)\Z", re.IGNORECASE)
_DATE: Final = r"(?:19|20)\d\d([-_.]?)[01]\d\1[0-3]\d"  # 2026-11-20, 20261120
_BEFORE: Final = r"(?<!\d)(?<!git)(?<!isc)"  # Kea's versions 2.7.8-git20250401 and -isc20250429105336 contain dates
_DAY: Final = re.compile(rf"{_BEFORE}{_DATE}(?!\d)")
_LAST_DAY: Final = re.compile(rf"{_BEFORE}{_DATE}\Z")
_TIME: Final = re.compile(
    rf"{_BEFORE}(?:{_DATE}"
    r"(?:[-_. t]?[0-2]\d[-_.:h]?[0-5]\d[-_.:m]?[0-5]\d(?:\.\d+)?s?z?|[-_t]?[0-2]\d[-_.:h]?[0-5]\dz?(?![a-z]))"
    r"|1[4-9]\d{8}(?:\d{3})?)(?!\d)",  # seconds or milliseconds since 1970
    re.IGNORECASE,
)
_CLOCK: Final = re.compile(r"(?<!\d)([01]\d|2[0-3])([-_:h])([0-5]\d)(?:\2|m)([0-5]\d)(?!\d)")
_NUMBERED: Final = re.compile(r"(?:(.*\w)[-_ ]+)?[(#]?([0-9]{1,9})\)?")
# A rate after or before a version or a size: `kea-2.2.800`, `800.2.2.0`, `800.4core`; not in an IPv4 address.
# `release-2.6.1`, `v2.6.1`, `2.6.1-memfile`; not the day 20.11.26
_RELEASE: Final = re.compile(
    r"(?:(?<![^\W_])(?:rel(?:ease)?|v(?:er(?:sion)?)?)[-_ =]?v?|\A(?!\d+\.\d+\.[12]\d(?!\d)))"
    r"(?=\d{1,2}\.\d{1,2}\.\d{1,2}(?![^\W_]|\.))"
)
_BESIDE_VERSION: Final = re.compile(
    r"(?<!\d)(?<!\d\.)(\d{1,2}(?:\.\d{1,2}){0,2}(?=\.\d{3})|(?:[3-9]\d\d|\d{4,})(?=\.\d+(?:\.\d|(?![pqlrc]ps)[a-z]{3})))\."
)
_SEPARATORS: Final = re.compile(
    r"[\s_\-,;+=@#()\[\]{}~]+|(?<!\d)\.|\.(?!\d)|(?<=\d{3})\.(?=\d{1,3}\Z)"
    r"|\.(?=[1-9]\d{3})|(?<=(?<![\d.])0\d)\.|(?<=(?<![\d.])0\d\d)\."
)
_HASH: Final = r"(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{7,40}"
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")
_FIGURE: Final = re.compile(rf"\d|{_HASH}\Z")
_ID: Final = re.compile(rf"\d{{4,}}|{_HASH}")  # may identify a commit, a process or a job
_UUID: Final = re.compile(r"(?<![0-9a-f])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-f])")
_PART: Final = re.compile(rf"{_HASH}\Z|\d+(?:\.\d+)*|[^\d]+")
_THOUSANDS_WITHIN: Final = re.compile(r"(?<![\d.])(\d{1,3})k(\d{1,3})(?!\d)")  # 1k5
_GROUPED: Final = re.compile(r"(?<![\d.'])\d{1,3}(?:(?:'\d{3})+|(?:\.\d{3})+(?=[pqlrc]ps))")  # 10'000, 10.000qps
_RATE_BEFORE: Final = _WORDS["rates"]
_RATE_BEHIND: Final = re.compile(r"([km]?)[pqlrc]?ps|([km])")
_LITTLE: Final = re.compile("[a-z]|level|point|stage")  # may precede the number of a step
_STEP_BEHIND: Final = frozenset({"%", "pct", "percent"})
_THOUSANDS: Final = {"": 1, "k": 1_000, "m": 1_000_000}
_REPETITION: Final = _WORDS["repetitions"]
_EXECUTION: Final = _WORDS["executions"]
_LABELS: Final = "|".join(sorted(_REPETITION - {"r"} | _EXECUTION - {"no", "nr"}, key=len, reverse=True))
_LABELLED: Final = re.compile(rf"(?<![a-z])((?:{_LABELS})[-_=# ]?\d{{1,3}})\.(?=\d)")  # run1.4core
_ROMAN: Final = re.compile(rf"(?<![a-z])((?:{_LABELS})[-_=# ]?)(i{{1,3}}|iv|vi{{0,3}}|ix)(?![a-z0-9])", re.IGNORECASE)
# `01-memfile`, `test2-kea-2.6`
_ORDERED: Final = re.compile(
    r"(?:(?:case|exp|experiment|phase|scenario|set-?up|step|test)[-_ ]?)?(\d{1,2}|[a-z])[-_. )]+([^\W\d].*)",
    re.IGNORECASE,
)
# `run3`, `rep=3-memfile`, `3of9`, `run-3-of-9`, or `Q500-r3`, `r3-memfile` in a folder's name; not `dell-r340`.
_TOTAL: Final = "[-_ ]?of[-_ ]?[0-9]{1,3}"
_COUNTED: Final = re.compile(
    rf"(?:\A|(?<=.)[-_ .])(?:(?:{_LABELS})[-_=# ]?(?P<count>[0-9]{{1,9}}\Z|[0-9]{{1,3}})(?:{_TOTAL})?"
    rf"|(?P<of>[0-9]{{1,3}}){_TOTAL}|(?P<r>r[0-9]{{1,2}}\Z)|(?<![-_ .])(?P<first>r[0-9]{{1,2}}))(?=[-_ .]|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_OF_SEVERAL: Final = re.compile(rf"(?<![a-z0-9])(?:(?:{_LABELS})[-_=# ]?)?([0-9]{{1,3}}){_TOTAL}(?![a-z0-9])")
_QUANTITY: Final = _WORDS["quantities"]
_NOISE: Final = frozenset(
    {*_RATE_BEFORE, *_REPETITION, *_EXECUTION, *_STEP_BEHIND, "output", "out", "stdout", "log", "result", "results"}
) - {"no"}
_WHOLE: Final = {(word,) for word in _NOISE | {"all"}}  # by itself, `all` is no set-up: all.log, all-results.txt
PLACES: Final = _QUANTITY | _WORDS["places"]
SIZES: Final = _WORDS["sizes"]
_SET_UPS: Final = PLACES | _WORDS["set_ups"]
_MOST: Final = 999  # repetitions
_SEVERAL: Final = 5  # names
_CLOSE: Final = 0.01
_RAMP: Final = 3  # rates


class Said(NamedTuple):
    """Content of a name: the words of the set-up, and the repetition; None if there is none."""

    words: str | None = None
    repetition: int | None = None


class Level(NamedTuple):
    """Name of a folder, without the ending of an archive and without times, but with dates that have no time."""

    text: str  # without a labelled repetition
    repetition: str | None  # as in `run2-memfile`
    words: str  # before the number
    number: str  # as in `memfile (2)`, `memfile-2` or `2`


class Name(NamedTuple):
    """Name of a file or folder, compared with similar names."""

    tokens: tuple[_Parts, ...]  # its words in lower case, without ending and time, each split into letters and numbers
    counting: tuple[Slot, ...] = ()  # numbers that count without a gap over the names of the same form
    several: tuple[Slot, ...] = ()  # those of `counting` that differ between names
    paired: tuple[tuple[Slot, Slot], ...] = ()  # pairs of numbers of which the first determines the second

    @property
    def is_plain(self) -> bool:
        """Return whether it cannot contain anything but a rate."""
        own = (parts for parts in self.tokens if not _is_rate(parts) or _is_step(parts))
        return all(len(parts) == 1 and parts[0] in _NOISE for parts in own)

    def says(self, rates: Collection[float], known: Callable[[str], bool], *, alone: bool = True) -> Said:
        """Return the content of the name for a report in a file that offered these `rates`.

        `known` returns whether a word is a known part of the set-up; `alone` means that the file holds a single report.
        A number that counts trials, each with one rate only, may look like a repetition; the models correct that.
        """
        own = self.own(rates)
        steps = {two for one, two in self.paired if one in own}
        repetition = self._repetition(own, steps, known)
        count = None
        if repetition:
            at, part = repetition
            number = self.tokens[at][part]
            before = self.tokens[at][part - 1] if part else self.tokens[at - 1][-1] if at else ""
            counts = repetition not in steps and (before in _EXECUTION or repetition in self.counting)
            count = int(number) if before in _REPETITION or (counts and _is_count(number)) else None
        # A number alone or with a letter, as in `s03`, is too little for a set-up.
        little = {
            (at, n) for at, n in steps if len(self.tokens[at]) == 1 or _LITTLE.fullmatch("".join(self.tokens[at][:n]))
        }
        dropped = own | {slot for slot in little if not self._is_behind(_QUANTITY, slot[0])}
        dropped |= {
            (at, 0) for at, parts in enumerate(self.tokens) if _is_step(parts) and (not own or (at, 0) in steps)
        }
        if repetition:
            # If the rate is not in the name, the number is the rate in another unit.
            follows = not own and alone and rates and self.tokens[repetition[0]][repetition[1]] not in _WORDS["frames"]
            dropped |= {repetition} if count is not None or repetition in steps or follows else set()
        words = [
            word
            for at in range(len(self.tokens))
            if (word := self._word(at, dropped)) and ((at, 0) in self.several or not known(word))
        ]
        return Said(" ".join(words) or None, count)

    def repeats(self, rates: Collection[float]) -> bool:
        """Return whether a number besides the rate counts repetitions, or any number if there is no rate."""
        own = self.own(rates)
        steps = {two for one, two in self.paired if one in own}
        return bool(own or not rates) and self._repetition(own, steps, lambda _: False) in self.several

    def own(self, rates: Collection[float]) -> set[Slot]:
        """Return the numbers that are the rate, without those that equal it by chance.

        The rate has a unit or label (`1000rps_1000clients`) or does not follow another word (`zones-1000-1000`).
        """
        slots = [*_slots(self.tokens)]
        equal = {
            slot
            for rate in rates
            if (same := {slot for slot, number in slots if number == rate})
            for slot in ({(at, n) for at, n in same if not n and not self._is_of_word(at)} or same)
        }
        if not equal:  # the report may have a measured rate, with decimals, instead of the requested one
            equal = {at for at, number in slots if any(is_same_rate(number, each) for each in rates)}
        if not equal:
            equal = {slot for slot, number in slots if any(self._rounds(slot, number, rate) for rate in rates)}
        if not equal:  # 1,500
            beside = [(one, two) for (one, _), (two, _) in pairwise(slots) if one[0] + 1 == two[0] and not two[1]]
            grouped = [f"{rate:,.0f}".split(",") for rate in rates]
            equal = {at for each in beside if [self.tokens[at][n] for at, n in each] in grouped for at in each}
        words = {(at, n): {*self.tokens[at], *(self.tokens[at - 1] if not n and at else ())} for at, n in equal}
        counted = {slot for slot in equal if not _QUANTITY.isdisjoint(words[slot])}
        meant = {slot for slot in equal if _is_rate(self.tokens[slot[0]]) or "r" in words[slot]} or equal - counted
        return {each for each in equal if not meant or any(one == each or (one, each) in self.paired for one in meant)}

    def _rounds(self, slot: Slot, number: float, rate: float) -> bool:
        """Return whether a number in thousands is a rate rounded to two digits or more: 1.8k for 1,750."""
        text = self.tokens[slot[0]][slot[1]]
        last = number / float(text) / 10 ** len(text.partition(".")[2]) if number else 0
        return 10 < last < number / 5 and abs(number - rate) <= last / 2

    def _repetition(self, own: Collection[Slot], steps: Collection[Slot], known: Callable[[str], bool]) -> Slot | None:
        """Return the number that may count repetitions: a labelled one, else the last or first one on its own."""
        left = [
            at
            for at, parts in enumerate(self.tokens)
            if not (_is_rate(parts) or any((at, n) in own for n in range(len(parts))) or parts[0] in _STEP_BEHIND)
        ]
        for words in (_REPETITION, _EXECUTION, _WORDS["outputs"]):
            for at in left:
                if (slot := self._counted(at, words)) and (slot not in steps or words is _REPETITION):
                    return slot
        left = [at for at in left if (at, 0) not in steps]
        meant = [at for at in left if self.tokens[at][0] not in _NOISE]
        meant = [at for at in meant if self.tokens[at][0].isdecimal() or not known("".join(self.tokens[at]))]
        for at in (*meant[-1:], *meant[:1]):
            if len(self.tokens[at]) == 1 and self.tokens[at][0].isdecimal() and not self._is_behind(PLACES, at):
                return (at, 0)
        return None

    def _is_behind(self, words: Collection[str], at: int) -> bool:
        before = self.tokens[at - 1] if at else ()
        return len(before) == 1 and before[0] in words  # in `2cpu-1`, the word has its number already

    def _is_of_word(self, at: int) -> bool:
        """Return whether a number belongs to the word before it: `zones-1000`, but not `rate-1000`, `zones-1000rps`."""
        (before,) = self.tokens[at - 1] if at and len(self.tokens[at - 1]) == 1 else ("",)
        return before.isalpha() and before not in _RATE_BEFORE and not _is_rate(self.tokens[at])

    def _counted(self, at: int, words: Collection[str]) -> Slot | None:
        """Return the number in a token such as `rep2`, or in the token after the word `rep`."""
        parts = self.tokens[at] if at < len(self.tokens) else ()
        if len(parts) == 2 and parts[0] in words and _is_count(parts[1]) and (parts[0] != "r" or len(parts[1]) < 3):
            return (at, 1)
        before = self.tokens[at - 1] if at else ()
        return (at, 0) if len(parts) == 1 and before in {(word,) for word in words} and _is_count(parts[0]) else None

    def _word(self, at: int, dropped: Collection[Slot]) -> str | None:
        """Return a token as a word of the set-up, without parts that have another meaning; None if nothing is left."""
        parts = self.tokens[at]
        if {*self.tokens} <= _WHOLE:
            return None
        if _is_rate(parts) and (not _is_step(parts) or (at, 0) in dropped):
            return None
        if (len(parts) == 1 and parts[0] in _NOISE) or self._counted(at, _REPETITION | _EXECUTION):
            return None
        if parts == ("no",) and self._counted(at + 1, {"no"}):
            return None
        left = [part for n, part in enumerate(parts) if (at, n) not in dropped]
        if len(left) < len(parts):  # a dropped number takes its unit and label with it
            left = [part for part in left if part not in _NOISE and not _RATE_BEHIND.fullmatch(part)]
        return "".join(left) or None


def names(files: Iterable[str]) -> dict[str, Name]:
    """Return the parsed names of the files of one folder, compared with each other."""
    alike: dict[tuple[_Parts, ...], list[tuple[str, tuple[_Parts, ...]]]] = defaultdict(list)
    every = {file: split(file) for file in files}
    for file, tokens in every.items():
        form = tuple(tuple("#" if _FIGURE.match(part) else part for part in parts) for parts in tokens)
        alike[form].append((file, tokens))
    bare = {*every.values()}
    numbered = {(0, 0)} if _count_all(["".join((*tokens, ())[0]) for tokens in bare]) else set()
    found: dict[str, Name] = {}
    for form, those in alike.items():
        slots = [(at, n) for at, parts in enumerate(form) for n, part in enumerate(parts) if part == "#"]
        values = {(at, n): [tokens[at][n] for _, tokens in those] for at, n in slots}
        # `800.txt`, `800 (2).txt`: the first copy has no number
        first = {at for at, n in slots if all((*tokens[:at], *tokens[at + 1 :]) in bare for _, tokens in those)}
        ones = {slot: ["1"] if slot[0] in first else [] for slot in slots}
        count = numbered | {at for at in slots if counts([*values[at], *ones[at]]) or _count_all(values[at])}
        counting = tuple(slot for slot in slots if slot in count)
        several = tuple(slot for slot in counting if len({*values[slot]}) > 1)
        pairs = ((one, two, _is_step(those[0][1][two[0]])) for one in slots for two in slots if one != two)
        paired = tuple((one, two) for one, two, is_step in pairs if _goes(one, two, values, counting, is_step=is_step))
        found |= {file: Name(tokens, counting, several, paired) for file, tokens in those}
    return found


@lru_cache(maxsize=4096)  # the repetitions of a ramp have the same names
def split(file: str) -> tuple[_Parts, ...]:
    """Return the tokens of a file's name without its ending and any time."""
    stem = file.lower()
    stem = _ROTATED.sub("", stem)
    while (ending := stem.rpartition("."))[0] and ending[2] in _ENDINGS:
        stem = ending[0]
    stem = _GROUPED.sub(lambda found: re.sub("['.]", "", found[0]), stem)
    stem = _CLOCK.sub(r"\1\3\4", _OF_SEVERAL.sub(r"rep\1", _ROMAN.sub(_in_digits, stem)))
    stem = _THOUSANDS_WITHIN.sub(r"\1.\2k", _UUID.sub(lambda found: found[0].replace("-", ""), stem))
    stem = _BESIDE_VERSION.sub(r"\1 ", _LABELLED.sub(r"\1 ", _DAY.sub(" ", _TIME.sub(" ", stem))))
    stem = _RELEASE.sub("v", VERSION.sub(with_version, stem))
    stem = PHRASE.sub(lambda found: re.sub(r"[-_ .=]", "", found[0]), stem)
    stem = THREADS.sub(
        lambda found: f"threads{found[1] or found[2]}" if bool(found[1]) != bool(found[2]) else found[0], stem
    )
    return tuple(tuple(_PART.findall(word)) for word in _SEPARATORS.split(stem) if word)


def named_rates(path: str, sent: int | None, rate: float | None) -> set[float]:
    """Return the rates in the names of a file and its folders: numbers with a label or unit (`500pps`, `rate-500`).

    Of several, take those near the `rate` at which the queries were `sent`; if there are none, take numbers near it by
    which `sent` is a whole number of seconds.
    """
    levels = path.split("/")
    tokens = [(), *(parts for level in levels for parts in split(level)), ()]
    labels = {(word,) for word in _RATE_BEFORE}
    named = {
        number
        for (at, _), number in _slots(tokens)
        if (_is_rate(tokens[at]) and tokens[at][-1] not in _STEP_BEHIND)
        or (len(tokens[at]) == 1 and {tokens[at - 1], tokens[at + 1]} & labels)
    }
    if not (sent and rate) or len(named) == 1:
        return named
    near = {each for each in named or chain(*map(numbers, levels)) if each <= 1.05 * rate < 1.4 * each}
    return near if named else {each for each in near if not sent % each}


@lru_cache(maxsize=4096)
def words_of(level: str) -> tuple[str, ...]:
    """Return the unsplit words of a name."""
    return tuple(map("".join, split(level)))


def counts(numbers: Collection[str]) -> bool:
    """Return whether numbers count from 0 or 1 without a gap, as a single number always does."""
    if not all(map(_is_count, numbers)):
        return False
    values = sorted({int(number) for number in numbers})
    return len(values) == 1 or (values[0] < 2 and values[-1] - values[0] == len(values) - 1)


def without_order(folders: Iterable[str]) -> dict[str, str]:
    """Return the folders whose first number or letter only orders them, without it: `01-st`, `02-mt4`."""
    found = {name: match for name in folders if (match := _ORDERED.fullmatch(name))}
    orders = [match[1] if match[1].isdigit() else str(ord(match[1].lower()) - 96) for match in found.values()]
    rests = {words_of(match[2]) for match in found.values()}
    is_order = len({*map(int, orders)}) == len(orders) > 1 and counts(orders)
    firsts = {word for words in rests for word in words[:1]}
    are_set_ups = len(rests) > 1 and firsts.isdisjoint({*PLACES, "threads"})  # not `2-cores`
    return {name: match[2] for name, match in found.items()} if is_order and are_set_ups else {}


@lru_cache(maxsize=4096)
def level(name: str) -> Level:
    """Return the parsed name of a folder, not compared with others.

    The day of a date is not a repetition: `2026-11-01` and `2026-11-02` may be before and after a change.
    """
    name = _without(_TIME, _ROMAN.sub(_in_digits, ARCHIVES.sub("", name)))
    text = _without(_COUNTED, name)
    label = _COUNTED.search(name)
    if label and _DAY.fullmatch(text):  # the day of the run
        text = ""
    repetition = label[label.lastgroup or 0].lstrip("rR") if label and "step" not in label[0].lower() else None
    found = None if _LAST_DAY.search(name) else _NUMBERED.fullmatch(name)
    return Level(text, repetition, (found[1] or "") if found else "", found[2] if found else "")


def _in_digits(found: re.Match[str]) -> str:
    return found[1] + str(1 + ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix"].index(found[2].lower()))


def _without(pattern: re.Pattern[str], text: str) -> str:
    kept = pattern.sub("", text)
    return kept if kept == text else kept.strip("-_. ")


def _count_all(numbers: Sequence[str]) -> bool:
    """Return whether several numbers are consecutive, so that they count the trials of a script."""
    values = {int(number) for number in numbers if _is_count(number)}
    return len(numbers) >= _SEVERAL and len(values) == len(numbers) == max(values) - min(values) + 1


def level_counts(name: str, above: str, beside: Collection[str]) -> bool:
    """Return whether a folder's number counts repetitions; `beside` has the numbers of folders with the same words."""
    _, _, words, number = level(name)
    label = words or ("" if re.search(r"\d", above) else above)  # `4-threads/1`: the word has its number already
    *others, before = re.split(r"[\W_]+", label.lower())
    is_set_up = before in _SET_UPS and (words or not others or before.endswith("s"))  # not of `single-zone/1`
    return _is_count(number) and not is_set_up and counts(beside) and (not words or len(beside) > 1)


def _is_count(number: str) -> bool:
    return number.isdecimal() and number.isascii() and int(number) <= _MOST


def _is_rate(parts: _Parts) -> bool:
    """Return whether a token is a rate by its unit, whatever the report's own rate."""
    if len(parts) > 1 and parts[0] in _RATE_BEFORE:
        unit = "".join(parts[2:])
        return parts[1][0].isdecimal() and (not unit or unit in _STEP_BEHIND or bool(_RATE_BEHIND.fullmatch(unit)))
    behind = parts[-1] if len(parts) > 1 and parts[0][0].isdecimal() else ""
    found = _RATE_BEHIND.fullmatch(behind)
    return len(parts) == 2 and bool(behind in _STEP_BEHIND or (found and len(behind) > 1))


def is_same_rate(number: float, rate: float | None) -> bool:
    """Return whether a number in a name is this rate; a rate with decimals was measured, within 1 % of the number."""
    return number == rate or bool(rate and rate % 1 and abs(number - rate) <= _CLOSE * rate)


@lru_cache(maxsize=4096)
def numbers(name: str) -> frozenset[float]:
    """Return the numbers in a folder's name that may be a rate."""
    return frozenset(number for _, number in _slots(split(name)))


def _slots(tokens: Sequence[_Parts]) -> Iterable[tuple[Slot, float]]:
    """Yield the numbers of a name that may be a rate, with `10k` as 10000."""
    for at, parts in enumerate(tokens):
        for n, part in enumerate(parts):
            if _NUMBER.fullmatch(part):
                behind = _RATE_BEHIND.fullmatch(parts[n + 1]) if n + 1 < len(parts) else None
                unit = (behind[1] or behind[2] or "") if behind else ""
                yield (at, n), float(part) * _THOUSANDS[unit]


def _is_step(parts: _Parts) -> bool:
    """Return whether a token is a percentage, of the capacity or of something else in the set-up."""
    return len(parts) == 2 and parts[1] in _STEP_BEHIND


def _goes(
    one: Slot, two: Slot, values: Mapping[Slot, Sequence[str]], counting: Collection[Slot], *, is_step: bool
) -> bool:
    """Return whether a number depends on another, such as the rate, and so adds nothing to it.

    It has one value for each value of the other, at least within a run; or no two names share it, as it identifies a
    commit, a process or a job; or it counts trials at fewer than half of the rates, without the lowest, as in a search.
    A number that `is_step` by its unit must have one value for each rate of a run.
    """
    pairs = [*zip(values[one], values[two], strict=True)]
    others = [each for slot, each in values.items() if slot not in {one, two}]
    rest = [*zip(*others, strict=True)] or [()] * len(pairs)
    if is_step:
        both, *each = (len({*zip(rest, of, strict=True)}) for of in (pairs, values[one], values[two]))
        return each == [both, both]
    rates, numbers = {*values[one]}, {*values[two]}
    if len(rates) < _RAMP:
        return False
    if len({*pairs}) == len(rates) == len(numbers):
        return True
    if len(pairs) < _SEVERAL or not all(map(_NUMBER.fullmatch, rates)):
        return False
    if len(numbers) == len(pairs):  # each name has its own; a step would repeat
        is_alone = len({*zip(rest, values[one], strict=True)}) == len(pairs) and all(map(_ID.fullmatch, numbers))
        return is_alone and 2 * max(map(float, rates)) > _RAMP * min(map(float, rates))
    if two not in counting or not all(map(_is_count, numbers)):
        return False
    runs: dict[tuple[str, ...], list[tuple[float, int]]] = defaultdict(list)
    for run, (rate, number) in zip(rest, pairs, strict=True):
        runs[run].append((float(rate), int(number)))
    rising = [[*pairwise(sorted(run))] for run in runs.values()]
    if all(len(run) >= _RAMP and all(a < c and b < d for (a, b), (c, d) in run) for run in rising):
        return True
    lowest = min(map(int, numbers))
    first, again = ({rate for run in runs.values() for rate, n in run if (n == lowest) is at} for at in (True, False))
    return len(runs) == 1 and again < first and 0 < 2 * len(again) < len(first) and min(first) not in again
