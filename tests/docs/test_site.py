"""The site: builds without a complaint, needs no network, says what is declared."""

import json
import logging
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import bareline
from bareline.platforms.base import load_platform_types
from bareline.probes.base import load_probes
from bareline.report.content.glossary import TERMS

ROOT = Path(__file__).parents[2]
#: What a browser fetches by itself, from elsewhere.
_FETCHED = re.compile(r'<(?:script|img|link|iframe)\b[^>]*(?:src|href)="(?:https?:)?//[^"]*"')


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build it, with every warning an error."""
    pytest.importorskip("material", reason="MkDocs is not installed: `make site` installs it")
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    folder = tmp_path_factory.mktemp("site")
    said = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: said.append(record.getMessage())
    logging.getLogger("mkdocs").addHandler(handler)
    try:
        config = load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder), strict=False)
        config.plugins.on_startup(command="build", dirty=False)
        build(config)
    finally:
        logging.getLogger("mkdocs").removeHandler(handler)
    assert said == []
    return folder


def test_it_fetches_nothing(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 100
    found = [(page.name, what) for page in pages for what in _FETCHED.findall(page.read_text())]
    assert found == []


def test_every_probe_and_platform_type_has_a_page(site):
    for name, probe in load_probes().items():
        text = (site / "reference" / "probes" / f"{name}.html").read_text()
        assert all(f"<code>{metric}</code>" in text for metric in probe.metrics), name
        assert all(f"<code>{param}</code>" in text for param in probe.defaults()), name
    for name, kind in load_platform_types().items():
        text = (site / "reference" / "platform-types" / f"{name}.html").read_text()
        assert all(f"<code>{option}</code>" in text for option in kind.options.model_fields), name


def test_every_option_says_what_it_means(site):
    # name, takes, default, meaning: the last is empty where a docstring says nothing.
    folder = site / "reference" / "platform-types"
    rows = [row for page in folder.glob("*.html") for row in _rows(page.read_text())]
    assert len(rows) > 60
    assert [row[0] for row in rows if len(row) == 4 and not row[3]] == []


def _rows(html):
    for row in re.findall(r"<tr>(.*?)</tr>", html, re.DOTALL):
        cells = re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL)
        if cells:
            yield cells


def test_start_page_has_the_picture_and_the_version(site):
    text = (site / "index.html").read_text()
    assert 'src="images/overview.png"' in text
    assert f"bareline {bareline.__version__}" in text


def test_search_finds_terms_and_probes(site):
    index = json.loads((site / "search" / "search_index.json").read_text())["docs"]
    texts = {doc["location"]: doc["text"] for doc in index}
    glossary = texts["reference/glossary.html"]
    assert all(
        meaning.split(";")[0] in glossary for meaning in TERMS.values() if "'" not in meaning
    )
    assert "reference/probes/mpi.allreduce.html" in texts


def test_names_of_probes_lead_to_their_pages(site):
    assert (
        'href="../reference/probes/mpi.pingpong.html"' in (site / "method" / "mpi.html").read_text()
    )


@pytest.mark.parametrize("target", ["site", "docs-check"])
def test_a_fresh_clone_gets_pytest_which_the_contracts_import(target):
    # The tests may be run by make itself, which hands on its flags and then names its folder.
    env = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    planned = subprocess.run(
        ["make", "--dry-run", target], cwd=ROOT, env=env, capture_output=True, text=True, check=True
    ).stdout
    assert planned.splitlines()[0] == "scripts/setup.sh tests"


def test_a_link_that_leads_nowhere_fails(site, tmp_path):
    shutil.copytree(ROOT, tmp_path / "clone", ignore=_left_out)
    clone = tmp_path / "clone"
    with (clone / "README.md").open("a") as file:
        file.write("[lost](docs/how-to/no-such-page.md)\n")
    (clone / ".venv" / "bin").mkdir(parents=True)
    python = clone / ".venv" / "bin" / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    done = subprocess.run(
        ["scripts/site.sh", str(tmp_path / "out")],
        cwd=clone, env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "no-such-page.md" in done.stderr


def _left_out(folder, names):
    """Leave out of a copy what the site has no part of."""
    return {"build", ".git", ".venv", "native", "runs", "dist"} & set(names)
