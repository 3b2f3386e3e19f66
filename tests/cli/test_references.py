"""Reference values: `reference` writes them, `--reference` holds rows against them."""

import os
import tomllib
from xml.etree import ElementTree

import pytest


@pytest.fixture
def reference(bareline):
    """Measure a and b, and write the reference values of that run."""
    bareline("run", "planted.toml", "--on", "a", "--on", "b", "-o", "r")
    assert "6 reference values" in bareline("reference", "r").stdout
    return "reference.toml"


def changed(place, old, new, number=1):
    file = place / "reference.toml"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, number))


def test_a_run_is_inside_its_own_reference_values(bareline, reference, place):
    content = tomllib.loads((place / reference).read_text())
    assert set(content["system"]) == {"a", "b"}
    said = bareline("show", "r", "--reference", reference).stderr
    assert "PASS reference.toml: 6 rows tested, none outside" in said


def test_a_row_outside_fails_with_its_bound(bareline, reference, place):
    entry = tomllib.loads((place / reference).read_text())["system"]["b"][0]
    changed(place, f"value = {entry['value']!r}", f"value = {entry['value'] / 2!r}")
    done = bareline("show", "r", "--reference", reference, code=1)
    assert "FAIL reference.toml: 6 rows tested, 1 outside" in done.stderr
    (line,) = [line for line in done.stderr.splitlines() if "outside: " in line]
    assert " on b: " in line and "at most " in line and " +10 %)" in line
    bareline("compare", "r", "--reference", reference, "--junit", "j.xml", code=1)
    (case,) = ElementTree.parse("j.xml").getroot()
    assert case.find("failure").get("message") == "1 of 6 rows outside"


def test_runs_compared_are_all_held_against_their_systems(bareline, reference):
    bareline("run", "planted.toml", "--on", "a", "-o", "r2", "--seed", 5)
    said = bareline("compare", "r", "r2", "--reference", reference).stderr
    assert "PASS reference.toml: 9 rows tested" in said


def test_what_was_not_measured_fails(bareline, reference, place):
    changed(place, 'probe = "null"', 'probe = "mpi.pingpong"')
    done = bareline("show", "r", "--reference", reference, code=1)
    assert "outside: mpi.pingpong time" in done.stderr
    assert ": not measured" in done.stderr


def test_any_system_an_open_end_and_another_unit(bareline, reference, place):
    (place / reference).write_text(
        '[[system."*"]]\nprobe = "null"\nmetric = "time"\nunit = "ms"\nvalue = 3\nupper = 0.5\n'
    )
    said = bareline("show", "r", "--reference", reference).stderr
    assert "PASS reference.toml: 6 rows tested" in said


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "'system': is missing"),
        ("[system]", "contains no reference value"),
        ("nonsense", "is not valid TOML"),
        ("[[system.a]]\nprobe = 1", "system.a.0.probe"),
        ('[[system.a]]\nprobe="null"\nmetric="time"\nunit="s"\nvalue=nan\nupper=1', "finite"),
        ('[[system.a]]\nprobe="null"\nmetric="time"\nunit="s"\nvalue=1', "neither lower nor upper"),
        ('[[system.a]]\nprobe="null"\nmetric="time"\nunit="s"\nvalue=1\nlower=0.1', "more than 0"),
        ('[[system.a]]\nprobe="null"\nmetric="time"\nunit="s"\nvalue=1\nlower=-1.5', "lower"),
        ('[[system.a]]\nprobe="null"\nmetric="time"\nunit="s"\nvalue=1\nupper=inf', "upper"),
        ('[[system.a]]\nprobe="null"\nmetric="time"\nunit="s"\nvalue=1e308\nupper=9', "system.a.0"),
        ('[[system.a]]\nprobe="null"\nmetric="time"\nvalue=1\nupper=1', "'system.a.0.unit'"),
        ('[[system.a]]\nprobe="null"\nmetric="time"\nunit=""\nvalue=1\nupper=1', "''"),
        ('[[system.a]]\nprobe="null"\nmetric="time"\nunit="s"\nvalue=true\nupper=1', "value"),
        ('[[system.a]]\nprobe="null"\nmetric="time"\nunit="s"\nvalue=1\nuper=1', "uper"),
        ('[[system.a]]\nprobe="null"\nmetric="t"\nunit="s"\nvalue=1\nupper=1\nparams.x=nan', "x"),
        ("[system.a]\nvalue = 1", "system.a"),
        ('[[system.a]]\nprobe="null"\nmetric="time"\nunit="B/s"\nvalue=1\nupper=1', "'B/s'"),
        ('[[system.z]]\nprobe="null"\nmetric="time"\nunit="s"\nvalue=1\nupper=1', "systems z"),
    ],
)
def test_a_file_that_is_none_is_refused(bareline, reference, place, text, words):
    (place / reference).write_text(text)
    stderr = bareline("show", "r", "--reference", reference, code=2).stderr
    assert words in stderr
    assert "reference.toml" in stderr and "Traceback" not in stderr


def test_odd_files_are_refused(bareline, reference, place):
    os.mkfifo(place / "fifo")
    (place / "loop").symlink_to("loop")
    (place / "to-fifo").symlink_to("fifo")
    for name in ("fifo", "to-fifo", "loop", "nothing", "."):
        stderr = bareline("show", "r", "--reference", name, code=2).stderr
        assert f"bareline: {name}: " in stderr and "Traceback" not in stderr
    assert bareline("reference", "r", "-o", "no/x.toml", code=2).ended_by("BL-CLI-926")
    assert bareline("reference", "r", "-o", "fifo", code=2).ended_by("BL-CLI-926")


def test_a_link_is_read_and_not_written_through(bareline, reference, place):
    (place / "link.toml").symlink_to(reference)
    before = (place / reference).read_bytes()
    assert "PASS link.toml" in bareline("show", "r", "--reference", "link.toml").stderr
    given = ("reference", "r", "--tolerance", "0.5", "-o", "link.toml")
    assert bareline(*given, code=2).ended_by("BL-CLI-926", "link.toml")
    assert (place / reference).read_bytes() == before


def test_a_value_of_zero_and_wide_rows_have_bounds(bareline, reference, place):
    (place / reference).write_text(
        '[[system.a]]\nprobe = "null"\nmetric = "time"\nunit = "s"\nvalue = 0.0\nupper = 0.1\n'
    )
    assert "3 outside" in bareline("show", "r", "--reference", reference, code=1).stderr
    bareline("reference", "r", "--tolerance", "0", "-o", "tight.toml")
    bareline("show", "r", "--reference", "tight.toml")


def test_a_wide_tolerance_is_read_again(bareline, reference):
    bareline("reference", "r", "--tolerance", "10", "-o", "wide.toml")
    assert "PASS wide.toml" in bareline("show", "r", "--reference", "wide.toml").stderr


def test_what_was_not_measured_names_the_parameters_that_were(bareline, reference, place):
    value = 'probe = "null"\nmetric = "time"\nunit = "s"\nvalue = 3\nupper = 0.5\n'
    for params, words in (
        ("{ point = 7 }", "not measured; its rows have point = 0, 1 and 2"),
        ("{ size = 7 }", "not measured; its rows have no parameter 'size'"),
    ):
        (place / reference).write_text(f"[[system.a]]\n{value}params = {params}\n")
        assert words in bareline("show", "r", "--reference", reference, code=1).stderr


def test_a_bound_names_its_reference_in_the_unit_of_the_row(bareline, reference, place):
    (place / reference).write_text(
        '[[system.a]]\nprobe = "null"\nmetric = "time"\nunit = "us"\nvalue = 500.0\nupper = 0.1\n'
    )
    stderr = bareline("show", "r", "--reference", reference, code=1).stderr
    assert "at most 0.550 ms (0.500 ms +10 %)" in stderr


def test_the_latest_run_of_a_trend_is_held_against_its_systems(bareline, reference, place):
    bareline("run", "planted.toml", "--on", "a", "-o", "r2", "--seed", 5)
    bareline("run", "planted.toml", "--on", "a", "-o", "r3", "--seed", 6)
    stderr = bareline("trend", "r", "r3", "r2", "--reference", reference).stderr
    assert "PASS reference.toml, run r3: 3 rows tested, none outside; null time" in stderr
    entry = tomllib.loads((place / reference).read_text())["system"]["a"][0]
    changed(place, f"value = {entry['value']!r}", f"value = {entry['value'] / 2!r}")
    stderr = bareline("trend", "r", "r3", "r2", "--reference", reference, code=1).stderr
    assert "FAIL reference.toml, run r3: 3 rows tested, 1 outside" in stderr
