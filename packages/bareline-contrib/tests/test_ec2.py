"""Instances of EC2, against Moto's stand-in on this machine.

Nothing runs behind its instances: what is tested ends where ssh would begin.
"""

from __future__ import annotations

import re
import sys

import pytest
from bareline_contrib.ec2 import Ec2Options, Ec2Platform, Ec2Provider

from bareline.host.owner import owner_mark
from bareline.platforms.base import Context
from bareline.platforms.made.cloud import journal as remains
from bareline.platforms.made.cloud.journal import journals
from bareline.platforms.made.cloud.provider import (
    INSTANCE,
    Busy,
    InstanceState,
    LaunchSpec,
    NoRoom,
    QuotaReached,
)
from bareline.platforms.reached.remote.keys import make_keys
from bareline.testing.messages import raises
from bareline.vocabulary.errors import NotNow, PlatformError
from bareline.vocabulary.model import Layout
from bareline.vocabulary.platform import PlatformSpec

pytest.importorskip("moto.server")
boto3 = pytest.importorskip("boto3")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
OWNER = "1-1-00000000"
#: A process of this machine that has ended: no process has its start.
DEAD = re.sub(r"-\d+-", "-1-", owner_mark())


@pytest.fixture(scope="module")
def endpoint():
    from moto.server import ThreadedMotoServer

    with pytest.MonkeyPatch.context() as patch:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            patch.setenv(name, "testing")
        patch.setenv("MOTO_EC2_LOAD_DEFAULT_AMIS", "false")  # seconds for 1301 of them
        server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        server.start()
        host, port = server.get_host_and_port()
        yield f"http://{host}:{port}"
        server.stop()


@pytest.fixture
def client(endpoint):
    return boto3.client("ec2", endpoint_url=endpoint, region_name="us-east-1")


@pytest.fixture
def options(endpoint, client):
    made = client.register_image(Name="hpc", Architecture="x86_64", RootDeviceName="/dev/xvda")
    return Ec2Options(
        region="us-east-1",
        endpoint=endpoint,
        image=made["ImageId"],
        size="c5n.18xlarge",
        placement_group="near-each-other",
        instances=1,
        attempts=1,
        reach_s=0.1,
        connect_s=1,
    )


@pytest.fixture
def provider(options):
    return Ec2Provider(Ec2Platform.account(options), options)


def alive(client):
    chosen = [{"Name": "instance-state-name", "Values": ["pending", "running"]}]
    found = client.describe_instances(Filters=chosen)["Reservations"]
    return [one for held in found for one in held["Instances"]]


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    return make_keys(tmp_path_factory.mktemp("keys")).client_public.strip()


def make_all(provider, prefix, key):
    made = []
    for thing in (*provider.shared(prefix), *provider.parts(f"{prefix}-n1-1")):
        launch = LaunchSpec(owner=OWNER, public_key=key, user_data="#cloud-config\n{}", made=made)
        made.append(type(thing)(thing.kind, thing.name, provider.create(thing, launch)))
    return made, launch


def test_all_is_made_found_by_name_and_removed(provider, client, key):
    prefix = f"bareline-{OWNER}-1"
    provider.check(1)
    made, _launch = make_all(provider, prefix, key)
    assert [provider.find(thing) for thing in made] == [[thing.id] for thing in made]
    assert sorted(thing.name for thing in provider.named("bareline-")) == sorted(
        thing.name for thing in made
    )
    found = provider.look(made[-1])
    assert found.state in (InstanceState.COMING, InstanceState.UP) and found.address and found.zone
    (instance,) = alive(client)
    assert instance["KeyName"] == f"{prefix}-key"
    assert provider.facts()["cloud.vcpus"] == 72
    for thing in made[::-1]:
        provider.delete(thing)
        assert provider.is_gone(thing)
        provider.delete(thing)
    assert provider.named("bareline-") == []
    assert provider.find(made[-1]) == []


def test_instance_that_never_answers_is_given_up_and_nothing_stays(options, client, tmp_path):
    cache, scratch = tmp_path / "cache", tmp_path / "scratch"
    scratch.mkdir()
    spec = PlatformSpec("cloud", "ec2", options)
    with (
        raises(NotNow, "BL-PLATFORMS-524", "n1: ", "1. running"),
        Ec2Platform(spec, Context(scratch, cache)).acquire(Layout()),
    ):
        pytest.fail("came up")
    assert alive(client) == []
    assert client.describe_key_pairs()["KeyPairs"] == []
    assert list(journals(cache)) == []


def test_what_a_bareline_that_ended_left_goes_and_nothing_else(options, provider, key, tmp_path):
    account = Ec2Platform.account(options)
    remains.remember(tmp_path, "ec2", account)
    prefix = f"bareline-{DEAD}-1"
    made, launch = make_all(provider, f"bareline-{OWNER}-1", key)
    for thing in (*provider.shared(prefix), *provider.parts(prefix)):
        asked = LaunchSpec(owner=DEAD, public_key=key, user_data=launch.user_data, made=launch.made)
        provider.create(thing, asked)
    told = remains.clean(tmp_path, "ec2", Ec2Platform.steward)
    assert len(told) == 2 and all(DEAD in line for line in told)
    assert sorted(one.name for one in provider.named("bareline-")) == sorted(
        one.name for one in made
    )
    for thing in made[::-1]:
        provider.delete(thing)


def test_account_without_boto3_is_named_with_the_remedy(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "botocore", None)
    remains.remember(tmp_path, "ec2", {"region": "us-east-1"})
    (line,) = remains.clean(tmp_path, "ec2", Ec2Platform.steward)
    assert "cannot be looked at, nothing is removed" in line
    assert "pip install 'bareline-contrib[ec2]'" in line


@pytest.mark.parametrize(
    ("code", "status", "kind"),
    [
        ("RequestLimitExceeded", 503, Busy),
        ("InternalError", 500, Busy),
        ("InsufficientInstanceCapacity", 500, NoRoom),
        ("VcpuLimitExceeded", 400, QuotaReached),
        ("InstanceLimitExceeded", 400, QuotaReached),
        ("InvalidAMIID.NotFound", 400, PlatformError),
    ],
)
def test_refusals_are_told_apart(code, status, kind):
    from bareline_contrib.ec2 import asking
    from botocore.exceptions import ClientError

    about = {"HTTPStatusCode": status, "HTTPHeaders": {}}
    answer = {"Error": {"Code": code, "Message": "why"}, "ResponseMetadata": about}
    with pytest.raises(PlatformError, match=f"why .{code}, HTTP {status}") as raised, asking():
        raise ClientError(answer, "RunInstances")
    assert type(raised.value) is kind


def test_image_that_is_not_there_is_named(options):
    wrong = options.model_copy(update={"image": "ami-00000000"})
    with pytest.raises(PlatformError, match="ami-00000000"):
        Ec2Provider(Ec2Platform.account(wrong), wrong).check(1)


def test_kinds_end_with_the_instance(provider):
    assert provider.kinds[-1] == INSTANCE
