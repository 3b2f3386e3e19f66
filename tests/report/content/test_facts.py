"""Facts of platforms side by side."""

from __future__ import annotations

from pathlib import Path

import pytest

from bareline.facts.gather import parse_node
from bareline.report.content.facts import table, to_rows
from bareline.vocabulary.facts import FactGroup, Kind, format_fact

DATA = Path(__file__).parents[2] / "facts" / "data"
CAPTURES = ("kvm-guest", "intel-smt", "minimal-guest")


def capture(name: str) -> str:
    return (DATA / f"{name}.out").read_text(encoding="utf-8")


def test_diff_leaves_out_what_means_nothing() -> None:
    left, right = parse_node(capture("kvm-guest")), parse_node(capture("minimal-guest"))
    rows = {row.fact.key: row for row in table({"a": left, "b": right}) if row.differs}
    assert rows["net.mtu"].texts == {"a": "1400", "b": "1500"}
    assert rows["net.shaped_bps"].texts == {"a": "-", "b": "950 Mb/s"}
    assert all(row.fact.kind is Kind.CHARACTERISTIC for row in rows.values())
    assert not {"node.name", "load.one_minute", "memory.available_bytes"} & rows.keys()
    assert not any(row.differs for row in table({"a": left, "b": dict(left)}))
    # The guest without ethtool does not tell its other offloads, which says nothing about them.
    assert "net.offload.rx_hash" not in rows
    assert rows["net.offload.tso"].texts["b"] == "-"


def test_table_is_grouped_and_ordered() -> None:
    facts = {name: parse_node(capture(name)) for name in CAPTURES}
    rows = table(facts)
    groups = [row.fact.group for row in rows]
    assert groups == sorted(groups, key=list(FactGroup).index)
    assert rows[0].fact.key == "cpu.model"
    assert {row.fact.key for row in rows} == set().union(*facts.values())


def test_machine_readable_rows() -> None:
    rows = to_rows({"a": {"net.mtu": 1500}, "b": {"net.mtu": 9000, "vm.nic": "virtio"}})
    assert [row["value"] for row in rows if row["key"] == "net.mtu"] == [1500, 9000]
    nic = [row for row in rows if row["key"] == "vm.nic"]
    assert nic[0]["value"] is None
    assert nic[0]["group"] == "Virtualization"


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("net.speed_bps", 10e9, "10.0 Gb/s"),
        ("memory.transfers_per_s", 2666e6, "2666 MT/s"),
        ("cpu.peak_flops_per_core", 11.2e9, "11.2 Gflop/s"),
        ("memory.total_bytes", 16 << 30, "16 GiB"),
        ("cpu.smt", True, "on"),
        ("cpu.flags.avx2", True, "yes"),
        ("cpu.steal_ratio", 0.0123, "1.2 %"),
        ("mpi.flavour", "openmpi", "Open MPI"),
        ("load.uptime_s", 7200.0, "2 h 00 min"),
        ("net.mtu", None, "-"),
        ("node[1].net.mtu", 9000, "9000"),
        ("vm.disk_bytes", 1 << 30, "1 GiB"),
        ("planted.factor", 1.5, "1.50"),
    ],
)
def test_values_for_people(key: str, value: float | str | None, text: str) -> None:
    assert format_fact(key, value) == text


def test_what_only_a_program_tells_differs_between_platforms_that_ran_it():
    key = "library.blas_kernels"

    def differs(left, right):
        return any(row.differs for row in table({"a": left, "b": right}) if row.fact.key == key)

    assert differs({key: "Haswell"}, {key: "Prescott"})
    assert not differs({key: "Haswell"}, {})
