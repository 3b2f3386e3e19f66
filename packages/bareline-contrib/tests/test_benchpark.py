"""System definitions of Benchpark and Ramble: what becomes of them, and what is said not to.

The files have the forms of Benchpark's own: the variables of LLNL's Dane and Sierra, a system.py
with several clusters. Values were written anew.
"""

import json
import sys
import tomllib

import pytest
from bareline_contrib.benchpark import read_site
from hypothesis import given, settings
from hypothesis import strategies as st

from bareline.cli.main import main
from bareline.platforms.config import load_platforms
from bareline.testing.hostile import ODD_VALUES, damaged, survives
from bareline.vocabulary.errors import BarelineError, PlatformError

DANE = """
variables:
  timeout: "120"
  scheduler: "slurm"
  sys_cores_per_node: "112"
  queue: pbatch
  batch_bank: guests
  max_request: "1000"  # n_ranks/n_nodes cannot exceed this
  n_ranks: '1000001'  # placeholder value
  n_nodes: '1000001'  # placeholder value
  batch_submit: "placeholder"
  mpi_command: "placeholder"
  rocm_arch: gfx942
  env: {A: b}
"""
RAMBLE = """
ramble:
  variables:
    scheduler: slurm
    mpi_command: srun -n {n_ranks} --mpi=pmix
    n_nodes: 4
    batch_directives: ['#SBATCH -p debug', '#SBATCH --account=a1', '#SBATCH --mem=0']
  spack: {}
"""
PROGRAM = """
import os
raise SystemExit("this program is never run")

class Site(System):
    id_to_resources = {
        "one": {
            "sys_cores_per_node": 64,
            "hardware_key": str(here) + "/x.yaml",
            "queues": [JobQueue("regular", 2880, 3072), JobQueue("debug", 30, 8)],
        },
        "two": {"sys_cores_per_node": 128, "sys_gpus_per_node": 4},
    }

    def __init__(self, spec):
        self.scheduler = "slurm"
        self.timeout = os.environ["MINUTES"]
        self.gcc = "12" if spec else "13"
"""


_MERGES = "a0: &a0 {x: 1}\n" + "\n".join(
    f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}], k{n}: 1}}" for n in range(1, 10)
)


def folder(path, text=DANE, name="variables.yaml"):
    path.mkdir(parents=True, exist_ok=True)
    (path / name).write_text(text)
    return path


def test_variables_become_options_of_slurm(tmp_path):
    site = read_site(folder(tmp_path / "LLNL-Dane"))
    assert site.tables == {
        "LLNL-Dane": {
            "title": "LLNL-Dane", "type": "slurm", "cores_per_node": 112, "partition": "pbatch",
            "account": "guests", "time_min": 120,
        }
    }  # fmt: skip
    assert site.notes["LLNL-Dane"] == [
        "'rocm_arch' = gfx942 is not taken over",
        "'env' is not taken over",
        "the number of nodes is bareline's default: set `nodes`",
    ]
    (tmp_path / "platforms.toml").write_text(site.toml())
    assert load_platforms(tmp_path / "platforms.toml")["LLNL-Dane"].type == "slurm"


def test_a_folder_of_systems_is_read_whole_with_what_lies_beside(tmp_path):
    folder(tmp_path / "sierra", DANE.replace('"slurm"', '"lsf"'))
    folder(tmp_path / "cloud", DANE.replace('"slurm"', '"mpi"'))
    folder(tmp_path / "odd", DANE.replace('"slurm"', "oar"))
    folder(tmp_path / "sierra", "software: {}", "software.yaml")
    folder(tmp_path / "empty", "", "README")
    site = read_site(tmp_path)
    types = {name: table["type"] for name, table in site.tables.items()}
    assert types == {"cloud": "local", "sierra": "job"}
    assert any("software.yaml is not taken over" in note for note in site.notes["sierra"])
    assert "for its jobs: bareline submit --with lsf" in site.notes["sierra"]
    assert site.notes["odd"] == ["no type of platform for the scheduler 'oar'"]
    assert "# odd is left out" in site.toml() and tomllib.loads(site.toml())


def test_directives_and_the_launcher_of_ramble(tmp_path):
    site = read_site(folder(tmp_path / "w", RAMBLE, "ramble.yaml"))
    table = site.tables["w"]
    assert (table["launcher"], table["nodes"]) == ("srun", 4)
    assert (table["partition"], table["account"]) == ("debug", "a1")
    assert any("--mem" in note for note in site.notes["w"])
    assert any("--mpi=pmix is not taken over" in note for note in site.notes["w"])
    assert "'spack' is not taken over" in site.notes["w"]


def test_a_program_is_read_and_never_run(tmp_path):
    site = read_site(folder(tmp_path / "site", PROGRAM, "system.py"))
    assert site.tables["site-one"]["cores_per_node"] == 64
    assert site.tables["site-two"]["cores_per_node"] == 128
    assert "time_min" not in site.tables["site-one"]
    one = site.notes["site-one"]
    assert any("regular 2880 3072" in note and "set `partition`" in note for note in one)
    assert any(note.startswith("'timeout' is computed by the program") for note in one)
    assert any("sys_gpus_per_node" in note for note in site.notes["site-two"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("variables: [", "no YAML"),
        ("a: &a [*a]\nvariables: 3", "line 1, column 8: the alias '*a' contains itself"),
        ("&a\nx: *a\n", "contains itself"),
        (_MERGES, "values with aliases"),
        ("variables: {n_nodes: " + "9" * 4301 + "}", "line 1, column 22: a number has 4,301"),
        ("[1, 2]", "no table `variables`"),
        ("", "no table `variables`"),
        ("!!python/object/apply:os.system ['exit 1']", "no YAML"),
        ("a: &a [1]\nb: [" + "*a," * 2000 + "]", "more than 1000 aliases"),
        ("[" * 5000, "no YAML"),
        ("x" * (5 << 20), "larger"),
    ],
)
def test_what_is_no_definition_is_refused(tmp_path, text, said):
    with pytest.raises(PlatformError) as caught:
        read_site(folder(tmp_path / "s", text))
    assert said in str(caught.value)


@pytest.mark.parametrize("command", [[" "], "", " ", [], None, [""]])
def test_an_empty_launcher_is_none(tmp_path, command):
    text = json.dumps({"variables": {"scheduler": "slurm", "mpi_command": command}})
    assert "launcher" not in read_site(folder(tmp_path / "s", text)).tables["s"]


def test_a_bad_system_hides_no_other(tmp_path):
    folder(tmp_path / "bad", "&a {x: *a}")
    folder(tmp_path / "dane")
    site = read_site(tmp_path)
    assert list(site.tables) == ["dane"]
    assert "contains itself" in site.notes["bad"][0]
    assert "# bad is left out" in site.toml()


#: Variables with every key that is taken over, as Ramble and Benchpark write them.
_VARIABLES = {
    "variables": {
        "scheduler": "slurm",
        "timeout": "120",
        "sys_cores_per_node": "112",
        "queue": "pbatch",
        "bank": "guests",
        "n_nodes": 4,
        "mpi_command": ["srun", "-n 4"],
        "batch_directives": ["#SBATCH -p debug", "#SBATCH --account=a1"],
        "env": {"A": "b"},
    },
    "spack": {},
}


@pytest.mark.timeout(300)
def test_every_damaged_definition_is_read_or_refused(tmp_path):
    def read():
        site = read_site(place)
        assert tomllib.loads(site.toml()).get("platform", {}) == site.tables
        json.dumps({"platform": site.tables, "notes": site.notes}, ensure_ascii=False).encode()

    outcomes = []
    for scheduler in ("slurm", "mpi", "flux"):
        document = {**_VARIABLES, "variables": _VARIABLES["variables"] | {"scheduler": scheduler}}
        for description, text in damaged(document):
            place = folder(tmp_path / "s", text)
            outcomes.append(survives(read, description))
    assert len(outcomes) > 1500
    assert any(outcomes) and not all(outcomes)


@pytest.mark.timeout(120)
def test_every_damaged_program_is_read_or_refused(tmp_path):
    def read():
        site = read_site(place)
        assert tomllib.loads(site.toml()).get("platform", {}) == site.tables
        json.dumps({"platform": site.tables, "notes": site.notes}, ensure_ascii=False).encode()

    values = [
        *map(repr, ODD_VALUES), "0x" + "f" * 6000, "9" * 6000, "1j", "...", "b'x'", "f'{x}'",
        "(" * 150 + ")" * 150, "-" * 3000 + "1", "{**x}", "{1: {2: 3}}", "lambda: 0", "''.join([])",
    ]  # fmt: skip
    tries = 0
    for old in ('"slurm"', '"12"', "64", '"one"', "2880", '"debug"', '"regular"', "128"):
        assert old in PROGRAM
        for value in values:
            text = PROGRAM.replace(old, value, 1).encode("utf-8", "surrogatepass")
            place = tmp_path / "s"
            place.mkdir(exist_ok=True)
            (place / "system.py").write_bytes(text)
            survives(read, f"{old} is {value:.60}")
            tries += 1
    assert tries > 300


@pytest.mark.parametrize("name", ["nowhere", "empty"])
def test_a_place_without_definitions_is_named(tmp_path, name):
    (tmp_path / "empty").mkdir()
    with pytest.raises(PlatformError, match=name):
        read_site(tmp_path / name)


def test_a_program_that_says_nothing_is_refused(tmp_path):
    for text in ("def", "x = 1", "id_to_resources = 3", "\0"):
        with pytest.raises(PlatformError):
            read_site(folder(tmp_path / "s", text, "system.py"))


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(
            [
                "scheduler",
                "timeout",
                "n_nodes",
                "queue",
                "mpi_command",
                "sys_cores_per_node",
                "batch_directives",
            ]
        ),
        st.sampled_from(["slurm", "mpi", "flux"])
        | st.text(max_size=20)
        | st.integers()
        | st.none()
        | st.lists(st.text(max_size=5), max_size=2),
    )
)
def test_whatever_stands_there_ends_in_tables_that_are_platforms(tmp_path_factory, variables):
    place = folder(tmp_path_factory.mktemp("any") / "s", json.dumps({"variables": variables}))
    try:
        site = read_site(place)
    except BarelineError:
        return
    assert tomllib.loads(site.toml()).get("platform", {}) == site.tables


def test_the_command_finds_the_reader_and_without_it_says_what_to_install(
    tmp_path, monkeypatch, capsys
):
    place = folder(tmp_path / "dane")

    def go():
        monkeypatch.setattr(
            sys, "argv", ["bareline", "platforms", "from-benchpark", str(place), "--json"]
        )
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, *capsys.readouterr()

    monkeypatch.setattr("bareline.vocabulary.plugins.entry_points", lambda group: [])
    code, _, said = go()
    assert code == 2 and "bareline-contrib[benchpark]" in said
    monkeypatch.undo()
    metadata = tmp_path / "path" / "some-1.dist-info"
    folder(metadata, "Metadata-Version: 2.1\nName: some\nVersion: 1\n", "METADATA")
    line = "[bareline.sites]\nbenchpark = bareline_contrib.benchpark:read_site\n"
    folder(metadata, line, "entry_points.txt")
    monkeypatch.syspath_prepend(tmp_path / "path")
    code, printed, said = go()
    assert code == 0, said
    assert json.loads(printed)["platform"]["dane"]["partition"] == "pbatch"
