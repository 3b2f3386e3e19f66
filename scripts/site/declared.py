"""Pages of the site that nobody writes: they say what probes, platform types and terms declare."""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

import tomli_w
from interfaces import interface_pages
from pydantic import TypeAdapter

from bareline.platforms.base import load_platform_types
from bareline.platforms.config import load_platforms
from bareline.probes.base import Probe, load_probes
from bareline.report.content.glossary import TERMS
from bareline.study.catalogue import study_rows
from bareline.vocabulary.model import Layer
from bareline.vocabulary.plugins import own

#: Where a page lies in the documentation's folder, and its text.
Page = tuple[str, str]

#: Where the method of a layer's probes is told.
_METHOD = {
    Layer.COMPUTE: "node",
    Layer.MEMORY: "node",
    Layer.NETWORK: "mpi",
    Layer.MPI: "mpi",
    Layer.IO: "storage",
    Layer.NPB: "npb",
    Layer.APP: "apps",
}
_UNDERLINED = re.compile(r"^(\w.*)\n-{3,}$", re.MULTILINE)


def pages() -> Iterator[Page]:
    """Yield every page that is made from declarations."""
    yield from probe_pages()
    yield from platform_pages()
    yield from interface_pages()
    yield "reference/glossary.md", glossary()


def probe_pages() -> Iterator[Page]:
    """Yield a page for each probe, and the list of them."""
    users: dict[str, list[str]] = {}
    for study in study_rows():
        for name in study["probes"]:
            users.setdefault(name, []).append(study["study"])
    lines = ["# Probes", "", "Benchmarks and applications that bareline runs and reads, by layer."]
    for layer in Layer:
        lines += ["", f"## {layer.value}", "", "| probe | what it measures |", "|---|---|"]
        for name, probe in load_probes().items():
            if probe.layer is layer:
                lines.append(f"| [`{name}`]({name}.md) | {_cell(_upper(probe.summary))} |")
    yield "reference/probes/README.md", "\n".join(lines)
    for module, probe in own("bareline.probes", "PROBE", deep=True):
        text = _probe_page(module, probe, users.get(probe.name, []))
        yield f"reference/probes/{probe.name}.md", text


def _probe_page(module: str, probe: Probe[Any], studies: list[str]) -> str:
    facts = {
        "Layer": probe.layer.value,
        "Headline": f"`{probe.headline}`, {probe.title}",
        "Defined by": probe.source,
        "Ranks": f"at least {probe.min_ranks}" if probe.min_ranks > 1 else "",
        "Nodes": str(probe.nodes or ""),
        "Method": f"[how it is measured](../../method/{_METHOD[probe.layer]}.md)",
        "Studies that measure it": ", ".join(f"`{study}`" for study in studies),
    }
    params = TypeAdapter(probe.params).json_schema()
    shown = {key: value for key, value in probe.defaults().items() if value != ""}
    measure = {"probe": probe.name, **({"ranks": probe.min_ranks} if probe.min_ranks > 1 else {})}
    example = tomli_w.dumps({"measure": [{**measure, "params": dict(list(shown.items())[:2])}]})
    return "\n".join(
        [
            f"# {probe.name}",
            "",
            f"{_upper(probe.summary)}.",
            "",
            _about(module, probe),
            "",
            *(f"- {key}: {value}" for key, value in facts.items() if value),
            "",
            "## Parameters",
            "",
            *_options_table(params, _attributes(probe.params)),
            "",
            "In a [study file](../study.md):",
            "",
            "```toml",
            example.strip(),
            "```",
            "",
            "## Metrics",
            "",
            "| metric | unit | better | |",
            "|---|---|---|---|",
            *(
                f"| `{name}` | {metric.unit} | {metric.better} | "
                f"{'headline' if name == probe.headline else 'detail' if metric.detail else ''} |"
                for name, metric in probe.metrics.items()
            ),
        ]
    )


def _about(module: str, probe: Probe[Any]) -> str:
    """Return what the module of a probe says, of a row of a table what its class and points do."""
    if hasattr(sys.modules[module], "PROBE"):
        return _prose(sys.modules[module].__doc__ or "")
    points = inspect.getdoc(getattr(probe, "point_samples", None)) or ""
    return "\n\n".join(filter(None, (_prose(inspect.getdoc(type(probe)) or ""), points)))


def platform_pages() -> Iterator[Page]:
    """Yield a page for each type of platform, and the list of them with the built-in ones."""
    types, builtin = load_platform_types(), load_platforms(None)
    lines = ["# Platform types", "", "| type | where trials run |", "|---|---|"]
    lines += [f"| [`{name}`]({name}.md) | {kind.summary} |" for name, kind in types.items()]
    lines += ["", "## Built-in platforms", "", "| platform | type | |", "|---|---|---|"]
    lines += [
        f"| `{spec.name}` | [`{spec.type}`]({spec.type}.md) | {spec.title} |"
        for spec in builtin.values()
    ]
    yield "reference/platform-types/README.md", "\n".join(lines)
    for name, kind in types.items():
        yield f"reference/platform-types/{name}.md", _platform_page(name, kind, builtin)


def _platform_page(name: str, kind: Any, builtin: Mapping[str, Any]) -> str:
    schema = TypeAdapter(kind.options).json_schema()
    about = sys.modules[kind.__module__.removesuffix(".platform")].__doc__ or ""
    lines = [f"# {name}", "", f"{_upper(kind.summary)}.", "", _prose(about), "", "## Options", ""]
    lines += ["What a [platform file](../platforms.md) may say of it.", ""]
    lines += _options_table(schema, _attributes(kind.options))
    for part, inner in schema.get("$defs", {}).items():
        if "properties" in inner:
            described = inner.get("description", "")
            lines += ["", f"### {part}", "", described.partition("\n")[0], ""]
            lines += _options_table(inner, _described(described))
    specs = [spec for spec in builtin.values() if spec.type == name]
    if specs:
        lines += ["", "## Built in", ""]
    for spec in specs:
        given = spec.options.model_dump(mode="json", exclude_unset=True, exclude_none=True)
        toml = tomli_w.dumps({"platform": {spec.name: {"type": name, **given}}})
        toml = "\n".join(line for line in toml.splitlines() if line)
        lines += [f"`{spec.name}`: {spec.title}", "", "```toml", toml, "```", ""]
    return "\n".join(lines)


def glossary() -> str:
    """Return the page of terms."""
    lines = [
        "---\nsearch: { boost: 2 }\n---\n# Glossary",
        "",
        "The terms of a report, as its page explains them, too.",
        "",
    ]
    for term, meaning in sorted(TERMS.items(), key=lambda pair: pair[0].lower()):
        lines += [f"**{term}**", f":   {meaning}", ""]
    return "\n".join(lines)


def _options_table(schema: Mapping[str, Any], meaning: Mapping[str, str]) -> list[str]:
    properties = schema.get("properties", {})
    if not properties:
        return ["None."]
    rows = [
        f"| `{name}` | {_cell(_kind(one))} | {_cell(_default(one))} | "
        f"{_cell(meaning.get(name, ''))} |"
        for name, one in properties.items()
    ]
    return ["| name | takes | default | meaning |", "|---|---|---|---|", *rows]


def _kind(schema: Mapping[str, Any]) -> str:
    """Describe in words what a value may be, from its JSON Schema."""
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return " or ".join(_kind(one) for one in schema[several] if one.get("type") != "null")
    if "enum" in schema or "const" in schema:
        return ", ".join(f"`{value}`" for value in schema.get("enum", [schema.get("const")]))
    if "$ref" in schema:
        part = schema["$ref"].rpartition("/")[2]
        return f"[table](#{part.lower()})"
    kind = schema.get("type", "")
    if kind == "array":
        items = schema.get("items") or {}
        return f"list of {_kind(items)}" if items else "list"
    words = {"integer": "whole number", "boolean": "`true`, `false`", "string": "text"}
    return words.get(kind, {"object": "table"}.get(kind, kind))


def _default(schema: Mapping[str, Any]) -> str:
    value = schema.get("default")
    if value in (None, "", [], {}):
        return "" if "default" in schema else "needed"
    if isinstance(value, dict):
        return "its own"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _attributes(kind: type) -> dict[str, str]:
    """Return what docstrings of a class and of those above it say of its attributes."""
    found: dict[str, str] = {}
    for one in reversed(kind.__mro__):
        said = _described(inspect.cleandoc(one.__dict__.get("__doc__") or ""))
        # "see `ReferenceRun`" leads a reader of the source to what stands here already.
        found |= {
            key: text for key, text in said.items() if key not in found or "see `" not in text
        }
    return found


def _described(text: str) -> dict[str, str]:
    """Read the section "Attributes" of a docstring, or its list of names with their meaning."""
    section = text.partition("\nAttributes\n")[2].partition("\n\n")[0]
    found = {}
    for names, lines in re.findall(r"^(\w.*)\n((?:[ ]+.*\n?)+)", section, re.MULTILINE):
        for name in names.split(","):
            found[name.strip()] = " ".join(textwrap.dedent(lines).split())
    for names, said in re.findall(r"^- (`[\w`, ]+`): (.+(?:\n  .+)*)", text, re.MULTILINE):
        text = " ".join(said.split())
        found |= dict.fromkeys(re.findall(r"\w+", names), _upper(text))
    return found


def _prose(docstring: str) -> str:
    """Return a docstring below its first line, with its sections as headings.

    Without a package's map of its modules, which begins with the name of one.
    """
    below = inspect.cleandoc(docstring).partition("\n")[2].strip()
    parts = [part for part in below.split("\n\n") if not re.match(r"`\w", part)]
    return _UNDERLINED.sub(r"**\1**\n", "\n\n".join(parts))


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _upper(text: str) -> str:
    """Let a sentence begin as one does, unless it begins with a program's name ("fio: ...")."""
    return text if text.partition(" ")[0].endswith(":") else text[:1].upper() + text[1:]
