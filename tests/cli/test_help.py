"""`--help` groups the verbs by task and cuts no text off."""

import re
from pathlib import Path

from bareline.cli import tasks
from bareline.cli.main import command
from bareline.cli.tasks import TASKS


def test_every_verb_is_of_one_task():
    listed = [(module, verb) for verbs in TASKS.values() for verb, module in verbs.items()]
    folder = Path(tasks.__file__).parent
    families = {path.stem for path in folder.glob("*.py") if "\napp = " in path.read_text()}
    declared = [
        (module, verb) for module in families - {"main"} for verb in tasks.commands_of(module)
    ]
    assert sorted(listed) == sorted(declared)


def test_verbs_are_listed_by_task_with_their_whole_first_sentence(bareline, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    text = bareline("--help").stdout
    assert re.findall(r"^([A-Z]\w+):$", text, re.MULTILINE) == ["Options", *TASKS]
    assert "..." not in text.partition("Measure:")[2]
    words = " ".join(text.split())
    for verb in command().commands.values():
        assert " ".join(verb.get_short_help_str(limit=1000).split()) in words
