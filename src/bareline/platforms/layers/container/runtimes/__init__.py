"""Container runtimes: the command lines of each, one module a family."""

from collections.abc import Mapping
from types import MappingProxyType

from bareline.platforms.layers.container.runtimes.apptainer import Apptainer, Singularity
from bareline.platforms.layers.container.runtimes.base import Box, Image, Runtime
from bareline.platforms.layers.container.runtimes.bubblewrap import Bubblewrap
from bareline.platforms.layers.container.runtimes.charliecloud import Charliecloud
from bareline.platforms.layers.container.runtimes.enroot import Enroot
from bareline.platforms.layers.container.runtimes.gvisor import Gvisor
from bareline.platforms.layers.container.runtimes.podman import Docker, Podman
from bareline.platforms.layers.container.runtimes.sarus import Sarus

_EVERY: tuple[type[Runtime], ...] = (
    *(Bubblewrap, Charliecloud, Apptainer, Singularity),
    *(Podman, Docker, Sarus, Enroot, Gvisor),
)
#: By the name that platform files give.
RUNTIMES: Mapping[str, Runtime] = MappingProxyType({kind.name: kind() for kind in _EVERY})

__all__ = ["RUNTIMES", "Box", "Image", "Runtime"]
