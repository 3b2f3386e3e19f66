"""A site's ReFrame configuration as platforms: what is taken over, and what is said not to be.

The configuration is what ReFrame 4.10.4 printed of a file in Python with `--show-config`.
"""

import json
import tomllib
from pathlib import Path

import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from bareline.platforms.config import load_platforms
from bareline.platforms.reframe import read_site
from bareline.session.intake import import_files
from bareline.testing.messages import raises
from bareline.vocabulary.errors import BarelineError, PlatformError

SHOWN = Path(__file__).parent / "data" / "reframe.show-config.json"
FORMATS = Path(__file__).parents[1] / "formats" / "data"


@pytest.fixture
def site():
    return read_site(SHOWN)


def test_a_partition_of_slurm_with_an_environment_is_a_platform(site):
    gpu = site.tables["daint-gpu-gnu"]
    assert gpu == {
        "title": "daint:gpu+gnu, GPU nodes", "type": "slurm", "constraint": "gpu",
        "account": "proj01", "partition": "normal", "launcher": "srun", "time_min": 120,
        "modules": ["craype-gpu", "gcc/12.3", "openmpi/4.1"], "cores_per_node": 64,
        "environment": {"OMP_PLACES": "cores"},
    }  # fmt: skip
    assert site.tables["daint-mc-gnu"]["partition"] == "mc"
    assert site.tables["daint-remote-gnu"]["hosts"] == ["user@node17"]
    assert site.tables["daint-login-gnu"]["type"] == "local"


def test_partitions_of_other_batch_systems_are_jobs(site):
    assert site.tables["daint-old-gnu"]["type"] == "job"
    said = "for its jobs: bareline submit --with pbs --batch-options '-q batch'"
    assert said in site.notes["daint-old-gnu"]


def test_what_is_not_taken_over_is_said(site, tmp_path):
    file = tmp_path / "site.json"
    file.write_text(SHOWN.read_text().replace('"scheduler": "pbs"', '"scheduler": "oar"'))
    other = read_site(file)
    assert "daint-old-gnu" not in other.tables
    assert other.notes["daint-old-gnu"] == ["no type of platform for the scheduler 'oar'"]
    assert any("source /etc/site.sh" in note for note in site.notes["daint-mc-gnu"])
    assert any("environment 'intel'" in note for note in site.notes["daint-gpu-intel"])


def test_the_file_is_one_of_platforms(site, tmp_path):
    file = tmp_path / "platforms.toml"
    file.write_text(site.toml())
    assert tomllib.loads(site.toml())["platform"] == site.tables
    loaded = load_platforms(file)
    assert loaded["daint-gpu-gnu"].options.partition == "normal"
    assert loaded["daint-gpu-gnu"].environment == (("OMP_PLACES", "cores"),)


def test_results_and_platforms_of_a_partition_have_one_name(tmp_path):
    report = json.loads((FORMATS / "reframe.report.out").read_text())
    for case in report["runs"][0]["testcases"]:
        case |= {"system": "daint", "partition": "gpu", "environ": "gnu"}
        values = case["perfvalues"].items()
        case["perfvalues"] = {f"daint:gpu:{name.split(':')[-1]}": one for name, one in values}
    file = tmp_path / "report.json"
    file.write_text(json.dumps(report))
    run = import_files([file], None, tmp_path / "run").run
    assert set(run.header.platforms) <= set(read_site(SHOWN).tables)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("site_configuration = {}\n", "BL-VOCABULARY-654"),
        ("{}", "BL-PLATFORMS-931"),
        ('{"systems": []}', "BL-PLATFORMS-931"),
        ("[" * 100_000, "BL-VOCABULARY-843"),
    ],
)
def test_other_files_are_refused_with_the_next_step(tmp_path, content, code):
    file = tmp_path / "site.py"
    file.write_text(content)
    with raises(PlatformError, code) as refusal:
        read_site(file)
    assert "--show-config" in str(refusal.value)


def test_options_that_no_platform_could_have_are_said(tmp_path):
    content = json.loads(SHOWN.read_text())
    content["systems"][0]["partitions"][1]["access"] = ["--partition='a b'", "--gres=gpu:1"]
    file = tmp_path / "site.json"
    file.write_text(json.dumps(content))
    site = read_site(file)
    assert "daint-gpu-gnu" not in site.tables
    assert any("'--gres gpu:1' is not taken over" in note for note in site.notes["daint-gpu-gnu"])
    assert any("'partition'" in note for note in site.notes["daint-gpu-gnu"])


@settings(max_examples=examples(60), deadline=None, derandomize=True)
@given(data=st.data())
def test_spoiled_configurations_are_refused_by_name(data, tmp_path_factory):
    lines = SHOWN.read_text().splitlines()
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(lines) - 1))
        kind = data.draw(st.sampled_from(["cut", "double", "value"]))
        if kind == "cut" and len(lines) > 1:
            del lines[at]
        elif kind == "double":
            lines.insert(at, lines[at])
        else:
            key, _, end = lines[at].partition(":")
            value = data.draw(st.sampled_from(["3", "null", '"x\\u0007"', "[[]]", '{"a": 1}']))
            lines[at] = f"{key}: {value}{',' if end.endswith(',') else ''}" if end else lines[at]
    file = tmp_path_factory.mktemp("spoiled") / "site.json"
    file.write_text("\n".join(lines))
    try:
        made = read_site(file)
    except BarelineError:
        return
    assert tomllib.loads(made.toml()).get("platform", {}) == made.tables
