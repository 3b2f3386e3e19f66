"""The option ``neighbours``: other tenants of the machines that are measured, and what they do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from bareline.host.tools import require
from bareline.vocabulary.model import Scalar

Load = Literal["idle", "cpu", "memory", "network", "disk", "same"]
#: What keeps a tenant busy beside the processor: STREAM's four loops over arrays that no cache
#: takes, a file written and made durable over and over, arithmetic in registers.
_STRESSES: Mapping[str, tuple[str, ...]] = {
    "cpu": ("--cpu-method", "double", "--cpu"),
    "memory": ("--stream-l3-size", "32M", "--stream"),
    "disk": ("--hdd-bytes", "64M", "--hdd-opts", "wr-seq,fsync", "--hdd"),
}


class Neighbours(BaseModel):
    """Other tenants beside the measured one, busy while it is measured and at no other time.

    Platforms that differ in `count` alone tell what a neighbour costs.

    - `count`: neighbours on every node.
    - `load`: what each does while a trial runs: ``cpu`` (arithmetic), ``memory`` (bandwidth),
      ``disk`` (writes into the folder that is measured), ``network`` (TCP streams from every node
      to the next one, and back), ``same`` (the command that is measured, over and over), or
      ``idle``.
    - `workers`: programs, or streams, of each neighbour on every node; as many as a node has cores
      by default, so that a neighbour is as large as the measured tenant.
    - `cores`: numbers of this machine's cores on which neighbours run; the measured nodes' own by
      default, which they then share.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    count: Annotated[int, Field(ge=0, le=64)] = 0
    load: Load = "cpu"
    workers: Annotated[int, Field(ge=1, le=512)] | None = None
    cores: Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _fits_together(self) -> Neighbours:
        if self.load in ("idle", "same") and (self.workers or self.cores):
            raise ValueError(f'neighbours of load = "{self.load}" have no workers or cores to give')
        return self

    @property
    def busy(self) -> bool:
        """Whether anything runs beside a trial."""
        return self.count > 0 and self.load != "idle"

    @property
    def programs(self) -> tuple[str, ...]:
        """Programs that their load needs, whatever their number: platforms of 0 and 1 are alike."""
        return {"idle": (), "same": (), "network": ("iperf3",)}.get(self.load, ("stress-ng",))

    def check(self) -> None:
        """See that their load can be made here."""
        require(*(self.programs if self.busy else ()), why="which keeps neighbours busy")

    def stress_argv(self, workers: int, folder: str) -> list[str]:
        """Give the command line of one neighbour on a node, but for a network's load."""
        argv = ["stress-ng", "--quiet", *_STRESSES[self.load], str(workers)]
        return [*argv, "--temp-path", folder] if folder else argv

    def facts(self, cores_per_node: int) -> dict[str, Scalar]:
        """Tell what shares the nodes.

        - `cores_per_node`: cores of each node, or virtual processors of each guest.
        """
        told: dict[str, Scalar] = {"neighbours.count": self.count}
        if self.count:
            told["neighbours.load"] = self.load
        if self.busy and self.load != "same":
            told["neighbours.workers"] = self.workers or cores_per_node
        return told

    def sharing(self, cores_per_node: int) -> dict[str, Scalar]:
        """Tell on which cores they run, and how many processors were promised for each of them."""
        told: dict[str, Scalar] = {"neighbours.cores": _listed(self.cores)} if self.busy else {}
        shared = self.count if self.busy and self.cores is None else 0
        asked = cores_per_node + shared * (self.workers or cores_per_node)
        return {**told, "neighbours.processors_per_core": round(asked / cores_per_node, 3)}

    def caveats(self) -> tuple[str, ...]:
        """Name what makes every number beside them doubtful."""
        return ("cores-with-neighbours",) if self.busy and self.cores is None else ()


def _listed(cores: Sequence[int] | None) -> str:
    return ", ".join(map(str, cores)) if cores else "those of the nodes"
