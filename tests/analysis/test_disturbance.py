"""Disturbed trials are left out of ladders where enough others are, and always counted."""

from bareline.analysis.numbers.disturbance import disturbed_trials, without_disturbed_trials
from bareline.analysis.numbers.records import read_runs
from bareline.analysis.numbers.summary import summarize
from bareline.analysis.words.comparison import Comparison
from bareline.analysis.words.disturbance import disturbed_words, exclusion_words
from bareline.report.terminal.results import comparison_blocks
from bareline.vocabulary.model import Sample


def planted(plant_study, disturbed, launches=10):
    """Return records whose trials are a hundred times as slow where they are disturbed."""

    def samples(trial, generator):
        slow = 100.0 if trial.block in disturbed else 1.0
        yield Sample("time", 1e-3 * slow * (1 + 0.001 * trial.block), {"point": 0})

    def caveats(trial):
        return ("busy-machine", "profiled") if trial.block in disturbed else ()

    run = plant_study(samples, {"probe": "null"}, launches=launches, caveats=caveats)
    return read_runs([run])


def test_disturbed_trials_are_left_out_and_counted(plant_study):
    """Ladders with 109 of 120 disturbed trials gave their interval without a word."""
    records = planted(plant_study, {0, 1, 2})
    quiet, seen = without_disturbed_trials(records)
    assert (seen.trials, seen.disturbed, seen.left_out) == (20, 6, 6)
    assert set(summarize(quiet)["n"]) == {7}
    assert summarize(quiet)["value"].max() < 2e-3
    assert exclusion_words(seen) == (
        "6 of 20 trials were disturbed by other programs' load: 6 left out"
    )


def test_cases_that_would_keep_too_few_launches_keep_all(plant_study):
    records = planted(plant_study, set(range(8)))
    same, seen = without_disturbed_trials(records)
    assert (seen.disturbed, seen.left_out) == (16, 0)
    assert set(summarize(same)["n"]) == {10}
    assert "16 used, since fewer than six launches" in exclusion_words(seen)


def test_quiet_records_stay_as_they_are(plant_study):
    records = planted(plant_study, set())
    same, seen = without_disturbed_trials(records)
    assert same is records
    assert exclusion_words(seen) == disturbed_words(seen) == ""


def test_a_comparison_names_its_disturbed_trials(plant_study):
    records = planted(plant_study, {0, 1})
    assert disturbed_trials(records).disturbed == 4
    text = " ".join(str(block) for block in comparison_blocks(Comparison(records)))
    assert "4 of 20 trials were disturbed by other programs' load" in text
