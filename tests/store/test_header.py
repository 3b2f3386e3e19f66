"""run.toml: what is written is read; what is damaged is refused with its key."""

import pytest

from bareline.store.header import HEADER_FILE, read_header
from bareline.testing.messages import raises
from bareline.vocabulary.errors import StoreError


@pytest.fixture
def run(make_run):
    return make_run()


def change(run, old, new):
    file = run.path / HEADER_FILE
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


def test_what_was_written_is_read(run):
    assert read_header(run.path) == run.header


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("schema = 1", "schema = 2", "BL-STORE-103"),
        ("schema = 1", "schema = 0", "BL-STORE-103"),
        ('baseline = "a"', 'baseline = "z"', "BL-STORE-899"),
        ('baseline = "a"', "baseline = 3", "BL-STORE-641"),
        ('headline = "time"', 'headline = "space"', "BL-STORE-789"),
        ('better = "lower"', 'better = "worse"', "BL-STORE-641"),
        ("margin = 0.02", "margin = 2.0", "BL-STORE-641"),
        ("seed = ", "seed = 'x' # ", "BL-STORE-641"),
        ("[study", "[[study", "BL-STORE-641"),
    ],
)
def test_damage_is_refused_with_its_key(run, old, new, code):
    change(run, old, new)
    with raises(StoreError, code, str(run.path)):
        read_header(run.path)


def test_a_folder_that_is_no_run_says_so(tmp_path):
    with raises(StoreError, "BL-STORE-971"):
        read_header(tmp_path)


def test_a_probe_without_a_title_is_called_by_its_name(run):
    change(run, 'title = "the planted time"\n', "")
    assert read_header(run.path).probes["null"]["title"] == "null"


def test_the_hash_is_of_all_that_determines_the_plan(run):
    from dataclasses import replace

    header = run.header
    changed = [
        replace(header, seed=header.seed + 1),
        replace(header, baseline="b"),
        replace(header, platforms={**header.platforms, "c": {"type": "null"}}),
        replace(header, study={**header.study, "extra": 1}),
    ]
    assert len({one.config_hash for one in (header, *changed)}) == 5
    assert replace(header, created="x", versions={}).config_hash == header.config_hash


def test_defaults_of_parameters_are_part_of_what_is_measured(run):
    assert run.header.defaults["null"]["points"] == 1
    change(run, "points = 1\n", "points = 2\n")
    assert read_header(run.path).edited


@pytest.mark.parametrize("value", ["nan", "[1]", "1979-05-27"])
def test_a_default_that_is_no_parameter_is_refused(run, value):
    change(run, "points = 1\n", f"points = {value}\n")
    with raises(StoreError, "BL-STORE-641", "probe.null.defaults.points"):
        read_header(run.path)
