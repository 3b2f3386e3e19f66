"""What is in the cloud from the beginning, and the file with which a user reaches it."""

from __future__ import annotations

import json
from typing import Any

import settings
from keystoneauth1.identity import V3Password
from keystoneauth1.session import Session
from settings import Place

#: Name, processors, memory in MiB, disk in GiB; `huge` fits on no host.
_FLAVORS = (("small", 1, 512, 1), ("pair", 2, 1024, 2), ("huge", 100_000, 512, 1))


def fill(place: Place) -> None:
    """Make flavors, an image and a network, as an operator would."""
    session = _session(place)
    for name, processors, memory_mib, disk_gib in _FLAVORS:
        flavor = {"name": name, "vcpus": processors, "ram": memory_mib, "disk": disk_gib}
        _post(session, place, "compute", "/flavors", {"flavor": flavor})
    network = {"name": settings.NETWORK, "shared": True, "port_security_enabled": True}
    made = _post(session, place, "network", "/v2.0/networks", {"network": network})
    subnet = {
        "network_id": made["network"]["id"],
        "name": settings.NETWORK,
        "ip_version": 4,
        "cidr": place.subnet,
        # Where the instances' switch has its own address; nobody routes any further.
        "gateway_ip": place.gateway.partition("/")[0],
        "enable_dhcp": False,
    }
    _post(session, place, "network", "/v2.0/subnets", {"subnet": subnet})
    image = {"name": settings.IMAGE, "disk_format": "raw", "container_format": "bare"}
    made = _post(session, place, "image", "/v2/images", {**image, "visibility": "public"})
    session.put(
        f"{place.url('image')}/v2/images/{made['id']}/file",
        data=bytes(512),
        headers={"Content-Type": "application/octet-stream"},
    )


def write_clouds(place: Place) -> None:
    """Write `clouds.yaml`: the cloud `bareline` as its user sees it, and `admin`; and the ports."""
    lines = ["clouds:"]
    for name in (settings.USER, settings.ADMIN):
        lines += [
            f"  {name}:",
            f"    region_name: {settings.REGION}",
            "    auth:",
            f"      auth_url: {place.url('identity')}",
            f"      username: {name}",
            f"      password: {settings.PASSWORD}",
            f"      project_name: {name}",
            "      user_domain_id: default",
            "      project_domain_id: default",
        ]
    file = place.file("clouds.yaml")
    file.touch(mode=0o600)
    file.write_text("\n".join(lines) + "\n")
    place.file("ports.json").write_text(json.dumps(dict(place.ports)))


def _session(place: Place) -> Session:
    login = V3Password(
        auth_url=place.url("identity"),
        username=settings.ADMIN,
        password=settings.PASSWORD,
        project_name=settings.ADMIN,
        user_domain_id="default",
        project_domain_id="default",
    )
    return Session(login)


def _post(session: Session, place: Place, kind: str, path: str, body: dict[str, Any]) -> Any:
    return session.post(place.url(kind) + path, json=body).json()
