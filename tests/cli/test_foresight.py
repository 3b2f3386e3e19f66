"""A study that repeats a publication tells before it begins which claims it can judge."""

import io
import json

import pytest

from bareline.platforms.config import platforms_from_toml

#: Two roles of four, one launch: nothing can be judged.
FEW = (
    "flexible-fabric", "--launches", "1", "--as", "bare=a", "--as", "virtio=b",
    "--as", "emulated=", "--as", "sriov=",
)  # fmt: skip


@pytest.fixture(autouse=True)
def pairs(place):
    """Let the platforms have two nodes each."""
    text = "".join(f'[platform.{name}]\ntype = "null"\nnodes = 2\n' for name in "ab")
    (place / "platforms.toml").write_text(text)


class Terminal(io.StringIO):
    """A terminal as far as anybody asks."""

    def isatty(self):
        return True


@pytest.fixture
def typing(monkeypatch):
    """Answer what a command asks on a terminal."""

    def answer(text):
        monkeypatch.setattr("sys.stdin", Terminal(text))
        monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)

    return answer


def test_less_than_a_third_is_refused_where_nobody_can_be_asked(bareline, place):
    done = bareline("run", *FEW, code=2)
    assert done.has_line(0, 11, "Flexible Cloud Fabric")
    assert done.has_line(7, "(emulated and sriov)"), "roles that no platform takes"
    assert done.has_line(4, 6, 1), "four claims need six launches, and one is planned"
    assert done.has_line("`bareline run flexible-fabric --scale small`", 4)
    assert done.ended_by("BL-SESSION-400", "'flexible-fabric'", "--yes")
    assert not (place / "runs").exists()


def test_the_refusal_is_an_object_with_json(bareline):
    done = bareline("run", *FEW, "--json", "--quiet", code=2)
    error = json.loads(done.stderr.splitlines()[-1])
    assert error["where"] == "study 'flexible-fabric'"
    assert error["code"] == "BL-SESSION-400" and "--yes" in error["hint"]


def test_a_dry_run_tells_the_same_and_refuses_nothing(bareline):
    text = " ".join(bareline("run", *FEW, "--dry-run").stdout.split())
    assert " 0 of 11 " in text
    assert " 7 of " in text and "(emulated and sriov)" in text


def test_yes_and_named_platforms_go_on(bareline, place):
    bareline("run", *FEW, code=2)
    bareline("run", *FEW, "--yes", "--out", "agreed", code=3)
    bareline("run", *FEW, "--on", "a", "--on", "b", "--out", "named", code=3)
    assert (place / "agreed" / "run.toml").exists()
    assert (place / "named" / "run.toml").exists()


def test_a_terminal_is_asked(bareline, place, typing):
    typing("n\n")
    done = bareline("run", *FEW, "--out", "declined", code=130)
    assert "?" in done.stderr.splitlines()[-1]
    assert not (place / "declined").exists()
    typing("y\n")
    bareline("run", *FEW, "--out", "agreed", code=3)
    assert (place / "agreed" / "run.toml").exists()


def test_a_terminal_without_an_answer_ends_the_command(bareline, typing):
    typing("")
    bareline("run", *FEW, code=130)


def test_a_study_of_no_publication_says_nothing(bareline):
    done = bareline("run", "planted.toml", "--on", "a", "--scale", "small", "--out", "run")
    assert "claims" not in done.stderr


def test_doctor_counts_the_claims_of_a_study(bareline, monkeypatch):
    tables = {name: {"type": "null", "nodes": 2} for name in ("bare-pair", "vm-e1000")}
    known = platforms_from_toml({"platform": tables}, where="test")
    monkeypatch.setattr(
        "bareline.session.begin.load_platforms", lambda file, wrong=None: dict(known)
    )
    monkeypatch.setattr(
        "bareline.platforms.config.choose_platforms",
        lambda names, file: [known[name] for name in names],
    )
    rows = json.loads(bareline("doctor", "--for", "flexible-fabric", "--json").stdout)
    claims = [row for row in rows if row["group"] == "Claims of the publication"]
    assert claims[0]["name"].endswith(" of 11")
    assert any("virtio and sriov" in row["detail"] for row in claims[1:])


def test_a_study_too_large_for_a_platform_names_the_scale_that_fits(bareline):
    whole = bareline("run", "magellan", "--on", "a", "--dry-run", code=2)
    assert whole.ended_by("BL-STUDY-379", "'magellan'", "--scale small")


def test_a_platform_that_has_no_role_is_planned(bareline):
    """The other forms of the study were cast, though no role has a platform."""
    bareline("run", "magellan", "--scale", "small", "--on", "a", "--dry-run")
