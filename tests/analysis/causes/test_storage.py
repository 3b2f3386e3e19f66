"""Causes in the storage, which nothing bounds."""

from bareline.analysis.judgements.causes.cause import CauseStatus

from .planted import explained, found, names


def test_another_file_system_or_kind_of_disk_is_named():
    write = found("io.sequential", 3.0)
    one = explained(write, facts={"fs.type": "ext4"}, base={"fs.type": "xfs"})
    assert "ext4 against xfs" in one.standing[0].words
    assert one.word is CauseStatus.DIFFERS
    turns, still = ({"fs.disk.rotational": state} for state in (True, False))
    assert "its disk rotates" in explained(write, facts=turns, base=still).standing[0].words
    assert not explained(write, facts=turns, base=turns).known


def test_disks_do_not_go_through_the_adapter():
    facts = {"net.kind": "emulated", "cpu.emulated": True}
    base = {"net.kind": "virtual link", "cpu.emulated": False}
    write = found("io.sequential", 9.0)
    assert names(explained(write, facts=facts, base=base)) == ["emulated processor"]


def test_who_serves_it_and_where_it_lies_is_named():
    write = found("io.sequential", 3.0)
    near = {"fs.type": "nfs4", "fs.server": "host"}
    far = {**near, "fs.server": "own"}
    (cause,) = explained(write, facts=far, base=near).standing
    assert "behind the network" in cause.words
    assert "the machine below" in cause.words
    gluster = {"fs.type": "fuse.glusterfs", "fs.bricks": 1}
    assert "GlusterFS of 1 brick " in explained(write, facts=gluster, base=near).standing[0].words
    loop = {"fs.type": "ext4", "fs.below": "ext4"}
    plain = {"fs.type": "ext4"}
    assert "ext4 in a file on ext4" in explained(write, facts=loop, base=plain).standing[0].words
    striped = {"fs.type": "lustre", "fs.striping": "over 4 targets, 1048576 B each"}
    other = {"fs.type": "lustre", "fs.striping": "over 1 targets, 1048576 B each"}
    assert "over 4 targets" in explained(write, facts=striped, base=other).standing[0].words
    assert not explained(write, facts=near, base=near).known
