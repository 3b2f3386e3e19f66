"""Look which container runtimes are here, and whether containers without root can be made."""

from __future__ import annotations

from collections.abc import Iterable

from bareline.doctor.check import Area, Check, Status, ask, last_line
from bareline.doctor.programs import find_program, program
from bareline.host.tools import install_hint
from bareline.platforms.layers.container.runtimes import RUNTIMES
from bareline.vocabulary.units import listing

_HINT = "install what your site uses, if a platform is to have it"
#: Makes a container as bareline does, of this machine's own root.
_TRY = ("bwrap", "--unshare-user", "--ro-bind", "/", "/", "true")


def runtimes() -> Iterable[Check]:
    """Name the runtimes that are here one by one, and the others together: few sites have many."""
    missing = []
    for runtime in RUNTIMES.values():
        if find_program(runtime.program) is None:
            missing.append(runtime.title)
            continue
        found = program(runtime.program, Area.CONTAINERS, title=runtime.title)
        if runtime.program == _TRY[0] and found.status is Status.OK:
            tried = ask(_TRY)
            if tried.exit_code:
                why = f"makes no container: {last_line(tried)}"
                hint = "allow user namespaces, or run bareline as root"
                found = Check(runtime.title, Area.CONTAINERS, Status.WARN, why, hint)
        yield found
    if missing:
        detail = f"not installed: {listing(missing)}"
        usual = RUNTIMES["bwrap"]
        hint = install_hint(usual.program) if usual.title in missing else _HINT
        yield Check("others", Area.CONTAINERS, Status.MISSING, detail, hint)
