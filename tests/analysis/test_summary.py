"""Summaries of planted values."""

from bareline.analysis.numbers.records import read_runs
from bareline.analysis.numbers.summary import summarize
from bareline.vocabulary.model import Sample


def test_summaries_hold_the_order_statistics(plant):
    values = iter([3.0, 1.0, 2.0, 9.0, 5.0, 4.0, 8.0, 7.0, 6.0, 10.0])

    def samples(platform, block, generator):
        yield Sample("latency", next(values) if platform == "a" else 1.0, {"size_bytes": 8})

    summary = summarize(read_runs([plant(samples)]))
    row = summary.filter(summary["platform"] == "a").row(0, named=True)
    # n = 10: the second smallest to the second largest covers the median with 97.9 %.
    assert (row["n"], row["value"], row["lo"], row["hi"]) == (10, 5.5, 2.0, 9.0)


def test_too_wide_intervals_say_so_for_the_headline_only(plant, pingpong):
    run = plant(pingpong(spread=0.2), precision=0.01)
    summary = summarize(read_runs([run]))
    flagged = summary.filter(summary["caveats"].list.contains("precision-not-reached"))
    assert set(flagged["metric"]) == {"latency"}
