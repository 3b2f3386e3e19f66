"""Another user's run: asked for once before it runs anything, and read under limits."""

from __future__ import annotations

import os
import sys

import pytest

from bareline.cli.main import main
from bareline.session.origin import owner_of
from bareline.store.run import MOST_FOREIGN_BYTES, Run
from bareline.testing.messages import raises
from bareline.vocabulary.errors import StoreError

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a run away")


def give_away(run, owner=12345):
    for path in (run.path, *run.path.rglob("*")):
        os.chown(path, owner, owner)


@pytest.fixture
def bareline(monkeypatch, capsys, tmp_path):
    (tmp_path / "cache").mkdir(mode=0o700)
    monkeypatch.setenv("BARELINE_CACHE", str(tmp_path / "cache"))

    def go(*argv):
        monkeypatch.setattr(sys, "argv", ["bareline", *map(str, argv)])
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code, capsys.readouterr().err

    return go


@pytest.mark.parametrize("more", [(), ("--retry-failed",), ("--anyway",)])
def test_it_runs_nothing_before_it_is_trusted(make_run, bareline, more):
    run = make_run(launches=1)
    give_away(run)
    code, said = bareline("continue", run.path, *more)
    assert code == 2
    assert "another user (number 12345)" in said and "--trust" in said
    assert len(said.splitlines()) == 1
    assert list(run.records()) == []


def test_it_is_asked_for_once(make_run, bareline):
    run = make_run(launches=1)
    give_away(run)
    assert bareline("continue", run.path, "--trust")[0] == 0
    assert len(list(run.records())) == 2
    assert bareline("continue", run.path)[0] == 0


def test_a_run_that_was_changed_is_asked_for_anew(make_run, bareline):
    run = make_run(launches=1)
    give_away(run)
    assert bareline("continue", run.path, "--trust")[0] == 0
    file = run.path / "run.toml"
    file.write_text(file.read_text().replace('name = "planted"', 'name = "other"'))
    code, said = bareline("continue", run.path)
    assert code == 2 and "--trust" in said


def test_one_file_of_another_user_is_enough(make_run):
    run = make_run(launches=1)
    assert owner_of(run.path) is None
    os.chown(run.path / "run.toml", 12345, -1)
    assert owner_of(run.path) == 12345


@pytest.mark.parametrize("verb", ["status", "show", "compare", "explain", "report"])
def test_it_is_read_without_being_trusted(make_run, execute, bareline, verb):
    run = make_run(launches=6)
    execute(run)
    give_away(run)
    assert bareline(verb, run.path)[0] == 0


def test_it_is_read_under_limits(make_run, execute):
    run = make_run(launches=1)
    execute(run)
    give_away(run)
    with (run.path / "records.jsonl").open("ab") as file:
        file.truncate(MOST_FOREIGN_BYTES + 1)
    for read in (run.tables, lambda: list(Run.open(run.path).records())):
        with raises(StoreError, "BL-STORE-443", "128"):
            read()


@pytest.mark.parametrize(
    ("owner", "sudo", "told"),
    [(12345, "", "another user (number 12345)"), (12345, "12345", ""), (0, "", "")],
)
def test_platforms_that_nobody_named_are_not_taken_from_a_strangers_folder(
    bareline, monkeypatch, tmp_path, owner, sudo, told
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SUDO_UID", sudo)
    file = tmp_path / "platforms.toml"
    file.write_text('[platform.mine]\ntype = "null"\n')
    os.chown(file, owner, -1)
    for verb in (("platforms",), ("run", "demo", "--on", "mine", "--dry-run")):
        code, said = bareline(*verb)
        assert (code, told in said, "--platforms" in said) == (2 if told else 0, True, bool(told))
        assert bareline(*verb, "--platforms", file.name)[0] == 0
