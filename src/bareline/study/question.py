"""A study's question: what an answer names first, ``question = ["app.ocean time"]``.

Each text is a probe or a layer of the study, its metric behind it where that is not the headline,
and ``PLATFORM:`` in front to ask of one platform only.
`bareline.analysis.numbers.selection.selector_filter` chooses the rows of a comparison by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from bareline.probes.base import Probe
from bareline.vocabulary.errors import StudyError, did_you_mean


def check_question(
    question: Sequence[str],
    probes: Iterable[Probe[Any]],
    platforms: Sequence[str] = (),
    *,
    where: str = "[study], key 'question'",
) -> None:
    """Refuse a question that no result of the study can answer.

    - `probes`: those that the study measures.
    - `platforms`: those of the run, as soon as they are known.

    Raises StudyError: the study measures no such probe, layer or metric, or the run has no such
    platform.
    """
    metrics: dict[str, list[str]] = {}
    for probe in probes:
        metrics[probe.name] = list(probe.metrics)
        metrics.setdefault(probe.layer, []).extend(probe.metrics)
    answers = {subject: subject for subject in metrics}
    answers |= {f"{subject}.{one}": subject for subject, of in metrics.items() for one in of}
    for text in question:
        platform, colon, name = ".".join(text.split()).rpartition(":")
        if colon and platforms and platform not in platforms:
            raise StudyError(
                f"'{text}' asks of '{platform}', which is no platform of the run",
                where=where,
                hint=did_you_mean(platform, platforms, f"it has: {', '.join(platforms)}"),
            )
        if name in answers:
            continue
        subject = next((one for one in metrics if name.startswith(f"{one}.")), "")
        lacking = f"{subject} has no such metric" if subject else "nothing of that is measured"
        known = metrics[subject] if subject else metrics
        raise StudyError(
            f"'{text}' cannot be answered: {lacking}",
            where=where,
            hint=did_you_mean(
                name.removeprefix(f"{subject}."), known, f"ask e.g. {', '.join(list(known)[:6])}"
            ),
        )
