"""Conditions and failed cases as tests of a continuous integration."""

import re
from xml.etree import ElementTree


def test_conditions_and_failures_are_test_cases(bareline):
    bareline("run", "planted.toml", "--on", "a", "--on", "b", "--on", "broken", "-o", "r", code=3)
    asked = ("--fail-if", "b:null is slower", "--fail-if", "b:null > 9", "--junit", "r.xml")
    bareline("compare", "r", *asked, code=1)
    suite = ElementTree.parse("r.xml").getroot()
    assert {key: suite.get(key) for key in ("tests", "failures", "errors")} == {
        "tests": "3", "failures": "1", "errors": "1"
    }  # fmt: skip
    slower, beyond, broken = suite
    assert slower.get("name") == "b:null is slower"
    assert slower.find("failure").get("message").startswith("3 of 3 ")
    assert [child.tag for child in beyond] == ["system-out"]
    assert beyond[0].text.endswith("(limit 9.00)")
    assert broken.get("classname") == "measured on broken"
    assert "null" in broken.get("name") and broken.find("error").text
    assert bareline("compare", "r", "--junit", "no/where.xml", code=2).ended_by("BL-REPORT-449")


def test_what_cannot_be_decided_fails_or_is_skipped(bareline):
    """A gate of two launches, which could never fire, was a test that passed."""
    options = ("--scale", "small", "--on", "a", "--on", "b", "-o", "r")
    bareline("run", "planted.toml", *options)
    asked = ("compare", "r", "--fail-if", "null > 1.1", "--junit", "r.xml", "--undecided")
    for way, kind, code in (("fail", "failure", 4), ("pass", "skipped", 0)):
        bareline(*asked, way, code=code)
        (case,) = ElementTree.parse("r.xml").getroot()
        (found,) = case
        assert found.tag == kind
        assert " 6 " in found.get("message")
        assert {"2", "6"} <= set(re.findall(r"\d+", found.text))


def test_continuous_integration_fails_what_is_undecided(bareline, monkeypatch):
    options = ("--scale", "small", "--on", "a", "--on", "b", "-o", "r")
    bareline("run", "planted.toml", *options)
    asked = ("compare", "r", "--fail-if", "null > 1.1", "--verbose")
    monkeypatch.setenv("CI", "true")
    assert bareline(*asked, code=4).has_line("CI", "[BL-CLI-152]")
    monkeypatch.setenv("CI", "")
    assert bareline(*asked).has_line("[BL-CLI-943]")
    assert bareline(*asked, "--undecided", "perhaps", code=2).ended_by("BL-CLI-938")
