"""What causes explain together: one factor a measurement, three words, no more than was lost."""

from collections import Counter

import numpy as np
import pytest

from bareline.analysis.judgements.causes.cause import Cause, Word
from bareline.analysis.judgements.causes.explanation import Explanation, product, without_excess
from bareline.analysis.judgements.causes.search import RULES, explain
from bareline.analysis.numbers.row import Estimate
from bareline.probes.base import load_probes
from bareline.vocabulary.facts import FACT_KEYS
from bareline.vocabulary.verdicts import Verdict

from .planted import HASWELL, NEHALEM, SMALL, explained, found, processor


def explanation(ratio, *causes, half=1.02):
    loss = found("compute.dgemm", ratio, half=half)
    kept = without_excess(causes, loss.points[0].ratio)
    return Explanation(loss, loss.points[0], kept)


def test_what_rests_on_one_measurement_is_one_factor():
    one = Cause("a", 2.9, 3.1, "compute.peak")
    two = Cause("b", 2.8, 3.0, "compute.peak")
    other = Cause("c", 1.0, 2.0)
    assert product([one, two]) == (2.8, 3.1)
    assert product([one, two, other]) == pytest.approx((2.8, 6.2))
    assert product([other, other]) == pytest.approx((1.0, 4.0))


def test_parts_of_a_program_s_time_add_up():
    computation, communication = Cause("a", 1.2, 1.3, part=True), Cause("b", 1.0, 1.5, part=True)
    assert product([computation, communication]) == pytest.approx((1.2, 1.8))
    assert product([computation, communication, Cause("c", 2.0, 2.0)]) == pytest.approx((2.4, 3.6))


@pytest.mark.parametrize(
    ("ratio", "cause", "word", "text"),
    [
        (
            2.0, Cause("x", 1.9, 2.1), Word.EXPLAINS,
            "expected 1.90 to 2.10 times, measured 2.00 [1.96, 2.04]",
        ),
        (
            3.0, Cause("x", 1.0, 1.4), Word.CONTRIBUTES,
            "measured 3.00 [2.94, 3.06], expected at most 1.40 times: "
            "2.10 to 3.06 times remain unexplained",
        ),
        (
            3.0, Cause("x", 1.0, 6.0), Word.MAY_EXPLAIN,
            "expected at most 6.00 times, measured 3.00 [2.94, 3.06]",
        ),
        (3.0, Cause("x"), Word.DIFFERS, "measured 3.00 [2.94, 3.06], effect not measured"),
        (3.0, Cause("x", withdrawn="y"), None, "no known cause"),
    ],
)  # fmt: skip
def test_four_words_tell_what_is_known_of_a_cause(ratio, cause, word, text):
    one = explanation(ratio, cause)
    assert (one.word, one.text) == (word, text)
    assert one.word_of(one.causes[0]) is word


def test_what_nothing_bounds_takes_nothing_from_what_explains():
    one = explanation(2.0, Cause("x", 1.9, 2.1, name="a"), Cause("y", name="b"))
    assert [one.word_of(cause) for cause in one.causes] == [Word.EXPLAINS, Word.DIFFERS]
    assert one.residual == pytest.approx((1.96 / 2.1, 2.04 / 1.9), rel=1e-2)


def test_bounds_that_together_lie_decades_apart_explain_nothing():
    loose = [Cause("x", 1.0, 4.0, name="a"), Cause("y", 1.0, 4.0, name="b")]
    assert explanation(3.0, loose[0]).word is Word.MAY_EXPLAIN
    assert explanation(3.0, *loose).word is Word.DIFFERS


def test_a_residual_that_does_not_matter_is_none():
    """1.5 % are less than the margin: nothing remains unexplained."""
    assert explanation(2.03, Cause("x", 2.0, 2.0), half=1.001).word is Word.EXPLAINS
    assert explanation(2.10, Cause("x", 2.0, 2.0), half=1.001).word is Word.CONTRIBUTES


# Too much -----------------------------------------------------------------------------------------


def test_a_cause_that_explains_more_than_was_lost_is_withdrawn():
    one = explanation(2.0, Cause("x", 4.0, 6.0, name="delay"))
    assert not one.known
    assert one.withdrawn == "delay: it would cost 4.00 to 6.00 times, more than was measured"


def test_of_two_causes_the_one_is_withdrawn_without_which_nothing_is_left():
    fact, measured = Cause("x", 1.5, 1.6, name="a"), Cause("y", 2.0, 2.02, "net.nuttcp", name="b")
    for causes in ((fact, measured), (measured, fact)):
        one = explanation(2.0, *causes)
        assert [cause.name for cause in one.standing] == ["b"] and one.word is Word.EXPLAINS
        assert "with b it would cost 3.00 to 3.23 times, more than was measured" in one.withdrawn


def test_causes_of_one_measurement_are_withdrawn_together():
    both = [Cause(name, 5.0, 5.1, "net.nuttcp", name=name) for name in ("a", "b")]
    one = explanation(2.0, *both, Cause("z", 1.0, 2.1, name="c"))
    assert [cause.name for cause in one.standing] == ["c"]


def test_a_residual_that_may_be_one_withdraws_nothing():
    assert not explanation(2.0, Cause("x", 1.9, 3.0), Cause("y", 1.05, 1.1)).withdrawn


def test_without_an_interval_the_models_are_taken_as_they_are():
    loss = found("mpi.pingpong", 2.0, **SMALL)
    kept = (Cause("x", 1.0, 2.0),)
    exact = Estimate(2.0)
    assert without_excess((Cause("x", 3.0, 4.0),), exact)[0].withdrawn
    assert Explanation(loss, loss.points[0], kept).word is Word.MAY_EXPLAIN


def test_what_may_cost_nothing_is_a_possible_cause():
    """However well its most fits: 1.00 to 2.01 explains no 2.00."""
    assert explanation(2.0, Cause("x", 1.0, 2.01)).word is Word.MAY_EXPLAIN
    assert explanation(2.0, Cause("x", 1.5, 2.01)).word is Word.EXPLAINS


# Which losses, which rules ------------------------------------------------------------------------


def test_only_certain_losses_are_explained():
    calm = found("compute.dgemm", 1.4, verdict=Verdict.INCONCLUSIVE)
    gain = found("compute.linpack", 0.5, verdict=Verdict.FASTER)
    assert explain([calm, gain], {"vm": NEHALEM, "bare": HASWELL}, "bare") == []


def test_what_an_earlier_layer_said_in_full_is_marked():
    facts, base = {"cpu.emulated": True}, {"cpu.emulated": False}
    mpi, stream = found("mpi.allreduce", 50.0, **SMALL), found("net.nuttcp", 9.0, nodes=2)
    (one,) = explained(mpi, facts=facts, base=base).causes
    assert not one.repeated
    told = explain([mpi, stream], {"vm": facts, "bare": base}, "bare")
    assert [[cause.repeated for cause in one.causes] for one in told] == [[True], [False]]


def test_every_cause_that_concerns_a_loss_is_there_or_says_why_not():
    one = explained(found("compute.dgemm", 1.4), facts=NEHALEM, base=HASWELL)
    concerned = {rule.name for rule in RULES if rule.concerns(one.finding.layer, "compute.dgemm")}
    assert {cause.rule for cause in one.causes} | set(one.absent) == concerned
    assert one.absent["clock"] == "cpu.max_hz or cpu.base_hz is not known of vm and bare"


def test_rules_need_facts_and_probes_that_exist():
    probes = load_probes()
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)
    for rule in RULES:
        assert {*rule.probes, *rule.only} <= set(probes)
        for key in (key for need in rule.needs for key in need.split(" or ")):
            assert key in FACT_KEYS or key.startswith("sim."), key


# Whatever differs ---------------------------------------------------------------------------------

_PROBES = ("mpi.pingpong", "mpi.alltoall", "net.nuttcp", "net.sockperf", "compute.dgemm", "npb.cg")
_BELOW = (*_PROBES, "compute.peak", "memory.stream", "mpi.allreduce")


def _random_case(rng):
    """Give a loss, what was measured beside it, facts of both sides and a split, at random."""

    def one(probe, verdict):
        worse = verdict is Verdict.SLOWER
        ratio = float(np.exp(rng.uniform(0.1, 5))) if worse else float(rng.uniform(0.9, 1.0))
        size = int(2 ** rng.integers(0, 23))
        point = f"size_bytes={size}" if probe.startswith("mpi.") else ""
        of_mpi = {"rate": False, "base": 2e-6 + size / rng.uniform(1e8, 2e10)}
        more = of_mpi if probe.startswith("mpi.") else {}
        half = float(rng.uniform(1.001, 1.3))
        nodes = 1 if probe.startswith(("compute", "memory")) else int(rng.integers(1, 4))
        return found(probe, ratio, verdict=verdict, half=half, nodes=nodes, point=point, **more)

    def facts():
        known = {
            **processor(*rng.choice(["avx512f", "avx2", "fma"], size=2)),
            "cpu.max_hz": float(rng.uniform(1e9, 4e9)),
            "net.mtu": int(rng.choice([1500, 9000])),
            "net.speed_bps": float(10 ** rng.uniform(8, 11)),
            "net.delay_s": float(rng.uniform(0, 1e-3)),
            "net.kind": str(rng.choice(["hardware", "paravirtual", "emulated"])),
            "mpi.transport": str(rng.choice(["tcp", "shm"])),
            "sim.latency_s": float(rng.uniform(1e-6, 1e-3)),
        }
        return {key: value for key, value in known.items() if rng.uniform() < 0.8}

    beside = [
        one(probe, rng.choice([Verdict.SLOWER, Verdict.EQUIVALENT]))
        for probe in _BELOW
        if rng.uniform() < 0.7
    ]
    return one(rng.choice(_PROBES), Verdict.SLOWER), beside, facts(), facts()


def test_whatever_differs_what_is_said_agrees_with_itself():
    rng = np.random.default_rng(24)
    words, withdrawn = Counter(), Counter()
    for _ in range(1500):
        loss, beside, facts, base = _random_case(rng)
        one = explained(loss, *beside, facts=facts, base=base)
        lo, hi = one.residual
        words[one.word] += 1
        withdrawn["more than was measured" in one.withdrawn] += 1
        assert (one.word is None) == (not one.standing) == one.text.startswith("no known cause")
        if one.bounded:
            assert hi >= 1 / 1.02, "explains certainly more than was lost"
            assert (one.word in (Word.EXPLAINS, Word.MAY_EXPLAIN)) == (
                lo is not None and lo <= 1.02
            )
            assert one.explained[1] is None or one.explained[1] / one.explained[0] <= 10
        for cause in one.causes:
            assert cause.lo >= 1 and (cause.hi is None or cause.lo <= cause.hi), cause
            assert not cause.vague
        for rest in {cause.measurement for cause in one.bounded} - {""}:
            # However many rest on it, a measurement counts once.
            group = [cause for cause in one.bounded if cause.measurement == rest]
            assert product(group) == (min(c.lo for c in group), max(c.hi for c in group))
    assert min(words[word] for word in (*Word, None)) > 25, words
    assert withdrawn[True] > 50
