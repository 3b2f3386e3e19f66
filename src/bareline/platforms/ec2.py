"""Instances of EC2, or of a cloud like it: key pair, instances."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from importlib.util import find_spec
from typing import Any, ClassVar

from bareline.platforms.cloud.ec2 import Ec2Options, asking, connect, is_unknown, sdk_missing
from bareline.platforms.cloud.journal import PREFIX
from bareline.platforms.cloud.platform import CloudPlatform
from bareline.platforms.cloud.provider import INSTANCE, Instance, Launch, State, Thing
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.model import Scalar
from bareline.vocabulary.platform import PlatformSpec

KEY_PAIR = "key pair"
#: A tag of instances: the mark of the process that they are for.
_OWNER = "bareline-owner"
#: An instance that is gone is still listed for an hour.
_ALIVE = ["pending", "running", "shutting-down", "stopping", "stopped"]
_STATES = {"pending": State.COMING, "running": State.UP, "terminated": State.GONE}


class Ec2Steward:
    """Finds and removes what bareline made in an account.

    - `account`: as `connect` takes it.
    """

    kinds: ClassVar[tuple[str, ...]] = (KEY_PAIR, INSTANCE)
    #: Key of the address that ssh goes to.
    _address = "PrivateIpAddress"

    def __init__(self, account: Mapping[str, str]) -> None:
        self._account = dict(account)

    @cached_property
    def _sdk(self) -> Any:
        return connect(self._account)

    def find(self, thing: Thing) -> list[str]:
        """Give the ids of all that have the kind and exactly the name of a thing."""
        return [each.id for each in self._listed(thing.kind, thing.name) if each.name == thing.name]

    def named(self, prefix: str) -> Iterable[Thing]:
        """Give all things whose names begin so."""
        every = [each for kind in self.kinds for each in self._listed(kind, f"{prefix}*")]
        return [each for each in every if each.name.startswith(prefix)]

    def _listed(self, kind: str, pattern: str) -> list[Thing]:
        with asking():
            if kind == KEY_PAIR:
                chosen = [{"Name": "key-name", "Values": [pattern]}]
                found = self._sdk.describe_key_pairs(Filters=chosen)["KeyPairs"]
                return [Thing(kind, one["KeyName"], one["KeyName"]) for one in found]
            chosen = [
                {"Name": "tag:Name", "Values": [pattern]},
                {"Name": "instance-state-name", "Values": _ALIVE},
            ]
            pages = self._sdk.get_paginator("describe_instances").paginate(Filters=chosen)
            made = [one for page in pages for one in _instances(page)]
        return [
            Thing(kind, _tag(one, "Name"), one["InstanceId"]) for one in made if _is_marked(one)
        ]

    def delete(self, thing: Thing) -> None:
        """Have a thing removed; one that is gone is no error."""
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

    def is_gone(self, thing: Thing) -> bool:
        """Tell whether a thing that was deleted does not exist any more."""
        return thing.kind != INSTANCE or self.look(thing).state is State.GONE

    def look(self, thing: Thing) -> Instance:
        """Ask how an instance stands."""
        from botocore.exceptions import ClientError

        with asking():
            try:
                answer = self._sdk.describe_instances(InstanceIds=[thing.id])
            except ClientError as error:
                if is_unknown(error):
                    return Instance(State.GONE)
                raise
        found = next(iter(_instances(answer)), None)
        if found is None:
            return Instance(State.GONE)
        said = str(found["State"]["Name"])
        return Instance(
            state=_STATES.get(said, State.FAILED),
            said=said,
            fault=str(found.get("StateReason", {}).get("Message", "")),
            address=str(found.get(self._address) or ""),
            zone=str(found.get("Placement", {}).get("AvailabilityZone", "")),
        )


class Ec2Provider(Ec2Steward):
    """Makes instances as a platform's options ask for them."""

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
        """See that image and size exist; limits of the account only show when they are met."""
        _ = self._image, self._size

    def shared(self, prefix: str) -> Sequence[Thing]:
        """Name the key pair."""
        return [Thing(KEY_PAIR, f"{prefix}-key")]

    def parts(self, prefix: str) -> Sequence[Thing]:
        """Name an instance."""
        return [Thing(INSTANCE, prefix)]

    def create(self, thing: Thing, launch: Launch) -> str:
        """Make a thing and give its id."""
        with asking():
            if thing.kind == KEY_PAIR:
                material = launch.public_key.encode()
                self._sdk.import_key_pair(KeyName=thing.name, PublicKeyMaterial=material)
                return thing.name
            made = self._sdk.run_instances(**self._asked(thing, launch))
        return str(made["Instances"][0]["InstanceId"])

    def _asked(self, thing: Thing, launch: Launch) -> dict[str, Any]:
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
        """Tell image and size."""
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
    """Tell whether an instance carries the mark that its name does."""
    mark = _tag(instance, _OWNER)
    return bool(mark) and _tag(instance, "Name").startswith(f"{PREFIX}{mark}")


class Ec2Platform(CloudPlatform[Ec2Options]):
    """Instances of EC2, or of a cloud with its interface."""

    type_name = "ec2"
    summary = "instances of EC2, or of a cloud with its interface, made and removed by bareline"
    options = Ec2Options

    @classmethod
    def account(cls, options: Ec2Options) -> Mapping[str, str]:
        """Name region, profile and endpoint; the credentials are the user's."""
        known = {name: getattr(options, name) for name in ("region", "profile", "endpoint")}
        return {name: value for name, value in known.items() if value}

    @classmethod
    def steward(cls, account: Mapping[str, str]) -> Ec2Steward:
        """Reach an account to find and remove things."""
        return Ec2Steward(account)

    @classmethod
    def check(cls, spec: PlatformSpec[Ec2Options]) -> None:
        """See that boto3 is here; the cloud is not asked."""
        if find_spec("boto3") is None:
            raise sdk_missing()
        super().check(spec)

    def provider(self) -> Ec2Provider:
        """Reach the cloud to make what the options ask for."""
        return Ec2Provider(self.account(self.spec.options), self.spec.options)


PLATFORM = Ec2Platform
