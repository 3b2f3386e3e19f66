"""Plans: complete, seeded, in blocks."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bareline.platforms.config import platforms_from_toml
from bareline.probes.base import find_probe
from bareline.study.order import order_block
from bareline.study.plan import choose, largest_layout, lay_out, make_plan
from bareline.study.study import study_from_toml
from bareline.testing.messages import raises
from bareline.vocabulary.errors import StudyError
from bareline.vocabulary.model import Case, Layout, Placement
from bareline.vocabulary.pinning import Pinning
from bareline.vocabulary.platform import Capacity


def study(**head):
    measures = [
        {"probe": "null", "sweep": {"points": [1, 2, 3]}},
        {"probe": "null", "params": {"spread": 0.5}, "ranks": 4, "platforms": ["a"]},
    ]
    head = {"name": "s", "launches": 7, **head}
    return study_from_toml({"study": head, "measure": measures}, where="t")


def platforms(**nodes):
    tables = {name: {"type": "null", "nodes": count} for name, count in nodes.items()}
    return list(platforms_from_toml({"platform": tables}, where="t").values())


def test_every_block_holds_every_cell_once():
    plan = make_plan(study(), platforms(a=1, b=2))
    assert [trial.index for trial in plan] == list(range(7 * 7))
    per_block = Counter((trial.block, trial.platform, trial.case) for trial in plan)
    assert set(per_block.values()) == {1}
    assert {block for block, _, _ in per_block} == set(range(7))
    assert all(trial.platform == "a" for trial in plan if trial.case.ranks == 4)


def test_the_seed_fixes_the_order_and_blocks_differ():
    specs = platforms(a=1, b=1)
    assert make_plan(study(), specs) == make_plan(study(), specs)
    assert make_plan(study(), specs) != make_plan(study(), specs, seed=99)
    orders = {
        tuple((t.platform, t.case) for t in make_plan(study(), specs) if t.block == block)
        for block in range(7)
    }
    assert len(orders) > 1


def test_more_launches_leave_earlier_blocks_as_they_are():
    specs = platforms(a=1, b=1)
    short, long = make_plan(study(), specs), make_plan(study(launches=9), specs)
    assert long[: len(short)] == short


def test_nothing_to_run_is_an_error():
    only = study_from_toml(
        {"study": {"name": "s"}, "measure": [{"probe": "null", "platforms": ["x"]}]}, where="t"
    )
    with raises(StudyError, "BL-STUDY-379"):
        make_plan(only, platforms(a=1))


@given(st.integers(1, 16), st.integers(1, 8), st.sampled_from(list(Placement)))
def test_all_ranks_are_laid_out_evenly(ranks, node_count, placement):
    case = Case(probe="null", ranks=ranks, placement=placement)
    layout, lacking = lay_out(case, Capacity(node_count))
    assert lacking == ""
    assert layout is not None
    assert layout.ranks == ranks
    assert layout.nodes <= node_count
    if placement is Placement.PACK:
        assert layout.nodes == 1
    elif ranks % node_count == 0:
        assert layout.nodes == min(node_count, ranks)


def test_what_does_not_fit_says_why():
    assert lay_out(Case(probe="null", nodes=3), Capacity(2)) == (
        None, "needs 3 nodes, the platform has 2",
    )  # fmt: skip
    crowded = Case(probe="null", ranks=6, threads=2)
    assert lay_out(crowded, Capacity(2, 4)) == (Layout(2, 3, 2), "")
    assert lay_out(crowded, Capacity(2, 4), within_cores=True) == (
        None, "needs 6 cores on a node, the platform has 4",
    )  # fmt: skip


def test_the_largest_layout_covers_all():
    plan = make_plan(study(), platforms(a=2, b=1))
    assert largest_layout(plan, "a") == Layout(2, 2, 1)
    assert largest_layout(plan, "b") == Layout(1, 1, 1)


@pytest.mark.parametrize(
    "name", ["net.nuttcp", "net.iperf3", "net.sockperf", "net.ib_write_bw", "net.ib_write_lat"]
)
def test_a_network_probe_takes_two_nodes_whatever_stands_around_it(name):
    alone = {"probe": name}
    neighbour = {"probe": "null", "ranks": 4}
    layouts = set()
    for measures in ([alone], [alone, neighbour], [{**alone, "ranks": 2}, neighbour]):
        made = study_from_toml({"study": {"name": "s"}, "measure": measures}, where="t")
        plan = make_plan(made, platforms(one=1, two=2, four=4))
        trials = [trial for trial in plan if trial.case.probe == name]
        assert {trial.case for trial in trials} == {Case(probe=name, ranks=2)}
        layouts |= {(trial.platform, trial.layout) for trial in trials}
        left_out = choose(made, platforms(one=1, two=2, four=4)).left_out
        assert [(row.platform, row.case, row.reason) for row in left_out] == [
            ("one", Case(probe=name, ranks=2), "does not fit: needs 2 nodes, the platform has 1")
        ]
    assert layouts == {("two", Layout(2, 1, 1)), ("four", Layout(2, 1, 1))}


def test_a_study_may_put_both_ends_of_a_network_probe_on_one_node():
    made = study_from_toml(
        {"study": {"name": "s"}, "measure": [{"probe": "net.nuttcp", "nodes": 1}]}, where="t"
    )
    layouts = {(trial.platform, trial.layout) for trial in make_plan(made, platforms(a=1, b=2))}
    assert layouts == {("a", Layout(1, 1, 1)), ("b", Layout(1, 1, 1))}


class Counted(list):
    """A list that counts how often it is gone through."""

    times = 0

    def __iter__(self):
        Counted.times += 1
        return super().__iter__()


def test_planning_ten_platforms_of_64_nodes_grows_with_its_cells_only(monkeypatch):
    """A block is ordered in one pass over its cells, and a case's command is made once."""
    tables = {
        f"cluster{number}": {"type": "slurm", "nodes": 64, "cores_per_node": 32}
        for number in range(10)
    }
    specs = list(platforms_from_toml({"platform": tables}, where="t").values())
    probes = ("mpi.allreduce", "mpi.bcast", "npb.cg", "npb.ep")
    measures = [
        {"probe": probe, "sweep": {"min_bytes": [8, 64]} if "mpi" in probe else {}, **keys}
        for probe in probes
        for keys in ({"ranks": "powers"}, {"nodes": "powers", "ranks_per_node": "cores"})
    ]
    big = study_from_toml({"study": {"name": "s"}, "measure": measures}, where="t")
    made = Counter()
    for probe in probes:
        kind = type(find_probe(probe))
        real = kind.command

        def counted(self, params, layout, real=real):
            made[self.name] += 1
            return real(self, params, layout)

        monkeypatch.setattr(kind, "command", counted)
    choice = choose(big, specs)
    cases = len(choice.cases)
    assert cases >= 60 and len(choice.cells) == 10 * cases
    assert sum(made.values()) == cases
    Counted.times = 0
    order_block(Counted(choice.cells), seed=1, block=0, kind="pairs")
    assert Counted.times <= 2


def placed(measure, **options):
    tables = {
        "bound": {"type": "local", "cores": [0], **options},
        "hosts": {"type": "netns"},
    }
    measures = [{"probe": "mpi.pingpong", "ranks": 2, "nodes": 1, **measure}]
    asked = study_from_toml({"study": {"name": "s"}, "measure": measures}, where="t")
    specs = list(platforms_from_toml({"platform": tables}, where="t").values())
    choice = choose(asked, specs)
    return {number: cell.layout for (number, _), cell in choice.cells.items()}, choice.left_out


def test_ranks_are_placed_as_the_platform_does_unless_the_study_says():
    within = Layout(1, 2, 1)
    layouts, _ = placed({}, ranks_per_socket=1)
    assert layouts[0] == Layout(1, 2, 1, Pinning("socket", ranks_per_socket=1))
    assert layouts[1] == within
    layouts, left_out = placed({"binding": "core"}, binding="numa")
    assert layouts == {0: Layout(1, 2, 1, Pinning("core"))}
    assert [(row.platform, row.reason) for row in left_out] == [
        ("hosts", "ranks cannot be pinned on this platform")
    ]
    assert left_out[0].case.label.endswith("bound to cores")


@pytest.mark.parametrize("profile", ["once", True])
def test_launches_under_the_profiler_are_left_out_of_simulations(profile):
    """`run magellan --scale small` mixes simulated platforms with one that is profiled."""
    tables = {"bound": {"type": "local"}, "imagined": {"type": "sim", "network": "10g"}}
    measures = [{"probe": "app.lattice", "params": {"problem_class": "S"}, "profile": profile}]
    asked = study_from_toml({"study": {"name": "s"}, "measure": measures}, where="t")
    specs = list(platforms_from_toml({"platform": tables}, where="t").values())
    choice = choose(asked, specs)
    profiled = [row for row in choice.left_out if row.case.profile]
    assert [row.platform for row in profiled] == ["imagined"]
    assert "profiled" in profiled[0].reason
    unprofiled = [case for case in choice.cases if not case.profile]
    measured_by = {specs[number].name for number, _ in choice.cells}
    assert measured_by == ({"bound", "imagined"} if unprofiled else {"bound"})


@pytest.mark.parametrize(
    ("keys", "code"),
    [
        ({"binding": "none", "ranks_per_socket": 1}, "BL-VOCABULARY-156"),
        ({"distribution": "cyclic"}, "BL-VOCABULARY-156"),
        ({"ranks_per_socket": 1, "ranks_per_numa": 1}, "BL-VOCABULARY-291"),
        ({"ranks_per_socket": 1, "distribution": "cyclic"}, "BL-VOCABULARY-556"),
        ({"binding": "tight"}, "BL-KEY-LITERAL-ERROR"),
    ],
)
def test_placements_that_contradict_themselves_are_refused(keys, code):
    with raises(StudyError, code):
        placed(keys)


@given(
    st.builds(
        Pinning,
        st.sampled_from(["none", "hwthread", "core", "numa", "socket"]),
        st.sampled_from(["block", "cyclic"]),
        st.integers(0, 64),
        st.integers(0, 64),
    )
)
def test_a_layout_is_read_as_it_was_written(pinning):
    layout = Layout(2, 4, 3, pinning)
    assert Layout.parse(str(layout)) == layout


@pytest.mark.parametrize("text", ["2x4x1 binding=tight", "2x4x1 x=1", "2x4x1 ", "2x4x1 binding"])
def test_what_is_no_layout_is_refused(text):
    with raises(ValueError, "BL-VOCABULARY-715"):
        Layout.parse(text)
