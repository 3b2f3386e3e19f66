"""Pages of the interfaces that packages of others rely on, from signatures and docstrings."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from types import FunctionType
from typing import Any

import bareline
from bareline.formats import importer, reading
from bareline.platforms import base as platforms
from bareline.platforms.hosts import nodes
from bareline.platforms.hosts.allocation import HostsAllocation
from bareline.probes import base as probes
from bareline.report import blocks
from bareline.report.content import document
from bareline.report.exhibits import base as exhibits
from bareline.testing import bench, runs
from bareline.testing import exhibits as exhibit_contract
from bareline.testing import importers as importer_contract
from bareline.testing import platforms as platform_contract
from bareline.testing import probes as probe_contract
from bareline.testing import studies as study_contract
from bareline.vocabulary import exhibit, model, platform

_FOLDER = "reference/interfaces"
_SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
_ENTRY = re.compile(r"^(\S.*)\n((?:[ \t]+\S.*(?:\n|\Z)|\n(?=[ \t]))+)", re.MULTILINE)
#: Signatures up to here stand on one line.
_WIDE = 88
_LITERAL = re.compile(r"::\n\n((?:[ ]+.*(?:\n|\Z)|\n(?=[ ]))+)")


@dataclass(frozen=True, slots=True)
class Interface:
    """A page: its name, what it is for, and what it describes in this order."""

    name: str
    title: str
    about: str
    things: tuple[Any, ...]


INTERFACES = (
    Interface(
        "probe",
        "Probes",
        "A module ends in `PROBE = ...`, an instance of a subclass of `Probe`.",
        (probes.Probe, model.Command, model.Server, model.Layout, model.Output, model.Metric,
         model.Sample),
    ),
    Interface(
        "platform",
        "Platform types",
        "A module ends in `PLATFORM = ...`, a subclass of `Platform`. Nodes on which programs can "
        "be started are best given by a subclass of `HostsAllocation`, which does the rest.",
        (platforms.Platform, platforms.Allocation, nodes.Nodes, HostsAllocation, nodes.Node,
         platforms.Availability, platforms.Context, platform.Options, platform.PlatformSpec),
    ),
    Interface(
        "importer",
        "Importers",
        "A module ends in `IMPORTER = Importer(...)`.",
        (importer.Importer, importer.holding, reading.Reading, reading.outcome_of),
    ),
    Interface(
        "exhibit",
        "Kinds of exhibits",
        "A module ends in `EXHIBIT = Exhibit(...)`, with a function that yields figures.",
        (exhibits.Exhibit, exhibits.figure_of, exhibits.select, exhibits.by_metric,
         exhibit.ExhibitSpec, document.Document, blocks.Rows, blocks.Figure),
    ),
    Interface(
        "contracts",
        "Contracts",
        "Tests that a package takes over, see "
        "[how](../../how-to/plug-in.md). Each test's name says what it holds to.",
        (probe_contract.ProbeContract, platform_contract.PlatformContract,
         platform_contract.MpiContract, platform_contract.forgotten_of,
         importer_contract.ImporterContract, exhibit_contract.ExhibitContract,
         study_contract.StudyContract, bench.open_bench, bench.Bench, bench.until,
         runs.planted_run),
    ),
    Interface(
        "results",
        "Results",
        "What programs may read of runs, see [how](../../how-to/results-elsewhere.md).",
        (bareline.read, bareline.trials),
    ),
)  # fmt: skip


def interface_pages() -> Iterator[tuple[str, str]]:
    """Yield a page for each interface, and the list of them."""
    lines = ["# Interfaces", "", "What packages of others rely on; made of the docstrings.", ""]
    for one in INTERFACES:
        names = ", ".join(f"`{thing.__name__}`" for thing in one.things)
        lines.append(f"- [{one.title}]({one.name}.md): {names}")
        parts = [part for thing in one.things for part in _described(thing)]
        yield f"{_FOLDER}/{one.name}.md", "\n".join([f"# {one.title}", "", one.about, "", *parts])
    yield f"{_FOLDER}/README.md", "\n".join(lines)


def _described(thing: Any) -> Iterator[str]:
    """Describe a class with its public methods, or a function."""
    yield f"## {thing.__name__}"
    yield f"\n`from {thing.__module__} import {thing.__name__}`\n"
    if not inspect.isclass(thing):
        yield _code(signature(inspect.unwrap(thing), thing.__name__))
        yield prose(thing)
        return
    yield prose(thing)
    if is_dataclass(thing):
        yield _code("\n".join(f"{one.name}: {one.type}" for one in fields(thing)))
    for name, member in members(thing):
        if name.startswith("test_"):
            yield f"- {name.removeprefix('test_').replace('_', ' ')}"
            continue
        plain = _function(member)
        yield f"\n### {thing.__name__}.{name}\n"
        if isinstance(member, property | cached_property):
            yield "*a property*\n"
        else:
            check = getattr(member, "__isabstractmethod__", False)
            yield "*must be written*\n" if check else ""
            of_class = "@classmethod\n" if isinstance(member, classmethod) else ""
            yield _code(of_class + signature(plain, name))
        yield prose(plain)
    yield ""


def members(kind: type) -> list[tuple[str, Any]]:
    """Return what a class itself has that others may call or write, in its order."""
    kinds = (property, cached_property, staticmethod, classmethod, FunctionType)
    return [
        (name, member)
        for name, member in vars(kind).items()
        if not name.startswith("_") and isinstance(member, kinds)
    ]


def _function(member: Any) -> Any:
    """Return the function behind a member of a class."""
    if isinstance(member, property):
        return member.fget
    if isinstance(member, cached_property):
        return member.func
    return inspect.unwrap(getattr(member, "__func__", member))


def signature(function: Any, name: str) -> str:
    """Write how a function is called, a parameter a line where it is long."""
    told = inspect.signature(function)
    parts, starred = [], False
    for one in told.parameters.values():
        if one.kind is one.KEYWORD_ONLY and not starred:
            parts.append("*")
        starred = starred or one.kind in (one.KEYWORD_ONLY, one.VAR_POSITIONAL)
        stars = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
        text = f"{stars}{one.name}"
        text += f": {_type(one.annotation)}" if one.annotation is not one.empty else ""
        parts.append(text if one.default is one.empty else f"{text} = {one.default!r}")
    gives = f" -> {_type(told.return_annotation)}"
    line = f"def {name}({', '.join(parts)}){gives}"
    if len(line) > _WIDE:
        listed = ",\n    ".join(parts)
        line = f"def {name}(\n    {listed}\n){gives}"
    return line


def _type(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def _code(text: str) -> str:
    return f"```python\n{text}\n```\n"


def prose(thing: Any) -> str:
    """Return a docstring as Markdown: sections as lists, literal blocks as code."""
    text = inspect.getdoc(thing) or ""  # an override has its base's
    text = _LITERAL.sub(
        lambda block: f":\n\n```python\n{textwrap.dedent(block[1]).strip()}\n```\n", text
    )
    first, *rest = _SECTION.split(text)
    parts = [first.strip(), ""]
    for title, body in zip(rest[::2], rest[1::2], strict=True):
        entries = _ENTRY.findall(body)
        listed = [f"- `{name}`: {' '.join(said.split())}" for name, said in entries]
        parts += [f"**{title}**", "", *(listed or [body.strip()]), ""]
    return "\n".join(parts)
