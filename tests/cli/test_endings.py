"""How commands end where something is wrong: said whatever was asked, and nothing half is left."""

import os


def test_quiet_does_not_silence_a_run_that_failed(bareline):
    done = bareline("run", "planted.toml", "--on", "a", "--on", "broken", "-q", "-o", "r", code=3)
    assert done.has_line(7, "failed")
    done = bareline("run", "planted.toml", "--on", "a", "-q", "-o", "s")
    assert done.stderr == ""


def test_what_cannot_be_written_whole_leaves_what_was_there(bareline, place, monkeypatch):
    bareline("run", "planted.toml", "--on", "a", "--on", "b", "-q", "-o", "r")
    kept = {}
    for verb, name in (("export", "samples.csv"), ("report", "page.html"), ("show", "shown.txt")):
        bareline(verb, "r", "--out", name)
        kept[name] = (place / name).read_bytes()

    def full(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    before = sorted(place.rglob("*"))
    for verb, name, error in (
        ("export", "samples.csv", "BL-REPORT-449"),
        ("report", "page.html", "BL-REPORT-449"),
        ("show", "shown.txt", "BL-CLI-926"),
    ):
        done = bareline(verb, "r", "--out", name, code=2)
        assert done.ended_by(error, name, "No space left on device")
        assert (place / name).read_bytes() == kept[name]
    assert sorted(place.rglob("*")) == before


def test_a_package_is_made_whole_or_not_at_all(bareline, place, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("bareline.cli.template.replace_file", full)
        done = bareline("new", "probe", "thing", "-o", "thing", code=2)
    assert done.ended_by("BL-CLI-350", "thing")
    assert not list(place.glob("*thing*"))
    bareline("new", "probe", "thing", "-o", "thing")
