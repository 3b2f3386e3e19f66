"""What a platform's name means, in a few words, for whoever reads it for the first time."""

from __future__ import annotations

from collections.abc import Mapping

from bareline.report.content.document import Document

#: Characteristics that tell platforms apart best, as their lines are labelled.
_TELLING = (
    "Runs on", "Hypervisor", "Driver", "Link speed", "Shaped to", "RDMA link layer", "MTU",
    "MPI transport asked for", "MPI library", "File system", "Processor", "Nodes",
)  # fmt: skip
#: Characteristics whose value says nothing without the name.
_NAMED = ("MTU", "Nodes")
_MOST = 4


def glosses(document: Document) -> Mapping[str, str]:
    """Say what each platform is: its own title, its role's, or else what differs.

    Empty where nothing is known that tells it apart.
    """
    roles = {role.platform: role.title for role in document.roles.values() if role.platform}
    told = {info.name: info.title or roles.get(info.name, "") for info in document.platforms}
    return {name: text or _differing(document, name) for name, text in told.items()}


def _differing(document: Document, name: str) -> str:
    at = [info.name for info in document.platforms].index(name)
    rows = {row.label: row.values[at] for row in document.fact_rows if not row.equal}
    values = [(label, rows[label]) for label in _TELLING if rows.get(label)]
    return ", ".join(
        f"{label} {value}" if label in _NAMED else value for label, value in values[:_MOST]
    )
