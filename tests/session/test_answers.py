"""What a run of a published study can judge, before it begins."""

from dataclasses import replace

import pytest

from bareline.platforms.config import platforms_from_toml
from bareline.report.content.answers import claimed_metrics, judged_claims, names_of
from bareline.session.answers import Foresight
from bareline.session.begin import choose_baseline, without_emulated
from bareline.session.expected import ClaimObstacle
from bareline.session.outlook import Earlier
from bareline.study.catalogue import find_study
from bareline.study.plan import choose
from bareline.study.study import study_from_toml
from bareline.vocabulary.errors import StudyError
from bareline.vocabulary.model import PROCESSOR_LAYERS

REAL = {"type": "null", "nodes": 1000}
#: Guests whose processors are emulated by request, whatever this machine can do.
EMULATED = {"type": "vm", "acceleration": "tcg"}


def cast(name, taken, scale=None):
    """Cast a study: a platform table for each role that is taken."""
    whole = find_study(name)
    study = whole if scale is None else whole.at_scale(scale)
    given = [f"{role}={role if role in taken else ''}" for role in study.roles]
    study = study.with_roles(given, [])
    specs = list(platforms_from_toml({"platform": taken}, where="test").values())
    return whole, study, specs, choose_baseline(study, specs, None)


def answers(name, taken, scale=None):
    whole, study, specs, base = cast(name, taken, scale)
    metrics = claimed_metrics(whole.publications)
    return Foresight(whole, judged_claims, metrics, Earlier()).answers(study, specs, base)


def lost(found):
    return {one.obstacle: one.claims for one in found.lost}


def on_all(name, table):
    return {role: dict(table) for role in find_study(name).roles}


def test_real_machines_with_enough_nodes_judge_every_claim():
    found = answers("flexible-fabric", on_all("flexible-fabric", REAL))
    assert (found.claims, found.of, found.lost, found.few) == (11, 11, (), False)
    assert found.better == ()


def test_a_role_that_nobody_takes_is_named():
    taken = on_all("flexible-fabric", REAL)
    del taken["sriov"]
    found = answers("flexible-fabric", taken)
    assert lost(found) == {ClaimObstacle.ROLE: 4}
    assert str(found.lost[0]) == "4 of a role that no platform takes (sriov)"
    assert [str(form) for form in found.better] == [
        "a real machine for each role (--as ROLE=PLATFORM) judges 11"
    ]


def test_each_claim_is_lost_to_one_obstacle():
    pair = REAL | {"nodes": 2}
    taken = {"native": pair, "virtual": EMULATED, "older-native": pair}
    for scale in (None, "small"):
        found = answers("infinicloud", taken, scale)
        assert found.claims + sum(lost(found).values()) == found.of
        assert found.of == 31
        assert {ClaimObstacle.ROLE, ClaimObstacle.EMULATED} <= set(lost(found))
        assert (ClaimObstacle.SCALE in lost(found)) == (scale == "small")


def test_two_nodes_do_not_hold_what_the_paper_ran_on_many():
    found = answers("magellan", on_all("magellan", REAL | {"nodes": 2}))
    assert found.few
    assert max(lost(found), key=lost(found).get) is ClaimObstacle.SIZE
    small = next(form for form in found.better if "--scale small" in form.command)
    assert small.claims > found.claims
    text = str(found.refusal("magellan", names_of(["magellan"])))
    assert text.startswith(f"study 'magellan': {found.claims} of 19 claims of Magellan")
    assert small.command in text
    assert text.endswith("--yes measures all the same")


def test_a_form_of_which_nothing_fits_is_not_offered():
    pair = REAL | {"nodes": 2}
    found = answers("magellan", {"10g": pair, "1g": pair}, scale="small")
    commands = [form.command for form in found.forms]
    assert "`bareline run magellan`" not in commands


def test_without_the_simulator_its_study_is_not_offered(monkeypatch):
    def refuse(*_given, **_options):
        raise StudyError("no role has a platform", where="study 'nebula-simulated'")

    monkeypatch.setattr("bareline.session.answers.cast_study", refuse)
    found = answers("nebula", on_all("nebula", REAL | {"nodes": 2}))
    assert not any("simulated" in form.command for form in found.forms)


def test_what_is_put_into_a_simulation_is_not_judged():
    network = {"ib": "ib-qdr", "tcpoib": "tcp-over-ib", "1g": "1g"}
    taken = {
        role: {"type": "sim", "network": network.get(role, "10g"), "nodes": 64}
        for role in find_study("magellan-simulated").roles
    }
    found = answers("magellan-simulated", taken)
    assert lost(found)[ClaimObstacle.GIVEN] > 0
    assert not any("real machine" in form.command for form in found.forms)


def test_few_launches_leave_no_interval():
    whole, study, specs, base = cast("flexible-fabric", on_all("flexible-fabric", REAL))
    metrics = claimed_metrics(whole.publications)
    ahead = Foresight(whole, judged_claims, metrics, Earlier())
    found = ahead.answers(study.with_launches(2), specs, base)
    assert lost(found) == {ClaimObstacle.LAUNCHES: 11}
    assert found.lost[0].detail == "2 are planned"


def test_a_program_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    taken = on_all("flexible-fabric", {"type": "netns"})
    found = answers("flexible-fabric", taken)
    assert "nuttcp" in next(
        one.detail for one in found.lost if one.obstacle is ClaimObstacle.PROGRAM
    )


@pytest.mark.parametrize("scale", [None, "small"])
def test_emulated_processors_are_asked_for_networks_and_files_only(scale):
    _, study, specs, base = cast("nebula", {"bare": REAL, "tuned": EMULATED}, scale)
    asking = without_emulated(study, specs, base)
    assert asking.emulated == ["tuned"]
    choice = choose(asking, specs)
    layers = {
        (specs[number].name, asking.find_probe(choice.cases[at].probe).layer)
        for number, at in choice.cells
    }
    assert not {("tuned", layer) for layer in PROCESSOR_LAYERS} & layers
    assert {layer for name, layer in layers if name == "tuned"} >= {"network", "mpi", "io"}
    # Nothing is compared with what the baseline computes: it does so once or twice.
    computing = [
        cell.launches
        for (_, at), cell in choice.cells.items()
        if asking.find_probe(choice.cases[at].probe).layer in PROCESSOR_LAYERS
    ]
    assert max(computing) == asking.emulated_launches


def test_a_study_of_no_publication_asks_emulated_processors_for_all():
    study = find_study("quick")
    specs = list(
        platforms_from_toml({"platform": {"a": REAL, "b": EMULATED}}, where="test").values()
    )
    assert without_emulated(study, specs, "a") is study


def test_an_emulated_baseline_is_compared_with_emulated_guests():
    _, study, specs, base = cast("nebula", {"bare": EMULATED, "tuned": EMULATED})
    assert without_emulated(study, specs, base) is study


def test_the_plan_of_a_run_leaves_out_the_same():
    _, study, specs, base = cast("nebula", {"bare": REAL, "tuned": EMULATED}, "small")
    asking = without_emulated(study, specs, base)
    again = study_from_toml(asking.to_toml(), where="run.toml")
    assert choose(again, specs) == choose(asking, specs)


def test_a_few_of_many_is_less_than_a_third():
    found = answers("flexible-fabric", on_all("flexible-fabric", REAL))
    assert not replace(found, claims=4).few
    assert replace(found, claims=3).few
