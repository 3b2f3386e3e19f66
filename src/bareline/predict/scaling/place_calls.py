"""The calls of the ranks of each place on a grid that was not profiled, with their laws."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from bareline.predict.scaling.concern import ProfiledCall
from bareline.predict.scaling.grid import Grid, Place, place_words
from bareline.predict.scaling.laws import Law
from bareline.predict.scaling.observations import Observations
from bareline.predict.scaling.pattern import Pattern, program_of, share_of
from bareline.predict.scaling.place_call import PlaceCall
from bareline.predict.scaling.size_laws import CallAmount, SizeLaws
from bareline.predict.scaling.tags import TagLaw
from bareline.predict.scaling.whole_side import WholeSideRelations
from bareline.profile.recurrence import FILES
from bareline.vocabulary.errors import AnalysisError

_Times = npt.NDArray[np.float64]
#: Sizes that a refusal lists.
_SHOWN = 8
#: The amounts of a call: size, bytes sent, bytes received.
_AMOUNTS = range(3)


@dataclass
class PlaceCalls:
    """The calls of each place on the grid, with the laws of their sizes and tags.

    - `spread`: the difference of message sizes between periods, as a share of the bytes.
    """

    pattern: Pattern
    grid: Grid
    spread: float
    _calls: dict[Place, list[PlaceCall]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._seen = Observations(self.pattern)
        self.size_laws = SizeLaws(self._seen, self.grid, exact=self.spread == 0)
        self._whole_side = WholeSideRelations(self.pattern)
        self.times = _mean_times(self.pattern)

    def of(self, place: Place) -> list[PlaceCall]:
        """Return the calls of the ranks at a place on the grid.

        Raises AnalysisError: a call follows no law.
        """
        if place not in self._calls:
            self._calls[place] = self._made(place)
        return self._calls[place]

    def different(self) -> Iterator[PlaceCall]:
        """Yield the calls of each place on the grid; calls with the same laws are yielded once.

        Completions of requests are left out.
        """
        for calls in self._calls.values():
            for call in dict.fromkeys(calls):
                if not call.is_completion:
                    yield call

    def _made(self, place: Place) -> list[PlaceCall]:
        template = self.pattern.templates.get(place)
        if template is None:
            raise AnalysisError(
                f"{program_of(self.pattern.period)} cannot be constructed for {self.grid}: "
                f"no profiled rank is {place_words(place)}",
                where=str(self.pattern.period.trace.path),
            )
        calls: list[PlaceCall] = []
        alike: dict[tuple[object, ...], PlaceCall] = {}
        for number in range(len(template.steps)):
            call = self._call(place, number)
            if not call.is_completion:
                self._find_laws(call, place)
                call.why = self._whole_side.why_unchecked(place, number)
                if not template.is_checked(place):
                    call.why = f"a single rank shows the calls {place_words(place)}"
            # Calls that follow the same laws are worked out once.
            first = alike.setdefault(call.laws, call)
            if first is not call:
                call.add_to(first)
            calls.append(first)
        return calls

    def _call(self, place: Place, number: int) -> PlaceCall:
        """Return call `number` at a place on the grid, with its partners but without its laws."""
        key = self._seen.keys[place][number]
        shared = self._seen.shared[key]
        alone = self.pattern.templates[place].concerns[number]
        rules = self._seen.narrowed(place, number, shared.comm or alone.comm)
        concern = replace(shared, root=shared.root or alone.root, comm=rules)
        _, spent_s = self.times[place]
        return PlaceCall(number, key, concern, spent_s=float(spent_s[number]))

    # Laws ----------------------------------------------------------------------------------------

    def _find_laws(self, call: PlaceCall, place: Place) -> None:
        samples = self._seen.samples[call.key]
        call.sizes = {
            is_root: self._laws_of_role(call, of_role, place)
            for is_root, of_role in _by_role(call, samples).items()
        }
        call.padded = self.size_laws.may_be_padded(samples, call.key.along, place)
        call.alone = all(sample.shape.comm_size == 1 for sample in samples)
        if call.key.step.sends:
            call.send_tag = self._tag_laws(call, samples, place, sends=True)
        if call.key.step.receives:
            call.receive_tag = self._tag_laws(call, samples, place, sends=False)

    def _laws_of_role(
        self, call: PlaceCall, samples: Sequence[ProfiledCall], place: Place
    ) -> tuple[list[Law], ...]:
        """Return the laws of a call's size, of its bytes sent, and of its bytes received.

        Calls with the same relations to partners are used first, then calls of the same kind at all
        places on the grid, then calls of places that are equal along some sides.
        """
        same_step = self._seen.alike[place, call.number]
        is_root = samples[0].is_root
        same_role = [sample for sample in same_step if sample.is_root == is_root]
        groups = [samples, same_role, *_by_place(samples, place)]
        amounts = [CallAmount(index, call.key.along) for index in _AMOUNTS]
        return tuple(self._amount_laws(call, groups, amount, place) for amount in amounts)

    def _amount_laws(
        self,
        call: PlaceCall,
        groups: Sequence[Sequence[ProfiledCall]],
        amount: CallAmount,
        place: Place,
    ) -> list[Law]:
        samples = groups[0]
        sizes = [sample.moved(amount.index) for sample in samples]
        laws: list[Law] = []
        # The means of sizes that vary follow an exact law by chance only.
        if not (self.spread and self._are_means(call, sizes)):
            laws = self.size_laws.laws_of(groups, amount, place)
        # Sizes of reads and writes may follow no law: the nearest law is taken.
        if not laws and (self.spread or call.key.step.kind in FILES):
            laws = self.size_laws.close_laws(samples, amount)
        if laws:
            return laws
        listed = _listed(dict.fromkeys(sizes))
        unclear = self.size_laws.cuts.unclear
        why = (
            f"no scaling law in the sides of the grid gives the sizes of the call ({listed}"
            f" B){unclear}"
        )
        raise self.refused(call, why)

    def _are_means(self, call: PlaceCall, sizes: Sequence[int]) -> bool:
        """Whether some sizes are not a whole number of elements, so that they must be means."""
        element = self.size_laws.element(call.key)
        return any(size % element for size in sizes)

    def _tag_laws(
        self, call: PlaceCall, samples: list[ProfiledCall], place: Place, *, sends: bool
    ) -> tuple[TagLaw, ...]:
        of_place = [sample for sample in samples if sample.place == place]
        for group in (samples, of_place):
            laws = self._seen.tag_laws_of(group, sends=sends)
            if laws:
                return laws
        tags = {sample.tag(sends=sends) for sample in of_place}
        why = (
            f"the tags of the call ({_listed(sorted(tags))}) depend neither on the rank nor on"
            " the partner"
        )
        raise self.refused(call, why)

    def refused(self, call: PlaceCall, why: str, hint: str | None = None) -> AnalysisError:
        """Return the error that names a call, its share of the time, and why it is refused."""
        largest = self.pattern.period
        step = call.key.step
        share = share_of(largest, (step.kind,))
        return AnalysisError(
            f"{step.call} (such calls take {share:.0%} of a period's time) cannot be "
            "constructed for "
            f"{self.grid.ranks} ranks: {why}",
            where=str(largest.trace.path),
            hint=hint,
        )


def _listed(numbers: Iterable[int]) -> str:
    """Format the first of some numbers, for a message."""
    texts = list(map(str, numbers))
    if len(texts) > _SHOWN:
        texts = [*texts[:_SHOWN], "..."]
    return ", ".join(texts)


def _by_role(
    call: PlaceCall, samples: Sequence[ProfiledCall]
) -> dict[bool, Sequence[ProfiledCall]]:
    """Return the samples of ranks that are the root (key True) and of all other ranks (False)."""
    if not call.key.step.rooted:
        return {False: samples}
    by_role: dict[bool, list[ProfiledCall]] = {}
    for sample in samples:
        by_role.setdefault(sample.is_root, []).append(sample)
    return dict(sorted(by_role.items()))


def _by_place(samples: Sequence[ProfiledCall], place: Place) -> Iterator[list[ProfiledCall]]:
    """Yield the calls of ranks whose place on the grid is equal to `place` along some sides.

    Each single side is compared first, then each pair of sides, then three sides.
    """
    for count in range(1, len(place) + 1):
        for sides in combinations(range(len(place)), count):
            yield [sample for sample in samples if sample.is_at(place, sides)]


def _mean_times(pattern: Pattern) -> dict[Place, _Times]:
    """Return for each place on the grid the mean times before and in each call, as two rows.

    The times are from the largest profile with ranks at the place.
    """
    means: dict[Place, _Times] = {}
    for count in pattern.counts:
        times: dict[Place, list[_Times]] = {}
        for stream in count.job.period.trace.streams:
            columns = np.stack([stream.compute_s, stream.spent_s])
            times.setdefault(count.grid.place(stream.rank), []).append(columns)
        for place, of_ranks in times.items():
            means[place] = np.mean(of_ranks, axis=0)
    return means
