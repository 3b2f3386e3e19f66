"""What terms explain together: they add up, four words, no more than was lost."""

from collections import Counter

import numpy as np
import pytest

from bareline.analysis.judgements.causes import search
from bareline.analysis.judgements.causes.case import Rule
from bareline.analysis.judgements.causes.cause import Cause, CauseStatus, Term
from bareline.analysis.judgements.causes.explanation import Explanation
from bareline.analysis.judgements.causes.search import explain, load_rules
from bareline.analysis.judgements.causes.share import Share
from bareline.analysis.judgements.causes.sums import sum_of
from bareline.analysis.judgements.causes.terms import MeasuredTerm
from bareline.probes.base import load_probes
from bareline.vocabulary.facts import FACT_KEYS
from bareline.vocabulary.model import Layer
from bareline.vocabulary.verdicts import Verdict

from .planted import HASWELL, NEHALEM, SMALL, explained, found, names, processor


def cause(name, lo=None, hi=None, terms=(Term.MEMORY,), **more):
    share = None if lo is None else Share(hi, lo, hi)
    return Cause(f"words of {name}", terms, share, name=name, rule=name, **more)


def explanation(ratio, *causes, half=1.02, measured=()):
    loss = found("memory.stream", ratio, half=half)
    whole = sum_of(causes, measured, Share.of(loss.points[0].ratio))
    return Explanation(loss, loss.points[0], whole.causes, whole.terms)


def measured(lo, hi, term=Term.MEMORY, **more):
    return MeasuredTerm(term, Share((lo + hi) / 2, lo, hi), "x.probe", "x is worse", **more)


def test_terms_of_different_things_add_up():
    one = explanation(2.0, cause("a", 0.2, 0.3), cause("b", 0.0, 0.5, (Term.FILES,)))
    assert (one.explained.lo, one.explained.hi) == pytest.approx((0.2, 0.8))
    # Bounds add, whatever they have in common: 2 / 1.02 - 1 - 0.8 to 2 * 1.02 - 1 - 0.2.
    assert (one.left.lo, one.left.hi) == pytest.approx((2 / 1.02 - 1.8, 2.04 - 1.2))


def test_facts_of_one_measured_term_share_it():
    both = cause("a", 0.0, 5.0), cause("b", 0.0, 5.0)
    one = explanation(3.0, *both, measured=[measured(1.9, 2.1)])
    assert (one.explained.lo, one.explained.hi) == (1.9, 2.1)
    assert sum(each.share.value for each in one.sized) == pytest.approx(2.0)
    assert all(each.share.hi == 2.1 and each.share.lo == 0 for each in one.sized)


def test_facts_without_a_share_have_the_rest_of_a_measured_term():
    one = explanation(3.0, cause("a", 0.5, 0.6), cause("b"), measured=[measured(2.0, 2.0)])
    shares = {each.name: each.share for each in one.sized}
    assert shares["a"].value == pytest.approx(0.6) and shares["b"].value == pytest.approx(1.4)


def test_clocks_and_instructions_multiply_within_their_term():
    of = (Term.ARITHMETIC,)
    one = explanation(6.0, cause("a", 0.5, 0.5, of), cause("b", 3.0, 3.0, of))
    assert one.explained.value == pytest.approx(1.5 * 4 - 1)


@pytest.mark.parametrize(
    ("ratio", "given", "word"),
    [
        (2.0, cause("x", 0.9, 1.1), CauseStatus.EXPLAINS),
        (3.0, cause("x", 0.0, 0.4), CauseStatus.CONTRIBUTES),
        (3.0, cause("x", 0.0, 5.0), CauseStatus.MAY_EXPLAIN),
        (3.0, cause("x"), CauseStatus.DIFFERS),
        (3.0, cause("x", withdrawn="y"), None),
    ],
)
def test_four_words_tell_what_is_known_of_a_cause(ratio, given, word):
    one = explanation(ratio, given)
    assert one.word is word and one.word_of(one.causes[0]) is word


def test_what_nothing_bounds_takes_nothing_from_what_explains():
    one = explanation(2.0, cause("a", 0.9, 1.1), cause("b"))
    assert {each.name: one.word_of(each) for each in one.causes} == {
        "a": CauseStatus.EXPLAINS,
        "b": CauseStatus.DIFFERS,
    }


def test_what_is_left_over_and_does_not_matter_is_nothing():
    """1.5 % are less than the margin: nothing remains unexplained."""
    assert explanation(2.03, cause("x", 1.0, 1.0), half=1.001).word is CauseStatus.EXPLAINS
    assert explanation(2.10, cause("x", 1.0, 1.0), half=1.001).word is CauseStatus.CONTRIBUTES


def test_what_is_left_over_is_a_time_and_no_factor():
    """At least 0.292 times remain unexplained, it said before."""
    one = explanation(2.0, cause("x", 0.2, 0.4), half=1.05)
    assert one.left.value == pytest.approx(0.6)
    assert one.left.lo < one.left.value < one.left.hi


# Too much -----------------------------------------------------------------------------------------


def test_a_cause_that_explains_more_than_was_lost_is_withdrawn_with_the_number():
    one = explanation(2.0, cause("delay", 3.0, 5.0))
    assert not one.known
    assert one.withdrawn.startswith(
        "delay: the cost would be at least 300 % of the baseline's time"
    )


def test_of_two_causes_the_one_is_withdrawn_without_which_nothing_is_left():
    for facts in ((cause("a", 0.5, 0.6), cause("b", 1.0, 1.02, (Term.FILES,))),
                  (cause("b", 1.0, 1.02, (Term.FILES,)), cause("a", 0.5, 0.6))):  # fmt: skip
        one = explanation(2.0, *facts)
        assert [each.name for each in one.standing] == ["b"] and one.word is CauseStatus.EXPLAINS
        assert "and with b more than was measured" in one.withdrawn


def test_a_fact_that_its_own_measurement_contradicts_is_refused_with_the_number():
    one = explanation(3.0, cause("a", 1.8, 2.0), measured=[measured(0.1, 0.2)])
    assert not one.sized
    assert "at least 180 % of the baseline's time, but x is worse" in one.withdrawn


def test_facts_of_a_term_that_is_not_worse_are_refused():
    other = (Term.MEMORY, Term.FILES)
    acquitted = [measured(-0.01, 0.01, refuses="x is not worse: 1.00")]
    one = explanation(3.0, cause("a", 0.0, 2.0), cause("b", terms=other), measured=acquitted)
    assert names(one) == ["b"] and "x is not worse" in one.withdrawn
    acquitted += [measured(-0.01, 0.01, Term.FILES, refuses="y is not worse")]
    one = explanation(3.0, cause("b", terms=other), measured=acquitted)
    assert not names(one) and "y is not worse" in one.withdrawn


def test_what_is_left_may_be_nothing_withdraws_nothing():
    one = explanation(2.0, cause("a", 0.9, 2.0), cause("b", 0.05, 0.1, (Term.FILES,)))
    assert not one.withdrawn


# Which losses, which rules ------------------------------------------------------------------------


def test_only_certain_losses_are_explained():
    calm = found("compute.dgemm", 1.4, verdict=Verdict.INCONCLUSIVE)
    gain = found("compute.linpack", 0.5, verdict=Verdict.FASTER)
    assert explain([calm, gain], {"vm": NEHALEM, "bare": HASWELL}, "bare") == []


def test_what_an_earlier_layer_said_in_full_is_marked():
    facts, base = {"cpu.emulated": True}, {"cpu.emulated": False}
    files, stream = found("io.create", 50.0), found("net.nuttcp", 9.0, nodes=2)
    (one,) = explained(files, facts=facts, base=base).causes
    assert not one.repeated
    told = explain([files, stream], {"vm": facts, "bare": base}, "bare")
    assert [[each.repeated for each in one.causes] for one in told] == [[True], [False]]


def test_every_cause_that_concerns_a_loss_is_there_or_says_why_not():
    one = explained(found("compute.dgemm", 1.4), facts=NEHALEM, base=HASWELL)
    concerned = {
        rule.name for rule in load_rules() if rule.concerns(one.finding.layer, "compute.dgemm")
    }
    assert {each.rule for each in one.causes} | set(one.absent) == concerned
    assert one.absent["clock"] == "cpu.max_hz or cpu.base_hz is not known of vm and bare"


def test_rules_need_facts_and_probes_that_exist():
    probes = load_probes()
    rules = [rule.name for rule in load_rules()]
    assert len(set(rules)) == len(rules)
    for rule in load_rules():
        assert {*rule.probes, *rule.only} <= set(probes)
        for key in (key for need in rule.needs for key in need.split(" or ")):
            assert key in FACT_KEYS or key.startswith("sim."), key


def _fails(case):
    return 1 / 0


def _returns_text(case):
    return "hot"


@pytest.mark.parametrize(
    ("find", "reason"),
    [(_fails, "its rule failed: ZeroDivisionError"), (_returns_text, "its rule returned str")],
)
def test_a_rule_of_a_plug_in_that_fails_loses_no_other_cause(monkeypatch, find, reason):
    foreign = Rule("foreign", (Layer.COMPUTE,), find)
    monkeypatch.setattr(search, "load_rules", lambda: (foreign, *load_rules()))
    loss = found("compute.dgemm", 1.4)
    one = explained(loss, facts=NEHALEM, base=HASWELL)
    assert one.absent["foreign"].startswith(reason)
    monkeypatch.undo()
    assert one.causes == explained(loss, facts=NEHALEM, base=HASWELL).causes


def test_the_probe_to_run_is_named_where_the_rung_below_was_not_measured():
    loss = found("mpi.pingpong", 3.0, **SMALL)
    assert explained(loss).probes_to_run == ("net.sockperf", "net.nuttcp")
    one = explained(found("compute.dgemm", 3.0))
    assert one.probes_to_run == ("compute.peak",)
    sockets = found("net.sockperf", 3.0, half=1.01, nodes=2, base=8e-4)
    assert explained(loss, sockets).probes_to_run == ()


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
            "net.offload.tso": bool(rng.integers(2)),
            "mpi.transport": str(rng.choice(["tcp", "shm"])),
            "sim.latency_s": float(rng.uniform(1e-6, 1e-3)),
        }
        return {key: value for key, value in known.items() if rng.uniform() < 0.8}

    beside = [
        one(probe, Verdict(rng.choice([Verdict.SLOWER, Verdict.EQUIVALENT])))
        for probe in _BELOW
        if rng.uniform() < 0.7
    ]
    return one(str(rng.choice(_PROBES)), Verdict.SLOWER), beside, facts(), facts()


def test_whatever_differs_what_is_said_agrees_with_itself():
    rng = np.random.default_rng(24)
    words, withdrawn = Counter(), Counter()
    for _ in range(1500):
        loss, beside, facts, base = _random_case(rng)
        one = explained(loss, *beside, facts=facts, base=base)
        words[one.word] += 1
        withdrawn["more than was measured" in one.withdrawn] += 1
        assert (one.word is None) == (not one.known)
        least = sum(term.share.lo for term in one.terms)
        assert least <= one.extra.hi + 0.03 * (1 + one.extra.hi), "explains more than was lost"
        assert one.left.value == pytest.approx(one.extra.value - one.explained.value)
        assert one.explained.value == pytest.approx(sum(term.share.value for term in one.terms))
        for each in one.causes:
            if each.share is not None:
                assert each.share.lo <= each.share.value <= each.share.hi, each
                assert not each.withdrawn
        for term in one.terms:  # a measurement counts once, however many facts share it
            own = [each for each in one.sized if each.rule in term.rules]
            alone = [each.share.value for each in own if each.terms == (term.term,)]
            if term.probe:
                assert sum(alone) <= term.share.value + 1e-9 + abs(term.share.lo)
    assert min(words[word] for word in (*CauseStatus, None)) > 25, words
    assert withdrawn[True] > 50
