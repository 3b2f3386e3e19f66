"""Conditions and failed cases as tests of a continuous integration."""

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
    assert slower.find("failure").get("message") == "3 of 3 rows meet it"
    assert len(beyond) == 0
    assert broken.get("classname") == "measured on broken"
    assert "null" in broken.get("name") and broken.find("error").text
    assert "cannot be written" in bareline("compare", "r", "--junit", "no/where.xml", code=2).stderr
