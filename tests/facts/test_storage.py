"""Facts of the file system under a folder."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bareline.facts.gather import parse_node
from bareline.facts.storage import parse_storage


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


LUSTRE = """\
/lustre/project
stripe_count:  4 stripe_size:   1048576 pattern:       raid0 stripe_offset: -1

"""
COMPOSITE = """\
/lustre/project
  lcm_layout_gen:    0
  lcm_mirror_count:  1
  lcm_entry_count:   3
    lcme_id:             N/A
      stripe_count:  1       stripe_size:   1048576       pattern:       raid0
"""
BEEGFS = """\
Entry type: directory
EntryID: root
Metadata node: node1 [ID: 1]
Stripe pattern details:
+ Type: RAID0
+ Chunksize: 512K
+ Number of storage targets: desired: 4
+ Storage Pool: 1 (Default)
"""
GPFS = """\
file name:            /gpfs/project
metadata replication: 2 max 2
data replication:     1 max 2
immutable:            no
appendOnly:           no
flags:
storage pool name:    data
fileset name:         root
"""


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (LUSTRE, "over 4 targets, 1048576 B each"),
        (LUSTRE.replace("  4 ", "  -1 "), "over all targets, 1048576 B each"),
        (COMPOSITE, "a layout of 3 components"),
        (BEEGFS, "over 4 targets, chunks of 512K"),
        (GPFS, "pool data, data replication 1"),
        ("lfs getstripe: cannot open: Permission denied\n", None),
        ("", None),
    ],
)
def test_striping_of_parallel_file_systems(told, expected):
    """After the examples of their manuals: none of them was there to ask."""
    assert parse_storage({"striping": told}).get("fs.striping") == expected
