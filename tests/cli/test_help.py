"""`--help` groups the verbs by task and cuts no text off."""

import re

from bareline.cli.main import command
from bareline.cli.tasks import TASKS


def test_every_verb_is_of_one_task():
    verbs = [name for names in TASKS.values() for name in names]
    assert len(verbs) == len(set(verbs))
    assert set(command().commands) == set(verbs)


def test_verbs_are_listed_by_task_with_their_whole_first_sentence(bareline, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    text = bareline("--help").stdout
    assert re.findall(r"^([A-Z]\w+):$", text, re.MULTILINE) == ["Options", *TASKS]
    assert "..." not in text.partition("Measure:")[2]
    words = " ".join(text.split())
    for verb in command().commands.values():
        assert " ".join(verb.get_short_help_str(limit=1000).split()) in words
