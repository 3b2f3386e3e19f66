"""Codes of messages on the command line: in JSON, with --verbose, in records of failed trials."""

import json

import pytest

from bareline.cli.main import command

NO_SCALE = "BL-STUDY-247"
UNKNOWN = ("run", "planted.toml", "--on", "a", "--scale", "tiny")


def test_a_line_has_its_code_only_if_it_is_wanted(bareline):
    plain = bareline(*UNKNOWN, code=2).stderr
    assert NO_SCALE not in plain
    for place in range(len(UNKNOWN) + 1):
        words = [*UNKNOWN[:place], "--verbose", *UNKNOWN[place:]]
        assert bareline(*words, code=2).stderr == f"{plain.rstrip()} [{NO_SCALE}]\n"
    assert bareline(*UNKNOWN, code=2).stderr == plain, "the next command has none"


def test_json_has_the_code_of_the_error(bareline):
    end = json.loads(bareline("show", "nowhere", "--json", code=2).stderr)
    assert list(end) == ["error", "where", "hint", "code", "exit_code"]
    assert end["code"].startswith("BL-") and end["exit_code"] == 2
    verbose = json.loads(bareline("show", "nowhere", "--json", "--verbose", code=2).stderr)
    assert verbose == end


@pytest.mark.parametrize("name", ["\udcff", "a\nb", "\x1b[2J", "{x}", "x" * 5000])
def test_names_that_are_meant_to_hurt_have_one_line_with_a_code(bareline, name):
    done = bareline("run", name, "--verbose", code=2)
    assert done.stderr.count("\n") == 1 and done.stderr.endswith("]\n")
    assert json.loads(bareline("show", name, "--json", code=2).stderr)["code"]


def test_a_warning_has_its_code(bareline):
    done = bareline("--verbose", "run", "planted.toml", "--scale", "small", "--on", "a", "-o", "r")
    coded = [line for line in done.stderr.splitlines() if line.endswith("]")]
    assert all("[BL-CLI-" in line for line in coded)


def test_an_option_of_a_program_is_not_taken(bareline, place):
    script = place / "print.sh"
    script.write_text('#!/bin/sh\necho "$@" >> words\n')
    script.chmod(0o755)
    bareline("ab", "--launches", "1", "-o", "r", "--", f"{script} --verbose", f"{script} b", code=0)
    assert "--verbose" in (place / "words").read_text()


def test_help_lists_it():
    names = {name for option in command().params for name in option.opts}
    assert "--verbose" in names


def test_a_failed_trial_has_the_code_of_its_error(bareline, place):
    bareline("run", "planted.toml", "--on", "a", "--on", "broken", "-q", "-o", "r", code=3)
    records = [
        json.loads(line) for line in (place / "r" / "records.jsonl").read_text().splitlines()
    ]
    failed = [record for record in records if record["status"] == "failed"]
    assert failed
    for record in failed:
        assert record["stage"] == "exit" or record["code"].startswith("BL-")
    assert all("code" not in record for record in records if record["status"] == "measured")
    bareline("continue", "r", "--retry-failed", "-q", code=3)
    shown = json.loads(bareline("show", "r", "--json").stdout)
    assert shown
