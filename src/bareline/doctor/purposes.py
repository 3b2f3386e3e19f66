"""A summary of the checks: the purposes for which this machine is ready."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from bareline.doctor.check import Area, Health, HostCheck

#: The requirements of each purpose. A requirement is an area, or a list of alternative checks.
_NEEDS: Mapping[str, tuple[tuple[str, ...] | Area, ...]] = {
    "one node": (("C compiler",), ("CMake",), ("native programs",), Area.MPI),
    "two hosts on this machine": (("namespaces",), ("virtual links",), ("bridge",)),
    "containers": (Area.CONTAINERS,),
    "virtual machines": (("QEMU",), ("libvirt",), ("libvirt-python",), ("mmdebstrap",), ("KVM",)),
    "simulated machines": (("SimGrid SMPI",),),
    "ssh hosts": (("ssh",),),
    "Slurm": (("Slurm",), ("Slurm controller", "Slurm")),
    "clouds": (("OpenStack",),),
    "InfiniBand or RoCE": (("RDMA devices",),),
    "SR-IOV": (("SR-IOV adapters",), ("IOMMU",)),
}
_BEST = (Health.OK, Health.WARN, Health.MISSING)


def purposes(checks: Sequence[HostCheck]) -> dict[str, HostCheck | None]:
    """Return for each purpose the check that limits it.

    Each requirement of a purpose has the result of its best check. The requirement with the worst
    result limits the purpose. The value is None if a requirement has no check.
    """
    limits = {}
    for name, needs in _NEEDS.items():
        met = [check for need in needs if (check := _best(need, checks))]
        worst = max(met, key=lambda check: _BEST.index(check.status), default=None)
        limits[name] = worst if len(met) == len(needs) else None
    return limits


def _status(limit: HostCheck | None) -> Health:
    return limit.status if limit else Health.MISSING


def _best(need: tuple[str, ...] | Area, checks: Sequence[HostCheck]) -> HostCheck | None:
    """Return the check that decides a requirement.

    If the requirement is a list of names, this is the check of the first name that has a check. If
    it is an area, this is the area's check with the best result.
    """
    if isinstance(need, tuple):
        named = (check for check in checks if check.name in need)
        return min(named, key=lambda check: need.index(check.name), default=None)
    group = (check for check in checks if check.group is need)
    return min(group, key=lambda check: _BEST.index(check.status), default=None)


def lines(checks: Sequence[HostCheck]) -> Iterator[tuple[str, str]]:
    """Yield a few lines that sum up the checks, each as a head and a text."""
    limits = purposes(checks)
    ready = [name for name, limit in limits.items() if _status(limit) is Health.OK]
    if ready:
        yield "ready", ", ".join(ready)
    for head, status in (("with limits", Health.WARN), ("not here", Health.MISSING)):
        for name, limit in limits.items():
            if _status(limit) is status:
                yield head, f"{name}: {_reason(limit)}" if limit else name
    for check in checks:  # conditions that spoil measurements of any purpose
        if check.group is Area.LOCAL and check.status is not Health.OK:
            yield "look at", f"{check.name}: {check.detail}"


def _reason(why: HostCheck) -> str:
    return f"{why.name} {why.detail}" if why.detail.startswith(("not ", "does ")) else why.detail


def next_command(checks: Sequence[HostCheck]) -> str:
    """Return the command of a first comparison that works here.

    If no comparison works here, return the command that prints the reason.
    """
    limits = purposes(checks).items()
    ready = {name for name, limit in limits if _status(limit) is not Health.MISSING}
    if "one node" not in ready:
        return "bareline doctor --all"
    if "two hosts on this machine" in ready:
        return "bareline run quick --on bare-pair --on net-10g"
    return "bareline run quick --scale one-node"
