"""The ladder of the how-to, with flavors: it is read, planned, and each step is one change."""

from __future__ import annotations

import itertools
import json
import runpy
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bareline.cli.main import app
from bareline.platforms.config import load_platforms

pytest.importorskip("openstack")
ROOT = Path(__file__).parents[4]
STEPS = ("emulated", "virtio", "tuned", "sriov")


@pytest.fixture
def ladder(tmp_path):
    """Give the platform file that the page shows."""
    files_of = runpy.run_path(str(ROOT / "scripts" / "tutorial.py"))["files_of"]
    page = (ROOT / "docs" / "how-to" / "openstack.md").read_text(encoding="utf-8")
    file = tmp_path / "openstack-ladder.toml"
    file.write_text(files_of(page)[file.name], encoding="utf-8")
    return file


def test_each_step_changes_what_its_name_says(ladder):
    specs = load_platforms(ladder)
    tables = [specs[f"cloud-{step}"].to_dict() for step in STEPS]
    for table in tables:
        table.pop("title")
    changed = [
        {key for key in {*before, *after} if before.get(key) != after.get(key)}
        for before, after in itertools.pairwise(tables)
    ]
    assert changed == [{"image"}, {"flavor", "placement"}, {"ports", "subnet"}]
    assert tables[-1]["ports"][1] == {"network": "fabric", "vnic_type": "direct"}


def test_study_of_nebula_is_planned_on_it(ladder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    roles = [f"--as={step}=cloud-{step}" for step in STEPS]
    words = ["run", "nebula", f"--platforms={ladder}", "--as=bare=bare-pair", "--as=jumbo="]
    done = CliRunner().invoke(app, [*words, *roles, "--scale=small", "--dry-run", "--json"])
    assert done.exit_code == 0, done.output
    planned = {row["platform"] for row in json.loads(done.stdout)}
    assert planned == {"bare-pair", *(f"cloud-{step}" for step in STEPS)}


def test_cloud_that_clouds_yaml_lacks_is_told_without_asking_any(tmp_path, monkeypatch):
    clouds = tmp_path / "clouds.yaml"
    clouds.write_text("clouds: {theirs: {auth: {auth_url: 'http://127.0.0.1:9/v3'}}}")
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(clouds))
    monkeypatch.chdir(tmp_path)
    text = 'type = "openstack"\nimage = "i"\nflavor = "f"\ncloud = '
    Path("platforms.toml").write_text(f'[platform.a]\n{text}"mine"\n[platform.b]\n{text}"theirs"\n')
    done = CliRunner().invoke(app, ["platforms", "--json"])

    rows = {row["platform"]: row for row in json.loads(done.stdout)}
    assert rows["a"]["reason"] == "clouds.yaml has no cloud 'mine'"
    assert rows["a"]["hint"] == "it has: theirs"
    assert rows["b"]["available"] and not rows["b"]["running"]
