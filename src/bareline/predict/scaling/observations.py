"""The profiled calls: the calls that may share laws, and the ranks that each call concerns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from bareline.predict.scaling.concern import Key, ProfiledCall
from bareline.predict.scaling.cuts import CallSizes, CountSizes, RankSize
from bareline.predict.scaling.grid import Place
from bareline.predict.scaling.job_calls import RankOfCount, Step
from bareline.predict.scaling.members import MembersRule
from bareline.predict.scaling.pattern import Concern, Pattern, Template
from bareline.predict.scaling.tags import TagLaw, TagSample, tag_laws

#: A call of a place, by its number.
PlaceNumber = tuple[Place, int]
#: The n-th call of a kind that a rank makes.
_NthStep = tuple[Step, int]
_Samples = list[ProfiledCall]
_Rules = tuple[MembersRule, ...]


@dataclass
class Observations:
    """The calls of all profiles.

    - `keys`: for each place on the grid (such as a corner), the keys of its calls, in order.
    - `samples`: the calls of each key.
    - `alike`: for each call of a place, the calls of all places that have the same step (kind of
      call) and the same number among the calls of this step.
    - `shared`: for each key, the relations to partners and the rules of communicators that all
      calls of the key follow.
    """

    pattern: Pattern

    def __post_init__(self) -> None:
        self.grids = self.pattern.grids
        templates = self.pattern.templates
        self.keys = {place: list(_numbered(template)) for place, template in templates.items()}
        self.samples: dict[Key, _Samples] = {}
        by_number: dict[PlaceNumber, _Samples] = {}
        for where, sample in self._calls():
            place, number = where
            self.samples.setdefault(self.keys[place][number], []).append(sample)
            by_number.setdefault(where, []).append(sample)
        self.alike = self._alike_steps()
        self.shared = self._shared_by_key()
        self._by_comm = self._rules_by_communicator()
        self._tags: dict[tuple[TagSample, ...], tuple[TagLaw, ...]] = {}

    def _ranks(self) -> Iterator[tuple[int, RankOfCount]]:
        """Yield all profiled ranks, each with the index of its profile."""
        for job, count in enumerate(self.pattern.counts):
            for rank in count.ranks():
                yield job, rank

    def _calls(self) -> Iterator[tuple[PlaceNumber, ProfiledCall]]:
        """Yield all profiled calls, each with the place of its rank on the grid and its number."""
        for job, rank in self._ranks():
            place = rank.place
            for number, shape in enumerate(rank.shapes):
                yield (place, number), ProfiledCall(job, rank.rank, place, shape)

    def _alike_steps(self) -> dict[PlaceNumber, _Samples]:
        """Return for each call of a place on the grid the same calls of all places (`alike`)."""
        steps: dict[PlaceNumber, _NthStep] = {}
        for place, keys in self.keys.items():
            seen: Counter[Step] = Counter()
            for number, key in enumerate(keys):
                steps[place, number] = (key.step, seen[key.step])
                seen[key.step] += 1
        by_step: dict[_NthStep, _Samples] = {}
        for where, sample in self._calls():
            by_step.setdefault(steps[where], []).append(sample)
        return {where: by_step[step] for where, step in steps.items()}

    # Whom calls concern --------------------------------------------------------------------------

    def _shared_by_key(self) -> dict[Key, Concern]:
        """Return for each key the partner relations and communicator rules of all its calls."""
        shared: dict[Key, Concern] = {}
        for place, template in self.pattern.templates.items():
            for key, concern in zip(self.keys[place], template.concerns, strict=True):
                shared[key] = shared[key].also(concern) if key in shared else concern
        return shared

    def _rules_by_communicator(self) -> dict[tuple[int, int], set[MembersRule]]:
        """Return for each profile and communicator the rules that all calls over it follow."""
        by_comm: dict[tuple[int, int], set[MembersRule]] = {}
        for job, rank in self._ranks():
            concerns = self.pattern.templates[rank.place].concerns
            rules = (concern.comm for concern in concerns)
            for comm, comm_rules in set(zip(rank.calls.comm.tolist(), rules, strict=True)):
                if comm_rules is not None:
                    remaining = by_comm.setdefault((job, comm), set(comm_rules))
                    remaining.intersection_update(comm_rules)
        return by_comm

    def narrowed(self, place: Place, number: int, rules: _Rules | None) -> _Rules | None:
        """Return the rules, out of `rules`, that all calls over the same communicators follow."""
        if rules is None:
            return None
        for job, rank in self._ranks():
            if rank.place == place:
                followed = self._by_comm[job, rank.comm(number)]
                rules = tuple(rule for rule in rules if rule in followed) or rules
        return rules

    # Sizes and tags ------------------------------------------------------------------------------

    def uneven(self) -> list[CallSizes]:
        """Return the sizes of each call whose size differs between the ranks of a profile."""
        calls = set(map(self._sizes_of, self.samples.values()))
        return sorted(filter(_differ, calls))

    def _sizes_of(self, samples: _Samples) -> CallSizes:
        sizes: list[list[RankSize]] = [[] for _ in self.grids]
        for sample in samples:
            sizes[sample.job].append(RankSize(sample.rank, sample.shape.size))
        by_rank = (tuple(sorted(count_sizes)) for count_sizes in sizes)
        return tuple(map(CountSizes, self.grids, by_rank))

    def tag_laws_of(self, samples: _Samples, *, sends: bool) -> tuple[TagLaw, ...]:
        """Return the simplest laws of the tags with which calls send, or receive."""
        rows = []
        for sample in samples:
            ranks = self.grids[sample.job].ranks
            partner = sample.partner(sends=sends)
            rows.append((ranks, sample.rank, partner, sample.tag(sends=sends)))
        key = tuple(rows)
        if key not in self._tags:
            self._tags[key] = tuple(tag_laws(key))
        return self._tags[key]


def _differ(call: CallSizes) -> bool:
    return any(count.differ for count in call)


def _numbered(template: Template) -> Iterator[Key]:
    """Yield the key of each call of a template; keys number the calls that are otherwise equal."""
    seen: Counter[tuple[object, ...]] = Counter()
    for step, concern in zip(template.steps, template.concerns, strict=True):
        to = concern.to.chosen if concern.to is not None else None
        from_ = concern.from_.chosen if concern.from_ is not None else None
        nth = seen[step, to, from_]
        seen[step, to, from_] += 1
        yield Key(step, to, from_, nth)
