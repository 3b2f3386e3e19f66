"""Facts of several nodes become those of a platform."""

from __future__ import annotations

from collections.abc import Callable

from bareline.facts.gather import merge_nodes, parse_node
from bareline.report.content.facts import table


def test_equal_nodes_are_shown_once(capture: Callable[[str], str]) -> None:
    node = parse_node(capture("kvm-guest"))
    merged = merge_nodes([node, dict(node)])
    assert merged == {**node, "node.count": 2, "node.heterogeneous": False}


def test_names_counters_and_calibration_do_not_make_nodes_differ(
    capture: Callable[[str], str],
) -> None:
    node = parse_node(capture("kvm-guest"))
    other = {**node, "node.name": "guest1", "cpu.steal_ratio": 0.3, "cpu.base_hz": 2.59611e9}
    merged = merge_nodes([node, other])
    assert merged["node.heterogeneous"] is False
    assert merged["node[1].node.name"] == "guest1"
    assert "node[1].cpu.base_hz" not in merged


def test_nodes_that_differ(capture: Callable[[str], str]) -> None:
    node = parse_node(capture("kvm-guest"))
    other = {key: value for key, value in node.items() if key != "net.driver"} | {"net.mtu": 9000}
    merged = merge_nodes([node, other])
    assert merged["net.mtu"] == 1400
    assert merged["node[1].net.mtu"] == 9000
    assert merged["node[1].missing"] == "net.driver"
    assert merged["node.heterogeneous"] is True
    rows = {row.fact.key: row for row in table({"a": merge_nodes([node]), "b": merged})}
    assert rows["net.mtu"].texts == {"a": "1400", "b": "1400; node 1: 9000"}
    assert rows["net.driver"].texts["b"] == "virtio_net; node 1: -"
    assert not rows["net.mtu"].equal


def test_a_thousand_nodes_are_told_by_groups(capture: Callable[[str], str]) -> None:
    node = parse_node(capture("kvm-guest"))
    nodes = [{**node, "node.name": f"n{number}"} for number in range(1024)]
    for number in (3, *range(512, 1024)):
        nodes[number]["net.mtu"] = 9000
    merged = merge_nodes(nodes)
    assert merged["node[3,512-1023].net.mtu"] == 9000
    rows = {row.fact.key: row for row in table({"a": merged})}
    assert rows["net.mtu"].texts["a"] == "1400; nodes 3,512-1023: 9000"
    assert rows["node.name"].texts["a"].endswith("; 1020 other values on 1020 nodes")


def test_scattered_nodes_and_many_values_are_no_page_of_their_own(
    capture: Callable[[str], str],
) -> None:
    node = parse_node(capture("kvm-guest"))
    nodes = [{**node, "net.mtu": 9000 if number % 2 else 1400} for number in range(1024)]
    for number, each in enumerate(nodes):
        each["node.name"] = f"n{number if number < 100 else 'x'}"
    rows = {row.fact.key: row for row in table({"a": merge_nodes(nodes)})}
    assert rows["net.mtu"].texts["a"] == ("1400; nodes 1,3,5,7,9,11,13,15 and 504 more: 9000")
    assert "; nodes 100-1023: nx; " in rows["node.name"].texts["a"], "the largest group is told"
