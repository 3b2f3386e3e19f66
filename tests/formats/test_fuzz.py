"""Spoiled outputs: the right numbers or a named error, never a wrong number, never a traceback.

Good outputs are mutated as people and launchers spoil them: columns lost, doubled or exchanged,
lines cut, doubled, displaced or shifted, digits that became something else, words of a launcher
in between. Whatever is still read must be what the good output says of the same case and point.
"""

import json
import re
from functools import cache
from pathlib import Path

import pytest
from examples import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bareline.formats.files import read_text
from bareline.vocabulary.errors import BarelineError
from bareline.vocabulary.model import Failed, format_point

pytestmark = pytest.mark.usefixtures("contrib")
DATA = Path(__file__).parent / "data"
CONTRIB = Path(__file__).parents[2] / "packages" / "bareline-contrib" / "tests" / "data"

#: Printed tables whose columns tell each other's values, so that exchanged ones must show.
TABLES = (
    "ib-vs-roce/ib/omb.Osu_latency.out",
    "ib-vs-roce/ib/omb.Osu_mbw_mr_16.out",
    "ib-vs-roce/ib/omb.Osu_allreduce.out",
    "composed/osu.v5_bcast_full.out",
    "composed/osu.v7_allreduce_validation.out",
    "composed/osu.v7_iallreduce.out",
    "ib-vs-roce/ib/imb.IMB_PingPong.out",
    "ib-vs-roce/ib/imb.IMB_Biband_0_25.out",
    "composed/imb.v2021_several.out",
    "spoiled/imb.v2021_four-ranks.out",
    "composed/imb.v4_binary_megabytes.out",
    "composed/perftest.write_bw.out",
    "ib-vs-roce/ib/hpl.Hpl_single.out",
)
#: Where, in one row alone, a time and the rate that it gives can change places unseen: their
#: product is the size either way. In all rows they cannot, for nothing is moved at size 0.
AMBIGUOUS = tuple(name for name in TABLES if "imb" in name)
#: Every other good output, whichever importer it is of.
OTHERS = tuple(
    name
    for folder in (DATA, CONTRIB)
    for file in sorted((*folder.glob("*.out"), *folder.glob("composed/*.out")))
    if (name := str(file.relative_to(folder))) not in TABLES
)
#: No blank: a number whose first digit is blanked out is a whole number again.
GARBAGE = "x?#@~*.,:-"
WARNINGS = (
    "--------------------------------------------------------------------------",
    "WARNING: There was an error initializing an OpenFabrics device.",
    "  Local host:   node17",
    "[node17:04711] 3 more processes have sent help message help-mpi-btl-openib.txt",
    "srun: warning: can't run 1 processes on 2 nodes, setting nnodes to 1",
    "Warning: Permanently added 'node18' (ED25519) to the list of known hosts.",
)
_ROW = re.compile(r"^\s*(?:\d|W[RC]\d)")
_WORD = re.compile(r"\S+")


def text_of(name):
    return next(folder / name for folder in (DATA, CONTRIB) if (folder / name).exists()).read_text()


@cache
def good(name):
    """Give a good output and what it says: values of all launches by case, metric and point."""
    text = text_of(name)
    said = said_by(text)
    assert said
    return text, said


def said_by(text):
    said = {}
    for found in read_text(text, Path("spoiled")):
        outcome = found.imported.outcome
        if isinstance(outcome, Failed):
            assert outcome.reason
            continue
        case = found.imported.case()
        for sample in outcome.samples:
            key = (found.imported.platform, case, sample.metric, format_point(sample.point))
            said.setdefault(key, set()).add(sample.value)
    return said


def check(name, spoiled):
    """Hold what a spoiled output says against the good one; gives what it says."""
    _, truth = good(name)
    try:
        said = said_by(spoiled)
    except BarelineError:
        return {}
    for key, values in said.items():
        _, case, metric, point = key
        if case.ranks == 0 or key not in truth:
            # A line of settings is gone: the case is another one, but its numbers stay right.
            allowed = [
                good_values
                for (_, good_case, good_metric, good_point), good_values in truth.items()
                if (good_case.probe, good_metric, good_point) == (case.probe, metric, point)
                and case.ranks in (0, good_case.ranks)
            ]
            assert values <= set().union(*allowed), key
        else:
            assert values <= truth[key], key
    return said


def rows_of(lines):
    return [at for at, line in enumerate(lines) if _ROW.match(line)]


def repadded(line, words):
    """Put words in a line's places, so that it ends where it did if that is possible."""
    gaps = [gap or " " * bool(at) for at, gap in enumerate(_WORD.split(line))]
    made = "".join(gap + word for gap, word in zip(gaps, words, strict=False)).rstrip()
    missing = len(line.rstrip()) - len(made)
    if missing > 0 and words:
        head = made[: len(made) - len(words[-1])]
        return head + " " * missing + words[-1]
    while missing < 0 and "  " in made:
        made = made.replace("  ", " ", 1)
        missing += 1
    return made


@st.composite
def column_mutations(draw, text, *, ambiguous):
    lines = text.split("\n")
    rows = rows_of(lines)
    kind = draw(st.sampled_from(["drop", "double", "swap"]))
    whole = draw(st.booleans()) or (kind == "swap" and ambiguous)
    chosen = rows if whole else [draw(st.sampled_from(rows))]
    width = min(len(lines[at].split()) for at in chosen)
    first = draw(st.integers(0, width - 1))
    second = draw(st.integers(0, width - 1))
    for at in chosen:
        words = lines[at].split()
        if kind == "drop":
            del words[first]
        elif kind == "double":
            words.insert(first, words[first])
        else:
            words[first], words[second] = words[second], words[first]
        lines[at] = repadded(lines[at], words)
    return "\n".join(lines)


@st.composite
def line_mutations(draw, text):
    lines = text.split("\n")
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(lines) - 1))
        other = draw(st.integers(0, len(lines) - 1))
        kinds = ["cut", "cut many", "double", "warn"]
        # Two lines of one document that change places may say as much as before.
        kinds += [] if text.startswith(("{", "<?xml")) else ["displace"]
        kind = draw(st.sampled_from(kinds))
        if kind == "cut" and len(lines) > 1:
            del lines[at]
        elif kind == "cut many":
            # A longer cut, from the head of one section to the same place in that of another,
            # can leave an output in which nothing is wrong.
            del lines[at : at + 1 + other % 20]
            lines = lines or [""]
        elif kind == "double":
            lines.insert(other, lines[at])
        elif kind == "displace":
            # Not farther: equal sizes of two sections may change places unseen.
            near = min(at + other % 20, len(lines) - 1)
            lines[at], lines[near] = lines[near], lines[at]
        else:
            lines.insert(at, draw(st.sampled_from(WARNINGS)))
    return "\n".join(lines)


@st.composite
def character_mutations(draw, text):
    digits = [match.start() for match in re.finditer(r"\d", text)]
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.sampled_from(digits))
        text = text[:at] + draw(st.sampled_from(GARBAGE)) + text[at + 1 :]
    return text


@st.composite
def tears(draw, text):
    return text[: draw(st.integers(0, len(text)))]


FUZZ = settings(
    max_examples=examples(25), deadline=None, derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
@FUZZ
@given(data=st.data())
def test_columns_lost_doubled_or_exchanged(name, data):
    text, _ = good(name)
    check(name, data.draw(column_mutations(text, ambiguous=name in AMBIGUOUS)))


@pytest.mark.parametrize("name", TABLES + OTHERS)
@FUZZ
@given(data=st.data())
def test_lines_cut_doubled_displaced_or_interrupted(name, data):
    text, _ = good(name)
    check(name, data.draw(line_mutations(text)))


@pytest.mark.parametrize("name", TABLES + OTHERS)
@FUZZ
@given(data=st.data())
def test_digits_that_became_garbage(name, data):
    text, _ = good(name)
    check(name, data.draw(character_mutations(text)))


@pytest.mark.parametrize("name", TABLES + OTHERS)
@FUZZ
@given(data=st.data())
def test_torn_outputs(name, data):
    text, _ = good(name)
    check(name, data.draw(tears(text)))


@pytest.mark.parametrize("name", TABLES[:5])
def test_every_lost_digit_of_an_aligned_table_shows(name):
    text, truth = good(name)
    lines = text.split("\n")
    for at in rows_of(lines):
        for position, character in enumerate(lines[at]):
            if character.isdigit():
                spoiled = list(lines)
                spoiled[at] = lines[at][:position] + lines[at][position + 1 :]
                said = check(name, "\n".join(spoiled))
                assert len(said) < len(truth), lines[at]  # the row is lost, and no other


@pytest.mark.parametrize("name", TABLES + OTHERS)
def test_a_launchers_words_change_nothing_or_are_named(name):
    text, truth = good(name)
    lines = text.split("\n")
    places = range(0, len(lines), 1 + len(lines) // 60)
    kept = sum(
        check(name, "\n".join([*lines[:at], WARNINGS[1], *lines[at:]])) == truth for at in places
    )
    # Between the rows of a table they are passed over.
    if name in TABLES:
        assert kept > 0.9 * len(places)


#: What stands where something else was expected, as JSON.
STRANGE = (
    *("null", '""', "0", "-1", "1.5", "true", "[]", "{}", "[null]", '{"name": "x"}'),
    *('"1e400"', "1" + "0" * 30, '"\\u0007"', '"a.b.c"'),
)
DOCUMENTS = tuple(name for name in OTHERS if text_of(name).startswith("{"))


def documents_of(text):
    """Give the JSON documents of a text: one, or one in each line."""
    try:
        return [json.loads(text)]
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("name", DOCUMENTS)
@FUZZ
@given(data=st.data())
def test_values_of_another_kind_are_named(name, data):
    content = documents_of(good(name)[0])
    for _ in range(data.draw(st.integers(1, 3))):
        place = content
        while True:
            keys = list(place) if isinstance(place, dict) else range(len(place))
            if not keys:
                break
            key = data.draw(st.sampled_from(keys))
            inside = place[key]
            if isinstance(inside, dict | list) and data.draw(st.integers(0, 9)):
                place = inside
                continue
            place[key] = json.loads(data.draw(st.sampled_from(STRANGE)))
            break
    try:
        found = read_text("\n".join(map(json.dumps, content)), Path("strange"))
    except BarelineError:
        return
    for one in found:
        one.importer.started(one.launch)
        one.importer.facts(one.launch)
        assert one.imported.declaration()["metrics"]


@settings(max_examples=examples(200), deadline=None, derandomize=True)
@given(st.text(max_size=300))
def test_any_text_is_refused_by_name(text):
    with pytest.raises(BarelineError):
        read_text(text, Path("any"))
