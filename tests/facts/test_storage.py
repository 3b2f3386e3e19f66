"""Facts of the file system under a folder."""

from __future__ import annotations

from collections.abc import Callable

from bareline.facts import parse_node


def test_storage_of_the_deepest_mount(
    capture: Callable[[str], str], expect: Callable[..., None]
) -> None:
    expect(
        parse_node(capture("intel-smt")),
        fs__type="xfs",
        fs__mount="/scratch/user one",
        fs__options="rw,noatime,noquota",
        fs__disk__name="sdb",
        fs__disk__model="INTEL SSDSC2BB12",
        fs__disk__rotational=False,
        fs__disk__scheduler="mq-deadline",
    )
