"""What is wrong with a file, in the words of whoever wrote it."""

from __future__ import annotations

import pytest

from bareline.platforms.config import platforms_from_toml
from bareline.study.study import study_from_toml
from bareline.vocabulary.errors import BarelineError

#: Words of the library that checks, which say nothing to whoever wrote the file.
JARGON = ("Input should", "valid ", "Field required", "Extra inputs", "constrained", "programs.")

MEASURE = {"probe": "null"}
APP = {"command": ["x"], "verify": ["time > 0"]}
METRICS = {"time": {"unit": "s", "better": "lower", "regex": "t (1)"}}


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"measure": [{**MEASURE, "ranks": -1}]}, ["[[measure]] number 1", "'ranks'", "-1"]),
        (
            {"measure": [{**MEASURE, "ranks": "64K"}]},
            ["'ranks'", "'64K' is not a number; write a number"],
        ),
        ({"measure": [{**MEASURE, "nodes": 1.5}]}, ["'nodes'", "1.5"]),
        ({"measure": [{**MEASURE, "timeout_s": "long"}]}, ["'timeout_s'", "'long'"]),
        ({"measure": [{"ranks": 2}]}, ["'probe'", "is missing"]),
        ({"measure": 5}, ["[[measure]]", "5 is not a list"]),
        ({"measure": [5]}, ["[[measure]] number 1", "5 is not a table"]),
        ({"study": {"name": 5}}, ["[study], key 'name'", "5 is not a text"]),
        ({"study": {"name": "s", "launches": 10**30}}, ["'launches'"]),
        ({"study": {"name": "s", "launches": float("inf")}}, ["'launches'"]),
        ({"study": {"name": "s", "ladder": "yes please"}}, ["'ladder'", "true nor false"]),
        (
            {"app": {"t": {"metrics": METRICS, "command": ["x"]}}},
            ["[app.t]", "'verify'"],
        ),
        ({"app": {"t": {**APP, "metrics": {"time": {"unit": "s"}}}}}, ["[app.t]", "'metrics.time"]),
        ({"app": {"t": {**APP, "metrics": METRICS, "mpii": 1}}}, ["[app.t]", "did you mean 'mpi'"]),
        ({"app": {"t": 5}}, ["[app.t]", "5 is not a table"]),
        ({"role": {"a": {"title": "A", "platfrom": "x"}}}, ["[role.a]", "did you mean 'platform'"]),
    ],
)
def test_studies(changed, words):
    content = {"study": {"name": "s"}, "measure": [MEASURE], **changed}
    with pytest.raises(BarelineError) as caught:
        study_from_toml(content, where="s.toml")
    said = str(caught.value)
    for word in words:
        assert word in said
    assert not [word for word in JARGON if word in said], said


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"type": "sim", "nodes": -3}, ["'nodes'", "-3"]),
        ({"type": "sim", "nodes": "4K"}, ["'nodes'", "'4K'", "write 4096"]),
        ({"type": "vm", "guests": [1]}, ["'guests'", "a list"]),
        ({"type": "ssh", "hosts": "a"}, ["'hosts'", "'a' is not a list"]),
        ({"type": "local", "binding": "tight"}, ["'binding'", "'tight' is not one of"]),
        ({"type": "ssh", "hosts": ["a"], "folder": "x y"}, ["'folder'", "'x y'"]),
    ],
)
def test_platforms(table, words):
    with pytest.raises(BarelineError) as caught:
        platforms_from_toml({"platform": {"p": table}}, where="p.toml")
    said = str(caught.value)
    for word in words:
        assert word in said
    assert not [word for word in JARGON if word in said], said
