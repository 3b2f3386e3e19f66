"""Published ratios of two platforms, matched with the platforms of a run.

Only ratios are compared, because the absolute figures come from different and older hardware.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fnmatch import fnmatchcase
from itertools import product
from typing import Any, TypeGuard

from bareline.analysis.numbers.row import Row
from bareline.published.catalogue import conditions, publications
from bareline.published.model import NotCompleted, PublishedStudy
from bareline.published.places import holds_at, meets
from bareline.published.quantities import Condition, Spread
from bareline.published.ratios import PublishedRatio, published_ratios, ratios_across
from bareline.report.content.wording import slug
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.place import Place
from bareline.vocabulary.units import joined, listing

#: Conditions that describe the size of another system: they are shown, not matched.
SIZE_CONDITIONS = frozenset(
    {"ranks", "nodes", "threads", "cores", "streams", "n", "nb", "files", "directories", "test"}
)
_PLACEMENTS = {"intra_node": False, "inter_node": True}
#: Two printings of one number differ by no more than this, on a log scale.
_ROUNDED = 0.02
#: Conditions that name the place in a system where a figure was measured.
_WHERE = ("ranks", "nodes", "placement", "streams")
#: The numeric conditions among them, as an exhibit writes them next to a figure of another place.
_NUMBERS = ("ranks", "nodes", "streams")


#: The platforms of the run by the published platforms that they represent.
_Cast = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class PublishedPoint:
    """A published ratio of two platforms, and the two platforms of the run that represent them.

    - `short`: the name of the publication.
    - `label`: the name of the table, figure or section that prints the ratio.
    """

    ratio: PublishedRatio
    platform: str
    baseline: str
    short: str
    label: str

    @property
    def low(self) -> float | None:
        """The lower end of the ratio; None if only an upper bound is printed."""
        return _float(self.ratio.span.low)

    @property
    def high(self) -> float | None:
        """The upper end of the ratio; None if only a lower bound is printed."""
        return _float(self.ratio.span.high)

    @property
    def middle(self) -> float:
        """The ratio at which the mark is drawn.

        It is the printed number, the geometric middle of a printed range, or a printed bound.
        """
        ends = [end for end in (self.low, self.high) if end is not None and end > 0]
        return math.exp(sum(map(math.log, ends)) / len(ends))

    @property
    def source(self) -> str:
        """The publication, and the table, figure or section of the ratio."""
        return f"{self.short}, {self.label}"

    @property
    def anchor(self) -> str:
        """The id of the ratio's line in the page's list of published figures."""
        return slug("published", self.ratio.publication, *self.ratio.results, self.platform)

    @property
    def factor(self) -> str:
        """The ratio as text, e.g. ``71 to 139``, ``at least 3``."""
        return str(self.ratio.span)

    @property
    def tip(self) -> str:
        """The tooltip: the printed number and its place in the publication."""
        ratio = self.ratio
        text = f"published: {ratio.platform} against {ratio.baseline}, {self.factor} times worse"
        excluded = f"except {listing(ratio.excludes)}" if ratio.excludes else ""
        place = joined(conditions(ratio.conditions), excluded)
        if place:
            text += f" ({place})"
        text += f"; printed: {ratio.text}"
        if ratio.computed:
            text += ", computed here"
        return f"{text}; {self.source}"

    def places(self, parameter: str) -> list[tuple[float, float]]:
        """Return the ranges of `parameter` to which the ratio applies, each as (low, high)."""
        condition = self.ratio.conditions.get(parameter)
        if isinstance(condition, Spread):
            return _stretches(condition)
        values = condition if isinstance(condition, list) else [condition]
        return [(float(value), float(value)) for value in values if _is_whole(value)]

    def repeats(self, other: PublishedPoint) -> bool:
        """Whether `other` is the same number in another form, e.g. as a loss in percent."""
        if self._subject != other._subject:
            return False
        if self.low != self.high or other.low != other.high:
            return False
        return abs(math.log(self.middle / other.middle)) < _ROUNDED

    @property
    def _subject(self) -> tuple[object, ...]:
        return (self.ratio.benchmark, self.ratio.metric, self.ratio.at, self.platform)

    def about(self, cell: Row) -> bool:
        """Whether the ratio applies to the quantity of a cell, on the cell's platform.

        Sizes and modes must agree. The published numbers of ranks and nodes may differ; they are
        written next to the figure. A ratio within a node never applies between nodes, nor the
        reverse.
        """
        return cell.platform == self.platform and speaks_of(self.ratio, cell.place)

    def elsewhere(self, place: Place) -> str:
        """Describe where the ratio was measured if that differs from `place`, e.g. ``128 ranks``.

        The result is "" in two cases: the ratio was measured at `place`, or ranks do not matter,
        because `place` has one rank and the publication names no number.
        """
        if same_place(self.ratio, place) or (place.ranks == 1 and not _places(self.ratio)):
            return ""
        printed = dict(self.ratio.at)
        different: dict[str, Any] = {}
        for name in _NUMBERS:
            if name in printed and not holds_at({name: printed[name]}, place):
                different[name] = printed[name]
        return conditions(different) or "ranks not printed"

    def measures(self, probe: str, metric: str) -> bool:
        """Whether the ratio is of the given metric of a probe."""
        return self.ratio.measured_by(probe) and self.ratio.probe_metric == metric


def _float(end: Decimal | None) -> float | None:
    return None if end is None else float(end)


def _stretches(spread: Spread) -> list[tuple[float, float]]:
    """Return the range in `spread` as a list with one (low, high); empty if no end is printed."""
    high = math.inf if spread.high is None else float(spread.high)
    if spread.low is None and spread.above is not None:
        # A ratio for more than 32 ranks does not apply to 32.
        return [(math.nextafter(spread.above, math.inf), high)]
    if not spread.has_ends:
        return []
    return [(float(spread.low or 0), high)]


def _is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def speaks_of(ratio: PublishedRatio, place: Place) -> bool:
    """Whether a ratio is printed for the probe, metric, modes and placement of a measured case.

    The numbers of ranks and nodes are not compared (`same_place` compares them), but a ratio from
    inside a node never applies between nodes.
    """
    if not ratio.measured_by(place.probe) or ratio.probe_metric != place.metric:
        return False
    return agrees(ratio.conditions, place)


def agrees(printed: Mapping[str, Condition], place: Place) -> bool:
    """Whether a measured case meets the printed conditions, except conditions on sizes.

    A condition is not compared if the value for the measured case is unknown.
    """
    coordinates = place.coordinates
    # The number of directories is not compared, but one is never compared with several.
    if ("directories" in printed) != ("directories" in coordinates):
        return False
    if not _agrees_on_nodes(printed.get("placement"), place):
        return False
    for name, condition in printed.items():
        is_compared = name not in SIZE_CONDITIONS and name != "placement"
        if is_compared and name in coordinates and not meets(condition, coordinates[name]):
            return False
    return True


def _agrees_on_nodes(placement: Condition | None, place: Place) -> bool:
    """Whether a case ran inside or between nodes as `placement` requires; true if unknown."""
    between = _PLACEMENTS.get(str(placement))
    if between is None or not place.nodes:
        return True
    return between == (place.nodes > 1)


def size_in_words(ratio: PublishedRatio) -> str:
    """Return the document's words for a size without a number; "" if all sizes have numbers."""
    for name, condition in ratio.at:
        if name in SIZE_CONDITIONS or not isinstance(condition, Spread):
            continue
        if not condition.has_ends and condition.inferred is None:
            return condition.label or ""
    return ""


def same_place(ratio: PublishedRatio, place: Place) -> bool:
    """Whether a figure is printed for the ranks and nodes of a measured case.

    A figure "inside a node" is printed for one node. A figure that is only "between nodes" names
    neither ranks nor nodes, so that the result is false.
    """
    places = _places(ratio)
    named = not {"ranks", "nodes"}.isdisjoint(places) or places.get("placement") == "intra_node"
    return named and not ratio.leaves_out(place.probe) and holds_at(places, place)


def printed_at(ratios: Sequence[PublishedRatio], place: Place) -> bool:
    """Whether a ratio is printed for the program of a measured case, on its ranks and nodes."""
    return any(ratio.measured_by(place.probe) and same_place(ratio, place) for ratio in ratios)


def printed_of_ranks(ratios: Sequence[PublishedRatio], place: Place) -> bool:
    """Whether a ratio is printed for the program of a measured case, on its number of ranks."""
    for ratio in ratios:
        ranks = ratio.conditions.get("ranks")
        if ranks is None or not ratio.measured_by(place.probe):
            continue
        if holds_at({"ranks": ranks}, place):
            return True
    return False


def where_printed(ratio: PublishedRatio) -> str:
    """Format the ranks and nodes of a published ratio; empty if the publication names none."""
    return conditions(_places(ratio))


def _places(ratio: PublishedRatio) -> dict[str, Condition]:
    return {name: ratio.conditions[name] for name in _WHERE if name in ratio.conditions}


def published_points(
    roles: Mapping[str, Mapping[str, Any]], baseline: str
) -> Iterator[PublishedPoint]:
    """Yield every published ratio whose two platforms have a counterpart in the run.

    Some documents print two systems in one table and never compare them. Their ratio is computed if
    one of them has the role of the run's baseline.

    - `roles`: the study's ``[role]`` tables: the platform of each role, and the published platforms
      that it represents.
    """
    cast: dict[str, list[str]] = {}
    for role in roles.values():
        platform = role.get("platform")
        if platform:
            for name in role.get("published", ()):
                cast.setdefault(name, []).append(str(platform))
    names = [published.partition(":")[0] for published in cast]
    for name in dict.fromkeys(names):
        study = publications().get(name)
        if study is not None:  # of a later bareline; the page lists it among its gaps
            study_cast = _cast_in(study, cast)
            ratios = published_ratios(study)
            ratios += _ratios_across(study, study_cast, baseline)
            yield from _points_of_study(study, study_cast, ratios)


def _cast_in(study: PublishedStudy, cast: _Cast) -> _Cast:
    """Return the run's platforms that represent each platform of a study, by the platform's id."""
    prefix = f"{study.id}:"
    return {
        name.removeprefix(prefix): platforms
        for name, platforms in cast.items()
        if name.startswith(prefix)
    }


def _ratios_across(study: PublishedStudy, cast: _Cast, baseline: str) -> Iterator[PublishedRatio]:
    bases = [name for name, platforms in cast.items() if baseline in platforms]
    for platform, base in product(cast, bases):
        yield from ratios_across(study, platform, base)


def _points_of_study(
    study: PublishedStudy, cast: _Cast, ratios: Sequence[PublishedRatio]
) -> Iterator[PublishedPoint]:
    short = study.publication.short
    for ratio in ratios:
        if not any(end and end > 0 for end in (ratio.span.low, ratio.span.high)):
            continue
        part = study.part(ratio.part.partition(":")[2])
        platforms = cast.get(ratio.platform, ())
        baselines = cast.get(ratio.baseline, ())
        for platform, baseline in product(platforms, baselines):
            if platform != baseline:
                yield PublishedPoint(ratio, platform, baseline, short, part.label)


def points_for(
    points: Sequence[PublishedPoint], spec: ExhibitSpec, cells: Sequence[Row], baseline: str
) -> list[PublishedPoint]:
    """Return the published ratios for an exhibit's cells.

    If the exhibit names parts of publications, only the ratios of these parts are returned.
    """
    kinds = {(cell.place.probe, cell.place.metric) for cell in cells}
    parts = set(spec.published)
    chosen: list[PublishedPoint] = []
    for point in points:
        is_of_part = not parts or point.ratio.part in parts
        if point.baseline != baseline or not is_of_part:
            continue
        if any(point.measures(probe, metric) for probe, metric in kinds):
            chosen.append(point)
    return chosen


def points_of(points: Sequence[PublishedPoint], cell: Row) -> list[PublishedPoint]:
    """Return the published ratios that apply to a cell, each once even if it is printed repeatedly.

    If ratios are printed for the cell's ranks or layout, only these are returned. Otherwise the
    ratios that name no ranks are returned or, if every ratio names ranks, all ratios. A case that
    the authors did not complete has no ratios, unless they are printed for its ranks or layout.
    """
    about = [point for point in points if point.about(cell)]
    exact = [point for point in about if _is_at(point, cell.place)]
    if not exact and uncompleted(about, cell):
        return []
    general = [point for point in about if "ranks" not in point.ratio.conditions]
    chosen: list[PublishedPoint] = []
    for point in exact or general or about:
        if not any(map(point.repeats, chosen)):
            chosen.append(point)
    return chosen


def uncompleted(points: Sequence[PublishedPoint], cell: Row) -> list[NotCompleted]:
    """Return the cases of a cell that the authors of the published ratios did not complete."""
    sources: dict[tuple[str, str], None] = {}
    for point in points:
        if point.platform == cell.platform:
            sources[point.ratio.publication, point.ratio.platform] = None
    cases: list[NotCompleted] = []
    for publication, platform in sources:
        study = publications()[publication]
        for case in study.not_completed:
            if case.platform == platform and _is_case_of(study, case, cell.place):
                cases.append(case)
    return cases


def _is_case_of(study: PublishedStudy, case: NotCompleted, place: Place) -> bool:
    """Whether an uncompleted case of a publication is the measured case `place`."""
    benchmark = study.benchmark(case.benchmark)
    if benchmark is None or not fnmatchcase(place.probe, benchmark.probe):
        return False
    return holds_at(case.at, place)


def _is_at(point: PublishedPoint, place: Place) -> bool:
    """Whether a published ratio is printed for the number of ranks of `place`, or for its nodes."""
    ranges = point.places("ranks")
    has_ranks = any(low <= place.ranks <= high for low, high in ranges)
    return has_ranks or same_place(point.ratio, place)
