"""Look which container runtimes are here, and whether containers without root can be made."""

from __future__ import annotations

from collections.abc import Iterable

from bareline.doctor.check import Area, Check, Status
from bareline.doctor.programs import find_program, program
from bareline.host.tools import install_hint
from bareline.platforms.layers.container.boxes import check_runtime
from bareline.platforms.layers.container.runtimes import RUNTIMES
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.units import listing

_HINT = "install what your site uses, if a platform is to have it"


def runtimes() -> Iterable[Check]:
    """Name the runtimes that are here one by one, and the others together: few sites have many."""
    missing = []
    for runtime in RUNTIMES.values():
        if find_program(runtime.program) is None:
            missing.append(runtime.title)
            continue
        found = program(runtime.program, Area.CONTAINERS, title=runtime.title)
        if found.status is Status.OK:
            try:
                check_runtime(runtime)
            except PlatformError as error:
                detail, hint = error.what.removeprefix(f"{runtime.title} "), error.hint or ""
                found = Check(runtime.title, Area.CONTAINERS, Status.WARN, detail, hint)
        yield found
    if missing:
        detail = f"not installed: {listing(missing)}"
        usual = RUNTIMES["bwrap"]
        hint = install_hint(usual.program) if usual.title in missing else _HINT
        yield Check("others", Area.CONTAINERS, Status.MISSING, detail, hint)
