"""Scripts that pages and messages name as commands can be run by their names."""

import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted((ROOT / "scripts").glob("*.py"))
TEXTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("scripts/**/*.py")]
SHEBANG = "#!/usr/bin/env python3\n"
#: A Python that may lack the packages of the environment.
OTHER_PYTHON = re.compile(r"(?<!/)\bpython3? scripts/\S*")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_script_is_executable_and_a_module_of_scripts_is_not(script):
    text = script.read_text()
    is_command = text.startswith(SHEBANG)
    assert is_command == os.access(script, os.X_OK)
    assert is_command or '__name__ == "__main__"' not in text


def test_no_text_runs_a_script_with_another_python():
    commands = {str(text): OTHER_PYTHON.findall(text.read_text()) for text in TEXTS}
    assert {text: found for text, found in commands.items() if found} == {}
