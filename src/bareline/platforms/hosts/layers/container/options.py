"""The option `container`: a container in which every program of a platform's trials runs."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from bareline.platforms.hosts.layers.container.runtimes import ImageKind, runtimes
from bareline.vocabulary.platform import Options

if TYPE_CHECKING:
    Name = str
else:
    Name = Literal[tuple(runtimes())]
_Path = Annotated[str, Field(pattern=r"^(/[A-Za-z0-9_.+@=-]+)+$")]
#: Names of images in a runtime's own store: registry, name, tag or digest.
_STORED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@+-]{0,254}")
#: Suffixes of archives of images, which a runtime does not take as they are.
_ARCHIVES = (".tar", ".tar.gz", ".tgz")


def _installed(name: object) -> object:
    if name in ("enroot", "sarus") and name not in runtimes():
        raise ValueError(
            f"the runtime {name} needs the package bareline-contrib, which is not installed; `pip"
            " install bareline-contrib`"
        )
    return name


class Container(BaseModel):
    """The container in which the programs of trials run.

    - `runtime`: the container runtime.
    - `image`: the container's root folder: ``host`` (the node's own root, read-only), ``bareline``
      (built from the packages that guests have), the path of a root folder or of an archive in the
      format of OCI or Docker, or the name of an image in the runtime's store.
    - `share`: the processes that share a container: ``rank`` (every rank has its own container) or
      ``node`` (the ranks of a node share a container).
    - `unpack_gib`: the size limit for an unpacked archive, in GiB; by default a quarter of the free
      space of the cache folder.
    - `bind`: further folders of the nodes that are visible in the container, at the same path.
    """

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)
    runtime: Annotated[Name, BeforeValidator(_installed)]
    image: str = "bareline"
    share: Literal["rank", "node"] = "rank"
    bind: tuple[_Path, ...] = ()
    unpack_gib: Annotated[float, Field(gt=0, le=1 << 20, allow_inf_nan=False)] | None = None

    @property
    def kind(self) -> ImageKind:
        """The kind of image."""
        if self.image in ("host", "bareline"):
            return ImageKind(self.image)
        if not self.image.startswith("/"):
            return ImageKind.STORED
        return ImageKind.ARCHIVE if self.image.endswith(_ARCHIVES) else ImageKind.PATH

    @model_validator(mode="after")
    def _fits_together(self) -> Container:
        runtime = runtimes()[self.runtime]
        if self.kind is ImageKind.STORED and not _STORED.fullmatch(self.image):
            raise ValueError(f"`image`: '{self.image}' is not the name of an image")
        is_path = self.kind in (ImageKind.PATH, ImageKind.ARCHIVE)
        if is_path and ".." in PurePosixPath(self.image).parts:
            raise ValueError("`image`: write its path without '..'")
        if self.kind not in runtime.images:
            kinds = ", ".join(image.words for image in ImageKind if image in runtime.images)
            raise ValueError(
                f"`image`: {runtime.title} takes no {self.kind.words}; it takes {kinds}"
            )
        if self.share == "node" and not runtime.joins:
            raise ValueError(
                f'`share`: ranks cannot join a container of {runtime.title}; write share = "rank"'
            )
        if self.share == "rank" and runtime.whole:
            raise ValueError(
                f"`share`: each sandbox of {runtime.title} has its own kernel, so that ranks"
                " in separate "
                'sandboxes cannot share memory; write share = "node"'
            )
        return self


class ContainerKeys(Options):
    """The option of all platforms that can start programs in containers.

    - `container`: the container of every program of a trial; see `Container`.
    """

    container: Container | None = None

    @model_validator(mode="after")
    def _starts_there(self) -> ContainerKeys:
        runtime = runtimes()[self.container.runtime] if self.container else None
        if runtime and runtime.whole and not self.one_machine:
            raise ValueError(
                f"`container`: {runtime.title} has no network here, so that a launcher cannot"
                " reach "
                "the ranks; use a platform of type local"
            )
        return self

    @property
    def one_machine(self) -> bool:
        """Whether the MPI jobs of the platform, with their launcher, stay on this machine."""
        return False
