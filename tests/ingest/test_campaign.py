"""campaign.yaml: what it may say, how a fault is explained, what paths and words mean."""

import json
import time
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from dropline.ingest.campaign import FIELDS, WHOLE_NUMBERS, Campaign, CampaignError, match_template
from dropline.ingest.synonyms import normalise

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(ROOT.glob("examples/*/campaign.yaml"))


def campaign(text):
    return Campaign.parse(text.encode())


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_the_examples_are_valid_and_named_like_their_folder(path):
    assert Campaign.parse(path.read_bytes()).campaign == path.parent.name


def test_the_published_schema_is_the_model():
    published = ROOT / "docs/reference/campaign.schema.json"
    assert published.read_text() == json.dumps(Campaign.model_json_schema(), indent=2) + "\n"


def test_only_the_name_is_required_and_the_method_is_that_of_isc():
    read = campaign("campaign: kea-2.2\n")
    assert dict(read.method) == {"discard_lowest": 1, "discard_highest": 1, "discard_from_runs": 5, "exceed_ratio": 0.5}
    assert read.sidecar[:5] == ("{stem}.json", "{stem}.meta.json", "{prefix}-meta.json", "meta.json", "metadata.json")


def test_words_of_yaml_stay_what_was_written():
    read = campaign(
        "campaign: a\ndefaults: {product_version: 2.10, threads: 4}\n"
        "values: {threading: {on: multi, 1: single}}\ntags: dhcp\nstarted_on: 2026-11-20\ntitle:\n"
    )
    assert (read.defaults.product_version, read.defaults.threads) == ("2.10", 4)
    assert read.values == {"threading": {"on": "multi", "1": "single"}}
    assert (read.tags, read.started_on.isoformat(), read.title) == (("dhcp",), "2026-11-20", None)


KEPT = yaml.safe_load(Path(__file__).with_name("campaign.yml").read_text("utf-8"))
FAULTS = KEPT["faults"] | {
    "depth": ("campaign: " + "[" * 5000, "deeper"),
    "control characters": ("campaign: \x00\n", "not readable as YAML"),
    "size": ("campaign: a\ndescription: " + "x" * 300_000, "larger than"),
}


@pytest.mark.parametrize(("text", "words"), [(v[0], v[1:]) for v in FAULTS.values()], ids=FAULTS)
def test_a_fault_is_explained_with_place_and_remedy(text, words):
    with pytest.raises(CampaignError) as caught:
        Campaign.parse(text.encode(), "x/campaign.yaml")
    assert str(caught.value).startswith("x/campaign.yaml")
    for word in words:
        assert word in str(caught.value)


def test_all_faults_are_told_at_once():
    with pytest.raises(CampaignError) as caught:
        campaign("campaign: a\ntitel: x\ntag: y\n")
    assert len(str(caught.value).splitlines()) == 2


@pytest.mark.parametrize(("template", "path", "said"), KEPT["matches"])
def test_a_template_takes_a_path_apart(template, path, said):
    found = match_template(template, path)
    assert (found and found.groupdict()) == said


def test_the_first_matching_template_speaks():
    read = campaign("campaign: a\npath: ['{backend}/{_}.txt', '{scenario}/{_}']\n")
    assert read.match("mysql/1.txt").groupdict() == {"backend": "mysql"}
    assert read.match("renew/1.log").groupdict() == {"scenario": "renew"}
    assert read.match("a/b/c") is None


names = st.text(st.characters(blacklist_characters="/_", min_codepoint=33), min_size=1, max_size=8)
words = st.fixed_dictionaries({f: names for f in FIELDS if f not in WHOLE_NUMBERS | {"offered_rate"}})


@given(words, st.integers(0, 10**9), st.lists(names, max_size=3))
def test_a_path_written_by_a_template_is_read_back(said, threads, folders):
    text = "/".join(f"{{{field}}}_x" for field in said) + "/a_{threads}_b"
    path = text.format(**said, threads=threads)
    expected = said | {"threads": str(threads)}
    assert match_template(text, path).groupdict() == expected
    assert match_template("**/" + text, "/".join([*folders, path])).groupdict() == expected


@given(st.text(max_size=200))
def test_any_template_compiles_or_is_explained(text):
    try:
        match_template(text, "a_b/c")
    except ValueError as error:
        assert repr(text) in str(error)


OUTPUTS = ["v4_mt4_mysql/rep1/rate740.txt", "v4_st_memfile/rep1/rate740.txt"]


@pytest.mark.parametrize(("path", "said"), KEPT["doubts"].values(), ids=KEPT["doubts"])
def test_a_path_that_does_not_fit_the_files_is_told_with_examples(path, said):
    read = Campaign.parse(f"campaign: a\npath: '{path}'\n".encode(), "x/campaign.yaml")
    assert [*read.doubts(OUTPUTS)] == said


def test_a_path_made_to_be_slow_is_matched_fast():
    fields = [f for f in FIELDS if f not in WHOLE_NUMBERS]
    template = "**/" + "_".join(f"{{{field}}}" for field in fields) + "_end"
    began = time.process_time()
    for path in ("_" * 4096, "a_" * 2048, "a/" * 2047 + "a_", "a" * 4096):
        assert match_template(template, path) is None
    assert time.process_time() - began < 1


IGNORED = [
    ("discarded/a/1.txt", True),
    ("runs/discarded/1.txt", False),
    ("runs/x.log", True),
    ("ramps.json", True),
    ("runs/1.txt", False),
]


@pytest.mark.parametrize(("path", "ignored"), IGNORED)
def test_ignore_takes_names_paths_and_whole_folders(path, ignored):
    assert campaign("campaign: a\nignore: ['discarded/', '*.log', ramps.json]\n").ignores(path) is ignored


WORDS = yaml.safe_load(Path(__file__).with_name("words.yml").read_text("utf-8"))
MEANT = [(column, value, meant) for column, words in WORDS["meant"].items() for value, meant in words.items()]


@pytest.mark.parametrize(("column", "value", "meant"), MEANT)
def test_words_are_brought_to_one_vocabulary(column, value, meant):
    assert normalise(column, value) == (meant if isinstance(meant, dict) else {column: meant})


@pytest.mark.parametrize(
    ("column", "value"), [(name, value) for name in WORDS["refused"] for value in WORDS["refused"][name]]
)
def test_a_value_no_column_can_hold_is_refused(column, value):
    with pytest.raises(ValueError, match=column):
        normalise(column, value)


@given(st.sampled_from(FIELDS), st.none() | st.booleans() | st.integers() | st.floats() | st.text())
def test_a_word_once_normalised_stays_as_it_is(column, value):
    try:
        said = normalise(column, value)
    except ValueError:
        return
    for name, word in said.items():
        assert normalise(name, word)[name] == word
        assert str(word).encode()
