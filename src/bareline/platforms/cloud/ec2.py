"""What is asked of EC2 through boto3: options, and how refusals are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any, Literal

from pydantic import Field

from bareline.platforms.cloud.budget import CloudOptions
from bareline.platforms.cloud.provider import Busy, NoRoom, QuotaReached
from bareline.vocabulary.errors import PlatformError, ToolMissing

_Word = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$")]


class Ec2Options(CloudOptions):
    """Options of a platform of instances of EC2; more in `CloudOptions`.

    - `region`, `profile`: of the user's AWS configuration, where the credentials are.
    - `endpoint`: address of another cloud with this interface.
    - `image`, `size`: ids as ``ami-0123`` and ``c7i.8xlarge``.
    - `subnet`: id of the subnet; the default one without it.
    - `security_groups`: ids.
    - `placement_group`: name of one that exists: of the kind "cluster" for MPI.
    - `zone`: availability zone.
    - `address`: which of its addresses an instance is reached at.
    - `efa`: give each instance an adapter that bypasses the hypervisor.
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
    """Say that boto3 is not installed, and what brings it."""
    return ToolMissing(
        "the Python package boto3 is not installed",
        hint="install it with `pip install 'bareline[ec2]'`",
    )


def connect(account: Mapping[str, str]) -> Any:
    """Reach a cloud.

    - `account`: ``region``, and ``profile`` and ``endpoint`` where they are given.
    """
    try:
        import boto3
        from botocore.config import Config
    except ImportError as error:
        raise sdk_missing() from error
    with asking():
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
    """Say in bareline's errors what the cloud or the way to it refuses.

    - `conflict_is_busy`: what is asked for is only in the way of something that ends by itself.

    Raises
    ------
    Busy
        The same may succeed later.
    NoRoom
        There is no machine for an instance now.
    QuotaReached
        The account may have no more.
    """
    from botocore import exceptions
    from botocore.parsers import ResponseParserError

    try:
        yield
    except exceptions.ClientError as error:
        raise _refusal(error.response, conflict_is_busy) from error
    except (exceptions.HTTPClientError, exceptions.ConnectionError) as error:
        raise Busy(f"no answer: {error}") from error
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
        return Busy(f"too many requests: {text}", retry_after_s=after_s, maybe_done=False)
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
    """Tell whether a refusal says that what was asked for is not there."""
    code = str(error.response.get("Error", {}).get("Code", ""))
    return code.endswith((".NotFound", ".Unknown"))
