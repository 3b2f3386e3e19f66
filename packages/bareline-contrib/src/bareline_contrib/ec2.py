"""Instances of EC2, or of a cloud with the same interface, through boto3.

The module was tested with a stand-in of this interface, up to the start of ssh, and never on a real
EC2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from importlib.util import find_spec
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from bareline.platforms.made.cloud.budget import CloudOptions
from bareline.platforms.made.cloud.journal import PREFIX
from bareline.platforms.made.cloud.platform import CloudPlatform
from bareline.platforms.made.cloud.provider import (
    INSTANCE,
    Busy,
    CloudResource,
    Instance,
    InstanceState,
    LaunchSpec,
    NoRoom,
    QuotaReached,
)
from bareline.vocabulary.errors import PlatformError, ToolMissing
from bareline.vocabulary.model import Scalar
from bareline.vocabulary.platform import PlatformSpec

_Word = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$")]


class Ec2Options(CloudOptions):
    """Options of a platform of EC2 instances, in addition to `CloudOptions`.

    - `region`, `profile`: region and profile of the user's AWS configuration, which has the
      credentials.
    - `endpoint`: address of another cloud with this interface.
    - `image`, `size`: ids such as ``ami-0123`` and ``c7i.8xlarge``.
    - `subnet`: id of the subnet; by default the default subnet.
    - `security_groups`: ids.
    - `placement_group`: name of an existing placement group, for MPI of the kind "cluster".
    - `zone`: availability zone.
    - `address`: which address of an instance ssh uses.
    - `efa`: whether each instance gets an adapter that bypasses the hypervisor.
    """

    region: _Word
    profile: _Word | None = None
    endpoint: Annotated[str, Field(pattern=r"^https?://[^\s/]+(/\S*)?$")] | None = None
    image: _Word
    size: _Word
    subnet: _Word | None = None
    security_groups: tuple[_Word, ...] = ()
    placement_group: _Word | None = None
    zone: _Word | None = None
    address: Literal["private", "public"] = "private"
    efa: bool = False


#: A request that is not answered for so long never will be.
_ANSWER_S = 60
_THROTTLED = ("RequestLimitExceeded", "Throttling", "ThrottlingException", "SlowDown")
_FULL = ("InsufficientInstanceCapacity", "InsufficientHostCapacity", "InsufficientCapacity")


def sdk_missing() -> ToolMissing:
    """Return the error for a missing boto3, with the package that contains it."""
    return ToolMissing(
        "the Python package boto3 is not installed",
        hint="install it with `pip install 'bareline-contrib[ec2]'`",
    )


def connect(account: Mapping[str, str]) -> Any:
    """Return a connection to the cloud.

    - `account`: ``region``, and ``profile`` and ``endpoint`` if they are set.
    """
    with asking():
        import boto3
        from botocore.config import Config

        session = boto3.session.Session(
            profile_name=account.get("profile"), region_name=account["region"]
        )
        # How often to ask again is decided in one place, `patience`.
        config = Config(
            connect_timeout=_ANSWER_S, read_timeout=_ANSWER_S, retries={"total_max_attempts": 1}
        )
        return session.client("ec2", endpoint_url=account.get("endpoint"), config=config)


@contextmanager
def asking(*, conflict_is_busy: bool = False) -> Iterator[None]:
    """Turn errors of the cloud, or of the connection to it, into errors of bareline.

    - `conflict_is_busy`: whether a conflict of this request ends without action.

    Raises
    ------
    ToolMissing
        The SDK is not installed.
    Busy
        The same request may succeed later.
    NoRoom
        There is no machine for an instance now.
    QuotaReached
        The account's quota is used up.
    """
    try:
        import boto3  # noqa: F401
        from botocore import exceptions
        from botocore.parsers import ResponseParserError
    except ImportError as error:
        raise sdk_missing() from error
    try:
        yield
    except exceptions.ClientError as error:
        raise _refusal(error.response, conflict_is_busy) from error
    except (exceptions.HTTPClientError, exceptions.ConnectionError) as error:
        raise Busy(f"no answer: {error}", is_silent=True) from error
    except ResponseParserError as error:  # a gateway between answered in HTML
        raise Busy(f"no answer that can be read: {' '.join(str(error).split())[:200]}") from error
    except (exceptions.NoCredentialsError, exceptions.ProfileNotFound) as error:
        raise PlatformError(str(error), hint="see your AWS configuration") from error
    except exceptions.BotoCoreError as error:
        raise PlatformError(str(error)) from error


def _refusal(answer: Mapping[str, Any], conflict_is_busy: bool) -> PlatformError:
    told, about = answer.get("Error", {}), answer.get("ResponseMetadata", {})
    code, status = str(told.get("Code", "")), int(about.get("HTTPStatusCode", 0))
    text = f"{' '.join(str(told.get('Message', '')).split())[:400]} ({code}, HTTP {status})"
    if code in _THROTTLED or status == 429:
        after = str(about.get("HTTPHeaders", {}).get("retry-after", ""))
        after_s = float(after) if after.isdecimal() else None
        return Busy(f"too many requests: {text}", retry_after_s=after_s)
    if code in _FULL:
        return NoRoom(text)
    if code.endswith("LimitExceeded"):
        return QuotaReached(
            f"the limit of the account is reached: {text}",
            hint="end what it does not need, or ask for a higher limit",
        )
    if status >= 500 or (conflict_is_busy and code.endswith(("InUse", "DependencyViolation"))):
        return Busy(text)
    if status == 401 or code == "AuthFailure":
        return PlatformError(
            f"the cloud does not let you in: {text}", hint="see your AWS configuration"
        )
    return PlatformError(text)


def is_unknown(error: Any) -> bool:
    """Return whether an error means that the requested resource does not exist."""
    code = str(error.response.get("Error", {}).get("Code", ""))
    return code.endswith((".NotFound", ".Unknown"))


KEY_PAIR = "key pair"
#: A tag of instances: the mark of the process that they are for.
_OWNER = "bareline-owner"
#: An instance that is gone is still listed for an hour.
_ALIVE = ["pending", "running", "shutting-down", "stopping", "stopped"]
_STATES = {
    "pending": InstanceState.COMING,
    "running": InstanceState.UP,
    "terminated": InstanceState.GONE,
}


class Ec2Steward:
    """The part that finds and removes bareline's resources in an account.

    - `account`: the same as for `connect`.
    """

    kinds: ClassVar[tuple[str, ...]] = (KEY_PAIR, INSTANCE)
    #: Key of the address that ssh uses.
    _address = "PrivateIpAddress"

    def __init__(self, account: Mapping[str, str]) -> None:
        self._account = dict(account)

    @cached_property
    def _sdk(self) -> Any:
        return connect(self._account)

    def find(self, thing: CloudResource) -> list[str]:
        """Return the ids of all resources with exactly the kind and name of a resource."""
        return [each.id for each in self._listed(thing.kind, thing.name) if each.name == thing.name]

    def named(self, prefix: str) -> Iterable[CloudResource]:
        """Return all resources whose names begin with a prefix."""
        every = [each for kind in self.kinds for each in self._listed(kind, f"{prefix}*")]
        return [each for each in every if each.name.startswith(prefix)]

    def _listed(self, kind: str, pattern: str) -> list[CloudResource]:
        with asking():
            if kind == KEY_PAIR:
                chosen = [{"Name": "key-name", "Values": [pattern]}]
                found = self._sdk.describe_key_pairs(Filters=chosen)["KeyPairs"]
                return [CloudResource(kind, one["KeyName"], one["KeyName"]) for one in found]
            chosen = [
                {"Name": "tag:Name", "Values": [pattern]},
                {"Name": "instance-state-name", "Values": _ALIVE},
            ]
            pages = self._sdk.get_paginator("describe_instances").paginate(Filters=chosen)
            made = [one for page in pages for one in _instances(page)]
        return [
            CloudResource(kind, _tag(one, "Name"), one["InstanceId"])
            for one in made
            if _is_marked(one)
        ]

    def delete(self, thing: CloudResource) -> None:
        """Request the removal of a resource; a resource that is gone is not an error."""
        from botocore.exceptions import ClientError

        with asking(conflict_is_busy=True):
            try:
                if thing.kind == KEY_PAIR:
                    self._sdk.delete_key_pair(KeyName=thing.id)
                else:
                    self._sdk.terminate_instances(InstanceIds=[thing.id])
            except ClientError as error:
                if not is_unknown(error):
                    raise

    def is_gone(self, thing: CloudResource) -> bool:
        """Return whether a removed resource does not exist any more."""
        return thing.kind != INSTANCE or self.look(thing).state is InstanceState.GONE

    def look(self, thing: CloudResource) -> Instance:
        """Return the state of an instance."""
        from botocore.exceptions import ClientError

        with asking():
            try:
                answer = self._sdk.describe_instances(InstanceIds=[thing.id])
            except ClientError as error:
                if is_unknown(error):
                    return Instance(InstanceState.GONE)
                raise
        found = next(iter(_instances(answer)), None)
        if found is None:
            return Instance(InstanceState.GONE)
        said = str(found["State"]["Name"])
        return Instance(
            state=_STATES.get(said, InstanceState.FAILED),
            said=said,
            fault=str(found.get("StateReason", {}).get("Message", "")),
            address=str(found.get(self._address) or ""),
            zone=str(found.get("Placement", {}).get("AvailabilityZone", "")),
        )


class Ec2Provider(Ec2Steward):
    """The part that creates instances according to a platform's options."""

    def __init__(self, account: Mapping[str, str], options: Ec2Options) -> None:
        super().__init__(account)
        self._options = options
        if options.address == "public":
            self._address = "PublicIpAddress"

    @cached_property
    def _image(self) -> Mapping[str, Any]:
        with asking():
            found = self._sdk.describe_images(ImageIds=[self._options.image])["Images"]
        return self._there(found, "image", self._options.image)

    @cached_property
    def _size(self) -> Mapping[str, Any]:
        asked = [self._options.size]
        with asking():
            found = self._sdk.describe_instance_types(InstanceTypes=asked)["InstanceTypes"]
        return self._there(found, "size", self._options.size)

    def _there(self, found: Sequence[Any], what: str, name: str) -> Mapping[str, Any]:
        if not found:
            raise PlatformError(f"there is no {what} '{name}'", where=self._account["region"])
        one: Mapping[str, Any] = found[0]
        return one

    def check(self, instances: int) -> None:
        """Check that image and size exist; limits of the account cannot be checked before."""
        _ = self._image, self._size

    def shared(self, prefix: str) -> Sequence[CloudResource]:
        """Return the key pair as the only shared resource."""
        return [CloudResource(KEY_PAIR, f"{prefix}-key")]

    def parts(self, prefix: str) -> Sequence[CloudResource]:
        """Return an instance as its only resource."""
        return [CloudResource(INSTANCE, prefix)]

    def create(self, thing: CloudResource, launch: LaunchSpec) -> str:
        """Create a resource and return its id."""
        with asking():
            if thing.kind == KEY_PAIR:
                material = launch.public_key.encode()
                self._sdk.import_key_pair(KeyName=thing.name, PublicKeyMaterial=material)
                return thing.name
            made = self._sdk.run_instances(**self._asked(thing, launch))
        return str(made["Instances"][0]["InstanceId"])

    def _asked(self, thing: CloudResource, launch: LaunchSpec) -> dict[str, Any]:
        options = self._options
        tags = [{"Key": "Name", "Value": thing.name}, {"Key": _OWNER, "Value": launch.owner}]
        where = {"AvailabilityZone": options.zone} if options.zone else {}
        where |= {"GroupName": options.placement_group} if options.placement_group else {}
        adapter: dict[str, Any] = {"DeviceIndex": 0}
        adapter |= {"SubnetId": options.subnet} if options.subnet else {}
        adapter |= {"Groups": list(options.security_groups)} if options.security_groups else {}
        adapter |= {"InterfaceType": "efa"} if options.efa else {}
        return {
            "ImageId": options.image,
            "InstanceType": options.size,
            "MinCount": 1,
            "MaxCount": 1,
            # Asked for twice by this name, the cloud gives the same instance.
            "ClientToken": thing.name[-64:],
            "KeyName": launch.ids(KEY_PAIR)[0],
            "UserData": launch.user_data,
            # What shuts itself down must not go on to cost.
            "InstanceInitiatedShutdownBehavior": "terminate",
            "TagSpecifications": [{"ResourceType": "instance", "Tags": tags}],
            **({"Placement": where} if where else {}),
            **({"NetworkInterfaces": [adapter]} if len(adapter) > 1 else {}),
        }

    def facts(self) -> Mapping[str, Scalar]:
        """Return the facts of image and size."""
        size, options = self._size, self._options
        return {
            "cloud.flavor": options.size,
            "cloud.vcpus": int(size["VCpuInfo"]["DefaultVCpus"]),
            "cloud.memory_bytes": int(size["MemoryInfo"]["SizeInMiB"]) << 20,
            "cloud.image": str(self._image.get("Name", "")),
            "cloud.image_id": options.image,
            "cloud.ports": "EFA" if options.efa else "ENA",
            **({"cloud.placement": options.placement_group} if options.placement_group else {}),
        }


def _instances(answer: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    return [one for held in answer["Reservations"] for one in held["Instances"]]


def _tag(instance: Mapping[str, Any], key: str) -> str:
    every = {tag["Key"]: tag["Value"] for tag in instance.get("Tags", ())}
    return str(every.get(key, ""))


def _is_marked(instance: Mapping[str, Any]) -> bool:
    """Return whether an instance has the mark that its name contains."""
    mark = _tag(instance, _OWNER)
    return bool(mark) and _tag(instance, "Name").startswith(f"{PREFIX}{mark}")


class Ec2Platform(CloudPlatform[Ec2Options]):
    """The platform type of instances of EC2, or of a cloud with the same interface."""

    type_name = "ec2"
    summary = "instances of EC2, or of a cloud with its interface, made and removed by bareline"
    options = Ec2Options

    @classmethod
    def account(cls, options: Ec2Options) -> Mapping[str, str]:
        """Return region, profile and endpoint; the credentials stay in the user's configuration."""
        known = {name: getattr(options, name) for name in ("region", "profile", "endpoint")}
        return {name: value for name, value in known.items() if value}

    @classmethod
    def steward(cls, account: Mapping[str, str]) -> Ec2Steward:
        """Connect to an account, to find and remove resources."""
        return Ec2Steward(account)

    @classmethod
    def check(cls, spec: PlatformSpec[Ec2Options]) -> None:
        """Check that boto3 is installed; the cloud is not contacted."""
        if find_spec("boto3") is None:
            raise sdk_missing()
        super().check(spec)

    def provider(self) -> Ec2Provider:
        """Connect to the cloud, to create the instances of the options."""
        return Ec2Provider(self.account(self.spec.options), self.spec.options)


PLATFORM = Ec2Platform
