"""Instances of an OpenStack cloud such as Nebula: key pair, server group, ports, servers."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar

from bareline.platforms.made.cloud.journal import PREFIX
from bareline.platforms.made.cloud.openstack import OpenStackOptions, asking, connect, must_know
from bareline.platforms.made.cloud.platform import CloudPlatform
from bareline.platforms.made.cloud.provider import (
    INSTANCE,
    CloudResource,
    Instance,
    InstanceState,
    LaunchSpec,
    QuotaReached,
)
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.model import Scalar
from bareline.vocabulary.platform import PlatformSpec

if TYPE_CHECKING:
    from openstack.connection import Connection

KEY_PAIR = "key pair"
SERVER_GROUP = "server group"
PORT = "port"
#: Key in the metadata of servers; its value is the mark of the process that owns the server.
_OWNER = "bareline-owner"
#: The meaning of a server's status; any other status is a failure.
_STATES = {
    "ACTIVE": InstanceState.UP,
    **dict.fromkeys(("DELETED", "SOFT_DELETED"), InstanceState.GONE),
    **dict.fromkeys(("BUILD", "REBUILD", "REBOOT", "HARD_REBOOT", "UNKNOWN"), InstanceState.COMING),
}


@dataclass(frozen=True, slots=True)
class _Calls:
    """The functions of the SDK for one kind of resource."""

    list_all: Callable[..., Iterable[Any]]
    delete: Callable[..., Any]


class OpenStackSteward:
    """The part that finds and removes bareline's resources in a project.

    See `provider.AccountCleaner`.
    """

    kinds: ClassVar[tuple[str, ...]] = (KEY_PAIR, SERVER_GROUP, PORT, INSTANCE)

    def __init__(self, cloud: str, region: str | None = None) -> None:
        self._cloud = cloud
        self._region = region

    @cached_property
    def _sdk(self) -> Connection:
        return connect(self._cloud, self._region)

    @cached_property
    def _calls(self) -> Mapping[str, _Calls]:
        compute = self._sdk.compute
        network = self._sdk.network
        servers = partial(compute.servers, details=True)
        return {
            KEY_PAIR: _Calls(compute.keypairs, compute.delete_keypair),
            SERVER_GROUP: _Calls(compute.server_groups, compute.delete_server_group),
            PORT: _Calls(network.ports, network.delete_port),
            INSTANCE: _Calls(servers, compute.delete_server),
        }

    def find(self, thing: CloudResource) -> list[str]:
        # The cloud can select ports and servers by name; for servers, the name is a pattern.
        chosen = {"name": thing.name} if thing.kind in (PORT, INSTANCE) else {}
        with asking():
            listed = self._calls[thing.kind].list_all(**chosen)
            return [str(resource.id) for resource in listed if resource.name == thing.name]

    def named(self, prefix: str) -> Iterable[CloudResource]:
        """Return all resources whose names have a prefix; servers also need bareline's metadata."""
        things = []
        with asking():
            for kind in self.kinds:
                for resource in self._calls[kind].list_all():
                    name = str(resource.name or "")
                    is_ours = kind != INSTANCE or _is_marked(resource)
                    if name.startswith(prefix) and is_ours:
                        things.append(CloudResource(kind, name, str(resource.id)))
        return things

    def delete(self, thing: CloudResource) -> None:
        with asking(conflict_is_busy=True):
            self._calls[thing.kind].delete(thing.id, ignore_missing=True)

    def is_gone(self, thing: CloudResource) -> bool:
        return thing.kind != INSTANCE or self.look(thing).state is InstanceState.GONE

    def look(self, thing: CloudResource) -> Instance:
        from openstack.exceptions import NotFoundException

        with asking():
            try:
                server = self._sdk.compute.get_server(thing.id)
            except NotFoundException:
                return Instance(InstanceState.GONE)
        return Instance(
            state=_STATES.get(server.status, InstanceState.FAILED),
            said=str(server.status),
            fault=str((server.fault or {}).get("message", "")),
            address=self._address(server.addresses or {}),
            host=str(server.host_id or "")[:12],
            zone=str(server.availability_zone or ""),
        )

    def _address(self, addresses: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
        """Return the address of a server for ssh: the first address of the server."""
        for address in chain.from_iterable(addresses.values()):
            if address.get("version") == 4:
                return str(address["addr"])
        return ""


class OpenStackProvider(OpenStackSteward):
    """The part that creates servers according to a platform's options; see `provider.Provider`."""

    def __init__(self, options: OpenStackOptions) -> None:
        super().__init__(options.cloud, options.region)
        self._options = options

    @cached_property
    def _flavor(self) -> Any:
        find = partial(self._sdk.compute.find_flavor, get_extra_specs=True)
        return self._there(find, "flavor", self._options.flavor)

    @cached_property
    def _image(self) -> Any:
        return self._there(self._sdk.image.find_image, "image", self._options.image)

    @cached_property
    def _networks(self) -> list[Any]:
        find = self._sdk.network.find_network
        if self._options.ports:
            return [self._there(find, "network", port.network) for port in self._options.ports]
        with asking():
            listed = list(self._sdk.network.networks())
        inner = [network for network in listed if not network.is_router_external]
        if len(inner) != 1:
            names = ", ".join(network.name for network in inner) or "none"
            raise PlatformError(
                f"the project has {len(inner)} networks, but the platform names none of them",
                where=self._options.cloud,
                hint=f"write ports = [NETWORK] with one of: {names}",
            )
        return inner

    @cached_property
    def _security_groups(self) -> list[str]:
        find = self._sdk.network.find_security_group
        names = self._options.security_groups
        return [str(self._there(find, "security group", name).id) for name in names]

    def _there(self, find: Callable[..., Any], noun: str, name: str) -> Any:
        """Return the resource with a name.

        - `noun`: the kind of resource, in the words of the command ``openstack``.
        """
        from openstack.exceptions import NotFoundException

        with asking():
            try:
                return find(name, ignore_missing=False)
            except NotFoundException:
                pass
        raise PlatformError(
            f"there is no {noun} '{name}'",
            where=self._options.cloud,
            hint=f"`openstack --os-cloud {self._options.cloud} {noun} list` names them",
        )

    def check(self, instances: int) -> None:
        flavor = self._flavor
        _ = self._image, self._networks, self._security_groups
        with asking():
            limits = self._sdk.compute.get_limits().absolute
        self._check_quota("instances", limits.instances, limits.instances_used, instances)
        cores = flavor.vcpus * instances
        self._check_quota("cores", limits.total_cores, limits.total_cores_used, cores)
        memory_mib = flavor.ram * instances
        self._check_quota("MiB of memory", limits.total_ram, limits.total_ram_used, memory_mib)

    def _check_quota(self, noun: str, most: int | None, used: int | None, needed: int) -> None:
        """Check that enough of a quota is left; None or below 0 means no limit.

        Raises QuotaReached: too little is left.
        """
        if most is None or most < 0:
            return
        left = most - (used or 0)
        if needed > left:
            raise QuotaReached(
                f"{max(0, left)} of the quota of {most} {noun} are free, but {needed} are needed",
                where=self._options.cloud,
                hint="remove unneeded resources of the project, or request a larger quota",
            )

    def shared(self, prefix: str) -> Sequence[CloudResource]:
        things = [CloudResource(KEY_PAIR, f"{prefix}-key")]
        if self._options.placement:
            things.append(CloudResource(SERVER_GROUP, f"{prefix}-group"))
        return things

    def parts(self, prefix: str) -> Sequence[CloudResource]:
        count = len(self._networks)
        ports = [CloudResource(PORT, f"{prefix}-port{number}") for number in range(1, count + 1)]
        return [*ports, CloudResource(INSTANCE, prefix)]

    def create(self, thing: CloudResource, launch: LaunchSpec) -> str:
        with asking():
            return str(self._make(thing, launch).id)

    def _make(self, thing: CloudResource, launch: LaunchSpec) -> Any:
        compute = self._sdk.compute
        if thing.kind == KEY_PAIR:
            return compute.create_keypair(name=thing.name, public_key=launch.public_key)
        if thing.kind == SERVER_GROUP:
            policy = self._options.placement
            return compute.create_server_group(name=thing.name, policy=policy)
        if thing.kind == PORT:
            port = self._port(len(launch.ids(PORT)))
            return self._sdk.network.create_port(name=thing.name, **port)
        return compute.create_server(name=thing.name, **self._server(launch))

    def _port(self, number: int) -> dict[str, Any]:
        """Return the parameters of a port of an instance; ports are numbered from 0."""
        port = {"network_id": self._networks[number].id}
        if self._options.ports:
            port["binding_vnic_type"] = self._options.ports[number].vnic_type
        if self._security_groups:
            port["security_groups"] = self._security_groups
        return port

    def _server(self, launch: LaunchSpec) -> dict[str, Any]:
        options = self._options
        user_data = base64.b64encode(launch.user_data.encode())
        server: dict[str, Any] = {
            "image_id": self._image.id,
            "flavor_id": self._flavor.id,
            "networks": [{"port": port} for port in launch.ids(PORT)],
            "key_name": launch.ids(KEY_PAIR)[0],
            "metadata": {_OWNER: launch.owner},
            "user_data": user_data.decode(),
            "config_drive": options.config_drive,
        }
        if options.zone:
            server["availability_zone"] = options.zone
        groups = launch.ids(SERVER_GROUP)
        if groups:
            server["scheduler_hints"] = {"group": groups[0]}
        return server

    def _address(self, addresses: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
        name = str(self._networks[0].name)
        return super()._address({name: addresses.get(name, ())})

    def facts(self) -> Mapping[str, Scalar]:
        flavor = self._flavor
        image = self._image
        options = self._options
        ports = [f"{port.network} ({port.vnic_type})" for port in options.ports]
        # The image's requirements for its virtual hardware, such as hw_vif_model=e1000.
        properties = image.to_dict(original_names=True)
        hardware = {key: value for key, value in properties.items() if key.startswith("hw_")}
        checksum = str(image.hash_value or image.checksum or "")
        facts: dict[str, Scalar | None] = {
            "cloud.flavor": str(flavor.name),
            "cloud.vcpus": int(flavor.vcpus),
            "cloud.memory_bytes": int(flavor.ram) << 20,
            "cloud.flavor_specs": _words(flavor.extra_specs),
            "cloud.image": str(image.name),
            "cloud.image_id": str(image.id),
            "cloud.image_checksum": checksum[:16],
            "cloud.image_properties": _words(hardware),
            "cloud.ports": ", ".join(ports) or f"{self._networks[0].name} (normal)",
            "cloud.placement": options.placement,
        }
        return {key: value for key, value in facts.items() if value not in (None, "")}


def _words(items: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}={items[key]}" for key in sorted(items) if items[key] is not None)


def _is_marked(server: Any) -> bool:
    mark = str((server.metadata or {}).get(_OWNER, ""))
    return bool(mark) and str(server.name).startswith(f"{PREFIX}{mark}")


class OpenStackPlatform(CloudPlatform[OpenStackOptions]):
    """The platform type of OpenStack instances."""

    type_name = "openstack"
    summary = "instances of an OpenStack cloud, made and removed by bareline"
    options = OpenStackOptions

    @classmethod
    def account(cls, options: OpenStackOptions) -> Mapping[str, str]:
        if not options.region:
            return {"cloud": options.cloud}
        return {"cloud": options.cloud, "region": options.region}

    @classmethod
    def steward(cls, account: Mapping[str, str]) -> OpenStackSteward:
        return OpenStackSteward(account["cloud"], account.get("region"))

    @classmethod
    def check(cls, spec: PlatformSpec[OpenStackOptions]) -> None:
        must_know(spec.options.cloud, "see docs/how-to/openstack.md")
        super().check(spec)

    def provider(self) -> OpenStackProvider:
        return OpenStackProvider(self.spec.options)


PLATFORM = OpenStackPlatform
