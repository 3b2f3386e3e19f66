"""Remarks on an answer: failures, few launches, unlike layouts, disturbance, simulation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean

from bareline.analysis.judgements.findings import Finding
from bareline.analysis.judgements.survey import FEWEST_LINKS, FEWEST_SWITCHES, Survey
from bareline.analysis.numbers.models import EMULATED
from bareline.analysis.words.amounts import Form, span
from bareline.analysis.words.parts import Piece, platforms_named
from bareline.vocabulary.caveats import codes
from bareline.vocabulary.model import Layer
from bareline.vocabulary.units import significant
from bareline.vocabulary.verdicts import MIN_LAUNCHES, Verdict

#: The line's words for disturbances, and the share of disturbed trials from which they are used.
_DISTURBANCES = {
    "busy-machine": "measured on a busy machine",
    "steal-time": "measured while the hypervisor took processor time away",
}
_DISTURBED_SHARE = 0.2
#: Deviating links above this share of all and above this number show how the fleet is cabled.
_CABLED_SHARE, _CABLED_LINKS = 0.05, 10
_OTHER_LAYOUTS = "other layouts than the baseline's"

_Clause = list[Piece]


def failed_cases(findings: Iterable[Finding], *, baseline: bool = False) -> tuple[int, int]:
    """Count the cases of which every launch failed, here or on the baseline, and all planned."""
    points = [point for finding in findings for point in finding.points]
    every = {point.place.case for point in points if point.verdict is not Verdict.DOES_NOT_FIT}
    failed = {
        point.place.case
        for point in points
        if point.verdict is Verdict.FAILED
        and (point.n_failed_baseline and not point.n_baseline if baseline else not point.n)
    }
    return len(failed), len(every)


def undecided_yet(finding: Finding) -> bool:
    """Whether its open points have too few launches for any verdict."""
    points = finding.of(Verdict.INCONCLUSIVE)
    return bool(points) and not finding.exact and min(p.n_both for p in points) < MIN_LAUNCHES


def one_machine(findings: Sequence[Finding]) -> str:
    """Explain once that nodes share a machine, if this is true for everything that is compared."""
    compared = [finding for finding in findings if finding.compared]
    alike = compared and all("shared-host" in codes(finding.caveats) for finding in compared)
    return "; all nodes share one machine's cores and memory" if alike else ""


def seen_range(finding: Finding) -> str:
    """Describe a finding's ratios: ``MPI_Bcast 1.29 to 3.9 times as long as ib, most at 8 B``."""
    points = [point for point in finding.compared if point.ratio is not None]
    if not points:
        return ""
    ratios = [point.ratio.value for point in points if point.ratio]
    most = max(points, key=lambda point: point.size)
    label = finding.label(most)
    at = f", most at {label}" if label and len(points) > 1 else ""
    if finding.rate:
        amount = _rate_range(min(ratios), max(ratios))
        return f"{finding.subject} {amount} than {finding.baseline}{at}"
    low, high = significant(min(ratios)), significant(max(ratios))
    amount = high if low == high else f"{low} to {high}"
    return f"{finding.subject} {amount} times as long as {finding.baseline}{at}"


def _rate_range(low: float, high: float) -> str:
    """Format from where to where ratios of a rate go, lower or higher: ``1.2 to 3 times lower``."""
    form = Form.of(low if high <= 1 else high, True, low, high)
    ends = sorted({form.write(low), form.write(high)}, key=float)
    if low < 1 < high:
        return span(low, high, True)
    return f"{' to '.join(ends)} {form.unit}"


def launches_words(findings: Sequence[Finding]) -> str:
    """Describe how many launches there are, of the number for a verdict: ``2 of 6 launches``."""
    counts = {p.n_both for finding in findings for p in finding.of(Verdict.INCONCLUSIVE)}
    few = sorted(count for count in counts if count < MIN_LAUNCHES)
    if few == [1]:
        return "seen once"
    several = f" to {few[-1]}" if len(few) > 1 else ""
    return f"{few[0]}{several} of {MIN_LAUNCHES} launches"


def incomparable(findings: Sequence[Finding]) -> dict[str, list[str]]:
    """Return the layers that are not comparable by the reason; the matrix has several layouts."""
    unlike = [finding for finding in findings if finding.verdict is Verdict.NOT_COMPARABLE]
    layouts = {finding.reason for finding in unlike} - {EMULATED}
    several = len(layouts) > 1 or any("; " in layout for layout in layouts)
    there = {finding.layer for finding in findings if finding.compared}
    found: dict[str, list[str]] = {}
    for finding in unlike:
        name = layer_name(finding.layer)
        part = f"part of {name}" if finding.layer in there else name
        reason = _OTHER_LAYOUTS if several and finding.reason in layouts else finding.reason
        found.setdefault(reason, []).append(part)
    return found


def disturbances(findings: Sequence[Finding]) -> list[str]:
    """Describe the disturbances of so many trials that all figures are in doubt.

    Figures of a model do not count.
    """
    compared = [finding for finding in findings if finding.compared and not finding.exact]

    def share(finding: Finding, code: str) -> float:
        return max((c.share for c in finding.caveats if c.code == code), default=0.0)

    return [
        text
        for code, text in _DISTURBANCES.items()
        if compared and fmean(share(one, code) for one in compared) > _DISTURBED_SHARE
    ]


def simulations(findings: Sequence[Finding], platforms: Sequence[str], baseline: str) -> _Clause:
    """Name the platforms whose time is simulated: it must never be taken for a measured time."""
    found = set()
    for finding in findings:
        own = finding.exact or "simulated" in codes(finding.own_caveats)
        if own:
            found.add(finding.platform)
        if finding.exact or (not own and "simulated" in codes(finding.caveats)):
            found.add(baseline)
    names = [name for name in (baseline, *platforms) if name in found]
    if not names:
        return []
    if len(names) == len(platforms) + 1:
        return ["; all of it simulated"]
    return ["; simulated: ", *platforms_named(names)]


def layer_name(layer: Layer) -> str:
    """Name a layer within a sentence."""
    words = layer.words
    return words if words.isupper() or " " in words else words.lower()


def survey_gaps(survey: Survey) -> Iterator[str]:
    """Yield a sentence for each part of a fleet that could not be judged, with the reason."""
    fleet, fewest = survey.fleet, survey.launches[0]
    nodes, switches = len(fleet.nodes), len(fleet.switches)
    if fewest < MIN_LAUNCHES:
        yield f"nothing is certain below {MIN_LAUNCHES} launches, and there are {fewest}"
    if nodes <= FEWEST_LINKS:
        yield f"of {nodes} nodes nobody can say which one a slow link is due to"
    if not switches:
        yield "switches are not judged: neither the batch system nor `switches` names them"
    elif switches < FEWEST_SWITCHES and any(one.of_pairs for one in fleet.measured):
        yield f"with {switches} switches nobody can say whose uplink is slow"
    links = sum(len(one.units) for one in fleet.measured if one.of_pairs)
    bad = sum(one.kind == "link" for one in survey.deviating)
    if not switches and links and bad > max(_CABLED_LINKS, _CABLED_SHARE * links):
        yield (
            f"{bad} of {links} links deviate: that is how the fleet is cabled rather than a fault; "
            "`switches` separates ways within a switch from those between two"
        )
