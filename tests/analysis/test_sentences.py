"""What the sentences of a verdict say: certain first, nothing dropped, one unit, one direction."""

# ruff: noqa: E501, sentences are easier to compare on one line

import re
from dataclasses import replace

import numpy as np
import pytest

from bareline.analysis.judgements.findings import Finding
from bareline.analysis.numbers.records import read_runs
from bareline.analysis.numbers.row import Estimate, Row
from bareline.analysis.numbers.sizes import CLASSES
from bareline.analysis.words.comparison import Comparison
from bareline.analysis.words.parts import Amount, Break, Interval, Lead, PlatformName, sentence
from bareline.analysis.words.sentences import clauses_of
from bareline.vocabulary.caveats import Caveat, briefs, read_caveats
from bareline.vocabulary.model import Failed, Layer, Metric, Sample, Stage, format_point
from bareline.vocabulary.place import Place
from bareline.vocabulary.verdicts import Verdict, grade_of


def cell(ratio, lo, hi, verdict, *, label="", n=10, base=1.4e-6, unit="s", **more):
    """Make a point as `find` gives it; its label is its only parameter."""
    given = Row(
        Place("p", "m", point=format_point({"kernel": label}) if label else ""), platform="b", baseline="a", layer=Layer.MPI,
        metric=Metric(unit, "lower"), n=n, n_baseline=n, base=Estimate(base),
        ratio=None if ratio is None else Estimate(ratio, lo, hi), verdict=verdict,
        grade=grade_of(verdict, sure=True),
    )  # fmt: skip
    return replace(given, **more)


def said(*points, rate=False, caveats=(), margin=0.02, baseline="a", platform="b"):
    """Report one finding of these points."""
    return "; ".join(
        sentence(clause).text
        for clause in clauses_of(
            [
                finding_of(
                    "p", *points, rate=rate, caveats=caveats, baseline=baseline, platform=platform
                )
            ],
            margin,
        )
    )


def finding_of(
    name, *points, title="", platform="b", baseline="a", rate=False, where="", caveats=()
):
    metric = Metric(points[0].metric.unit, "higher" if rate else "lower")
    own = tuple(
        replace(point, place=replace(point.place, probe=name, used=2), platform=platform, baseline=baseline,
                metric=metric, caveats=read_caveats(caveats))
        for point in points
    )  # fmt: skip
    title = title or name
    ending = where.strip() or name.removeprefix(title).strip()
    return Finding(title, own, telling=("kernel",), where=ending)


point = cell


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (said(point(2.34, 2.1, 2.5, Verdict.SLOWER)), "p is 2.34 times slower [2.10, 2.50] on b (a 1.40 µs)"),
        # An improvement has the interval of what it says.
        (said(point(0.25, 0.2, 0.5, Verdict.FASTER), rate=True), "p is 4.00 times higher [2.00, 5.00] on b (a 1.40 µs)"),
        (said(point(1.031, 1.02, 1.042, Verdict.SLOWER), rate=True), "p is 3.0 % lower [2.0, 4.0] on b (a 1.40 µs)"),
        (said(point(0.962, 0.95, 0.98, Verdict.FASTER)), "p is 4.0 % faster [2.0, 5.3] on b (a 1.40 µs)"),
        (
            said(point(1.2, 1.1, 1.3, Verdict.SLOWER, label="8 B"),
                 point(2.0, 1.9, 2.2, Verdict.SLOWER, label="64 B", base=2e-6)),
            "p is between 1.20 and 2.00 times slower on b (largest at 64 B: 2.00 [1.90, 2.20], a 2.00 µs)",
        ),
        (
            said(point(1.3, 1.2, 1.4, Verdict.SLOWER, label="x"), point(1.0, 0.99, 1.01, Verdict.EQUIVALENT, label="y")),
            "p is 1.30 times slower [1.20, 1.40] at x on b (a 1.40 µs; equal within 2 % at 1 point)",
        ),
        (
            said(point(1.3, 1.2, 1.4, Verdict.SLOWER, label="x"), point(0.8, 0.7, 0.9, Verdict.FASTER, label="y")),
            "p is 1.30 times slower [1.20, 1.40] at x and 25 % faster [11, 43] at y on b (a 1.40 µs, a 1.40 µs)",
        ),
        # Wide and undecided: from where to where, in one unit.
        (said(point(0.8, 0.5, 1.3, Verdict.INCONCLUSIVE), rate=True), "undecided: p on b (between 2.00 times higher and 1.30 times lower). About 50 more launches (10 to more than 200) would be enough to call the difference likely"),
        (said(point(1.12, 1.04, 1.2, Verdict.INCONCLUSIVE)), "undecided: p on b (between 4.0 and 20 % slower). About 1 more launch (1 to 5) would be enough to call the difference likely"),
        (said(point(1.01, 0.99, 1.03, Verdict.INCONCLUSIVE)), "undecided: p on b (at most 3.0 % slower). About 20 more launches (2 to 190) would show equality"),
        (said(point(1.5, None, None, Verdict.INCONCLUSIVE, n=3)), "not judged yet: p on b (3 of 6 launches): p takes 1.50 times as long as on a"),
        (said(point(None, None, None, Verdict.FAILED)), "failed: p on b"),
        # A bound that lost launches leave open.
        (said(point(1.8, 1.2, None, Verdict.SLOWER)), "p is 1.80 times slower [1.20, unlimited] on b (a 1.40 µs)"),
    ],
)  # fmt: skip
def test_words_agree_with_their_numbers(told, words):
    assert told == words


open_finding = finding_of


def told_of(*findings, with_platforms=True):
    clauses = clauses_of(findings, 0.02, with_platforms=with_platforms)
    return "; ".join(sentence(clause).text for clause in clauses)


NARROW = point(1.01, 0.99, 1.03, Verdict.INCONCLUSIVE, label="8 B")
WIDE = point(0.8, 0.5, 1.3, Verdict.INCONCLUSIVE, label="64 B")
SAME = point(1.0, 0.99, 1.01, Verdict.EQUIVALENT, label="1 KiB")
FEW = point(1.5, None, None, Verdict.INCONCLUSIVE, n=3)
FEWER = point(1.5, None, None, Verdict.INCONCLUSIVE, n=2)
APART = point(None, None, None, Verdict.INCONCLUSIVE, difference=Estimate(0.5, -1.0, 2.0), base=0.0)


@pytest.mark.parametrize(
    ("told", "words"),
    [
        # One range for all of a platform, the widest, in the direction of its own metric.
        (
            told_of(open_finding("p", NARROW), open_finding("q", WIDE, SAME, rate=True)),
            "undecided at 2 of 3 points: p and q on b (the other points are equal within 2 %). "
            "The widest interval is that of q at 64 B: between 2.00 times higher and 1.30 times lower. About 50 more launches (10 to more than 200) would decide 2 of the points",
        ),
        # A step names its platforms at its beginning.
        (
            told_of(open_finding("p", NARROW), open_finding("q", WIDE), with_platforms=False),
            "undecided at 2 points: p and q. The widest interval is that of q at 64 B: between 2.00 times faster and 1.30 times slower. About 50 more launches (10 to more than 200) would decide 2 of the points",
        ),
        (
            told_of(open_finding("p", NARROW), open_finding("p", NARROW, platform="c"), open_finding("q", WIDE)),
            "undecided at 2 points: p and q on b. The widest interval is that of q at 64 B: between 2.00 times faster and 1.30 times slower. About 50 more launches (10 to more than 200) would decide 2 of the points; undecided: p on c (at most 3.0 % slower). About 20 more launches (2 to 190) would show equality",
        ),
        # Too few launches are another reason: they are described.
        (
            told_of(open_finding("p", FEW), open_finding("q", FEWER), open_finding("r", NARROW)),
            "not judged yet: p and q on b (2 to 3 of 6 launches): p takes 1.50 times as long as on a; q takes 1.50 times as long as on a; undecided: r on b (at most 3.0 % slower). About 20 more launches (2 to 190) would show equality",
        ),
        # What is off the scale of ratios has no end in it, and no number of launches.
        (
            told_of(open_finding("p", APART), open_finding("q", APART)),
            "undecided at 2 points: p and q on b. The widest interval is that of p: a difference from -1.00 s to 2.00 s",
        ),
        # Classes of one probe are named behind it; all of them are the probe.
        (
            told_of(*(open_finding(f"p {own}", NARROW, title="p") for own in ("below 8 KiB", "from 256 KiB")),
                    open_finding("p from 8 to 256 KiB", SAME, title="p"), with_platforms=False).partition("; ")[2],
            "undecided at 2 points: p (below 8 KiB, from 256 KiB). The widest interval is that of p below 8 KiB at 8 B: at most 3.0 % slower. About 20 more launches (2 to 190) would decide 2 of the points",
        ),
        (
            told_of(*(open_finding(f"p {own}", NARROW, title="p") for own in ("below 8 KiB", "from 256 KiB")), with_platforms=False),
            "undecided at 2 points: p. The widest interval is that of p below 8 KiB at 8 B: at most 3.0 % slower. About 20 more launches (2 to 190) would decide 2 of the points",
        ),
        # All of one layout is that layout.
        (
            told_of(*(replace(open_finding("p", NARROW, where="between two nodes"), sizes=own) for own in (CLASSES[0], CLASSES[2])),
                    open_finding("p below 8 KiB within a node", SAME, title="p", where=" within a node"), with_platforms=False).partition("; ")[2],
            "undecided at 2 points: p between two nodes. The widest interval is that of p below 8 KiB between two nodes at 8 B: at most 3.0 % slower. About 20 more launches (2 to 190) would decide 2 of the points",
        ),
    ],
)  # fmt: skip
def test_what_is_undecided_is_collected_by_name(told, words):
    assert told == words


def test_no_undecided_finding_is_left_out():
    """Whatever their reasons are, every name stands in the clause, and one range at most."""
    generator = np.random.default_rng(3)
    kinds = (NARROW, WIDE, FEW, FEWER, APART)
    for _ in range(100):
        count = int(generator.integers(1, 12))
        findings = [
            open_finding(f"probe{at:02d}", kinds[generator.integers(len(kinds))])
            for at in range(count)
        ]
        told = told_of(*findings)
        assert all(finding.subject in told for finding in findings)
        assert told.count("widest: ") <= 1


def test_no_amount_lies_outside_its_own_brackets():
    generator = np.random.default_rng(1)
    for _ in range(300):
        middle = float(np.exp(0.3 * generator.standard_normal()))
        half = 1 + 0.2 * float(generator.random())
        verdict = Verdict.SLOWER if middle > 1 else Verdict.FASTER
        text = said(point(middle, middle / half, middle * half, verdict), rate=True)
        amount, lo, hi = re.search(r"is ([\d.]+).*\[(-?[\d.]+), ([\d.]+)\]", text).groups()
        assert float(lo) <= float(amount) <= float(hi), text


def samples_of(losses, spread):
    """Trials of several probes: a rate is lowered, a time lengthened, by the loss of the probe."""

    def samples(trial, generator):
        probe = trial.case.probe
        worse = losses[probe] if trial.platform == "b" else 1.0
        noise = float(np.exp(spread[probe] * generator.standard_normal()))
        metric = "time" if probe == "null" else "rate"
        yield Sample(metric, 1e9 / worse * noise if metric == "rate" else worse * noise,
                     {"point": 0} if probe == "null" else {})  # fmt: skip

    return samples


def test_a_certain_small_loss_comes_before_larger_undecided_ones(plant_study):
    """A certain 8 % loss used to vanish behind three noisier probes with larger ratios."""
    probes = ("compute.peak", "compute.dgemm", "compute.linpack", "compute.fft")
    losses = {
        "compute.peak": 1.5,
        "compute.dgemm": 1.08,
        "compute.linpack": 1.4,
        "compute.fft": 1.3,
    }
    spread = {name: 0.005 if name == "compute.dgemm" else 0.9 for name in probes}
    run = plant_study(samples_of(losses, spread), *({"probe": name} for name in probes))
    (statement,) = Comparison(read_runs([run])).statements
    first, second = statement.text.split("; undecided at ")
    assert "7." in first and "% lower [" in first
    for title in ("peak", "Linpack", "FFT"):
        assert title.lower() in second.lower(), statement.text


def test_what_could_not_be_measured_is_a_clause_of_its_own(plant_study):
    def samples(trial, generator):
        if trial.case.probe == "compute.fft" and trial.platform == "b":
            return Failed(Stage.EXIT, "exit code 1")
        return [Sample("rate", 1e9 * float(np.exp(0.001 * generator.standard_normal())))]

    run = plant_study(samples, {"probe": "compute.peak"}, {"probe": "compute.fft"})
    (statement,) = Comparison(read_runs([run])).statements
    assert statement.text.startswith("Compute: equal within 2 %: ")
    assert "; failed: " in statement.text and "every trial failed" in statement.text


def test_layers_with_a_certain_change_come_first(plant_study):
    def samples(trial, generator):
        noise = float(np.exp(0.001 * generator.standard_normal()))
        if trial.case.probe == "null":
            factor = 2.0 if trial.platform == "b" else 1.0
            return [Sample("time", factor * noise, {"point": 0})]
        return [Sample("rate", 1e9 * noise)]

    run = plant_study(samples, {"probe": "compute.peak"}, {"probe": "null"})
    told = [statement.text for statement in Comparison(read_runs([run])).statements]
    assert [text.partition(":")[0] for text in told] == ["Applications", "Compute"]


def test_caveats_that_matter_reach_the_sentence_with_their_count(plant_study):
    def samples(trial, generator):
        return [
            Sample("time", 1e-3 * float(np.exp(0.001 * generator.standard_normal())), {"point": 0})
        ]

    run = plant_study(
        samples, {"probe": "null"},
        caveats=lambda t: ("steal-time",) if t.platform == "b" and t.block < 3 else ("profiled",),
    )  # fmt: skip
    comparison = Comparison(read_runs([run]))
    assert "caveats: processor time stolen in 3 of 10 trials on b" in comparison.statements[0].text
    assert "profiled" not in comparison.statements[0].text
    assert "steal-time (3 of 10 trials)" in comparison.table.item(0, "caveats")


def test_too_few_trials_are_said_plainly(plant, pingpong):
    run = plant(pingpong({"b": 2.0}), launches=3, min_launches=3)
    (statement,) = Comparison(read_runs([run])).statements
    assert "not judged yet: MPI ping-pong on b (3 of 6 launches): " in statement.text


def test_parts_say_what_they_are(plant, pingpong):
    (statement,) = Comparison(read_runs([plant(pingpong({"b": 2.0}))])).statements
    kinds = {type(part) for part in statement.parts}
    assert {Amount, Interval, PlatformName} <= kinds
    evidence = statement.evidence
    assert (evidence.anchor, evidence.launches) == ("layer-mpi", "n = 10")


def test_a_study_without_steps_says_nothing_of_them(plant, pingpong):
    run = plant(pingpong({"b": 2.0}), platforms=("a", "b", "c"))
    comparison = Comparison(read_runs([run]))
    assert comparison.sentences == comparison.statements


# Steps -------------------------------------------------------------------------------------------


def test_a_ladder_says_what_each_step_changes(plant, pingpong):
    factor = {"e1000": 30.0, "virtio": 10.0, "jumbo": 10.0}
    run = plant(pingpong(factor), platforms=("bare", *factor), ladder=True)
    comparison = Comparison(read_runs([run]))
    assert comparison.rungs == ["e1000", "virtio", "jumbo", "bare"]
    steps = [step.text for step in comparison.steps]
    assert [text.partition(":")[0] for text in steps] == [
        "From e1000 to virtio", "From virtio to jumbo"
    ]  # fmt: skip
    assert "3.0" in steps[0]
    assert "faster" in steps[0]
    assert " on virtio" not in steps[0]
    assert not any("times" in p.text for p in comparison.steps[1].parts if isinstance(p, Amount))
    told = comparison.from_before.filter(headline=True).select("platform", "baseline").unique()
    assert set(told.iter_rows()) == {("virtio", "e1000"), ("jumbo", "virtio"), ("bare", "jumbo")}
    assert set(comparison.from_first["baseline"]) == {"e1000"}
    total = comparison.from_first.filter(platform="bare")["ratio"].to_numpy()
    assert total == pytest.approx(1 / 30, rel=0.05)


def test_a_step_says_what_failed_and_what_the_step_before_lacks(plant, pingpong):
    def samples(platform, block, generator):
        if (platform == "mute") or (platform == "cut" and block > 3):
            return Failed(Stage.EXIT, "exit code 1")
        return pingpong(sizes=(8, 65536), spread=0.2)(platform, block, generator)

    run = plant(samples, platforms=("bare", "whole", "mute", "cut"), ladder=True)
    told = [step.text for step in Comparison(read_runs([run])).steps]
    assert told == [
        "From whole to mute: failed: MPI ping-pong (every trial failed).",
        "From mute to cut: failed: MPI ping-pong (every trial failed on mute).",
    ]


def test_a_step_of_many_undecided_points_is_short(plant_study):
    """Every undecided point stood in the sentence with its interval and its launches."""
    probes = ("compute.peak", "compute.dgemm", "compute.linpack", "compute.fft", "null")
    run = plant_study(
        samples_of(dict.fromkeys(probes, 1.1), dict.fromkeys(probes, 0.9)),
        *({"probe": name} for name in probes),
        platforms=("bare", "a", "b"), ladder=True,
    )  # fmt: skip
    (step,) = Comparison(read_runs([run])).steps
    assert step.text.startswith("From a to b: undecided at 5 points: ")
    assert step.text.count(". The widest interval is that of ") == 1
    assert step.text.count("would ") == 1
    assert len(step.text) < 320, step.text


def test_a_sentence_of_many_clauses_can_be_set_as_a_list():
    long = sentence(
        Lead("MPI"),
        "a is ",
        Amount("2 times slower"),
        Break(),
        "b is equal",
        Break(),
        "c.",
        Break(" "),
        "Cause: d.",
    )
    assert long.text == "MPI: a is 2 times slower; b is equal; c. Cause: d."
    assert long.is_long
    assert [clause.text for clause in long.clauses] == [
        "a is 2 times slower.",
        "b is equal.",
        "c.",
        "Cause: d.",
    ]
    assert not sentence(Lead("MPI"), "a", Break(), "b").is_long


def test_caveats_that_differ_by_their_count_are_said_once():
    counts = [
        "busy-machine (1 of 6 trials)",
        "cut",
        "busy-machine (4 of 6 trials)",
        "page",
        "2 trials failed",
        "3 trials failed",
    ]
    read = {text: Caveat.read(text) for text in counts}
    assert briefs(read.values()) == {
        "busy machine in up to 4 of 6 trials": {read[counts[0]], read[counts[2]]},
        "sizes cut": {read["cut"]},
        "up to 3 trials failed": {read["2 trials failed"], read["3 trials failed"]},
    }


def test_what_is_open_at_both_ends_has_words():
    assert said(point(0.8, None, None, Verdict.INCONCLUSIVE)).endswith("(no interval)")
    open_ends = said(point(0.8, 0.0, None, Verdict.INCONCLUSIVE))
    assert open_ends == "undecided: p on b (any amount either way)"
