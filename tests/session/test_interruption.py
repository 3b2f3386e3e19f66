"""A run that is ended from outside, also where Python drops what a signal raises."""

import os
import signal
import sys

import pytest

from bareline.session.pauses import terminated_like_interrupted


class Ending:
    """Is sent SIGTERM where nobody can catch what that raises."""

    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        for _ in range(1000):  # the handler runs between two steps
            pass


def test_an_interruption_that_python_drops_is_raised_again_and_not_printed(capsys):
    with terminated_like_interrupted() as go_on:
        Ending()
        with pytest.raises(KeyboardInterrupt):
            go_on()
    assert capsys.readouterr().err == ""


def test_what_else_is_dropped_is_told_as_before(monkeypatch):
    class Broken:
        def __del__(self):
            raise ValueError("seen")

    told = []
    monkeypatch.setattr(sys, "unraisablehook", lambda dropped: told.append(dropped.exc_type))
    with terminated_like_interrupted() as go_on:
        Broken()
        go_on()
    assert told == [ValueError]
