"""What a command loads before it does anything: only what it needs, or every one is slow."""

import json
import subprocess
import sys

import pytest

from bareline.study.catalogue import listing, study_rows

#: Each takes a twentieth of a second or more, and neither names nor options need them.
HEAVY = {"altair", "jinja2", "numpy", "polars", "scipy", "vl_convert"}
PROGRAM = """
import json, sys
from bareline.cli.main import main
try:
    main()
except SystemExit:
    print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""


def loaded(*arguments):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True, check=True
    )
    return set(json.loads(done.stderr.splitlines()[-1])), done.stdout


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["studies"], ["--version"]])
def test_what_only_lists_loads_neither_tables_nor_figures(arguments):
    modules, _ = loaded(*arguments)
    assert modules & HEAVY == set()
    assert arguments != ["--help"] or "pydantic" not in modules


def test_a_verb_imports_no_other_family_and_no_probes_that_it_does_not_launch():
    modules, _ = loaded("ab", "--plan", "--", "./a", "./b")
    others = {"application", "exchange", "measure", "reporting", "results"}
    assert modules & {f"bareline.cli.{name}" for name in others} == set()
    assert modules & {"bareline.probes.app.lammps", "bareline.store.header"} == set()


def test_built_in_studies_are_listed_without_reading_or_planning_them():
    modules, printed = loaded("studies", "--json")
    assert not {"bareline.study.study", "bareline.probes"} & modules
    assert json.loads(printed) == [kept["row"] for kept in listing().values()]


def test_a_study_that_is_other_than_when_it_was_listed_is_read(monkeypatch):
    monkeypatch.setattr("bareline.study.catalogue.zlib.crc32", lambda _: 0)
    assert study_rows() == [kept["row"] for kept in listing().values()]


def test_a_message_without_its_code_reads_no_codes():
    modules, _ = loaded("show", "no-such-run")
    assert "bareline.vocabulary.message_codes" not in modules
    modules, _ = loaded("show", "no-such-run", "--verbose")
    assert "bareline.vocabulary.message_codes" in modules
