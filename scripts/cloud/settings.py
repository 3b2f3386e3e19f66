"""What each service of the control plane is told: its configuration file."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ADMIN, USER, PASSWORD = "admin", "bareline", "for-this-machine-only"
ROLE, REGION = "member", "here"
NETWORK, IMAGE = "private", "stand-in"
#: By kind of service, as the catalogue of a cloud names them: the path of its interface.
PATHS = {"identity": "/v3", "placement": "", "image": "", "network": "", "compute": "/v2.1"}

Sections = dict[str, dict[str, object]]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a control plane lives: its folder, the ports of its interfaces and its instances."""

    folder: Path
    ports: Mapping[str, int]
    subnet: str
    computes: tuple[str, ...]
    quota: int
    guests: Path | None = None

    def url(self, kind: str) -> str:
        """Address of an interface."""
        return f"http://127.0.0.1:{self.ports[kind]}{PATHS[kind]}"

    def database(self, name: str) -> str:
        """Address of a database; a writer waits for another one."""
        return f"sqlite:///{self.folder}/{name}.sqlite?timeout=20"

    @property
    def gateway(self) -> str:
        """Our own address among the instances, with the length of the network's."""
        network = ipaddress.ip_network(self.subnet)
        return f"{network[1]}/{network.prefixlen}"

    def file(self, name: str) -> Path:
        """File of this folder."""
        return self.folder / name


def write(place: Place) -> None:
    """Write every service's files."""
    for name, sections in _services(place).items():
        place.file(f"{name}.conf").write_text(_ini({**_common(place, name), **sections}))
    for name, text in _PASTE.items():
        place.file(f"{name}-paste.ini").write_text(text)
    for name in ("log", "locks", "keys", "images", "state"):
        place.file(name).mkdir()


def _ini(sections: Sections) -> str:
    lines = []
    for name, keys in sections.items():
        lines += [f"[{name}]", *(f"{key} = {value}" for key, value in keys.items())]
    return "\n".join(lines) + "\n"


def _common(place: Place, name: str) -> Sections:
    return {
        "DEFAULT": _head(place, name),
        "database": _database(place, name),
        "keystone_authtoken": {**_login(place), "www_authenticate_uri": place.url("identity")},
        "oslo_concurrency": {"lock_path": place.file("locks")},
    }


def _head(place: Place, name: str) -> dict[str, object]:
    return {
        "log_file": place.file(f"log/{name}.log"),
        "transport_url": "fake://",  # within one process: no message bus has to run
        "state_path": place.file("state"),
    }


def _database(place: Place, name: str) -> dict[str, object]:
    return {"connection": place.database(name), "sqlite_synchronous": False}


def _login(place: Place) -> dict[str, object]:
    return {
        "auth_type": "password",
        "auth_url": place.url("identity"),
        "username": ADMIN,
        "password": PASSWORD,
        "project_name": ADMIN,
        "user_domain_id": "default",
        "project_domain_id": "default",
        "region_name": REGION,
    }


def _services(place: Place) -> dict[str, Sections]:
    paste = {name: place.file(f"{name}-paste.ini") for name in _PASTE}
    return {
        "keystone": {
            "fernet_tokens": {"key_repository": place.file("keys")},
            "fernet_receipts": {"key_repository": place.file("keys")},
            # Hashing a password slowly on purpose would be half of what a log-in costs.
            "identity": {"password_hash_rounds": 4},
        },
        "placement": {"placement_database": _database(place, "placement")},
        "glance": {
            "DEFAULT": {**_head(place, "glance"), "enabled_backends": "folder:file"},
            "glance_store": {"default_backend": "folder"},
            "folder": {"filesystem_store_datadir": place.file("images")},
            "os_glance_staging_store": {"filesystem_store_datadir": place.file("state")},
            "os_glance_tasks_store": {"filesystem_store_datadir": place.file("state")},
            "paste_deploy": {"flavor": "keystone", "config_file": paste["glance"]},
        },
        "neutron": {
            "DEFAULT": {
                **_head(place, "neutron"),
                "core_plugin": "ml2",
                "api_paste_config": paste["neutron"],
                "notify_nova_on_port_status_changes": False,
                "notify_nova_on_port_data_changes": False,
                "rpc_workers": 0,
                "rpc_state_report_workers": 0,
                "dhcp_agent_notification": False,
            },
            "ml2": {
                "type_drivers": "flat,local",
                "tenant_network_types": "local",
                "mechanism_drivers": "here",
                "extension_drivers": "port_security",
            },
        },
        "nova": _nova(place, paste["nova"]),
    }


def _nova(place: Place, paste: Path) -> Sections:
    login = _login(place)
    return {
        "DEFAULT": {
            **_head(place, "nova"),
            "my_ip": "127.0.0.1",
            "bareline_subnet": place.gateway,
            "bareline_guests": place.guests or "",
            "compute_driver": "guests.GuestDriver" if place.guests else "hosts.HostDriver",
            "vif_plugging_is_fatal": False,
            "vif_plugging_timeout": 0,
            "periodic_fuzzy_delay": 1,
        },
        "api_database": _database(place, "nova_api"),
        "database": _database(place, "nova_cell1"),
        "wsgi": {"api_paste_config": paste},
        "api": {"auth_strategy": "keystone"},
        "placement": login,
        "neutron": login,
        "service_user": login,
        "glance": {"api_servers": place.url("image")},
        "cinder": {"catalog_info": "volumev3::internalURL"},
        "quota": {"instances": place.quota, "cores": -1, "ram": -1},
        "filter_scheduler": {"enabled_filters": ",".join(_FILTERS)},
        "workarounds": {"skip_cpu_compare_at_startup": True},
    }


_FILTERS = (
    "ComputeFilter",
    "ComputeCapabilitiesFilter",
    "ImagePropertiesFilter",
    "ServerGroupAntiAffinityFilter",
    "ServerGroupAffinityFilter",
)
_AUTHTOKEN = (
    "[filter:authtoken]\npaste.filter_factory = keystonemiddleware.auth_token:filter_factory\n"
)
_VERSIONS = "glance.api.middleware.version_negotiation:VersionNegotiationFilter.factory"
_PASTE = {
    "nova": f"""\
[composite:osapi_compute]
use = call:nova.api.openstack.urlmap:urlmap_factory
/: versions
/v2.1: v21
[composite:v21]
use = call:nova.api.auth:pipeline_factory_v21
keystone = request_id faults authtoken context servers
[filter:request_id]
paste.filter_factory = oslo_middleware:RequestId.factory
[filter:faults]
paste.filter_factory = nova.api.openstack:FaultWrapper.factory
{_AUTHTOKEN}[filter:context]
paste.filter_factory = nova.api.auth:NovaKeystoneContext.factory
[app:servers]
paste.app_factory = nova.api.openstack.compute:APIRouterV21.factory
[app:versions]
paste.app_factory = nova.api.openstack.compute.versions:Versions.factory
""",
    "neutron": f"""\
[composite:neutron]
use = egg:Paste#urlmap
/: versions
/v2.0: v20
[composite:v20]
use = call:neutron.auth:pipeline_factory
keystone = authtoken context extensions router
[composite:versions]
use = call:neutron.auth:pipeline_factory
keystone = listed
{_AUTHTOKEN}[filter:context]
paste.filter_factory = neutron.auth:NeutronKeystoneContext.factory
[filter:extensions]
paste.filter_factory = neutron.api.extensions:plugin_aware_extension_middleware_factory
[app:listed]
paste.app_factory = neutron.pecan_wsgi.app:versions_factory
[app:router]
paste.app_factory = neutron.api.v2.router:APIRouter.factory
""",
    "glance": f"""\
[pipeline:glance-api-keystone]
pipeline = versions_first authtoken context root
[composite:root]
paste.composite_factory = glance.api:root_app_factory
/: versions
/v2: v2
[app:versions]
paste.app_factory = glance.api.versions:create_resource
[app:v2]
paste.app_factory = glance.api.v2.router:API.factory
[filter:versions_first]
paste.filter_factory = {_VERSIONS}
{_AUTHTOKEN}[filter:context]
paste.filter_factory = glance.api.middleware.context:ContextMiddleware.factory
""",
}
