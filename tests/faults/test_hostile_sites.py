"""Descriptions of other people's machines, one value at a time odd: read or refused, and soon."""

import json
import os
import tomllib
from pathlib import Path

import pytest

from bareline.cli.main import main
from bareline.platforms.config import load_platforms
from bareline.platforms.reached.ssh.options import MOST_GROUPS, read_inventory
from bareline.platforms.reframe import read_site
from bareline.testing.hostile import ODD_VALUES, damaged, survives
from bareline.testing.messages import raises
from bareline.vocabulary.errors import PlatformError

SHOWN = Path(__file__).parents[1] / "platforms" / "data" / "reframe.show-config.json"
#: The shape that Ansible documents: groups in groups, variables of hosts and of groups.
INVENTORY = {
    "all": {
        "hosts": {"login.example": {"ansible_user": "me"}},
        "children": {
            "compute": {
                "hosts": {"n[01:03]": {"ansible_host": "10.0.0.1"}, "n7": None},
                "vars": {"ansible_port": 22},
                "children": {"gpu": {"hosts": {"g1": None}}},
            },
        },
    },
}
INI = """\
login.example ansible_user=me
[compute]
n[01:03] ansible_host=10.0.0.1 ; a comment
[gpu]
g1
[all_nodes:children]
compute
gpu
[compute:vars]
ansible_port=22
"""


def _cases(document):
    return list(damaged(document))


def test_there_are_enough_odd_values():
    assert len(_cases(INVENTORY)) > 400


@pytest.mark.timeout(300)
def test_every_damaged_configuration_of_reframe_is_read_or_refused(tmp_path):
    file = tmp_path / "site.json"

    def read():
        made = read_site(file)
        assert tomllib.loads(made.toml()).get("platform", {}) == made.tables
        json.dumps({"platform": made.tables, "notes": made.notes}, ensure_ascii=False).encode()

    document = json.loads(SHOWN.read_text())
    document["systems"][0]["partitions"] = document["systems"][0]["partitions"][:2]
    document["environments"] = document["environments"][:1]
    document = {key: document[key] for key in ("systems", "environments")}
    outcomes = []
    for description, text in damaged(document):
        file.write_text(text, encoding="utf-8")
        outcomes.append(survives(read, description))
    assert len(outcomes) > 1000
    assert any(outcomes) and not all(outcomes)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("group", [None, "gpu"])
def test_every_damaged_inventory_in_yaml_is_read_or_refused(group, tmp_path):
    pytest.importorskip("yaml")
    file = tmp_path / "hosts.yml"
    for description, text in damaged(INVENTORY):
        file.write_text(text, encoding="utf-8")
        survives(lambda: read_inventory(file, group), description)


@pytest.mark.timeout(120)
def test_every_damaged_inventory_in_ini_is_read_or_refused(tmp_path):
    file = tmp_path / "hosts"
    lines = INI.splitlines()
    tries = 0
    for number, line in enumerate(lines):
        for value in ODD_VALUES:
            word = value if isinstance(value, str) else json.dumps(value)
            for changed in (word, f"{line} {word}", f"[{word}]", f"[{word}:children]"):
                text = "\n".join([*lines[:number], changed, *lines[number + 1 :]])
                file.write_text(text, encoding="utf-8", errors="surrogatepass")
                survives(lambda: read_inventory(file), f"line {number + 1}: {changed!r:.60}")
                tries += 1
    assert tries > 1000


HARMFUL_YAML = {
    "aliases": (
        "a0: &a0 {hosts: {h1: }}\n"
        + "".join(
            f"a{n}: &a{n} {{children: {{x: *a{n - 1}, y: *a{n - 1}}}}}\n" for n in range(1, 40)
        ),
        "BL-VOCABULARY-867",
    ),
    "alias-in-itself": ("all: &a {hosts: {h1: }, children: {x: *a, y: *a}}", "BL-VOCABULARY-941"),
    "children-is-a-list": ("all: {children: [a]}", "BL-VOCABULARY-338"),
    "hosts-is-a-number": ("all: {hosts: 5}", "BL-VOCABULARY-338"),
    "hosts-is-a-text": ("all: {hosts: n1}", "BL-VOCABULARY-338"),
    "group-is-a-list": ("all: {children: {gpu: [1]}}", "BL-VOCABULARY-338"),
    "a-list": ("[a]", "BL-VOCABULARY-338"),
    "no-host": ("all: {hosts: {'-oProxyCommand=x': }}", "BL-VOCABULARY-190"),
    "many-hosts": (
        "all:\n hosts:\n" + "".join(f"  h{n}x[1-9999]:\n" for n in range(200)),
        "BL-PLATFORMS-374",
    ),
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", HARMFUL_YAML)
def test_an_inventory_that_would_hang_is_refused_by_key(name, tmp_path):
    pytest.importorskip("yaml")
    text, code = HARMFUL_YAML[name]
    file = tmp_path / "hosts.yml"
    file.write_text(text)
    with raises(PlatformError, code) as refusal:
        read_inventory(file)
    assert refusal.value.where == str(file)


def test_groups_in_a_circle_and_many_of_them_end_soon(tmp_path):
    file = tmp_path / "hosts"
    file.write_text("[a]\nn1\n[a:children]\nb\n[b:children]\na\n[b]\nn2\n")
    assert read_inventory(file, "a") == ["n1", "n2"]
    assert read_inventory(file, "b") == ["n2", "n1"]
    chain = "".join(f"[g{n}:children]\ng{n + 1}\n" for n in range(2000))
    file.write_text(chain + "[g2000]\nn1\n")
    assert read_inventory(file, "g0") == ["n1"]
    file.write_text("".join(f"[g{n}]\nn1\n" for n in range(MOST_GROUPS + 1)))
    with raises(PlatformError, "BL-PLATFORMS-957", "10,000"):
        read_inventory(file)
    file.write_text("n1\n[x]\nn!1\n")
    with raises(PlatformError, "BL-VOCABULARY-190", "3", "n!1"):
        read_inventory(file)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("text", ["all: &a {hosts: {h1: }, children: {x: *a}}", "all: {hosts: 5}"])
def test_a_bad_inventory_hides_no_other_platform(text, tmp_path, capsys, monkeypatch):
    pytest.importorskip("yaml")
    (tmp_path / "hosts.yml").write_text(text)
    file = tmp_path / "platforms.toml"
    file.write_text(
        f'[platform.bad]\ntype = "ssh"\ninventory = "{tmp_path / "hosts.yml"}"\n'
        '[platform.good]\ntype = "null"\n'
    )
    wrong = {}
    assert {"good", "bare"} <= set(load_platforms(file, wrong))
    assert set(wrong) == {"bad"} and "hosts.yml" in str(wrong["bad"])
    monkeypatch.setattr("sys.argv", ["bareline", "platforms", "--platforms", str(file)])
    with pytest.raises(SystemExit) as ended:
        main()
    shown = capsys.readouterr()
    assert ended.value.code == 2
    assert "good" in shown.out and "hosts.yml" in shown.err


def test_an_inventory_that_is_no_file_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / "hosts")
    with raises(PlatformError, "BL-PLATFORMS-211"):
        read_inventory(tmp_path / "hosts")
    (tmp_path / "zero").symlink_to("/dev/zero")
    with raises(PlatformError, "BL-PLATFORMS-211"):
        read_inventory(tmp_path / "zero")


def _reframe(tmp_path, **partition):
    base = {"name": "p", "scheduler": "slurm", "launcher": "srun"}
    content = {"systems": [{"name": "s", "partitions": [base | partition]}], "environments": []}
    file = tmp_path / "site.json"
    file.write_text(json.dumps(content))
    return read_site(file)


def test_a_time_limit_of_thousands_of_digits_is_not_taken_over(tmp_path):
    assert "time_min" not in _reframe(tmp_path, time_limit="9" * 6000 + "h").tables["s-p"]
    assert _reframe(tmp_path, time_limit="1h30m").tables["s-p"]["time_min"] == 90


def test_few_lines_do_not_become_millions_of_platforms(tmp_path):
    with raises(PlatformError, "BL-PLATFORMS-931", "1000"):
        _reframe(tmp_path, environs=["e"] * 1001)
    partition = {"name": "p", "scheduler": "local", "launcher": "local"}
    systems = [
        {"name": f"s{n}", "partitions": [partition | {"environs": [f"e{m}" for m in range(600)]}]}
        for n in range(4)
    ]
    file = tmp_path / "site.json"
    file.write_text(json.dumps({"systems": systems}))
    with raises(PlatformError, "BL-PLATFORMS-306", "2,000"):
        read_site(file)
