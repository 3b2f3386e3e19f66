"""Read what bareline prints about a comparison, as text, and compare the outputs with each other.

Nothing of bareline is imported: the terminal's table, the Markdown report, the sentences of
`explain`, the conditions' JUnit file and the OpenMetrics export are read as a person reads them,
with regular expressions, and each statement is compared with the rows of `compare --json`. So a
fault in the code that all outputs share is seen as well.

Tables, files and conditions are read here, sentences by `benchmarks/output_words.py`. The pages
come from `benchmarks/output_agreement.py`. The names of probes are those in `SUBJECTS`; of others,
which measured runs have, `explain --json` tells them.
"""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

#: The names of a probe: in sentences, and in a table (there without the head of its group).
SUBJECTS = {
    "compute.dgemm": ("the DGEMM rate", "DGEMM rate"),
    "memory.stream": ("memory bandwidth (STREAM)", "Memory bandwidth (STREAM)"),
    "net.nuttcp": ("TCP throughput (nuttcp)", "TCP throughput (nuttcp)"),
    "mpi.allreduce": ("MPI_Allreduce", "MPI_Allreduce"),
    "mpi.pingpong": ("MPI ping-pong", "MPI ping-pong"),
    "io.sequential": ("the rate of sequential writing", "Rate of sequential writing"),
    "npb.cg": ("the NAS benchmark CG", "NAS benchmark CG"),
    "npb.ep": ("the NAS benchmark EP", "NAS benchmark EP"),
    "app.ocean": ("the mini-app ocean", "Mini-app ocean"),
}
LAYERS = {
    "Compute": "compute",
    "Memory": "memory",
    "Network": "network",
    "MPI": "mpi",
    "Storage": "io",
    "NAS Parallel Benchmarks": "npb",
    "Applications": "app",
}
#: The classes of message sizes: words of a sentence, words of a table, first and last byte.
CLASSES = (
    ("below 8 KiB", "< 8 KiB", 0, 8 * 1024 - 1),
    ("from 8 to 256 KiB", "8-256 KiB", 8 * 1024, 256 * 1024 - 1),
    ("from 256 KiB", "≥ 256 KiB", 256 * 1024, 1 << 62),
)
CLAIMS = ("certain", "likely")
#: Verdicts of `--json`, by their words in tables.
_VERDICTS = {"equal": "equivalent", "undecided": "inconclusive"}
_SIZE_UNITS = {"B": 1, "KiB": 1024, "MiB": 1024**2}


@dataclass(frozen=True, slots=True)
class Point:
    """One row of `compare --json`: a case on a platform."""

    platform: str
    probe: str
    layer: str
    metric: str
    size_bytes: int | None
    higher_is_better: bool
    verdict: str
    grade: str | None
    ratio: float | None
    lo: float | None
    hi: float | None
    value: float | None
    lost: int

    @property
    def claim(self) -> tuple[str, str] | None:
        """The direction and grade that the row claims; None where it claims nothing."""
        if self.verdict in ("slower", "faster") and self.grade in CLAIMS:
            return self.verdict, str(self.grade)
        return None


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding of `explain --json` that rests on the mean of several points."""

    platform: str
    probe: str
    layer: str
    subject: str
    verdict: str
    grade: str | None


@dataclass(frozen=True, slots=True)
class Page:
    """The rows of one comparison, and the findings that are about means.

    - `points`: the rows of headline metrics; `details` are those of the others.
    - `subjects`: the names of its probes, as in `SUBJECTS`.
    """

    points: tuple[Point, ...]
    means: tuple[Finding, ...]
    details: tuple[Point, ...] = ()
    subjects: Mapping[str, tuple[str, str]] = field(default_factory=lambda: SUBJECTS)

    def of(self, platform: str, **wanted: object) -> list[Point]:
        """Return the points of a platform with these attributes."""
        return [
            point
            for point in self.points
            if point.platform == platform
            and all(getattr(point, name) == value for name, value in wanted.items())
        ]

    def claims(self, platform: str, layer: str) -> set[tuple[str, str]]:
        """Return the directions and grades that rows or means of a layer claim."""
        claims = {point.claim for point in self.of(platform, layer=layer) if point.claim}
        for mean in self.means:
            if (mean.platform, mean.layer) == (platform, layer) and mean.grade in CLAIMS:
                claims.add((mean.verdict, str(mean.grade)))
        return {claim for claim in claims if claim}

    def platforms(self) -> list[str]:
        """Return the names of the platforms that are compared with the baseline."""
        return sorted({point.platform for point in self.points})


def read_json(compared: str, explained: str) -> Page:
    """Return the rows of `compare --json` and `explain --json`."""
    rows = [row for row in json.loads(compared) if not row["control"]]
    points = tuple(_point(row) for row in rows if row["headline"])
    details = tuple(_point(row) for row in rows if not row["headline"])
    findings = [row for row in json.loads(explained) if row.get("kind") == "finding"]
    means = []
    for row in findings:
        if row.get("by_mean"):
            names = ("platform", "probe", "layer", "subject", "grade")
            fields = {name: row[name] for name in names}
            means.append(Finding(verdict=row["mean"]["verdict"], **fields))
    subjects = {row["probe"]: _names_of(row["subject"]) for row in findings}
    return Page(points, tuple(means), details, subjects | SUBJECTS)


def _names_of(subject: str) -> tuple[str, str]:
    """Return the names of a probe in a sentence and in a table, from the subject of a finding."""
    for words, *_ in CLASSES:
        subject = subject.removesuffix(f" {words}")
    title = subject.removeprefix("the ")
    return subject, title[:1].upper() + title[1:]


def _point(row: Mapping[str, object]) -> Point:
    params = row["params"]
    assert isinstance(params, Mapping)
    names = ("platform", "probe", "layer", "metric", "verdict", "grade", "ratio", "lo", "hi")
    return Point(
        **{name: row[name] for name in (*names, "value", "lost")},  # type: ignore[arg-type]
        size_bytes=params.get("size_bytes"),
        higher_is_better=row["better"] == "higher",
    )


# Numbers ---------------------------------------------------------------------------------------


def rounded(value: float) -> str:
    """Return a number with three significant digits, as the tables print it."""
    for digits in (2, 1, 0):
        limit = {2: 10, 1: 100, 0: float("inf")}[digits]
        if abs(value) < limit:
            break
    small = f"{value:.3f}"
    return small if abs(float(small)) < 1 else f"{value:.{digits}f}"


def close_to(text: str, value: float | None) -> bool:
    """Whether a printed number is a value rounded to its digits."""
    if value is None:
        return False
    number = float(text)
    digits = len(text.partition(".")[2])
    step = 10.0**-digits
    if abs(number) >= 1000:
        step = max(step, 10.0)
    return abs(number - value) <= 0.51 * step + 1e-3 * abs(value) * (abs(number) >= 100)


# The table of the terminal and of Markdown -----------------------------------------------------


@dataclass(frozen=True, slots=True)
class TableCell:
    """A cell of the matrix: its row's layer and name, its platform, its text."""

    layer: str
    name: str
    platform: str
    text: str


def terminal_cells(printed: str) -> list[TableCell]:
    """Return the cells of the table that `compare` prints."""
    lines = printed.splitlines()
    rule = next((i for i, line in enumerate(lines) if line.startswith("────")), None)
    if rule is None:
        return []
    head = lines[rule - 1]
    columns = [(found.start(), found.group()) for found in re.finditer(r"\S+", head)]
    cells: list[TableCell] = []
    layer = ""
    for line in lines[rule + 1 :]:
        if line.startswith("Each number shows"):
            break
        if not line.startswith(" "):
            layer = line.strip()
            continue
        name = line[: columns[0][0]].strip()
        ends = [start for start, _ in columns[1:]] + [len(line) + 1]
        for (start, platform), end in zip(columns, ends, strict=True):
            cells.append(TableCell(layer, name, platform, line[start:end].strip()))
    return cells


def markdown_cells(report: str) -> list[TableCell]:
    """Return the cells of the matrix in a Markdown report."""
    verdict = report.partition("## Verdict")[2].partition("\n## ")[0]
    rows = _rows_of(verdict)
    if not rows:
        return []
    platforms = rows[0][1:]
    cells: list[TableCell] = []
    layer = ""
    for name, *texts in rows[1:]:
        if not any(texts):
            layer = name
            continue
        for platform, text in zip(platforms, texts, strict=True):
            cells.append(TableCell(layer, name, platform, text))
    return cells


def plain(text: str) -> str:
    """Return Markdown's text without its signs."""
    text = re.sub(r"\\(.)", r"\1", text)
    for sign, character in (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"), ("**", "")):
        text = text.replace(sign, character)
    return text


def _rows_of(text: str) -> list[list[str]]:
    rows = []
    for line in text.splitlines():
        if not line.startswith("|") or re.match(r"\|[ :|-]+\|$", line):
            continue
        rows.append([plain(cell.strip()) for cell in line.strip("|").split("|")])
    return rows


def points_of(page: Page, cell: TableCell) -> list[Point]:
    """Return the points that a row of the matrix is about."""
    name, _, size = cell.name.partition(", ")
    layer = LAYERS.get(cell.layer)
    for probe, (_, table) in page.subjects.items():
        short = table.removeprefix("NAS benchmark ")
        if name not in (table, short):
            continue
        points = page.of(cell.platform, probe=probe, layer=layer)
        for _, words, first, last in CLASSES:
            if size == words:
                return [p for p in points if p.size_bytes and first <= p.size_bytes <= last]
        return points
    return []


def wrong_cells(page: Page, cells: Sequence[TableCell], where: str) -> Iterator[str]:
    """Name the cells of a matrix that contradict the rows."""
    for cell in cells:
        points = points_of(page, cell)
        place = f"{where}: {cell.name} on {cell.platform}: {cell.text!r}"
        if not points:
            if cell.text not in ("", "–", "not measured", "missing"):
                yield f"{place}: no row of --json is about it"
            continue
        fault = _wrong_cell(page, cell, points)
        if fault:
            yield f"{place}: {fault}"


def _wrong_cell(page: Page, cell: TableCell, points: list[Point]) -> str | None:
    claims = {point.claim for point in points if point.claim}
    by_mean = "mean" in cell.text
    if by_mean:
        probe = points[0].probe
        means = [m for m in page.means if (m.platform, m.probe) == (cell.platform, probe)]
        claims |= {(m.verdict, str(m.grade)) for m in means if m.grade in CLAIMS}
    worst = "certain" if any(grade == "certain" for _, grade in claims) else "likely"
    text = re.sub(r"\s*\((\d+)\)$", "", cell.text)
    text = re.sub(r";? at \d+ [KM]?i?B$", "", text)
    if text.startswith("= "):
        return None if all(p.verdict == "equivalent" for p in points) else "not all are equal"
    if text.startswith("?") or "failed" in text or "missing" in text or "control" in text:
        return f"rows claim {sorted(claims)}" if claims else None
    if not claims:
        return "no row claims anything"
    signs = re.match(r"[~◦]", text)
    slower = [grade for direction, grade in claims if direction == "slower"]
    number = re.search(r"\d[\d.]*", text)
    if number and not by_mean and not text.startswith(("~ at least", "◦ at least", "at least")):
        printed = number.group()
        same = [p for p in points if p.claim and printed == rounded(p.ratio or 0)]
        if not same:
            return "no row that claims anything has this ratio"
        grades = {p.grade for p in same}
        if ("likely" in grades) and ("certain" not in grades) and not signs:
            return "its row is likely, and it has no sign"
        if grades == {"certain"} and signs:
            return "its row is certain, and it has a sign"
        if "slower" not in {p.verdict for p in same} and "certain" in slower:
            return "a certain loss is behind a gain"
        interval = re.search(r"\[([\d.]+), ([\d.]+)\]", text)
        if interval and not any(_has_interval(p, *interval.groups()) for p in same):
            return "its row has another interval"
    elif not by_mean and worst == "certain" and signs and "certain" in slower:
        return "a row is certainly slower, and it has a sign"
    elif not by_mean and worst == "likely" and not signs:
        return "its rows are likely, and it has no sign"
    return None


def _has_interval(point: Point, lo: str, hi: str) -> bool:
    return close_to(lo, point.lo) and close_to(hi, point.hi)


# Tables of points, and the overview ------------------------------------------------------------


def wrong_tables(page: Page, report: str) -> Iterator[str]:
    """Name the rows of a report's tables whose ratio, interval or verdict is another one."""
    section, subject, metric = "", "", ""
    rows: list[list[str]] = []
    for line in [*report.splitlines(), "# end"]:
        if line.startswith("|"):
            rows.append([plain(cell.strip()) for cell in line.strip().strip("|").split("|")])
            continue
        if rows:
            yield from _wrong_table(page, section, (subject, metric), rows)
            rows = []
        if line.startswith("## "):
            section = plain(line[3:])
        elif line.startswith("### "):
            subject, metric = plain(line[4:]), ""
        elif line.startswith("#### "):
            metric = plain(line[5:]).lower().replace(" ", "_")


def _wrong_table(
    page: Page, section: str, titles: tuple[str, str], rows: list[list[str]]
) -> Iterator[str]:
    head = rows[0]
    subject, title = titles
    if "verdict" not in head or "platform" not in head or "ratio" not in head:
        return
    probe = next((p for p, names in page.subjects.items() if names[1] == subject), None)
    for row in rows[2:]:
        # A second "95 %" is that of the median.
        fields = dict(zip(reversed(head), reversed(row), strict=True))
        name = fields.get("probe", subject)
        size = fields.get("message size")
        metric = fields.get("metric", title).replace(" ", "_")
        points = _named(_of_metric(page, probe, metric), name, fields["platform"], probe, size)
        if fields["ratio"] == "1" or (not points and not fields["verdict"]):
            continue
        place = f"Markdown, {section}, {name} {size or ''} on {fields['platform']}"
        verdict = fields["verdict"].partition(" (")[0]
        verdict = verdict.replace("likely ", "").replace(" in these boots", "").strip("~ ")
        verdict = _VERDICTS.get(verdict, verdict)
        matching = [p for p in points if p.verdict == verdict]
        named = {point.probe for point in points}
        means = [m for m in page.means if m.platform == fields["platform"] and m.probe in named]
        if any(mean.verdict == verdict for mean in means):
            continue  # the row is about a mean, whose ratio no point has
        if verdict == "mixed" and {p.verdict for p in points} >= {"slower", "faster"}:
            continue
        if points and not matching:
            verdicts = sorted({p.verdict for p in points})
            yield f"{place}: verdict {fields['verdict']!r}, the rows have {verdicts}"
        ratio = re.match(r"[\d.]+$", fields["ratio"])
        if means:
            continue  # the ratio may be that of a mean
        if ratio and points and not any(close_to(fields["ratio"], p.ratio) for p in points):
            yield f"{place}: ratio {fields['ratio']}, the rows have {[p.ratio for p in points]}"
            continue
        if ratio and matching:
            # The verdict may be that of another point of the class than the ratio.
            fault = _wrong_line(fields, [p for p in points if close_to(fields["ratio"], p.ratio)])
            if fault:
                yield f"{place}: {fault}"


def _of_metric(page: Page, probe: str | None, metric: str) -> Page:
    """Return a page whose points are those of a probe's metric; as it is for no detail."""
    details = tuple(p for p in page.details if (p.probe, p.metric) == (probe, metric))
    return replace(page, points=details, means=()) if details else page


def _wrong_line(fields: dict[str, str], same: Sequence[Point]) -> str | None:
    """Return what is wrong with a line of a table, of points that have its verdict and ratio."""
    interval = re.match(r"([\d.]+)(?:–| to )([\d.]+)$", fields["95 %"])
    if interval:
        same = [point for point in same if _has_interval(point, *interval.groups())]
        if not same:
            return f"interval {fields['95 %']}, its row has another one"
    likely = "likely" in fields["verdict"] or fields["verdict"].startswith("~")
    claims = {point.grade for point in same if point.claim}
    if claims and ("likely" if likely else "certain") not in claims:
        return f"verdict {fields['verdict']!r}, the rows are {sorted(map(str, claims))}"
    return None


def _named(
    page: Page, name: str, platform: str, probe: str | None, size: str | None
) -> list[Point]:
    for known, (_, table) in page.subjects.items():
        for words, _, first, last in CLASSES:
            if name == f"{table} {words}":
                points = page.of(platform, probe=known)
                return [p for p in points if p.size_bytes and first <= p.size_bytes <= last]
        if name == table:
            probe = known
    points = page.of(platform, probe=probe)
    if size:
        number, _, unit = size.partition(" ")
        wanted = int(float(number) * _SIZE_UNITS[unit])
        return [p for p in points if p.size_bytes == wanted]
    return points


# Conditions and exports ------------------------------------------------------------------------


def conditions_of(page: Page) -> dict[str, bool]:
    """Return conditions for `--fail-if` and whether the rows meet them."""
    wanted = {}
    for platform in page.platforms():
        for layer in sorted({point.layer for point in page.of(platform)}):
            claims = page.claims(platform, layer)
            name = f"{platform}:{layer}"
            wanted[f"{name} is slower"] = ("slower", "certain") in claims
            likely = {("slower", "certain"), ("slower", "likely")} & claims
            wanted[f"{name} is likely slower"] = bool(likely)
    return wanted


def wrong_conditions(page: Page, junit: str) -> Iterator[str]:
    """Name the conditions that a JUnit file judges otherwise than the rows."""
    cases = {
        case.attrib["name"]: case
        for case in ET.fromstring(junit).iter("testcase")
        if case.attrib.get("classname") == "condition"
    }
    for condition, wanted in conditions_of(page).items():
        case = cases.get(condition)
        if case is None:
            yield f"JUnit: {condition!r} is missing"
            continue
        failures = [failure.text or "" for failure in case.iter("failure")]
        lines = [line for text in failures for line in text.splitlines()]
        met = any("cannot be judged" not in line for line in lines)
        if met is not wanted:
            yield f"JUnit: {condition!r} is {'met' if met else 'not met'}, by the rows otherwise"


def wrong_metrics(page: Page, exported: str) -> Iterator[str]:
    """Name the medians of an OpenMetrics export that differ from the rows."""
    # Cases that differ in other parameters than the size have one key, and a median each.
    medians: dict[tuple[str | None, ...], list[float]] = {}
    for line in exported.splitlines():
        found = re.match(r"bareline_median\{(.*)\} (\S+)", line)
        if found:
            labels = dict(re.findall(r'(\w+)="([^"]*)"', found.group(1)))
            key = (labels["platform"], labels["probe"], labels["metric"], labels.get("size_bytes"))
            medians.setdefault(key, []).append(float(found.group(2)))
    for point in page.points:
        size = None if point.size_bytes is None else str(point.size_bytes)
        known = medians.get((point.platform, point.probe, point.metric, size), [])
        if point.value is None or point.lost:
            continue
        if not any(abs(median - point.value) <= 1e-9 * abs(point.value) for median in known):
            yield f"OpenMetrics: {point.probe} {size} on {point.platform}: {known}, {point.value}"
