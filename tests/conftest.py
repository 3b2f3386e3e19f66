"""Fixtures that the whole test suite shares."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import examples as _examples  # noqa: F401 - registers the profiles of Hypothesis
import pytest
import record
from hypothesis import settings

from bareline.formats.importer import load_importers
from bareline.platforms.config import platforms_from_toml
from bareline.session import begin, pauses, runner
from bareline.session.trial_counts import TrialCounts
from bareline.store.run import Run
from bareline.study.study import study_from_toml
from bareline.testing.runs import SilentObserver

# A deadline measures how busy the machine is. The same examples every time: a test that fails for
# one change and not for the next says nothing of either. `make faults` draws others, and so does
# `pytest --hypothesis-profile random`.
# `--quick` tries a quarter of them.
settings.load_profile("bareline")

#: Two workers of the tests on two processors have nothing to gain from more threads of Polars.
os.environ.setdefault("POLARS_MAX_THREADS", "1")

#: Open MPI refuses to run as root unless told so; bareline tells it itself, tests that start
#: mpirun directly need the same.
os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT", "1")
os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")

#: The folder of Open MPI's sessions is removed by whichever job on this machine ends last, even
#: while another one begins in it: each process that runs tests has its own.
_SESSIONS = tempfile.mkdtemp(prefix="bl-ompi-", dir="/tmp")
os.environ["OMPI_MCA_orte_tmpdir_base"] = _SESSIONS  # noqa: SIM112 - the library's own name
atexit.register(shutil.rmtree, _SESSIONS, ignore_errors=True)


def _sync_nothing(file):
    """Accept what `os.fsync` accepts, and do not wait for the disk."""
    os.fstat(file if isinstance(file, int) else file.fileno())


# Every record is synced before the next trial. Planted runs have thousands of records, and waiting
# for the disk was a third of the time of all tests. Commands that tests start as processes of their
# own still sync, and tests/faults/test_power_cut.py looks at their calls.
os.fsync = _sync_nothing


@pytest.fixture(scope="session", autouse=True)
def one_seed():
    """Let every run that names no seed have the same, so that tests repeat; gives the real one."""
    real = begin.fresh_seed
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(begin, "fresh_seed", lambda: 1)
        yield real


@pytest.fixture(scope="session", autouse=True)
def no_look_at_other_programs():
    """Let no run wait for the other lanes of the tests; tests/host/test_quiet.py looks at them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pauses, "busy_cores", lambda _began: 0.0)
        yield


@pytest.fixture(scope="session")
def contrib_folder(tmp_path_factory):
    """Install bareline-contrib into a folder, as any package from outside; gives the folder."""
    target = tmp_path_factory.mktemp("contrib")
    package = Path(__file__).parents[1] / "packages" / "bareline-contrib"
    build = ["--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check"]
    line = [sys.executable, "-m", "pip", "install", "-q", *build, "--target", target, package]
    subprocess.run(line, check=True, cwd=target)
    return target


@pytest.fixture(scope="module")
def contrib(contrib_folder):
    """Let the importers of bareline-contrib be found by the tests of a module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(contrib_folder)
        load_importers.cache_clear()
        yield
    load_importers.cache_clear()


@pytest.fixture
def null_study():
    """Give a study of the null probe: ``null_study(launches=..., params=...)``."""

    def make(params=None, **head):
        head = {"name": "planted", "launches": 10, "precision": 0, **head}
        measure = {"probe": "null", "params": params or {}}
        return study_from_toml({"study": head, "measure": [measure]}, where="test")

    return make


@pytest.fixture
def null_platforms():
    """Give null platforms by name and options: ``null_platforms(a={}, b={"factor": 2})``."""

    def make(**options):
        tables = {name: {"type": "null", **given} for name, given in options.items()}
        return list(platforms_from_toml({"platform": tables}, where="test").values())

    return make


@pytest.fixture
def make_run(tmp_path, null_study, null_platforms) -> Callable[..., Run]:
    """Make a run of null trials without executing it."""
    numbers = iter(range(1000))

    def make(platforms=None, params=None, **head) -> Run:
        study = null_study(params, **head)
        specs = null_platforms(**(platforms or {"a": {}, "b": {"factor": 1.5}}))
        path: Path = tmp_path / f"run{next(numbers)}"
        return begin.create_run(study, specs, path, baseline=specs[0].name)

    return make


@pytest.fixture
def execute() -> Callable[..., TrialCounts]:
    """Execute a run silently."""

    def go(run: Run, **options) -> TrialCounts:
        return runner.execute(run, SilentObserver(), **options)

    return go


@pytest.fixture(scope="session")
def fits() -> Callable[[str, Any], None]:
    """Hold what a command prints with ``--json`` against its published schema.

    A column that the schema does not name is an error here; for readers it is not.
    """
    # Here, not above: some tests run as if jsonschema were not installed.
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    import bareline.cli.main  # noqa: F401 -- its verbs say what they print
    from bareline.cli.output import schema_of

    @cache
    def validator(name: str) -> Draft202012Validator:
        schema = schema_of(name)
        Draft202012Validator.check_schema(schema)
        return Draft202012Validator(_closed(schema))

    def check(name: str, printed: Any) -> None:
        assert printed, "nothing is to be held against the schema"
        wrong = best_match(validator(name).iter_errors(printed))
        assert wrong is None, f"{name}: {list(wrong.absolute_path)}: {wrong.message[:500]}"

    return check


def _closed(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    own = {key: _closed(one) for key, one in schema.items()}
    return {"additionalProperties": False, **own} if "properties" in own else own


#: What `make test` leaves to `make test-all`: other machines, a second MPI library, many seconds.
_NOT_QUICK = ("vm", "slurm", "openstack", "sim", "browser", "slow")


def pytest_configure(config):
    """Record each test where the environment names a file for it; choose the examples."""
    record.pytest_configure(config)
    if config.getoption("--quick") and settings.get_current_profile_name() == "bareline":
        settings.load_profile("quick")


def pytest_addoption(parser):
    """Choose between the two parts of the tests; without either option all are chosen."""
    parser.addoption("--quick", action="store_true", help="the tests of `make test`")
    parser.addoption("--rest", action="store_true", help="all others")


def _quick(item):
    return "mpich" not in item.nodeid and not any(map(item.get_closest_marker, _NOT_QUICK))


def _rest(item):
    """Whether the rest runs a test: properties are quick with some of their examples alone."""
    return not _quick(item) or getattr(item.obj, "is_hypothesis_test", False)


def pytest_collection_modifyitems(config, items):
    """Put files with slow tests first: on several cores, what lasts longest must not begin last."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)
    for option, belongs in (("--quick", _quick), ("--rest", _rest)):
        if config.getoption(option):
            left = [item for item in items if not belongs(item)]
            config.hook.pytest_deselected(items=left)
            items[:] = [item for item in items if belongs(item)]
