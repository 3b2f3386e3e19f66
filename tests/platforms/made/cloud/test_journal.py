"""What is written down before anything is made, and what a reader makes of it after a kill."""

from __future__ import annotations

import errno
import json
import os
import re

import pytest

from bareline.host.owner import owner_mark
from bareline.platforms.made.cloud import journal as remains
from bareline.platforms.made.cloud.journal import (
    PREFIX,
    SETTLED_S,
    Journal,
    is_abandoned,
    journals,
    read_journal,
)
from bareline.platforms.made.cloud.provider import INSTANCE, CloudResource

ACCOUNT = {"cloud": "here"}
#: A process of this machine that has ended: no process has its start.
DEAD = re.sub(r"-\d+-", "-1-", owner_mark())


@pytest.fixture
def journal(tmp_path):
    made = Journal(tmp_path, "openstack", "nebula", ACCOUNT)
    yield made
    os.close(made._file)


def test_what_was_asked_for_is_known_before_it_has_an_id(journal):
    thing = CloudResource(INSTANCE, f"{journal.prefix}-n1")
    journal.asked(thing)
    story = read_journal(journal.path)
    assert story.things == {thing.name: thing}
    assert story.instances == []
    assert story.may_appear(thing, story.asked_at[thing.name] + SETTLED_S - 1)
    assert not story.may_appear(thing, story.asked_at[thing.name] + SETTLED_S + 1)


def test_what_was_made_has_its_id_and_what_is_gone_is_forgotten(journal):
    first, second = (CloudResource(INSTANCE, f"{journal.prefix}-n{number}") for number in (1, 2))
    for thing, id_ in ((first, "a"), (second, "b")):
        journal.asked(thing)
        assert journal.made(thing, id_).id == id_
    journal.gone(first)
    story = read_journal(journal.path)
    assert [thing.id for thing in story.things.values()] == ["b"]
    assert story.instances == [second.name]
    assert (story.owner, story.platform, story.account) == (owner_mark(), "nebula", ACCOUNT)


def test_a_short_write_is_finished_and_a_torn_line_ends_nothing(journal, monkeypatch):
    first, second = (CloudResource(INSTANCE, f"{journal.prefix}-n{number}") for number in (1, 2))
    real = os.write
    monkeypatch.setattr(os, "write", lambda file, data: real(file, data[:7]))
    journal.asked(first)
    left = [9]

    def full(file, data):
        if not left:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(file, data[: left.pop()])

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space"):
        journal.made(first, "torn")
    monkeypatch.undo()
    journal.asked(second)
    assert list(read_journal(journal.path).things) == [first.name, second.name]


def test_every_cut_of_a_journal_names_all_that_was_asked_for_before_it(journal):
    things = [
        CloudResource("key pair", "k"),
        CloudResource(INSTANCE, "n1"),
        CloudResource(INSTANCE, "n2"),
    ]
    for thing in things:
        journal.asked(thing)
        journal.made(thing, f"id of {thing.name}")
    whole = journal.path.read_bytes()
    for length in range(0, len(whole), 7):
        journal.path.write_bytes(whole[:length])
        story = read_journal(journal.path)
        lines = whole[:length].decode().splitlines()
        asked = [json.loads(line)["name"] for line in lines[1:] if _is(line, "asked")]
        assert (list(story.things) if story else []) == asked


def _is(line, what):
    try:
        return json.loads(line)["what"] == what
    except ValueError:
        return False


def test_journal_goes_where_nothing_is_left_and_stays_otherwise(tmp_path):
    empty, full = (Journal(tmp_path, "openstack", "p", ACCOUNT) for _ in range(2))
    full.asked(CloudResource(INSTANCE, "n1"))
    empty.close()
    full.close()
    assert [path for path, _ in journals(tmp_path)] == [full.path]


def test_names_of_two_groups_of_one_process_differ(tmp_path):
    prefixes = []
    for _ in range(3):
        journal = Journal(tmp_path, "openstack", "p", ACCOUNT)
        prefixes.append(journal.prefix)
        journal.close()
    assert len(set(prefixes)) == 3


def test_only_things_of_barelines_of_this_machine_that_have_ended_are_abandoned():
    other_host = DEAD[:-8] + "00000000"
    assert is_abandoned(f"{PREFIX}{DEAD}-1-n1-1")
    assert not is_abandoned(f"{PREFIX}{owner_mark()}-1-n1-1")
    assert not is_abandoned(f"{PREFIX}{other_host}-1-n1-1")
    assert not is_abandoned(f"{PREFIX}experiments")
    assert not is_abandoned(f"my-{PREFIX}{DEAD}-1")


def test_what_runs_is_told_while_its_bareline_lives(journal, tmp_path):
    assert remains.running(tmp_path, "openstack", "nebula", 0.0) == ""
    for number in (1, 2):
        thing = CloudResource(INSTANCE, f"n{number}")
        journal.asked(thing)
        journal.made(thing, "x")
    now = read_journal(journal.path).up_since["n1"] + 1.5 * 3600
    told = f"2 instances for 1.5 h (process {os.getpid()})"
    assert remains.running(tmp_path, "openstack", "nebula", now) == told
    assert remains.running(tmp_path, "openstack", "another", now) == ""
