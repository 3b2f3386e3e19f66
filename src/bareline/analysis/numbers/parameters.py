"""Parameters of cases, given and default: cases of two runs are one case where both are equal.

The text of a case has the parameters that the study gave; the rest are the defaults of its probe at
that time, which a run keeps. Defaults are part of the text only where runs have different defaults,
or one run gives a parameter that another leaves out.
"""

from __future__ import annotations

import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources

from bareline.store.header import Header
from bareline.vocabulary.model import Scalar, format_point, parse_point
from bareline.vocabulary.units import listing

Params = Mapping[str, Scalar]
#: The defaults of a run, by probe.
Defaults = Mapping[str, Params]
#: A probe, and the text of a case's parameters.
CaseText = tuple[str, str]
#: A probe, and the name of one of its parameters.
_Parameter = tuple[str, str]


def defaults_of(header: Header) -> dict[str, Params]:
    """Return the parameters of each probe of a run, and their defaults, where they are known."""
    defaults: dict[str, Params] = {}
    if not header.imported:
        defaults.update(_defaults_of_older_versions())
    programs = header.study.get("app", {})
    for name, program in programs.items():
        defaults[f"app.{name}"] = program.get("params", {})
    defaults.update(header.defaults)
    return {name: defaults[name] for name in header.probes if name in defaults}


@cache
def _defaults_of_older_versions() -> dict[str, Params]:
    """Return the defaults of versions that did not keep them in the run."""
    file = resources.files("bareline.analysis") / "defaults.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))


def common_defaults(defaults: Sequence[Defaults]) -> dict[str, dict[str, Scalar]]:
    """Return the defaults of all runs together; those in which runs differ are in none."""
    common: dict[str, dict[str, Scalar]] = defaultdict(dict)
    for (probe, name), values in _values_of(defaults).items():
        if len(values) == 1:
            (common[probe][name],) = values.values()
    return dict(common)


def _differing(defaults: Sequence[Defaults]) -> set[_Parameter]:
    """Return the parameters whose defaults differ between runs."""
    differing = set()
    for parameter, values in _values_of(defaults).items():
        if len(values) > 1:
            differing.add(parameter)
    return differing


def _values_of(defaults: Sequence[Defaults]) -> dict[_Parameter, dict[str, Scalar]]:
    """Return the different defaults of each parameter, by their text."""
    values: dict[_Parameter, dict[str, Scalar]] = defaultdict(dict)
    for of_run in defaults:
        for probe, params in of_run.items():
            for name, value in params.items():
                values[probe, name].setdefault(_written(name, value), value)
    return values


def _written(name: str, value: Scalar) -> str:
    """Return a value as the text of a case has it."""
    _, _, written = format_point({name: value}).partition("=")
    return written


@dataclass(slots=True)
class _WholeCase:
    """A case of any run, with all of its parameters.

    - `named`: the parameters that name it: those given in any run, and those that differ.
    """

    params: Mapping[str, Scalar]
    named: set[str] = field(default_factory=set)

    @property
    def text(self) -> str:
        """The text that names it."""
        return format_point({name: self.params[name] for name in self.named})


def case_texts(
    texts: Sequence[Iterable[CaseText]], defaults: Sequence[Defaults]
) -> list[dict[CaseText, str]]:
    """Describe which text names each case, so that equal texts are equal parameters.

    A parameter that a run does not know has the default on which all runs that know it agree: a new
    parameter of a probe keeps its earlier behaviour.

    - `texts`: the cases of each run, by the texts that it has for them.
    - `defaults`: `defaults_of` for each run.
    """
    common = common_defaults(defaults)
    differing = _differing(defaults)
    cases: dict[CaseText, _WholeCase] = {}
    keys_of_runs: list[dict[CaseText, CaseText]] = []
    for texts_of_run, defaults_of_run in zip(texts, defaults, strict=True):
        keys: dict[CaseText, CaseText] = {}
        for probe, text in texts_of_run:
            given = parse_point(text)
            params = {**common.get(probe, {}), **defaults_of_run.get(probe, {}), **given}
            key = (probe, format_point(params))
            case = cases.setdefault(key, _WholeCase(params))
            case.named |= given.keys()
            case.named.update(name for name in params if (probe, name) in differing)
            keys[probe, text] = key
        keys_of_runs.append(keys)
    return [_texts_of_run(keys, cases) for keys in keys_of_runs]


def _texts_of_run(
    keys: Mapping[CaseText, CaseText], cases: Mapping[CaseText, _WholeCase]
) -> dict[CaseText, str]:
    """Return the text that names each case of a run.

    Two cases that an older run kept apart stay two: they keep their own texts.
    """
    counts = Counter(keys.values())
    texts = {}
    for case, key in keys.items():
        _, text = case
        if counts[key] == 1:
            text = cases[key].text
        texts[case] = text
    return texts


def differences(
    texts: Sequence[Iterable[CaseText]],
    defaults: Sequence[Defaults],
    runs: Sequence[str],
) -> tuple[str, ...]:
    """Describe parameters with other defaults in some runs: such cases are not comparable."""
    silent: dict[_Parameter, dict[str, str]] = defaultdict(dict)
    for texts_of_run, defaults_of_run, run in zip(texts, defaults, runs, strict=True):
        for probe, name, value in _silent_defaults(texts_of_run, defaults_of_run):
            silent[probe, name][run] = _written(name, value)
    sentences = []
    for (probe, name), values in silent.items():
        if len(set(values.values())) > 1:
            values_of_runs = [f"{value} in {run}" for run, value in values.items()]
            listed = listing(values_of_runs)
            sentences.append(
                f"{probe} took {name} = {listed} by default: such cases are not compared"
            )
    return tuple(sentences)


def _silent_defaults(
    texts: Iterable[CaseText], defaults: Defaults
) -> Iterator[tuple[str, str, Scalar]]:
    """Yield the probe, name and value of each default that cases of a run take."""
    for probe, text in texts:
        given = parse_point(text)
        for name, value in defaults.get(probe, {}).items():
            if name not in given:
                yield probe, name, value
