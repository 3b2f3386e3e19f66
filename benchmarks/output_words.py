"""Read the sentences that bareline prints about a comparison, as text, and hold rows against them.

The layer lines of the Markdown report, the answer above the table and the sentences of `explain`
are read with regular expressions; `benchmarks/outputs.py` reads the rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from outputs import CLASSES, LAYERS, Page, Point, close_to, plain


def wrong_layers(page: Page, report: str) -> Iterator[str]:
    """Name the layer lines of a Markdown report that contradict the rows."""
    for title, layer in LAYERS.items():
        text = report.partition(f"\n## {title}\n")[2].partition("\n## ")[0].strip()
        line = text.splitlines()[0] if text else ""
        if not line.startswith("On "):
            continue
        for clause in re.split(r"; (?=on )", line.rstrip(".")):
            found = re.match(r"[Oo]n ([\w, -]+?) (.*)", clause)
            if not found:
                continue
            for platform in re.split(r", | and ", found.group(1)):
                fault = _wrong_clause(page, platform, layer, found.group(2))
                if fault:
                    yield f"layer line, {title} on {platform}: {fault}: {clause!r}"


def _wrong_clause(page: Page, platform: str, layer: str, words: str) -> str | None:
    claims = page.claims(platform, layer)
    points = page.of(platform, layer=layer)
    if "**" not in words:
        if claims and "failed" not in words:
            return f"it claims nothing, the rows claim {sorted(claims)}"
        return None
    bold = plain(words.partition("**")[2].partition("**")[0])
    if bold.startswith("equal"):
        return None if all(p.verdict == "equivalent" for p in points) else "not all are equal"
    if not re.search(r"\b(lower|slower|longer|higher|faster|shorter|as long)\b", bold):
        return None
    return _wrong_claim(claims, points, bold, likely="likely" in plain(words).partition(bold)[0])


def _wrong_claim(
    claims: set[tuple[str, str]], points: Sequence[Point], words: str, *, likely: bool
) -> str | None:
    """Return what is wrong with a claim in words, e.g. "2.3 times slower"."""
    better = re.search(r"faster|shorter", words) is not None
    rates = {point.higher_is_better for point in points}
    word = re.search(r"\b(higher|lower)\b", words)
    if word:
        better = (word.group() == "higher") is (True in rates)
    direction = "faster" if better else "slower"
    grade = "likely" if likely else "certain"
    if (direction, grade) not in claims:
        return f"it claims {direction}, {grade}; the rows claim {sorted(claims)}"
    if likely and (direction, "certain") in claims:
        return f"a row is certainly {direction}"
    if direction == "faster" and ("slower", "certain") in claims:
        return "a certain loss is behind a gain"
    return None


def wrong_answer(page: Page, printed: str) -> Iterator[str]:
    """Name what the answer, the lines above the table, leaves out or calls otherwise."""
    answer = re.sub(r"\s+", " ", printed.partition("Compared with")[0])
    platforms = page.platforms()
    name = "|".join(map(re.escape, sorted(platforms, key=len, reverse=True)))
    names = rf"(?:{name})(?:(?:, | and )(?:{name}))*"
    told = {}
    for paragraph in re.split(rf"(?:^| )On (?={names} )", answer):
        found = re.match(rf"({names}) (.*)", paragraph)
        if found:
            for platform in re.split(r", | and ", found[1]):
                told[platform] = found[2]
    for platform in platforms:
        words = told.get(platform, "")
        points = page.of(platform)
        claims = {point.claim for point in points if point.claim}
        if not words:
            if claims:
                yield f"answer: {platform} is not in it, its rows claim {sorted(claims)}"
            continue
        yield from _wrong_programs(page, platform, words)
        yield from _wrong_families(page, platform, words)
        yield from _wrong_open(page, platform, words)
        yield from _wrong_also(page, platform, words)


def _sentences(words: str) -> list[str]:
    """Split what the answer says of a platform into sentences."""
    return re.split(r"\. (?=[A-Z\d])", words)


def _wrong_programs(page: Page, platform: str, words: str) -> Iterator[str]:
    for point in page.of(platform):
        if point.layer not in ("npb", "app") or not point.claim:
            continue
        direction, grade = point.claim
        subject = page.subjects[point.probe][0]
        for part in _sentences(words):
            if not _names(part, subject) or "launches of" in part or _is_open(part):
                continue
            says = _direction(part)
            if says and says != direction and "," not in part and "all NAS" not in part:
                yield f"answer, {platform}: {subject} is {direction}, it says {part!r}"
            likely = "likely" in part
            if says == direction and "all NAS" not in part and likely != (grade == "likely"):
                yield f"answer, {platform}: {subject} is {direction}, {grade}: {part!r}"
        if grade == "certain" and direction == "slower":
            family = "NAS benchmarks" if point.layer == "npb" else "applications"
            if not _names(words, subject) and family not in words and "more" not in words:
                yield f"answer, {platform}: {subject} is certainly slower and not named: {words!r}"


_FAMILIES = {"NAS benchmarks": "npb", "applications": "app"}


def _wrong_families(page: Page, platform: str, words: str) -> Iterator[str]:
    """Name counts of programs ("2 of 3 NAS benchmarks are likely ...") that no rows have."""
    pattern = r"(all|(\d+) of \d+) (NAS benchmarks|applications) are (likely )?(?:in these boots )?"
    for found in re.finditer(pattern, words):
        part = _sentences(words[found.start() :])[0]
        direction = _direction(part)
        points = page.of(platform, layer=_FAMILIES[found.group(3)])
        claims = [p for p in points if p.claim and p.verdict == direction and p.ratio is not None]
        number = len(points) if found.group(2) is None else int(found.group(2))
        if len(claims) < number:
            yield f"answer, {platform}: {part!r}, {len(claims)} rows are {direction}"
        certain = any(point.grade == "certain" for point in claims)
        if bool(found.group(4)) is certain:
            yield f"answer, {platform}: {part!r}, {'some' if certain else 'no'} row is certain"


def _wrong_open(page: Page, platform: str, words: str) -> Iterator[str]:
    """Name programs of which no loss is shown, or which are equal, that the rows call otherwise."""
    for part in _sentences(words):
        expected = "inconclusive" if _is_open(part) else ""
        if re.search(r" equal within [\d.]+ %$", part.strip(" .")):
            expected = "equivalent"
        for probe, (subject, _) in page.subjects.items():
            points = page.of(platform, probe=probe)
            if not expected or not _names(part, subject) or not points:
                continue
            if expected not in {point.verdict for point in points}:
                yield f"answer, {platform}: {part!r}, the row is {points[0].verdict}"


def _names(words: str, subject: str) -> bool:
    """Whether words name a subject, at the beginning of a sentence or within one."""
    return subject.lower() in words.lower()


def _is_open(words: str) -> bool:
    """Whether a sentence is about a case that is neither different nor equal."""
    pattern = r"not certain that|can still be chance|no loss of .* is shown|cases are undecided"
    return re.search(pattern, words) is not None


def _direction(words: str) -> str | None:
    if re.search(r"\b(slower|lower)\b|takes .* as long", words):
        return "slower"
    if re.search(r"\b(faster|higher)\b", words):
        return "faster"
    return None


def _wrong_also(page: Page, platform: str, words: str) -> Iterator[str]:
    """Name layers that "also worse: ..." calls otherwise than the rows, or leaves out."""
    for mark, direction in ((" worse: ", "slower"), (" better: ", "faster")):
        listed = f" {words}".partition(mark)[2]
        listed = re.split(r"; (?!the others)", _sentences(listed)[0])[0]
        for entry in re.split(r", (?=[A-Za-z]+ (?:likely |up to |lower|slower|\d))", listed):
            name = entry.partition(" ")[0].lower()
            layer = {title.lower(): key for title, key in LAYERS.items()}.get(name)
            if layer is None:
                continue
            claims = page.claims(platform, layer)
            grade = "likely" if "likely" in entry else "certain"
            if (direction, grade) not in claims:
                yield f"answer, {platform}: {entry!r} as {direction}, rows claim {sorted(claims)}"


#: An amount in a sentence: "likely 4.0 % lower [2.2, 6.4]", "likely in these boots 2.9 times ...".
_AMOUNT = re.compile(
    r"(?P<likely>likely )?(?:in these boots )?"
    r"(?P<number>[\d.]+) (?P<unit>%|times) (?P<word>slower|lower|faster|higher|as long)"
    r" \[(?P<lo>[\d.-]+), (?P<hi>[\d.-]+|unlimited)\]"
)
_ON = re.compile(r" on (?P<platform>[\w-]+)")
_CLASS_WORDS = "|".join(words for words, *_ in CLASSES)


def wrong_sentences(page: Page, explained: str) -> Iterator[str]:
    """Name amounts of the sentences of `explain` that no row of their subject has."""
    for text in _clauses(explained):
        head = text.partition(" is ")[0].partition(" takes ")[0]
        subjects = page.subjects.items()
        subject = next((probe for probe, names in subjects if _begins(head, names[0])), None)
        if subject is None or "in the mean" in text or "on average" in text:
            continue
        sizes = re.search(_CLASS_WORDS, head)
        for found in _AMOUNT.finditer(text):
            named = _ON.search(text, found.end())
            if named is None:
                continue
            points = _of_class(page.of(named["platform"], probe=subject), sizes)
            fault = _wrong_amount(points, found)
            if fault:
                yield f"explain, {named['platform']}: {fault}: {head}: {found.group()}"


def _clauses(explained: str) -> Iterator[str]:
    """Yield what `explain` says of each subject: items of a list, or the clauses of a line."""
    for paragraph in re.split(r"\n(?=· |\S)|\n\n", explained):
        text = re.sub(r"\s+", " ", paragraph).removeprefix("· ").strip()
        if " below it " in text or "measured " in text or "worst:" in text:
            continue  # causes and what platforms suit: another unit, other rows
        for clause in re.split(r"; (?=the |memory |TCP |MPI)", text.partition(": ")[2] or text):
            yield clause if " is " in clause else text
        if ": " in text:
            yield text


def _begins(head: str, words: str) -> bool:
    return head.lower().startswith(words.lower())


def _of_class(points: list[Point], sizes: re.Match[str] | None) -> list[Point]:
    for words, _, first, last in CLASSES:
        if sizes and sizes.group() == words:
            return [p for p in points if p.size_bytes and first <= p.size_bytes <= last]
    return points


def _wrong_amount(points: Sequence[Point], found: re.Match[str]) -> str | None:
    """Return what is wrong with an amount of which one of the points should be the source."""
    better = found["word"] == "faster"
    if found["word"] in ("lower", "higher"):
        better = (found["word"] == "higher") is any(p.higher_is_better for p in points)
    wanted = "faster" if better else "slower"
    same = [p for p in points if p.verdict == wanted and _has_amount(p, found, better=better)]
    if not same:
        return "no row has this ratio and interval"
    grades = {point.grade for point in same}
    if found["likely"] and "likely" not in grades:
        return "its row is certain"
    if not found["likely"] and "certain" not in grades:
        return "its row is likely"
    return None


def _has_amount(point: Point, found: re.Match[str], *, better: bool) -> bool:
    ends = [_in_words(point, ratio, found["unit"], better) for ratio in (point.lo, point.hi)]
    low, high = sorted(ends, key=lambda end: float("inf") if end is None else end)
    own = _in_words(point, point.ratio, found["unit"], better)
    # Where launches are lost there is no end: a rate is then up to 100 % lower.
    unlimited = "100" if found["unit"] == "%" and found["word"] == "lower" else "unlimited"
    upper = found["hi"] == unlimited if high is None else close_to(found["hi"], high)
    return close_to(found["number"], own) and close_to(found["lo"], low) and upper


def _in_words(point: Point, ratio: float | None, unit: str, better: bool) -> float | None:
    """Return a ratio in times or per cent of the direction that a sentence names."""
    if ratio is None:
        return None
    if unit == "times":
        return 1 / ratio if better else ratio
    if better:  # so much more of a rate, or so much faster: a quotient of speeds
        return 100 * (1 / ratio - 1)
    return 100 * (1 - 1 / ratio if point.higher_is_better else ratio - 1)
