"""Real guests for tests, brought up once for many of them."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bareline.host.cache import cache_folder
from bareline.platforms.base import Context
from bareline.platforms.config import make_spec
from bareline.platforms.made.vm.allocation import VmAllocation
from bareline.platforms.made.vm.platform import VmPlatform
from bareline.vocabulary.model import TRIAL_VARIABLE, Command, Layout, Output


@dataclass
class Bench:
    """Guests in use, and short ways to run things in them."""

    allocation: VmAllocation
    token: str = field(default_factory=lambda: f"{uuid.uuid4().hex}-1")

    def run(
        self, *argv: str, layout: Layout | None = None, timeout_s: float = 120, **more
    ) -> Output:
        env = (*more.pop("env", ()), (TRIAL_VARIABLE, self.token))
        command = Command(argv=argv, env=env, **more)
        return self.allocation.run(command, layout or Layout(), timeout_s=timeout_s)

    def shell(self, script: str, **more) -> Output:
        return self.run("sh", "-c", script, **more)

    def said(self, script: str, **more) -> str:
        output = self.shell(script, **more)
        assert output.exit_code == 0, output.stderr
        return output.stdout.strip()


_CLOUD_TEST = "test_cloud_image.py"
_building: list[subprocess.Popen[bytes]] = []


def pytest_collection_modifyitems(items):
    """Put the test of a cloud image last: it is built while the other guests are tested."""
    items.sort(key=lambda item: item.path.name == _CLOUD_TEST)


def pytest_collection_finish(session):
    """Begin to build the cloud image, if its test is among those that run."""
    wanted = any(item.path.name == _CLOUD_TEST for item in session.items)
    if wanted and not session.config.option.collectonly and shutil.which("mmdebstrap"):
        line = ["nice", sys.executable, Path(__file__).with_name("cloud_image.py"), cache_folder()]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        # If it fails, the test tries again and says why.
        _building.append(subprocess.Popen(line, **quiet, start_new_session=True))


def pytest_sessionfinish():
    """End the building where nobody waited for it."""
    for process in _building:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
        process.wait()


Opener = Callable[..., AbstractContextManager[Bench]]


@pytest.fixture(scope="session")
def open_guests(tmp_path_factory) -> Opener:
    """Yield a function that brings up guests with options.

    The image comes from the user's cache.
    """

    @contextmanager
    def open_them(nodes: int = 2, *, cache: Path | None = None, **options) -> Iterator[Bench]:
        table = {"type": "vm", "guests": nodes, **options}
        spec = make_spec("vm-test", table, where="test")
        available = VmPlatform.available(spec)
        if not available.ok:
            pytest.skip(f"{available.reason}; {available.hint}")
        scratch: Path = tmp_path_factory.mktemp("vm")
        platform = VmPlatform(spec, Context(scratch=scratch, cache=cache or cache_folder()))
        with platform.acquire(Layout(nodes, 1, 1)) as allocation:
            assert isinstance(allocation, VmAllocation)
            yield Bench(allocation)

    return open_them


@pytest.fixture
def cache_without_states(tmp_path: Path) -> Path:
    """Return a cache with all that the user's holds except the saved states of earlier guests."""
    known, new = cache_folder(), tmp_path / "cache"
    (new / "vm").mkdir(parents=True)
    for name in ("native", "vm/images"):
        (known / name).mkdir(parents=True, exist_ok=True)
        (new / name).symlink_to(known / name)
    return new
