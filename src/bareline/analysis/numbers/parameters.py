"""Given and default parameters of cases: cases of two runs are equal if all parameters are equal.

The text of a case contains the parameters that the study gave. The remaining parameters have the
probe's defaults at the time of the run, which the run stores. A default is also part of the text if
runs have different defaults, or if one run gives a parameter that another run omits.
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
    """Return for each probe of a run the parameters with known defaults, and these defaults."""
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
    """Return the defaults of bareline versions that did not store the defaults in the run."""
    file = resources.files("bareline.analysis") / "defaults.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))


def common_defaults(defaults: Sequence[Defaults]) -> dict[str, dict[str, Scalar]]:
    """Return the defaults that are equal in all runs that record them."""
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
    """Return the different default values of each parameter; the key of a value is its text."""
    values: dict[_Parameter, dict[str, Scalar]] = defaultdict(dict)
    for of_run in defaults:
        for probe, params in of_run.items():
            for name, value in params.items():
                values[probe, name].setdefault(_written(name, value), value)
    return values


def _written(name: str, value: Scalar) -> str:
    """Return a value in the form that the text of a case contains."""
    _, _, written = format_point({name: value}).partition("=")
    return written


@dataclass(slots=True)
class _WholeCase:
    """A case of any run, with all of its parameters.

    - `named`: the parameters in the case's text: parameters that any run gave, and parameters whose
      defaults differ between runs.
    """

    params: Mapping[str, Scalar]
    named: set[str] = field(default_factory=set)

    @property
    def text(self) -> str:
        """The text that names the case."""
        return format_point({name: self.params[name] for name in self.named})


def case_texts(
    texts: Sequence[Iterable[CaseText]], defaults: Sequence[Defaults]
) -> list[dict[CaseText, str]]:
    """Return for each run new texts of its cases; equal texts mean equal parameters.

    If a run does not have a parameter, the parameter gets the default on which all other runs
    agree, because the default of a new parameter keeps a probe's earlier behaviour.

    - `texts`: the cases of each run, as probe and text.
    - `defaults`: the result of `defaults_of` for each run.
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
    """Return the new text of each case of a run.

    If two cases of an older run would get the same text, both keep their own texts.
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
    """Describe parameters whose defaults differ between runs, so that cases cannot be compared."""
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
    """Yield the probe, name and value of each default that the cases of a run use."""
    for probe, text in texts:
        given = parse_point(text)
        for name, value in defaults.get(probe, {}).items():
            if name not in given:
                yield probe, name, value
