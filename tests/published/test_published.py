"""The published figures: complete, as printed, and consistent where they do not say otherwise."""

from __future__ import annotations

import json
from decimal import Decimal
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from bareline.cli.main import app
from bareline.published.catalogue import (
    conditions,
    find_part,
    find_publications,
    publications,
    published_rows,
    read_publication,
)
from bareline.published.model import PublishedStudy, Result
from bareline.published.quantities import Spread
from bareline.published.ratios import published_ratios, span_of
from bareline.testing.messages import raises
from bareline.vocabulary.errors import UsageError

STUDIES = publications()
RESULTS = [(study, row) for study in STUDIES.values() for row in study.results]


def result_named(study: str, name: str) -> Result:
    return next(row for row in STUDIES[study].results if row.id == name)


def test_every_published_figure_is_there() -> None:
    counts = {name: study.count for name, study in STUDIES.items()}
    assert counts == {
        "flexible-fabric": 40,
        "infinicloud": 44,
        "magellan": 10,
        "nccs": 40,
        "nebula": 114,
    }
    assert len(published_rows()) == 248


def test_printed_decimals_ranges_and_bounds_stay() -> None:
    assert str(result_named("nebula", "hpcc-ringbw-factor").value) == "10.20"
    assert str(result_named("nebula", "sendrecv-small")) == "30 to 70"
    assert str(result_named("magellan", "paratec-10g-32")) == "at most 10"
    assert result_named("magellan", "paratec-10g-32").words == "at most 10 % less"
    assert result_named("magellan", "milc-10g-min").words == "at least 35 % less"
    assert result_named("nebula", "npb-summary").words == "at least 10 to 25 % less"
    assert result_named("magellan", "paratec-10g-512").words == "about 2 times worse"


def test_every_figure_leads_to_a_place_in_its_document() -> None:
    for row in published_rows():
        study, part = find_part(row["part"])
        assert study.id == row["publication"]
        assert part.label == row["label"]
        assert row["where"]


def test_every_table_and_figure_of_the_documents_is_listed() -> None:
    tables = {
        name: [part.id for part in study.parts if part.shows] for name, study in STUDIES.items()
    }
    assert tables["nebula"] == [
        *(f"table-{number}" for number in range(1, 5)),
        *(f"figure-{number}" for number in range(1, 22)),
    ]
    assert tables["infinicloud"] == [
        *(f"table-{number}" for number in range(1, 5)),
        *(f"figure-{number}" for number in range(1, 8)),
    ]
    assert tables["flexible-fabric"] == ["table-1", "table-2"]
    assert tables["magellan"] == ["figure-1a", "figure-1b"]
    assert len(tables["nccs"]) == 6


def _printed_to(value: Decimal) -> Decimal:
    """Return the last printed place of a number."""
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    return Decimal(1).scaleb(exponent)


def _absolute(study: PublishedStudy, row: Result, platform: str) -> Result | None:
    found = [
        other
        for other in study.results
        if other.kind in ("absolute", "efficiency")
        and (other.kind == "absolute" or other.baseline == "peak")
        and not other.restates
        and (other.benchmark, other.metric, other.platform) == (row.benchmark, row.metric, platform)
        and all(other.at.get(key, value) == value for key, value in row.at.items())
    ]
    return found[0] if len(found) == 1 else None


def _recomputed(study: PublishedStudy, row: Result) -> Decimal | None:
    """Compute a printed ratio or percentage from the two values that the document prints."""
    if row.value is None or row.baseline in (None, "peak") or row.kind == "absolute":
        return None
    own, base = _absolute(study, row, row.platform), _absolute(study, row, str(row.baseline))
    if own is None or base is None or own.value is None or base.value is None:
        return None
    if row.kind == "factor":
        larger, smaller = max(own.value, base.value), min(own.value, base.value)
        return larger / smaller
    change = own.value / base.value
    if row.kind == "efficiency":
        return 100 * change
    return abs(1 - change) * 100


def _rounding(study: PublishedStudy, row: Result) -> Decimal:
    """Return how far rounding of the printed numbers can move the recomputed one."""
    room = _printed_to(row.value or Decimal(1)) / 2
    if row.approx:
        room *= 2
    return room * Decimal("1.0001")


def test_recomputed_factors_agree_unless_an_inconsistency_is_noted() -> None:
    """What does not come out of the printed values is named, and what is named does not."""
    compared, off = 0, set()
    for study, row in RESULTS:
        again = _recomputed(study, row)
        if again is None:
            continue
        compared += 1
        assert row.value is not None
        if abs(again - row.value) > _rounding(study, row):
            off.add(f"{study.id}:{row.id}")
    assert compared >= 25
    noted = {
        f"{study.id}:{name}"
        for study in STUDIES.values()
        for note in study.inconsistencies
        for name in note.results
    }
    assert off - noted == set()
    assert off >= {
        "nebula:hpcc-ringbw-factor",
        "nebula:hpcc-ptrans-decrease",
        "nebula:hpcc-hpl-prose",
    }


def test_inconsistencies_that_no_ratio_shows() -> None:
    share = {
        name: result_named("nebula", name).value
        for name in ("hpcc-hpleff-pleiades", "hpcc-hpleff-pleiades-prose")
    }
    assert share == {
        "hpcc-hpleff-pleiades": Decimal("91.7"),
        "hpcc-hpleff-pleiades-prose": Decimal("92.7"),
    }
    alone, range_ = (
        result_named("nebula", "allreduce-4B"),
        result_named("nebula", "allreduce-small"),
    )
    spread = range_.at["size_bytes"]
    assert isinstance(spread, Spread)
    assert spread.holds(4)
    assert alone.value is not None
    assert range_.low is not None
    assert alone.value < range_.low
    overheads = [
        row.span.low
        for row in published_ratios(STUDIES["infinicloud"])
        if row.benchmark == "ib_write_lat" and row.computed
    ]
    assert [round(100 * (value or 0)) for value in overheads] == [152, 148]


def test_trials_of_both_documents_are_the_same_measurements() -> None:
    """The case study prints the slides' trials sorted, and without retransmissions."""
    for sorted_ones in STUDIES["flexible-fabric"].trials:
        listed = next(row for row in STUDIES["nccs"].trials if row.platform == sorted_ones.platform)
        assert (sorted_ones.order, listed.order) == ("sorted", "time")
        assert sorted_ones.values == sorted(sorted_ones.values)
        assert sorted(listed.values) == sorted_ones.values
        assert listed.retransmissions is not None
        assert sorted_ones.retransmissions is None


@pytest.mark.parametrize(
    ("study", "name", "low", "high"),
    [
        ("nebula", "sendrecv-small", 30, 70),
        ("nebula", "srw-read", 1 / 4, 1 / 3),
        ("nebula", "hpcc-ringlat-decrease", 16.51, 16.51),
        ("nebula", "overflow-32", 1.2195, 1.2195),
        ("infinicloud", "linpack-local-hw-84", 1 / 0.84, 1 / 0.84),
        ("magellan", "paratec-10g-32", None, 1 / 0.9),
        ("magellan", "milc-10g-min", 1.35, None),
        ("infinicloud", "linpack-hw-vs-sb-twice", None, 0.5),
    ],
)
def test_spans(study: str, name: str, low: float | None, high: float | None) -> None:
    span = span_of(result_named(study, name))
    assert span is not None
    for found, wanted in ((span.low, low), (span.high, high)):
        if wanted is None:
            assert found is None
        else:
            assert found is not None
            assert float(found) == pytest.approx(wanted, rel=1e-3)


def test_what_is_no_ratio_to_a_platform_has_no_span() -> None:
    assert span_of(result_named("nebula", "nuttcp-peak-share")) is None
    assert span_of(result_named("nebula", "sendrecv-slope")) is None


def test_absolute_pairs_and_listed_trials_become_ratios() -> None:
    found = {(row.benchmark, row.platform): row for row in published_ratios(STUDIES["nccs"])}
    sriov = found["nuttcp", "vm-vm-sriov"]
    trials = {row.platform: row for row in STUDIES["nccs"].trials}
    expected = median(trials["bare-bare"].values) / median(trials["vm-vm-sriov"].values)
    assert sriov.computed
    assert sriov.span.low == sriov.span.high == expected
    assert sriov.part == "nccs:slide-nuttcp"


@given(
    st.decimals(min_value="1.01", max_value="500", places=2),
    st.sampled_from(["worse_by", "better_by"]),
)
def test_factors_in_both_directions_are_each_others_inverse(value: Decimal, told: str) -> None:
    row = result_named("nebula", "hpcc-hpl-factor").model_copy(
        update={"value": value, "relation": told}
    )
    span = span_of(row)
    assert span is not None
    assert span.low is not None
    assert (span.low > 1) == (told == "worse_by")
    assert abs(max(span.low, 1 / span.low) - value) < Decimal("1e-9") * value


def test_a_spread_holds_its_ends_and_not_its_exceptions() -> None:
    spread = Spread.model_validate({"above": 128, "high": 1024, "except": [256]})
    assert [size for size in (64, 128, 129, 256, 1024, 2048) if spread.holds(size)] == [129, 1024]
    assert not Spread(label="larger messages").holds(1 << 20)


PLANTED = """
[publication]
id = "x"
short = "X"
title = "X"
study = "x"
source = "X"
[[part]]
id = "table-1"
label = "Table 1"
[[benchmark]]
name = "b"
probe = "null"
metrics = { time = "time" }
[[platform]]
id = "p"
name = "P"
kind = "bare"
part = "table-1"
where = "Table 1"
[[result]]
id = "r"
benchmark = "b"
metric = "time"
unit = "us"
better = "lower"
platform = "p"
value = 1.50
part = "table-1"
where = "Table 1"
"""


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ('kind = "bare"', 'kind = "bear"', "BL-KEY-LITERAL-ERROR"),
        ("value = 1.50", "low = 3\nhigh = 2", "BL-PUBLISHED-412"),
        ("value = 1.50", "low = 3", "BL-PUBLISHED-619"),
        ("value = 1.50", "", "BL-PUBLISHED-225"),
        ('unit = "us"', 'unit = "furlongs"', "BL-PUBLISHED-517"),
        ("value = 1.50", 'value = 2\nkind = "factor"', "BL-PUBLISHED-601"),
        ('value = 1.50\npart = "table-1"', 'value = 1.5\npart = "table-9"', "BL-PUBLISHED-145"),
        ('id = "r"', 'id = "r"\nvlaue = 3', "BL-KEY-EXTRA-FORBIDDEN"),
    ],
)
def test_mistakes_in_a_file_are_named(old: str, new: str, code) -> None:
    assert read_publication(PLANTED, where="x.toml").results[0].value == Decimal("1.50")
    with raises(UsageError, code):
        read_publication(PLANTED.replace(old, new, 1), where="x.toml")


def test_names_that_do_not_exist_name_the_closest() -> None:
    assert [row.id for row in find_publications("flexible-fabric")] == ["flexible-fabric", "nccs"]
    assert [row.id for row in find_publications("nccs")] == ["nccs"]
    with raises(UsageError, "BL-PUBLISHED-961", "nebula"):
        find_publications("nebulla")
    with raises(UsageError, "BL-PUBLISHED-450", "table-4"):
        find_part("nebula:tabel-4")


def test_conditions_in_words() -> None:
    small = result_named("nebula", "sendrecv-small")
    assert conditions(small.at) == "1 B to 4 KiB except 4 B messages"
    inter = result_named("nebula", "sendrecv-64K-inter")
    assert conditions(inter.at) == "64 KiB messages, 16 to 128 ranks, between nodes"


def test_published_verb() -> None:
    runner = CliRunner()
    rows = json.loads(runner.invoke(app, ["published", "nebula", "--json"]).stdout)
    assert len(rows) == 114
    bound = next(row for row in rows if row["id"] == "npb-summary")
    assert (bound["low"], bound["high"], bound["bound"]) == (10, 25, "at_least")
    text = runner.invoke(app, ["published", "magellan"], env={"COLUMNS": "100"}).stdout
    assert "at least 35 % less" in text
    assert "Figure 1b" in text
    assert "1 KiB" not in runner.invoke(app, ["published"]).stdout


@pytest.mark.parametrize("name", sorted(STUDIES))
def test_every_publication_can_be_listed_and_judged(name: str) -> None:
    found = CliRunner().invoke(app, ["published", name])
    assert found.exit_code == 0
    assert "What the platforms suit" in found.stdout
