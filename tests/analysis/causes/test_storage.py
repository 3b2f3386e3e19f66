"""Causes in the storage, which nothing bounds."""

from bareline.analysis.causes.cause import Word

from .planted import explained, found, names


def test_another_file_system_or_kind_of_disk_is_named():
    write = found("io.sequential", 3.0)
    one = explained(write, facts={"fs.type": "ext4"}, base={"fs.type": "xfs"})
    assert "ext4 against xfs" in one.standing[0].words
    assert one.word is Word.DIFFERS
    turns, still = ({"fs.disk.rotational": state} for state in (True, False))
    assert "its disk rotates" in explained(write, facts=turns, base=still).standing[0].words
    assert not explained(write, facts=turns, base=turns).known


def test_disks_do_not_go_through_the_adapter():
    facts = {"net.kind": "emulated", "cpu.emulated": True}
    base = {"net.kind": "virtual link", "cpu.emulated": False}
    write = found("io.sequential", 9.0)
    assert names(explained(write, facts=facts, base=base)) == ["emulated processor"]
