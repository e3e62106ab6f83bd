"""What names say: different words are different set-ups, counters are repetitions, and the rate is neither."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from dropline.ingest.context import Context
from dropline.ingest.names import ARCHIVES, Said, level_counts, names, split, without_order

RATES = (1000, 2000, 4000, 10_000)


def said(files, *, rates=None, alone=True, known=()):
    """Return what each file says, in the order given; `rates` are what each was asked for."""
    found = names(files)
    rates = rates or [None] * len(files)
    return [
        tuple(found[file].says({rate} if rate else set(), known.__contains__, alone=alone))
        for file, rate in zip(files, rates, strict=True)
    ]


FORMS = yaml.safe_load(Path(__file__).with_name("names.yml").read_text())


@pytest.mark.parametrize(("form", "words"), FORMS["single"].items())
def test_words_are_the_set_up_and_the_rate_is_not(form, words):
    assert said([form.format(rate) for rate in RATES], rates=RATES) == [(words, None)] * 4


@pytest.mark.parametrize(("form", "words"), FORMS["repeated"].items())
def test_what_counts_is_the_repetition_wherever_it_stands(form, words):
    pairs = [(rate, number) for rate in RATES for number in (1, 2, 3)]
    found = said([form.format(*pair) for pair in pairs], rates=[rate for rate, _ in pairs])
    assert found == [(words, number) for _, number in pairs]


@pytest.mark.parametrize(("path", "rate"), FORMS["rates"].items())
def test_a_number_is_the_rate_that_dnsblast_does_not_print(path, rate):
    found = Context(path=path).resolve({"tool": "dnsblast", "sent": 2500, "received": 1387, "achieved_rate": 336})
    assert (found.get("offered_rate"), found["completed"]) == (rate, rate == 500)


def test_a_rate_in_thousands_or_as_measured_is_the_same_rate():
    files = ["mysql-500-1.txt", "mysql-10k-1.txt", "mysql-2.5k-1.txt", "mysql-1k5-1.txt", "mysql-1m.txt"]
    assert said(files, rates=[500, 9_970.4, 2500, 1500, 1_000_000]) == [("mysql", 1)] * 4 + [("mysql", None)]


@pytest.mark.parametrize("numbers", [(2, 4), (1, 2, 4, 8), (10, 20), (3, 4)])
def test_numbers_with_gaps_are_the_set_up(numbers):
    """Threads, say: were they repetitions, the figures of different set-ups would be averaged."""
    files = [f"memfile-{number}-{rate}.txt" for number in numbers for rate in RATES]
    assert said(files, rates=RATES * len(numbers)) == [(f"memfile {number}", None) for number in numbers for _ in RATES]


def test_a_number_behind_what_it_counts_is_the_set_up():
    files = [f"threads-{number}-{rate}.txt" for number in (1, 2) for rate in RATES]
    assert said(files, rates=RATES * 2) == [("threads1", None)] * 4 + [("threads2", None)] * 4


@pytest.mark.parametrize(
    "form", ["{1:02}-rate{0}.txt", "memfile-{0}-{1}.txt", "stage{1}-{0}.txt", "run{1}_{0}.txt", "step{0}.{1}.txt"]
)
def test_a_number_that_goes_with_the_rate_counts_steps(form):
    files = [form.format(rate, number) for number, rate in enumerate(RATES, 1)]
    assert {repetition for _, repetition in said(files, rates=RATES)} == {None}
    assert len({words for words, _ in said(files, rates=RATES)}) == 1


@pytest.mark.parametrize("form", ["memfile-{}.txt", "memfile_run{}.txt", "{:03}.memfile.txt"])
@pytest.mark.parametrize("first", [1, 22])
def test_a_number_that_counts_trials_is_told_for_the_models_to_group_them(form, first):
    numbers = range(first, first + 5)
    assert said([form.format(number) for number in numbers]) == [("memfile", number) for number in numbers]


def test_the_first_of_copies_has_no_number():
    files = ["memfile 800.txt", "memfile 800 (2).txt", "memfile 800 (3).txt"]
    assert said(files, rates=[800] * 3) == [("memfile", None), ("memfile", 2), ("memfile", 3)]
    repeated = ["500-1", "600-1", "700-1", "800-1", "700-2", "700-3"]  # by a search
    assert {*said(repeated, rates=[int(name[:3]) for name in repeated])} == {(None, None)}


def test_of_files_of_whole_ramps_and_of_trials_without_a_rate_it_counts_repetitions():
    files = [f"memfile-{number}.txt" for number in (1, 2, 3)]
    repeated = [("memfile", 1), ("memfile", 2), ("memfile", 3)]
    assert said(files, rates=[1000] * 3, alone=False) == repeated
    assert said(files) == repeated
    assert said([f"memfile-{number}.txt" for number in (10, 20)]) == [("memfile 10", None), ("memfile 20", None)]


@pytest.mark.parametrize("told", FORMS["neighbours"])
def test_percentages_tell_set_ups_apart_if_the_same_rates_have_several(told):
    assert [words for words, _ in said([*told], rates=[int(file[-7:-4]) for file in told])] == [*told.values()]


@pytest.mark.parametrize("told", FORMS["ordered"])
def test_a_number_that_only_orders_folders_is_none_of_their_words(told):
    assert without_order(told) == {name: rest for name, rest in told.items() if rest}


def test_all_rates_of_a_file_are_none_of_its_words():
    (name,) = names(["memfile-1000-4000.txt"]).values()
    assert name.says({1000.0, 2000.0, 4000.0}, lambda _: False, alone=False) == Said("memfile")


def test_words_that_are_known_are_not_told_again():
    assert said(["perfdhcp-memfile-1000.txt"], rates=[1000], known={"perfdhcp", "memfile"}) == [(None, None)]


def test_one_file_alone_says_the_same_as_among_its_repetitions():
    assert said(["mysql-800-4.txt"], rates=[800]) == [("mysql", 4)]


@pytest.mark.parametrize(("level", "above", "beside", "repeats"), FORMS["levels"])
def test_a_folder_called_by_a_number_counts_repetitions_if_its_neighbours_count(level, above, beside, repeats):
    assert level_counts(level, above, [*beside]) is repeats


def test_an_archive_is_called_as_its_folder_would_be():
    names = "run1.tar.gz", "run1.tgz", "run1.tar.xz", "run1.ZIP", "run1"
    assert {ARCHIVES.sub("", name) for name in names} == {"run1"}


@given(st.lists(st.text(st.characters(exclude_characters="/\0"), min_size=1, max_size=40), unique=True, max_size=6))
def test_no_name_fails_and_none_loses_its_words(files):
    for file, name in names(files).items():
        told = name.says({1000.0}, lambda _: False, alone=True)
        assert told.words is None or all(word.strip() for word in told.words.split(" "))
        assert name.tokens == split(file)
        assert told.repetition is None or 0 <= told.repetition <= 999
