"""One cloud for all tests of this folder: bringing it up takes six seconds of processor time."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from plane import Plane, openstack_plane, reason_not_here

#: `make cloud` sets it: what takes minutes runs, too.
ALL = "BARELINE_CLOUD"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this folder; the SDK warns of what it calls itself."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.openstack)
            for kind in ("DeprecationWarning", "PendingDeprecationWarning"):
                item.add_marker(pytest.mark.filterwarnings(f"ignore::{kind}"))
            if item.get_closest_marker("slow") and ALL not in os.environ:
                item.add_marker(pytest.mark.skip(reason="`make cloud` runs it"))


@cache
def _why_not() -> str:
    return reason_not_here()


@pytest.fixture(scope="session")
def _may_run() -> None:
    if _why_not():
        pytest.skip(_why_not())
    pytest.importorskip("openstack")


@pytest.fixture(scope="session")
def _cloud(_may_run) -> Iterator[Plane]:
    with ExitStack() as stack:
        yield stack.enter_context(openstack_plane("--quota", "6"))


@pytest.fixture
def plane(_cloud) -> Iterator[Plane]:
    """Yield the cloud as it was in the beginning, and this test inside its network."""
    with _cloud.inside():
        yield _cloud
        _cloud.clear()
