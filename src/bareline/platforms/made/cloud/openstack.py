"""Options of OpenStack platforms, connections by openstacksdk, and the meaning of its errors."""

from __future__ import annotations

import logging
import socket
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from threading import Timer
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from bareline.platforms.made.cloud.budget import CloudOptions
from bareline.platforms.made.cloud.provider import Busy, QuotaReached
from bareline.vocabulary.errors import PlatformError, ToolMissing

if TYPE_CHECKING:
    from openstack.connection import Connection

_LOG = logging.getLogger(__name__)
_Name = Annotated[str, Field(min_length=1, max_length=255)]


class Port(BaseModel):
    """A network port that each instance has.

    - `network`: name or id of the port's network.
    - `vnic_type`: the device behind the port: ``normal`` (a virtual adapter), ``direct`` (a
      function of an SR-IOV adapter), or another type that Neutron has.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    network: _Name
    vnic_type: Literal[
        "normal", "direct", "direct-physical", "macvtap", "virtio-forwarder", "vdpa"
    ] = "normal"


#: A network's name alone is a port of the kind "normal".
_Port = Annotated[
    Port, BeforeValidator(lambda given: {"network": given} if isinstance(given, str) else given)
]


class OpenStackOptions(CloudOptions):
    """Options of a platform of OpenStack instances, in addition to `CloudOptions`.

    - `cloud`: name of the cloud in the user's ``clouds.yaml``, which has the credentials.
    - `region`: a region of the cloud.
    - `image`: name or id of the image.
    - `flavor`: name or id of the flavor.
    - `ports`: the network ports of each instance. A port is the name of a network, or a table with
      the keys of `Port`. ssh uses the first port. By default, an instance has one port, on the
      project's only network.
    - `security_groups`: names or ids of security groups for every port; by default, the project's
      default group.
    - `placement`: policy of a server group that is made for the instances.
    - `zone`: availability zone.
    - `config_drive`: whether instances get their start-up data on a disk instead of over the
      network.
    """

    cloud: _Name
    region: _Name | None = None
    image: _Name
    flavor: _Name
    ports: tuple[_Port, ...] = ()
    security_groups: tuple[_Name, ...] = ()
    placement: (
        Literal["affinity", "anti-affinity", "soft-affinity", "soft-anti-affinity"] | None
    ) = None
    zone: _Name | None = None
    config_drive: bool = False


#: Time limit for the answer to a request.
_ANSWER_S = 60
#: Time limit for a connection, and the time after which a wait is reported.
_KNOCK_S = 10
_TELL_S = 3.0
_RETRIES = ("connect_retries", "status_code_retries", "image_status_code_retries")


def known_clouds() -> list[str]:
    """Return the names of the clouds in the user's ``clouds.yaml``."""
    with asking():
        from openstack.config import OpenStackConfig

        return sorted(str(name) for name in OpenStackConfig().get_cloud_names())


def must_know(cloud: str, hint: str) -> None:
    """Check that ``clouds.yaml`` contains a cloud.

    - `hint`: the next step in the error message if ``clouds.yaml`` has no cloud at all.
    """
    if cloud not in (clouds := known_clouds()):
        hint = f"it has: {', '.join(clouds)}" if clouds else hint
        raise PlatformError(f"clouds.yaml has no cloud '{cloud}'", hint=hint)


def connect(cloud: str, region: str | None) -> Connection:
    """Return a connection to a cloud of the user's ``clouds.yaml``."""
    must_know(cloud, "there is no clouds.yaml: see docs/how-to/openstack.md")
    import openstack

    # The SDK must not repeat requests, because `Retries` does this.
    settings: dict[str, Any] = dict.fromkeys(_RETRIES, 0)
    if region:
        settings["region_name"] = region
    with asking():
        _knock(cloud)
        return openstack.connect(
            cloud=cloud, app_name="bareline", api_timeout=_ANSWER_S, **settings
        )


def _knock(cloud: str) -> None:
    """Check that the cloud accepts a TCP connection.

    The SDK would wait 60 s if packets are dropped.
    """
    import requests
    from openstack.config import OpenStackConfig

    url = urlsplit(str(OpenStackConfig().get_one(cloud).config.get("auth", {}).get("auth_url", "")))
    if not url.hostname or requests.utils.get_environ_proxies(url.geturl()):
        return
    place = (url.hostname, url.port or {"http": 80}.get(url.scheme, 443))
    try:
        socket.create_connection(place, timeout=_KNOCK_S).close()
    except OSError as error:
        why = error.strerror or f"no connection within {_KNOCK_S} s"
        raise Busy(f"no answer from {place[0]}:{place[1]}: {why}", is_silent=True) from error


@contextmanager
def asking(*, conflict_is_busy: bool = False) -> Iterator[None]:
    """Turn errors of a cloud, or of the connection to it, into errors of bareline.

    - `conflict_is_busy`: whether HTTP status 409 (conflict) is raised as `Busy`, because the same
      request may succeed later.

    Raises ToolMissing: the SDK is not installed.
    Raises Busy: the same request may succeed later.
    Raises QuotaReached: the project's quota is used up.
    """
    try:
        import requests
        from keystoneauth1 import exceptions as login
        from openstack import exceptions
    except ImportError as error:
        raise ToolMissing(
            "the Python package openstacksdk is not installed",
            hint="install it with `pip install 'bareline[openstack]'`",
        ) from error
    waits = f"waiting for the cloud's control plane to answer, at most {_ANSWER_S} s"
    timer = Timer(_TELL_S, _LOG.warning, [waits])
    timer.daemon = True
    timer.start()
    try:
        with warnings.catch_warnings():
            # The SDK warns of its own calls.
            warnings.simplefilter("ignore", DeprecationWarning)
            warnings.simplefilter("ignore", PendingDeprecationWarning)
            yield
    except exceptions.HttpException as error:
        reason = str(error.details or error.message or error)
        raise _refused(error.status_code, reason, error.response, conflict_is_busy) from error
    except login.HttpError as error:
        raise _refused(error.http_status, str(error.message), error.response, False) from error
    except (login.ConnectionError, requests.exceptions.ConnectionError) as error:
        raise Busy(f"the cloud does not answer: {_short(str(error))}", is_silent=True) from error
    except requests.exceptions.Timeout as error:
        raise Busy(f"the cloud did not answer within {_ANSWER_S} s", is_silent=True) from error
    except exceptions.ConfigException as error:
        raise PlatformError(
            f"the login data are not valid: {_short(str(error))}", hint="check your clouds.yaml"
        ) from error
    except (exceptions.SDKException, login.ClientException) as error:
        raise PlatformError(f"the OpenStack client reports: {_short(str(error))}") from error
    finally:
        timer.cancel()


def _refused(code: int | None, reason: str, response: Any, conflict_is_busy: bool) -> PlatformError:
    text = f"{_short(reason)} (HTTP {code})"
    code = code or 0
    after_s = _retry_after_s(response)
    if code in (403, 409, 413) and "quota" in reason.lower():  # 413 was Nova's at Nebula's time
        return QuotaReached(
            f"the quota is reached: {text}",
            hint="remove resources that the project does not need, or request a larger quota",
        )
    if code == 429 or (code == 413 and after_s is not None):
        return Busy(f"the cloud refuses so many requests: {text}", retry_after_s=after_s)
    if code >= 500 or (code == 409 and conflict_is_busy):
        return Busy(text, retry_after_s=after_s)
    if code == 401:
        return PlatformError(
            f"the cloud rejects the login: {text}", hint="see the login in your clouds.yaml"
        )
    return PlatformError(text)


def _retry_after_s(response: Any) -> float | None:
    """Return the waiting time in s that an answer requests, as seconds or as a date."""
    text = str(response.headers.get("Retry-After", "")) if response is not None else ""
    if text.isdecimal():
        return float(text)
    try:
        until = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, (until - datetime.now(UTC)).total_seconds())


def _short(text: str) -> str:
    return " ".join(text.split())[:400]
