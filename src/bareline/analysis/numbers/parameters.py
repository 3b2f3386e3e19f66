"""Parameters of cases, given and default: cases of two runs are one case where both are equal.

The text of a case has the parameters that the study gave; the rest are the defaults of its probe at
that time, which a run keeps. Defaults are part of the text only where runs have different defaults,
or one run gives a parameter that another leaves out.
"""

from __future__ import annotations

import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import resources

from bareline.store.header import Header
from bareline.vocabulary.model import Scalar, format_point, parse_point
from bareline.vocabulary.units import listing

Params = Mapping[str, Scalar]
#: A probe, and the text of a case's parameters.
Said = tuple[str, str]


def defaults_of(header: Header) -> dict[str, Params]:
    """Return the parameters of each probe of a run, and their defaults, where they are known."""
    before = {} if header.imported else _of_before()
    programs = header.study.get("app", {})
    own = {f"app.{name}": program.get("params", {}) for name, program in programs.items()}
    known: Mapping[str, Params] = {**before, **own, **header.defaults}
    return {name: known[name] for name in header.probes if name in known}


@cache
def _of_before() -> dict[str, Params]:
    file = resources.files("bareline.analysis") / "defaults.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))


def common_defaults(known: Sequence[Mapping[str, Params]]) -> dict[str, dict[str, Scalar]]:
    """Return the defaults of all runs together; those in which runs differ are in none."""
    every = _every(known)
    return {
        probe: {
            name: next(iter(values.values())) for name, values in params.items() if len(values) == 1
        }
        for probe, params in every.items()
    }


def _every(known: Sequence[Mapping[str, Params]]) -> dict[str, dict[str, dict[str, Scalar]]]:
    every: dict[str, dict[str, dict[str, Scalar]]] = defaultdict(lambda: defaultdict(dict))
    for defaults in known:
        for probe, params in defaults.items():
            for name, value in params.items():
                every[probe][name].setdefault(format_point({name: value}), value)
    return every


def case_texts(
    said: Sequence[Iterable[Said]], known: Sequence[Mapping[str, Params]]
) -> list[dict[Said, str]]:
    """Describe which text names each case, so that equal texts are equal parameters.

    A parameter that a run does not know has the default on which all runs that know it agree: a new
    parameter of a probe keeps its earlier behaviour. `known` has `defaults_of` for each run.
    """
    common = common_defaults(known)
    differing = {
        probe: {name for name, values in params.items() if len(values) > 1}
        for probe, params in _every(known).items()
    }
    cases: list[dict[Said, tuple[str, str]]] = []
    whole: dict[Said, dict[str, Scalar]] = {}
    named: dict[tuple[str, str], set[str]] = defaultdict(set)
    for texts, defaults in zip(said, known, strict=True):
        own: dict[Said, tuple[str, str]] = {}
        for probe, text in texts:
            given = parse_point(text)
            params = {**common.get(probe, {}), **defaults.get(probe, {}), **given}
            case = (probe, format_point(params))
            whole[case] = params
            named[case] |= given.keys() | (differing.get(probe, set()) & params.keys())
            own[probe, text] = case
        cases.append(own)
    texts_of = {
        case: format_point({name: whole[case][name] for name in names})
        for case, names in named.items()
    }
    # Two cases that an older run kept apart stay two.
    counted = [(own, Counter(own.values())) for own in cases]
    return [
        {one: texts_of[case] if alike[case] == 1 else one[1] for one, case in own.items()}
        for own, alike in counted
    ]


def differences(
    said: Sequence[Iterable[Said]], known: Sequence[Mapping[str, Params]], runs: Sequence[str]
) -> tuple[str, ...]:
    """Describe parameters with other defaults in some runs: such cases are not comparable."""
    silent: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for texts, defaults, run in zip(said, known, runs, strict=True):
        for probe, text in texts:
            given = parse_point(text)
            for name, value in defaults.get(probe, {}).items():
                if name not in given:
                    silent[probe, name][run] = format_point({name: value}).partition("=")[2]
    return tuple(
        f"{probe} took {name} = {listing([f'{value} in {run}' for run, value in values.items()])} "
        "by default: such cases are not compared"
        for (probe, name), values in silent.items()
        if len(set(values.values())) > 1
    )
