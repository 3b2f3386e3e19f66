"""The platform type ``ec2``."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec

from bareline.platforms.cloud.platform import CloudPlatform
from bareline.platforms.ec2.asking import sdk_missing
from bareline.platforms.ec2.options import Ec2Options
from bareline.platforms.ec2.provider import Ec2Provider, Ec2Steward
from bareline.vocabulary.platform import PlatformSpec


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
