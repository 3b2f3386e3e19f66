"""A case that meets its time limit again and again is given up."""

from collections import Counter

from bareline.platforms.null import NullAllocation
from bareline.vocabulary.model import Failed, Output, Stage


def test_a_case_is_given_up_after_three_timeouts_in_a_row(make_run, execute, monkeypatch):
    real, launches = NullAllocation.run, Counter()

    def run(self, command, layout, *, timeout_s):
        launches[self._name] += 1
        # The second launch of b ends: two and three in a row are not four of five.
        if self._name == "b" and launches["b"] != 2:
            return Output(stdout="", stderr="", exit_code=-9, duration_s=timeout_s, timed_out=True)
        return real(self, command, layout, timeout_s=timeout_s)

    monkeypatch.setattr(NullAllocation, "run", run)
    made = make_run(launches=8)
    execute(made)
    of_b = [r.outcome for r in made.records() if r.trial.platform == "b"]
    stages = [outcome.stage if isinstance(outcome, Failed) else None for outcome in of_b]
    timeout, given_up = Stage.TIMEOUT, Stage.GIVEN_UP
    assert stages == [timeout, None, timeout, timeout, timeout, given_up, given_up, given_up]
    assert launches["b"] == 5
    assert "3" in of_b[-1].reason.split()
