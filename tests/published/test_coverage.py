"""Everything that the publications describe is covered, or named with the reason why not."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import BaseModel

from bareline.analysis.judgements.suitability import CLASSES
from bareline.formats.importer import load_importers
from bareline.platforms.base import load_platform_types
from bareline.platforms.config import load_platforms
from bareline.probes.base import load_probes
from bareline.published.catalogue import publications
from bareline.report.exhibits.base import load_exhibits
from bareline.study.catalogue import named_studies
from bareline.vocabulary.caveats import CAVEATS
from bareline.vocabulary.facts import FACT_KEYS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "coverage.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| ([A-L]\d\d) \| (.+?) \| (.+?) \| (.+?) \|$", PAGE, re.MULTILINE)

#: Lines of each section of the checklist.
COUNTS = {
    "A": 19, "B": 22, "C": 12, "D": 16, "E": 29, "F": 9, "G": 5, "H": 4, "I": 31, "J": 13,
    "K": 5, "L": 13,
}  # fmt: skip

STUDIES = {
    name: study
    for name, study in named_studies().items()
    if name in {row.publication.study for row in publications().values()}
}


def repeated() -> dict[str, set[str]]:
    """Return the published tables and figures that exhibits repeat, with the studies that do."""
    found: dict[str, set[str]] = {}
    for name, study in STUDIES.items():
        for exhibit in study.exhibits:
            for part in exhibit.published:
                found.setdefault(part, set()).add(name)
    return found


def roles() -> set[str]:
    return {f"{name}:{role}" for name, study in STUDIES.items() for role in study.roles}


def described() -> set[str]:
    return {
        f"{row.id}:{platform.id}" for row in publications().values() for platform in row.platforms
    }


def options() -> set[str]:
    found: set[str] = set()

    def walk(prefix: str, model: type[BaseModel]) -> None:
        for name, field in model.model_fields.items():
            found.add(f"{prefix}.{name}")
            kind = field.annotation
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                walk(f"{prefix}.{name}", kind)

    for name, platform in load_platform_types().items():
        walk(name, platform.options)
    return found


#: How each kind of thing is looked up.
KNOWN: dict[str, Callable[[], set[str]]] = {
    "study": lambda: set(named_studies()),
    "role": roles,
    "probe": lambda: set(load_probes()),
    "platform": lambda: {name for name, spec in load_platforms().items() if spec.builtin},
    "type": lambda: set(load_platform_types()),
    "option": options,
    "fact": lambda: set(FACT_KEYS),
    "kind": lambda: set(load_exhibits()),
    "part": lambda: set(repeated()),
    "published": described,
    "importer": lambda: set(load_importers()),
    "caveat": lambda: set(CAVEATS),
    "class": lambda: {row.name for row in CLASSES},
    "doc": lambda: {str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md")},
}


def test_every_line_of_the_checklist_is_there() -> None:
    names = [row[0] for row in ROWS]
    expected = [
        f"{section}{n:02d}" for section, count in COUNTS.items() for n in range(1, count + 1)
    ]
    assert names == expected
    assert len(names) == 178


def test_every_line_is_of_a_publication() -> None:
    for name, _, documents, _ in ROWS:
        for document in documents.split(", "):
            assert document in publications(), name


@pytest.mark.parametrize("kind", sorted(KNOWN))
def test_what_covers_a_line_exists(kind: str) -> None:
    known = KNOWN[kind]()
    for name, _, _, here in ROWS:
        for found, thing in re.findall(r"`(\w+) ([^`]+)`", here):
            assert found in {*KNOWN, "bareline"}, f"{name}: `{found} {thing}`"
            if found == kind:
                assert thing in known, f"{name}: there is no {kind} '{thing}'"


def test_every_line_is_covered_or_says_why_not() -> None:
    for name, _, _, here in ROWS:
        covered = any(kind in KNOWN for kind in re.findall(r"`(\w+) [^`]+`", here))
        reason = re.match(r"Not here: (.{15,})", here)
        assert covered or reason, f"{name}: neither covered nor explained: {here}"
        assert "here yet" not in here, f"{name}: a promise is no reason: {here}"


def test_every_published_table_and_figure_is_repeated_or_explained() -> None:
    covered = repeated()
    for row in publications().values():
        for part in row.parts:
            reference = f"{row.id}:{part.id}"
            if not part.shows:
                continue
            if reference in covered:
                assert row.publication.study in covered[reference]
                continue
            raise AssertionError(f"no exhibit repeats {reference} ({part.shows})")


def test_every_figure_with_a_probe_has_a_measure_or_awaits_one() -> None:
    """What a publication measured, its study measures, unless an exhibit says what is missing."""
    for row in publications().values():
        study = STUDIES[row.publication.study]
        measured = {measure.probe for measure in study.measures}
        awaited = {exhibit.probe for exhibit in study.exhibits if exhibit.awaits}
        for benchmark in row.benchmarks:
            stem = benchmark.probe.removesuffix("*")
            here = any(probe.startswith(stem) for probe in measured)
            later = any(probe is not None and probe.startswith(stem) for probe in awaited)
            assert here or later, f"{row.id}: nothing measures {benchmark.name}"


def test_every_published_platform_that_has_figures_has_a_role() -> None:
    for row in publications().values():
        study = STUDIES[row.publication.study]
        cast = {name for role in study.roles.values() for name in role.published}
        spoken = {result.platform for result in row.results} | {t.platform for t in row.trials}
        for platform in spoken:
            described_here = row.platform(platform) is not None
            assert f"{row.id}:{platform}" in cast or not described_here or platform == "fermicloud"


@pytest.mark.parametrize("name", sorted(STUDIES))
def test_the_small_scale_fits_two_cores(name: str) -> None:
    small = STUDIES[name].at_scale("small")
    assert small.scale_changes
    for _, case in small.cases():
        assert case.ranks * case.threads <= 2
        assert (case.nodes or 1) <= 2


def test_nothing_is_awaited_that_has_come() -> None:
    """An exhibit that names a probe it waits for loses the words when the probe is there."""
    probes = set(load_probes())
    for name, study in STUDIES.items():
        for exhibit in study.exhibits:
            awaited = set(re.findall(r"[a-z]+\.[a-z_]+", exhibit.awaits))
            assert bool(awaited) == bool(exhibit.awaits)
            assert not awaited & probes, f"{name}, '{exhibit.title}': measure it, drop `awaits`"
