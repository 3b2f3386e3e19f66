"""The platform type ``openstack``."""

from __future__ import annotations

from collections.abc import Mapping

from bareline.platforms.cloud.platform import CloudPlatform
from bareline.platforms.openstack.asking import known_clouds
from bareline.platforms.openstack.options import OpenStackOptions
from bareline.platforms.openstack.provider import OpenStackProvider, OpenStackSteward
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.platform import PlatformSpec


class OpenStackPlatform(CloudPlatform[OpenStackOptions]):
    """Instances of an OpenStack cloud."""

    type_name = "openstack"
    summary = "instances of an OpenStack cloud, made and removed by bareline"
    options = OpenStackOptions

    @classmethod
    def account(cls, options: OpenStackOptions) -> Mapping[str, str]:
        """Name the cloud, as the user's ``clouds.yaml`` has it."""
        region = {"region": options.region} if options.region else {}
        return {"cloud": options.cloud, **region}

    @classmethod
    def steward(cls, account: Mapping[str, str]) -> OpenStackSteward:
        """Reach a project to find and remove things."""
        return OpenStackSteward(account["cloud"], account.get("region"))

    @classmethod
    def check(cls, spec: PlatformSpec[OpenStackOptions]) -> None:
        """See that the cloud is in ``clouds.yaml``; it is not asked."""
        known = known_clouds()
        if spec.options.cloud not in known:
            raise PlatformError(
                f"clouds.yaml has no cloud '{spec.options.cloud}'",
                hint=f"it has: {', '.join(known)}" if known else "see docs/how-to/openstack.md",
            )
        super().check(spec)

    def provider(self) -> OpenStackProvider:
        """Reach the cloud to make what the options ask for."""
        return OpenStackProvider(self.spec.options)
