"""Reference values: `reference` writes them, `--reference` holds rows against them."""

import os
import re
import tomllib
from xml.etree import ElementTree

import pytest

#: The begin of a reference value, without its value and its bounds.
_ROW = '[[system.a]]\nprobe="null"\nmetric="time"\nunit="s"\n'


@pytest.fixture
def reference(bareline):
    """Measure a and b, and write the reference values of that run."""
    bareline("run", "planted.toml", "--on", "a", "--on", "b", "-o", "r")
    assert "reference.toml" in bareline("reference", "r").stdout.split()
    return "reference.toml"


def changed(place, old, new, number=1):
    file = place / "reference.toml"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, number))


def test_a_run_is_inside_its_own_reference_values(bareline, reference, place):
    content = tomllib.loads((place / reference).read_text())
    assert set(content["system"]) == {"a", "b"}
    assert bareline("show", "r", "--reference", reference).has_line("PASS", "reference.toml", 6)


def test_a_row_outside_fails_with_its_bound(bareline, reference, place):
    entry = tomllib.loads((place / reference).read_text())["system"]["b"][0]
    changed(place, f"value = {entry['value']!r}", f"value = {entry['value'] / 2!r}")
    done = bareline("show", "r", "--reference", reference, code=1)
    assert done.has_line("FAIL", "reference.toml", 6, 1)
    (line,) = [line for line in done.stderr.splitlines() if " on b: " in line]
    assert " +10 %)" in line
    bareline("compare", "r", "--reference", reference, "--junit", "j.xml", code=1)
    (case,) = ElementTree.parse("j.xml").getroot()
    assert re.findall(r"\d+", case.find("failure").get("message")) == ["1", "6"]


def test_runs_compared_are_all_held_against_their_systems(bareline, reference):
    bareline("run", "planted.toml", "--on", "a", "-o", "r2", "--seed", 5)
    done = bareline("compare", "r", "r2", "--reference", reference)
    assert done.has_line("PASS", "reference.toml", 9)


def test_what_was_not_measured_fails(bareline, reference, place):
    changed(place, 'probe = "null"', 'probe = "mpi.pingpong"')
    done = bareline("show", "r", "--reference", reference, code=1)
    assert done.has_line("mpi.pingpong", "time")


def test_any_system_an_open_end_and_another_unit(bareline, reference, place):
    (place / reference).write_text(
        '[[system."*"]]\nprobe = "null"\nmetric = "time"\nunit = "ms"\nvalue = 3\nupper = 0.5\n'
    )
    assert bareline("show", "r", "--reference", reference).has_line("PASS", "reference.toml", 6)


@pytest.mark.parametrize(
    ("text", "error", "value"),
    [
        ("", "BL-KEY-MISSING", "'system'"),
        ("[system]", "BL-ANALYSIS-506", ""),
        ("nonsense", "BL-ANALYSIS-853", ""),
        ("[[system.a]]\nprobe = 1", "BL-KEY-STRING-TYPE", "'system.a.0.probe'"),
        (f"{_ROW}value=nan\nupper=1", "BL-KEY-FINITE-NUMBER", "'system.a.0.value'"),
        (f"{_ROW}value=1", "BL-ANALYSIS-113", "'system.a.0'"),
        (f"{_ROW}value=1\nlower=0.1", "BL-KEY-LESS-THAN-EQUAL", "0.1"),
        (f"{_ROW}value=1\nlower=-1.5", "BL-KEY-GREATER-THAN-EQUAL", "-1.5"),
        (f"{_ROW}value=1\nupper=inf", "BL-KEY-FINITE-NUMBER", "'system.a.0.upper'"),
        (f"{_ROW}value=1e308\nupper=9", "BL-ANALYSIS-344", "'system.a.0'"),
        (_ROW.replace('unit="s"', "value=1\nupper=1"), "BL-KEY-MISSING", "'system.a.0.unit'"),
        (_ROW.replace('"s"', '""') + "value=1\nupper=1", "BL-ANALYSIS-653", "''"),
        (f"{_ROW}value=true\nupper=1", "BL-KEY-FLOAT-TYPE", "'system.a.0.value'"),
        (f"{_ROW}value=1\nuper=1", "BL-KEY-EXTRA-FORBIDDEN", "'system.a.0.uper'"),
        (f"{_ROW}value=1\nupper=1\nparams.x=nan", "BL-KEY-FINITE-NUMBER", ".params.x'"),
        ("[system.a]\nvalue = 1", "BL-KEY-LIST-TYPE", "'system.a'"),
        (_ROW.replace('"s"', '"B/s"') + "value=1\nupper=1", "BL-ANALYSIS-653", "'B/s'"),
        (_ROW.replace("system.a", "system.z") + "value=1\nupper=1", "BL-ANALYSIS-378", "z"),
    ],
)
def test_a_file_that_is_none_is_refused(bareline, reference, place, text, error, value):
    (place / reference).write_text(text)
    done = bareline("show", "r", "--reference", reference, code=2)
    assert done.ended_by(error, "reference.toml", value) and "Traceback" not in done.stderr


def test_odd_files_are_refused(bareline, reference, place):
    os.mkfifo(place / "fifo")
    (place / "loop").symlink_to("loop")
    (place / "to-fifo").symlink_to("fifo")
    for name in ("fifo", "to-fifo", "."):
        done = bareline("show", "r", "--reference", name, code=2)
        assert done.ended_by("BL-VOCABULARY-670", f"bareline: {name}: ")
    for name in ("loop", "nothing"):
        done = bareline("show", "r", "--reference", name, code=2)
        assert done.ended_by("BL-ANALYSIS-741", f"bareline: {name}: ")
    assert bareline("reference", "r", "-o", "no/x.toml", code=2).ended_by("BL-CLI-926")
    assert bareline("reference", "r", "-o", "fifo", code=2).ended_by("BL-CLI-926")


def test_a_link_is_read_and_not_written_through(bareline, reference, place):
    (place / "link.toml").symlink_to(reference)
    before = (place / reference).read_bytes()
    assert bareline("show", "r", "--reference", "link.toml").has_line("PASS", "link.toml")
    given = ("reference", "r", "--tolerance", "0.5", "-o", "link.toml")
    assert bareline(*given, code=2).ended_by("BL-CLI-926", "link.toml")
    assert (place / reference).read_bytes() == before


def test_a_value_of_zero_and_wide_rows_have_bounds(bareline, reference, place):
    (place / reference).write_text(
        '[[system.a]]\nprobe = "null"\nmetric = "time"\nunit = "s"\nvalue = 0.0\nupper = 0.1\n'
    )
    assert bareline("show", "r", "--reference", reference, code=1).has_line("FAIL", 3)
    bareline("reference", "r", "--tolerance", "0", "-o", "tight.toml")
    bareline("show", "r", "--reference", "tight.toml")


def test_a_wide_tolerance_is_read_again(bareline, reference):
    bareline("reference", "r", "--tolerance", "10", "-o", "wide.toml")
    assert bareline("show", "r", "--reference", "wide.toml").has_line("PASS", "wide.toml")


def test_what_was_not_measured_names_the_parameters_that_were(bareline, reference, place):
    value = 'probe = "null"\nmetric = "time"\nunit = "s"\nvalue = 3\nupper = 0.5\n'
    for params, values in (
        ("{ point = 7 }", ("point", 0, 1, 2)),
        ("{ size = 7 }", ("'size'",)),
    ):
        (place / reference).write_text(f"[[system.a]]\n{value}params = {params}\n")
        assert bareline("show", "r", "--reference", reference, code=1).has_line("null", *values)


def test_a_bound_names_its_reference_in_the_unit_of_the_row(bareline, reference, place):
    (place / reference).write_text(
        '[[system.a]]\nprobe = "null"\nmetric = "time"\nunit = "us"\nvalue = 500.0\nupper = 0.1\n'
    )
    done = bareline("show", "r", "--reference", reference, code=1)
    assert done.has_line("0.550 ms", "(0.500 ms +10 %)")


def test_the_latest_run_of_a_trend_is_held_against_its_systems(bareline, reference, place):
    bareline("run", "planted.toml", "--on", "a", "-o", "r2", "--seed", 5)
    bareline("run", "planted.toml", "--on", "a", "-o", "r3", "--seed", 6)
    done = bareline("trend", "r", "r3", "r2", "--reference", reference)
    assert done.has_line("PASS", "reference.toml", "r3", 3, "null time")
    entry = tomllib.loads((place / reference).read_text())["system"]["a"][0]
    changed(place, f"value = {entry['value']!r}", f"value = {entry['value'] / 2!r}")
    done = bareline("trend", "r", "r3", "r2", "--reference", reference, code=1)
    assert done.has_line("FAIL", "reference.toml", "r3", 3, 1)
