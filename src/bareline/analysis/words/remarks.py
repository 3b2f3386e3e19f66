"""Remarks on an answer: failures, few launches, different layouts, disturbance, simulation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean

from bareline.analysis.judgements.findings import Finding
from bareline.analysis.judgements.survey import FEWEST_LINKS, FEWEST_SWITCHES, Survey
from bareline.analysis.numbers.models import EMULATED
from bareline.analysis.numbers.row import Row
from bareline.analysis.words.amounts import Form, span
from bareline.analysis.words.parts import Piece, platforms_named
from bareline.vocabulary.caveats import codes
from bareline.vocabulary.model import Layer
from bareline.vocabulary.units import significant
from bareline.vocabulary.verdicts import MIN_LAUNCHES, Verdict

#: Words for disturbances; they are printed from this share of disturbed trials on.
_DISTURBANCES = {
    "busy-machine": "measured on a busy machine",
    "steal-time": "measured while the hypervisor took processor time away",
}
_DISTURBED_SHARE = 0.2
#: If more links deviate than this share of all links and this number, the cabling is the cause.
_CABLED_SHARE = 0.05
_CABLED_LINKS = 10
_OTHER_LAYOUTS = "other layouts than the baseline's"

_Clause = list[Piece]


def failed_cases(findings: Iterable[Finding], *, baseline: bool = False) -> tuple[int, int]:
    """Return the numbers of cases whose launches all failed, and of all planned cases.

    - `baseline`: count the cases of the baseline, not of the platform.
    """
    planned = set()
    failed = set()
    for finding in findings:
        for point in finding.points:
            if point.verdict is not Verdict.DOES_NOT_FIT:
                planned.add(point.place.case)
            if point.verdict is Verdict.FAILED and _has_no_value(point, baseline=baseline):
                failed.add(point.place.case)
    return len(failed), len(planned)


def _has_no_value(point: Row, *, baseline: bool) -> bool:
    """Whether all launches of a failed point failed on the platform.

    With `baseline`, the launches on the baseline are checked instead.
    """
    if baseline:
        if not point.n_failed_baseline:
            return False
        return not point.n_baseline
    return not point.n


def undecided_yet(finding: Finding) -> bool:
    """Whether the undecided points of a finding have too few launches for any verdict."""
    points = finding.of(Verdict.INCONCLUSIVE)
    if not points or finding.exact:
        return False
    return min(point.n_both for point in points) < MIN_LAUNCHES


def one_machine(findings: Sequence[Finding]) -> str:
    """Return the remark that all nodes share one machine; empty if they do not."""
    compared = [finding for finding in findings if finding.compared]
    if compared and all("shared-host" in codes(finding.caveats) for finding in compared):
        return "; all nodes share one machine's cores and memory"
    return ""


def seen_range(finding: Finding) -> str:
    """Describe a finding's ratios: ``MPI_Bcast takes 1.29 to 3.9 times as long as on ib``."""
    points = []
    ratios = []
    for point in finding.compared:
        if point.ratio is not None:
            points.append(point)
            ratios.append(point.ratio.value)
    if not points:
        return ""
    farthest = max(points, key=lambda point: point.size)
    label = finding.label(farthest)
    place = ""
    if label and len(points) > 1:
        place = f", most at {label}"
    if finding.rate:
        amount = _rate_range(min(ratios), max(ratios))
        return f"{finding.subject} is {amount} than on {finding.baseline}{place}"
    low = significant(min(ratios))
    high = significant(max(ratios))
    times = high
    if low != high:
        times = f"{low} to {high}"
    return f"{finding.subject} takes {times} times as long as on {finding.baseline}{place}"


def _rate_range(low: float, high: float) -> str:
    """Format the range of ratios of a rate: ``1.2 to 3 times lower``."""
    if low < 1 < high:
        return span(low, high, True)
    direction = high
    if high <= 1:
        direction = low
    form = Form.of(direction, True, low, high)
    different = {form.write(low), form.write(high)}
    ends = sorted(different, key=float)
    return f"{' to '.join(ends)} {form.unit}"


def launches_words(findings: Sequence[Finding]) -> str:
    """Return the numbers of measured and of needed launches for a verdict: ``2 of 6 launches``."""
    counts: set[int] = set()
    for finding in findings:
        undecided = finding.of(Verdict.INCONCLUSIVE)
        counts.update(point.n_both for point in undecided)
    few = sorted(count for count in counts if count < MIN_LAUNCHES)
    if few == [1]:
        return "seen once"
    launches = str(few[0])
    if len(few) > 1:
        launches = f"{few[0]} to {few[-1]}"
    return f"{launches} of {MIN_LAUNCHES} launches"


def incomparable(findings: Sequence[Finding]) -> dict[str, list[str]]:
    """Return for each reason the layers that are not comparable for this reason."""
    unlike = [finding for finding in findings if finding.verdict is Verdict.NOT_COMPARABLE]
    layouts = {finding.reason for finding in unlike} - {EMULATED}
    several = len(layouts) > 1 or any("; " in layout for layout in layouts)
    compared_layers = set()
    for finding in findings:
        if finding.compared:
            compared_layers.add(finding.layer)
    by_reason: dict[str, list[str]] = {}
    for finding in unlike:
        name = layer_name(finding.layer)
        if finding.layer in compared_layers:
            name = f"part of {name}"
        reason = finding.reason
        if several and reason in layouts:
            reason = _OTHER_LAYOUTS
        by_reason.setdefault(reason, []).append(name)
    return by_reason


def disturbances(findings: Sequence[Finding]) -> list[str]:
    """Describe the disturbances that affect so many trials that all values are doubtful.

    Simulated values are ignored.
    """
    measured = [finding for finding in findings if finding.compared and not finding.exact]
    if not measured:
        return []
    texts = []
    for code, text in _DISTURBANCES.items():
        disturbed = fmean(_largest_share(finding, code) for finding in measured)
        if disturbed > _DISTURBED_SHARE:
            texts.append(text)
    return texts


def _largest_share(finding: Finding, code: str) -> float:
    """Return the largest share of trials with a caveat; 0 if no trial has it."""
    shares = []
    for caveat in finding.caveats:
        if caveat.code == code:
            shares.append(caveat.share)
    return max(shares, default=0.0)


def simulations(findings: Sequence[Finding], platforms: Sequence[str], baseline: str) -> _Clause:
    """Name the platforms with simulated time, which must never be mistaken for measured time."""
    simulated = set()
    for finding in findings:
        on_platform = finding.exact or "simulated" in codes(finding.own_caveats)
        if on_platform:
            simulated.add(finding.platform)
        on_either = "simulated" in codes(finding.caveats)
        if finding.exact or (on_either and not on_platform):
            simulated.add(baseline)
    order = (baseline, *platforms)
    names = [name for name in order if name in simulated]
    if not names:
        return []
    if len(names) == len(platforms) + 1:
        return ["; all figures are simulated"]
    return ["; simulated: ", *platforms_named(names)]


def layer_name(layer: Layer) -> str:
    """Return the name of a layer for use within a sentence."""
    words = layer.words
    if words.isupper() or " " in words:
        return words
    return words.lower()


def survey_gaps(survey: Survey) -> Iterator[str]:
    """Yield a sentence for each part of a fleet that could not be judged, with the reason."""
    fleet = survey.fleet
    fewest_launches = survey.launches[0]
    nodes = len(fleet.nodes)
    switches = len(fleet.switches)
    between_nodes = [metric for metric in fleet.measured if metric.of_pairs]
    if fewest_launches < MIN_LAUNCHES:
        yield f"nothing is certain below {MIN_LAUNCHES} launches, and there are {fewest_launches}"
    if nodes <= FEWEST_LINKS:
        yield f"with {nodes} nodes it is not possible to find the node that makes a link slow"
    if not switches:
        yield "switches are not judged: neither the batch system nor `switches` names them"
    elif switches < FEWEST_SWITCHES and between_nodes:
        yield f"with {switches} switches it is not possible to find the switch with a slow uplink"
    links = sum(len(metric.units) for metric in between_nodes)
    deviating = sum(unit.kind == "link" for unit in survey.deviating)
    if not switches and links and deviating > max(_CABLED_LINKS, _CABLED_SHARE * links):
        yield (
            f"{deviating} of {links} links deviate: that is how the fleet is cabled rather than a "
            "fault; `switches` separates ways within a switch from those between two"
        )
