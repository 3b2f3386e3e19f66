"""`continue` on another machine: refused in words, or measured apart; never mixed silently."""

import json

import pytest

from bareline import __version__
from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.platforms.null import NullAllocation, NullPlatform
from bareline.report.blocks import Table
from bareline.report.content.document import document_of
from bareline.report.content.facts import facts_by_machine
from bareline.report.content.method import method
from bareline.session import machine
from bareline.session.reparse import reparse_run
from bareline.session.status import status_of
from bareline.store.run import Run
from bareline.testing.messages import raises
from bareline.vocabulary.errors import OtherMachine, StoreError

OLD = {"cpu.model": "EPYC", "kernel.release": "6.1", "mpi.flavour": "openmpi",
       "mpi.version": "4.1.4", "node.name": "one", "node.count": 1}  # fmt: skip


@pytest.fixture
def on(monkeypatch):
    """Let platforms have these facts beside the old ones."""

    def go(**facts):
        told = {**OLD, **{name.replace("__", "."): value for name, value in facts.items()}}
        monkeypatch.setattr(NullAllocation, "facts", lambda self: dict(told))

    go()
    return go


@pytest.fixture
def killed(make_run, execute, on):
    """Make a run that was killed after some of its 16 trials; its raw outputs are there."""

    def make(finished=7, **head):
        run = make_run(launches=8, min_launches=8, **head)
        execute(run)
        records = run.path / "records.jsonl"
        lines = records.read_bytes().splitlines(keepends=True)
        records.write_bytes(b"".join(lines[:finished]))
        return Run.open(run.path)

    return make


def sessions_of(run):
    return [record.session for record in run.records()]


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({"cpu__model": "Xeon"}, "processor of a was EPYC, is Xeon"),
        ({"kernel__release": "3.10"}, "kernel of a was 6.1, is 3.10"),
        ({"mpi__flavour": "mpich"}, "MPI of a was openmpi 4.1.4, is mpich 4.1.4"),
        ({"mpi__version": "5.0"}, "MPI of a was openmpi 4.1.4, is openmpi 5.0"),
        ({"node__name": "two"}, "host of a was one, is two"),
        ({"node[1].cpu.model": "Xeon"}, "processor of a was EPYC, is EPYC and Xeon"),
    ],
)
def test_another_machine_is_refused_before_anything_is_measured(killed, execute, on, facts, told):
    run = killed()
    before = (run.path / "records.jsonl").read_bytes()
    on(**facts)
    with pytest.raises(OtherMachine) as caught:
        execute(run)
    said = str(caught.value).replace("of b was", "of a was")
    assert told in said and str(run.path) in said and "--anyway" in said
    assert caught.value.exit_code == 2
    assert (run.path / "records.jsonl").read_bytes() == before
    assert run.facts()["a"] == OLD


def test_another_bareline_is_refused(killed, execute, monkeypatch):
    run = killed()
    monkeypatch.setattr(machine, "__version__", "9.9")
    with raises(OtherMachine, "BL-SESSION-427", __version__, "9.9"):
        execute(run)


def test_another_host_is_refused_for_platforms_that_run_on_it(killed, execute, monkeypatch):
    run = killed()
    monkeypatch.setattr(machine.socket, "gethostname", lambda: "elsewhere")
    execute(run)  # null platforms measure nothing of this machine
    run = killed()
    monkeypatch.setattr(NullAllocation, "helpers_s", lambda self: 0.0)
    monkeypatch.setattr(machine.socket, "gethostname", lambda: "third")
    with raises(OtherMachine, "BL-SESSION-427"):
        execute(run)


def test_nodes_that_a_batch_system_chooses_may_have_other_names(killed, execute, on, monkeypatch):
    run = killed()
    monkeypatch.setattr(NullPlatform, "borrows", True)
    on(node__name="two")
    assert execute(run).remaining == 0


def test_the_same_machine_goes_on_as_one(killed, execute, on):
    run = killed()
    on(load__one_minute=0.7)
    execute(run)
    assert sessions_of(run) == [1] * 7 + [2] * 9
    assert {one.machine for one in run.sessions().values()} == {1}
    records = read_runs([run])
    assert records.cube.values.shape[-1] == 8
    assert not any("two-machines" in one for one in records.trials["caveats"])
    assert run.facts()["a"]["load.one_minute"] == 0.7
    assert "load.one_minute" not in run.facts_of(1)["a"]


@pytest.fixture
def moved(killed, execute, on):
    """A run that went on on a machine with another processor and kernel."""
    run = killed()
    on(cpu__model="Xeon", kernel__release="3.10")
    execute(run, anyway=True)
    return run


def test_anyway_keeps_both_descriptions_and_says_what_differs(moved):
    assert sessions_of(moved) == [1] * 7 + [2] * 9
    assert [one.machine for one in moved.sessions().values()] == [1, 2]
    assert moved.facts_of(1)["a"] == moved.facts(1)["a"] == OLD
    assert moved.facts_of(2)["a"] == moved.facts(2)["a"]
    assert moved.facts(2)["a"]["cpu.model"] == "Xeon"
    assert moved.facts()["a"] == OLD
    (event,) = [e for e in moved.events() if "goes on on machine 2" in e.event]
    assert "was EPYC, is Xeon" in event.event and "was 6.1, is 3.10" in event.event
    shown = facts_by_machine(moved)
    assert list(shown) == [f"{name} on machine {m}" for m in (1, 2) for name in "ab"]
    (line,) = status_of(moved)["machines"]
    assert line.startswith("machine 2 from ") and "is Xeon" in line
    document = document_of(Comparison(read_runs([moved])))
    (table,) = [block for block in method(document) if isinstance(block, Table)]
    rows = {row[0].text: row[1].text for row in table.rows}
    assert "is Xeon" in rows["measured on several machines"]


def test_blocks_of_two_machines_are_never_paired(moved):
    records = read_runs([moved])
    # Seven trials: the fourth block was half measured on either machine.
    assert records.cube.values.shape[-1] == 9
    both = (~(records.cube.values != records.cube.values)).all(axis=(0, 1))
    assert both.sum() == 7
    (row,) = Comparison(records).table.iter_rows(named=True)
    assert "two-machines" in row["caveats"]


def test_what_only_one_machine_measured_has_no_caveat(killed, execute, on, moved):
    whole = killed(finished=16)
    on(cpu__model="Xeon")
    assert execute(whole).remaining == 0
    assert sessions_of(whole) == [1] * 16
    assert list(whole.sessions()) == [1]


def test_a_third_sitting_on_a_machine_that_is_known_needs_no_leave(moved, execute, on):
    records = moved.path / "records.jsonl"
    lines = records.read_bytes().splitlines(keepends=True)
    for facts, machine_number in (({}, 1), ({"cpu__model": "Xeon", "kernel__release": "3.10"}, 2)):
        records.write_bytes(b"".join(lines[:12]))
        on(**facts)
        execute(Run.open(moved.path))
        assert sessions_of(moved)[12:] == [3] * 4
        assert moved.sessions()[3].machine == machine_number


def test_a_platform_that_comes_up_as_another_within_a_session_begins_a_new_one(
    make_run, execute, on, monkeypatch
):
    monkeypatch.setattr(NullPlatform, "boots", True)
    times = iter(range(99))
    told = lambda self: {**OLD, "cpu.model": "EPYC" if next(times) < 2 else "Xeon"}  # noqa: E731
    monkeypatch.setattr(NullAllocation, "facts", told)
    run = make_run(launches=8, min_launches=8, blocks_per_boot=4)
    execute(run)
    assert set(sessions_of(run)[:8]) == {1} and set(sessions_of(run)[8:]) == {2}
    assert [one.machine for one in run.sessions().values()] == [1, 2]


def test_a_run_of_before_sessions_is_held_against_its_header_and_facts(killed, execute, on):
    run = killed()
    (run.path / "sessions.jsonl").unlink()
    file = run.path / "records.jsonl"
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    file.write_text("".join(json.dumps({k: v for k, v in line.items() if k != "session"}) + "\n"
                            for line in lines))  # fmt: skip
    on(cpu__model="Xeon")
    with raises(OtherMachine, "BL-SESSION-427", "Xeon"):
        execute(Run.open(run.path))
    execute(Run.open(run.path), anyway=True)
    assert sessions_of(run) == [1] * 7 + [2] * 9
    assert read_runs([run]).cube.values.shape[-1] == 9


def test_facts_are_parsed_again_for_the_session_that_they_are_of(moved):
    before = {number: moved.facts_of(number) for number in (1, 2)}
    assert reparse_run(moved).counts == (16, 0)
    assert {number: moved.facts_of(number) for number in (1, 2)} == before
    assert sessions_of(moved) == [1] * 7 + [2] * 9


@pytest.mark.parametrize(
    ("key", "value"),
    [("number", 0), ("number", 10**30), ("machine", "1"), ("machine", -3), ("host", []),
     ("versions", {"bareline": 3}), ("differs", "x")],
)  # fmt: skip
def test_a_session_that_is_damaged_is_refused_in_a_line(moved, execute, key, value):
    file = moved.path / "sessions.jsonl"
    lines = file.read_text().splitlines()
    odd = json.dumps({**json.loads(lines[1]), key: value})
    file.write_text(f"{lines[0]}\n{odd}\n")
    for read in (Run.facts, Run.sessions, status_of, lambda run: read_runs([run]), execute):
        with raises(StoreError, "BL-STORE-109", "sessions.jsonl", "2"):
            read(Run.open(moved.path))


@pytest.mark.parametrize("value", [0, 10**7, 10**30, "2"])
def test_a_record_of_a_session_that_cannot_be_is_damaged(moved, value):
    file = moved.path / "records.jsonl"
    lines = file.read_text().splitlines()
    odd = json.dumps({**json.loads(lines[9]), "session": value})
    file.write_text("".join(f"{line}\n" for line in [*lines[:9], odd, *lines[10:]]))
    with raises(StoreError, "BL-STORE-109", "10", "session"):
        list(moved.records())


def test_facts_of_a_later_session_are_not_written_through_a_link(killed, execute, tmp_path):
    run = killed()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (run.path / "facts" / "2").symlink_to(elsewhere)
    with raises(StoreError, "BL-STORE-101"):
        execute(run)
    assert list(elsewhere.iterdir()) == []
