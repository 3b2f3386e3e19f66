"""What MkDocs does beyond its own while it builds the site (mkdocs.yml).

* README.md is the start page, and every file of the repository that a page links to is on the site,
  so that a link has one form and works in both.
* Pages of probes, platform types, interfaces and terms are made from what they declare; names lead
  to them from every page.
* The links of a section's README.md are the order of its pages; a page that is missing there is an
  error.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import declared
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

import bareline

ROOT = Path(__file__).parents[2]
#: Sections in the order of their tabs, and what is called otherwise than its folder.
SECTIONS = {
    "Tutorials": "tutorial",
    "How-to": "how-to",
    "Reference": "reference",
    "Method": "method",
    "Gallery": "gallery",
    "Decisions": "decisions",
    "Contributing": "contributing",
}
_HERE = Path(__file__).parent
#: Where the repository's other files lie on the site.
_REPOSITORY = "repository/"
_LINK = re.compile(r"(\]\()([^)\s#:]+)(#[^)\s]*)?(\))")
_FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(
    r"(<a\b.*?</a>|<pre\b.*?</pre>|<h\d\b.*?</h\d>)|<code>([\w.]+)</code>", re.DOTALL
)

_made: dict[str, str] = {}


def on_config(config: Any) -> Any:
    """Describe the version wherever the site says its name."""
    config.site_name = f"bareline {bareline.__version__}"
    config.copyright = f"bareline {bareline.__version__}, Apache License 2.0"
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the start page, what is made, and what pages link to; set the order of pages."""
    files.append(_file(config, "index.md", ROOT / "README.md"))
    for name in ("iframe-worker.js", "site.css"):
        files.append(_file(config, f"site/{name}", _HERE / name))
    _made.clear()
    for path, text in declared.pages():
        _made[path] = text
        files.append(File.generated(config, path, content=text))
    waiting = [file for file in files if file.is_documentation_page()]
    while waiting:
        file = waiting.pop()
        for target in _targets(file.content_string):
            path = _repository_path(file.src_uri, target)
            inside = _site_path(path)
            whole = ROOT / path
            if not inside.startswith(_REPOSITORY) or inside in files.src_uris:
                continue
            if whole.is_file() and whole.is_relative_to(ROOT):
                files.append(added := _file(config, inside, whole))
                waiting += [added] if added.is_documentation_page() else []
    config.nav = _nav(files)
    return files


def on_page_markdown(markdown: str, *, page: Any, files: Files, **_: Any) -> str:
    """Turn links as they are in the repository into those of the site."""

    def of_link(found: re.Match[str]) -> str:
        before, target, anchor, after = found.groups()
        path = _repository_path(page.file.src_uri, target)
        inside = _site_path(path)
        if inside not in files.src_uris and f"{inside}/README.md" in files.src_uris:
            inside += "/README.md"
        if inside not in files.src_uris:
            return found[0]  # what is nowhere, MkDocs names
        start = posixpath.dirname(page.file.src_uri) or "."
        return f"{before}{posixpath.relpath(inside, start)}{anchor or ''}{after}"

    parts = _FENCE.split(markdown)
    return "".join(
        part if number % 2 else _LINK.sub(of_link, part) for number, part in enumerate(parts)
    )


def on_page_content(html: str, *, page: Any, files: Files, **_: Any) -> str:
    """Let the names of probes lead to their pages."""

    def of_name(found: re.Match[str]) -> str:
        target = files.get_file_from_path(f"reference/probes/{found[2]}.md")
        if found[1] or target is None or target is page.file:
            return found[0]
        return f'<a href="{target.url_relative_to(page.file)}">{found[0]}</a>'

    return _NAMED.sub(of_name, html)


def _file(config: Any, path: str, source: Path) -> File:
    return File.generated(config, path, abs_src_path=str(source))


def _targets(markdown: str) -> Iterator[str]:
    for part in _FENCE.split(markdown)[::2]:
        yield from (found[2] for found in _LINK.finditer(part))


def _repository_path(page: str, target: str) -> str:
    """Return the path in the repository of what a page of the site links to."""
    if page == "index.md":
        folder = ""
    elif page.startswith(_REPOSITORY):
        folder = posixpath.dirname(page.removeprefix(_REPOSITORY))
    else:
        folder = posixpath.dirname(f"docs/{page}")
    return posixpath.normpath(posixpath.join(folder, target))


def _site_path(path: str) -> str:
    """Return the path on the site of a file of the repository."""
    if path == "README.md":
        return "index.md"
    return path.removeprefix("docs/") if path.startswith("docs/") else _REPOSITORY + path


def _nav(files: Files) -> list[Any]:
    """Return the tabs, each with its pages in the order of its README.md's links."""
    nav: list[Any] = [{"Start": "index.md"}]
    for title, folder in SECTIONS.items():
        index = files.get_file_from_path(f"{folder}/README.md")
        assert index is not None
        linked = [f"{folder}/{target}" for target in _targets(index.content_string)]
        written = [path for path in linked if path.endswith(".md") and path in files.src_uris]
        for file in files.documentation_pages():
            path = file.src_uri
            if path.startswith(f"{folder}/") and path not in {*written, *_made, index.src_uri}:
                raise PluginError(f"docs/{path} is missing in docs/{folder}/README.md")
        nav.append({title: [index.src_uri, *dict.fromkeys(written), *_made_below(folder)]})
    others = [path for path in files.src_uris if path.startswith(_REPOSITORY)]
    nav.append({"Project": sorted(path for path in others if path.endswith(".md"))})
    return nav


def _made_below(folder: str) -> list[Any]:
    """Return the pages that are made for a section: a group for each folder of them."""
    entries: list[Any] = []
    groups: dict[str, list[str]] = {}
    for path in _made:
        inner = posixpath.dirname(path)
        if inner == folder:
            entries.append(path)
        elif posixpath.dirname(inner) == folder:
            groups.setdefault(inner, []).append(path)
    named = {
        re.sub(r"-", " ", posixpath.basename(inner)).capitalize(): own
        for inner, own in groups.items()
    }
    return [*({title: own} for title, own in named.items()), *entries]
