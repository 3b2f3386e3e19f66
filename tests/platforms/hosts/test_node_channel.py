"""Nodes that answer through a process each: what they say arrives whole, late, or never."""

from __future__ import annotations

import sys
import time

import pytest

from bareline.platforms.hosts.process import local_environment
from bareline.platforms.hosts.scripts import node_channel as peer_module
from bareline.platforms.hosts.scripts.housekeeping import house_script, housekeeping
from bareline.platforms.hosts.scripts.node_channel import conversation, listening, peers, script
from bareline.testing.bench import until
from bareline.testing.messages import raises
from bareline.vocabulary.errors import NotNow, PlatformError

_LOOP = 'while read -r order text; do case $order in turn) say turn "$text" ;; {} esac; done'


def lines(text, *names):
    """Let a shell stand for each node."""
    return {(name,): ["sh", "-c", script("answers") + text, "sh", name] for name in names}


@pytest.mark.parametrize("length", [0, 900, 901, 1800, 200_000])
def test_a_long_answer_comes_in_lines_that_slurm_leaves_whole(length):
    said = "abc, d e " * (length // 9 + 1)
    text = f"""say told "$(printf '%s' '{said[:length]}')"; stay"""
    if length > 100_000:
        text = 'say told "$(yes "abc, d e " | tr -d "\\n" | head -c 200000)"; stay'
    with peers(lines(text, "n"), local_environment()) as (one,):
        seen = bytearray()
        real = one._lines

        def watched():
            for raw in real():
                seen.extend(raw + b"\n")
                yield raw

        one._lines = watched
        with listening([one]) as talk:
            talk.wait("told", 20)
            assert talk.answer("n", "told") == said[:length]
    assert max(map(len, bytes(seen).split(b"\n"))) < 1024


def test_what_was_asked_in_the_turn_before_is_not_heard_in_this_one():
    """A node that was slow to end its part of a trial answered for the next one."""
    loop = _LOOP.format('slow) say told late ;; ask) say told "$text" ;;')
    with peers(lines(loop, "n"), local_environment()) as those:
        with listening(those) as talk:
            talk.take_turn("slow")
        with listening(those) as talk:
            talk.take_turn("ask now")
            talk.wait("told", 20)
            assert talk.said["n"]["told"] == ["now"]


def test_the_node_that_is_lost_is_named_also_where_another_was_lost_before():
    loop = _LOOP.format("leave) exit 7 ;;")
    with conversation(lines(loop, "a", "b", "c")) as talk:
        first, second, _ = talk.peers
        first.tell("leave")
        until(lambda: first.has_ended)
        second.tell("leave")
        began = time.monotonic()
        with raises(NotNow, "BL-PLATFORMS-711", "7") as caught:
            talk.wait("told", 20, ["b", "c"])
        assert caught.value.where == "b"
        assert time.monotonic() - began < 10
        assert talk.tell_living("turn 1") == ("c",)


@pytest.mark.parametrize(
    "what", ["'bareline n told ' + 'x' * 100_000", "('y' * 99 + '\\n') * 50_000"]
)
def test_a_node_that_never_ends_its_answer_is_ended(monkeypatch, what):
    monkeypatch.setattr(peer_module, "MOST_SAID_BYTES", 1 << 20)
    line = [sys.executable, "-c", f"while True: print({what}, end='')"]
    with (
        conversation({("n",): line}) as talk,
        raises(PlatformError, "BL-PLATFORMS-711"),
    ):
        talk.wait("told", 20)


def test_a_node_that_does_not_listen_holds_up_nobody_for_ever(monkeypatch):
    """It has hung, and the pipe to it is full: an input file was written to it without an end."""
    monkeypatch.setattr(peer_module, "_TELL_S", 0.2)
    with conversation({("n",): ["sleep", "100"]}) as talk:
        began = time.monotonic()
        for _ in range(2):
            with raises(PlatformError, "BL-PLATFORMS-533"):
                talk.tell("input", b"x" * (1 << 22))
        assert time.monotonic() - began < 10


def test_one_script_keeps_house_for_many_trials_and_leaves_nothing(tmp_path):
    text = house_script().removeprefix(script("answers")) + "keep_house"
    mark = f"BARELINE_TRIAL=house-{tmp_path.name}"
    with peers(lines(text, "a", "b"), local_environment()) as those:
        for trial in range(3):
            folders = (f"{tmp_path}/work {trial}", f"{tmp_path}/session{trial}")
            with listening(those) as talk, housekeeping(talk, {}) as house:
                needs = ("sh", "no-such-tool")
                house.begin(f"{mark}-{trial}", folders, needs, [("in.txt", f"text {trial}\n")])
                assert list(house.missing()) == [("a", "no-such-tool"), ("b", "no-such-tool")]
                assert house.fetch("b", ["in.txt"]) == {"in.txt": f"text {trial}\n"}
                assert [said.split()[2] for said in house.storage()]
            assert list(tmp_path.iterdir()) == []
        with listening(those) as talk, housekeeping(talk, {}) as house:
            house.begin(f"{mark}-9", (f"{tmp_path}/left", ""), (), ())
            assert [path.name for path in tmp_path.iterdir()] == ["left"]
            those[0].leave()
            those[1].leave()
            until(lambda: all(one.has_ended for one in those))
            assert list(tmp_path.iterdir()) == [], "the end of a script's input ends its trial"
