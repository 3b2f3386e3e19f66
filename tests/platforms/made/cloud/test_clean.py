"""`platforms clean`: each type and each account apart, soon where nothing answers."""

from __future__ import annotations

import socket
import sys
import time
from contextlib import ExitStack

import pytest

from bareline.platforms import base, listing
from bareline.platforms.made.cloud import journal as remains
from bareline.platforms.made.cloud import openstack
from bareline.platforms.made.cloud.journal import Journal
from bareline.platforms.made.cloud.provider import INSTANCE, CloudResource
from bareline.platforms.made.openstack import OpenStackPlatform
from bareline.vocabulary.errors import PlatformError


def test_account_whose_extra_is_not_installed_is_named_with_the_remedy(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "requests", None)
    remains.remember(tmp_path, "openstack", {"cloud": "away"})
    (line,) = remains.clean(tmp_path, "openstack", OpenStackPlatform.steward)
    assert "openstack away" in line
    assert "pip install 'bareline[openstack]'" in line


@pytest.mark.parametrize(
    ("silent", "reason", "most_s"), [(False, "refused", 3), (True, "10 s", 20)]
)
def test_refused_or_dropped_connection_ends_soon_and_is_told(
    tmp_path, monkeypatch, caplog, silent, reason, most_s
):
    pytest.importorskip("openstack")
    with ExitStack() as stack:
        nobody = stack.enter_context(socket.socket())
        nobody.bind(("127.0.0.1", 0))  # not listened at: connections are refused
        port = nobody.getsockname()[1]
        if silent:  # a queue that is full: further packets are dropped
            nobody.listen(0)
            for _ in range(2):
                waiting = stack.enter_context(socket.socket())
                waiting.setblocking(False)
                waiting.connect_ex(("127.0.0.1", port))
        clouds = tmp_path / "clouds.yaml"
        clouds.write_text(
            f"clouds: {{away: {{auth: {{auth_url: 'http://127.0.0.1:{port}/v3', username: u,"
            " password: p, project_name: x, user_domain_name: d, project_domain_name: d}}}"
        )
        monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(clouds))
        remains.remember(tmp_path, "openstack", {"cloud": "away"})
        began = time.monotonic()
        (line,) = remains.clean(tmp_path, "openstack", OpenStackPlatform.steward)
    assert "openstack away" in line and reason in line
    assert time.monotonic() - began < most_s
    assert any(record.name == openstack.__name__ for record in caplog.records) == silent


class Empty:
    """An account in which nothing is left."""

    kinds = (INSTANCE,)

    def __init__(self, looked):
        self.looked = looked

    def named(self, prefix):
        self.looked.append(prefix)
        return []


def test_account_is_forgotten_when_no_journal_of_it_is_left(tmp_path):
    looked = []
    for _ in range(2):
        remains.clean(tmp_path, "openstack", lambda _: Empty(looked))
    remains.remember(tmp_path, "openstack", {"cloud": "here"})
    for _ in range(3):
        assert remains.clean(tmp_path, "openstack", lambda _: Empty(looked)) == []
    assert len(looked) == 1


def test_account_that_only_a_journal_names_is_looked_at(tmp_path):
    journal = Journal(tmp_path, "openstack", "nebula", {"cloud": "here"})
    journal.asked(CloudResource(INSTANCE, f"{journal.prefix}-n1"))
    looked = []
    for _ in range(2):
        remains.clean(tmp_path, "openstack", lambda _: Empty(looked))
    assert len(looked) == 2
    journal.close()


def test_type_that_cannot_be_cleaned_does_not_keep_the_others_from_it(monkeypatch):
    class Broken:
        @classmethod
        def clean(cls):
            raise ModuleNotFoundError("No module named 'requests'")

    class FailedCase(Broken):
        @classmethod
        def clean(cls):
            raise PlatformError("does not answer", hint="start it")

    class Tidy(Broken):
        @classmethod
        def clean(cls):
            return ["something removed"]

    types = {"broken": Broken, "silent": FailedCase, "tidy": Tidy}
    monkeypatch.setattr(listing, "load_platform_types", lambda: types)
    broken, silent, tidy = listing.clean()
    assert broken.startswith("broken: cannot be looked at") and "requests" in broken
    assert silent.endswith("does not answer; start it")
    assert tidy == "something removed"
    assert set(types).isdisjoint(base.load_platform_types())
