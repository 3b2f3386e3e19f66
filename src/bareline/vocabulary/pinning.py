"""How a job's ranks are placed on the processors of a node: part of the layout.

Ranks that are bound to one core each and ranks that the kernel moves are not comparable. Neither
are two ranks on one socket and two ranks on two sockets. So compared cases must have the same
pinning, as they must have the same nodes and ranks.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, get_args

#: The binding of each rank: to nothing, hardware threads, cores, a NUMA domain or a socket. With
#: "hwthread", each thread of a rank gets one hardware thread; with "core", it gets a whole core.
Binding = Literal["none", "hwthread", "core", "numa", "socket"]
#: Observed bindings, which also include "shared" (several ranks on too few processors) and "some"
#: (the processors of a rank are not one core, domain or socket).
SeenBinding = Binding | Literal["shared", "some"]
#: Whether successive ranks fill one socket before the next, or go to the sockets in turn.
Distribution = Literal["block", "cyclic"]

_BOUND = {
    "none": "not bound",
    "hwthread": "bound to hardware threads",
    "core": "bound to cores",
    "numa": "bound to NUMA domains",
    "socket": "bound to sockets",
    "shared": "bound to the processors of other ranks",
    "some": "bound to some processors",
}


@dataclass(frozen=True, slots=True)
class Pinning:
    """How ranks are placed on the processors of a node.

    - `ranks_per_socket`, `ranks_per_numa`: the number of ranks on each socket or NUMA domain; 0 if
      `distribution` decides.
    """

    binding: SeenBinding = "none"
    distribution: Distribution = "block"
    ranks_per_numa: int = 0
    ranks_per_socket: int = 0

    def __str__(self) -> str:
        """Format the pinning as parameters: ``binding=core ranks_per_socket=2``, without zeros."""
        parameters: dict[str, str] = {"binding": self.binding}
        if self.distribution != "block":
            parameters["distribution"] = self.distribution
        for name in ("ranks_per_numa", "ranks_per_socket"):
            if getattr(self, name):
                parameters[name] = str(getattr(self, name))
        return " ".join(f"{name}={value}" for name, value in parameters.items())

    @classmethod
    def parse(cls, text: str) -> Pinning:
        """Parse a text that ``str`` wrote; raises ValueError for any other text."""
        parameters = dict(part.partition("=")[::2] for part in text.split(" "))
        names = {field.name for field in fields(cls)}
        counts = {
            name: value for name, value in parameters.items() if name.startswith("ranks_per_")
        }
        if (
            not parameters.keys() <= names
            or parameters.get("binding") not in _BOUND
            or parameters.get("distribution", "block") not in get_args(Distribution)
            or not all(value.isdecimal() and len(value) < 10 for value in counts.values())
        ):
            raise ValueError(f"'{text[:60]}' is not a placement such as 'binding=core'")
        return cls(**{**parameters, **{name: int(value) for name, value in counts.items()}})  # type: ignore[arg-type]

    @property
    def domain(self) -> Literal["", "numa", "socket"]:
        """The part of a node for which a number of ranks is requested; "" without a request."""
        if self.ranks_per_socket:
            return "socket"
        return "numa" if self.ranks_per_numa else ""

    @property
    def ranks_per_domain(self) -> int:
        """The requested number of ranks for each `domain` of a node; 0 without a request."""
        return self.ranks_per_socket or self.ranks_per_numa

    @property
    def words(self) -> str:
        """The pinning in words: ``bound to cores, 2 ranks a socket``."""
        parts = [_BOUND[self.binding]]
        if self.ranks_per_domain:
            many = "rank" if self.ranks_per_domain == 1 else "ranks"
            where = "NUMA domain" if self.ranks_per_numa else "socket"
            parts.append(f"{self.ranks_per_domain} {many} a {where}")
        elif self.distribution == "cyclic":
            parts.append("dealt over the sockets")
        return ", ".join(parts)


#: The behaviour of a launcher without any request.
UNBOUND = Pinning()
