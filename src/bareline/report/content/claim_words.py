"""The words of a claim's row: printed and measured ratios, platforms, ranks and nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from bareline.analysis.judgements.claims import Outcome, Vote, toward_claim
from bareline.analysis.judgements.losses import PlaceLoss
from bareline.analysis.judgements.wording import ClaimStatus
from bareline.analysis.numbers.row import Estimate, with_interval
from bareline.published.findings import ClaimCheck
from bareline.published.model import PEAK
from bareline.report.content.claim_rows import ClaimMark, PrintedRange
from bareline.vocabulary.units import count, listing, plain

_BETTER = " times better"
#: With at most this many programs, all ratios are written; else the least and the greatest.
_FEW = 4


def printed_words(check: ClaimCheck, first: PrintedRange | None, last: PrintedRange | None) -> str:
    """Format the printed range of a claim; for a claim about growth, "first → last"."""
    write = _share_span if is_share(check) else _span
    ranges = [write(printed) for printed in (first, last) if printed is not None]
    if not ranges:
        return _words_without_figure(check)
    if first is not None and last is None:
        ranges.append("no figure")
    if check.expect == "equal":
        return f"{ranges[-1]}, called equal"
    words = " → ".join(ranges)
    if check.expect == "better":
        words += _BETTER
    return words


def _words_without_figure(check: ClaimCheck) -> str:
    """Format a claim without a printed figure; a word such as "much" becomes a least ratio."""
    if not check.degree:
        return check.expect if check.expect in ("equal", "better") else "no figure"
    limit = f"at least {check.degree}"
    if is_share(check):
        limit = f"at most {100 / check.degree:.3g} %"
    return f"no figure (taken as {limit})"


def is_share(check: ClaimCheck) -> bool:
    """Whether a claim compares a platform with its own peak."""
    return check.against == [PEAK]


def _share_span(bar: PrintedRange) -> str:
    """Format the range of a printed share of the peak."""
    ends = [f"{100 / end:.3g} %" for end in (bar.high, bar.low) if end]
    return " to ".join(dict.fromkeys(ends))


def _span(printed: PrintedRange) -> str:
    if printed.low is None:
        return f"at most {printed.high or 0.0:.3g}"
    if printed.high is None:
        return f"at least {printed.low or 0.0:.3g}"
    low = _end(printed.low)
    high = _end(printed.high)
    return low if low == high else f"{low} to {high}"


def _end(ratio: float) -> str:
    return f"{ratio:.3g}" if ratio >= 1.1 else f"{ratio:.2f}"


def verdict_words(outcome: Outcome) -> str:
    """Format a verdict; if programs disagree, add the number of programs that confirm the claim."""
    if outcome.status is not ClaimStatus.PARTLY:
        return outcome.status.value
    return f"{outcome.yes} of {len(outcome.votes)} programs"


def marks_of(check: ClaimCheck, vote: Vote) -> Iterator[ClaimMark]:
    """Yield the measured ratios of a program; for a claim about growth, the first and the last."""
    if vote.first is not None:
        yield ClaimMark(vote.program, toward_claim(check, vote.first), begins=True)
    yield ClaimMark(vote.program, toward_claim(check, vote.own))


def measured_words(check: ClaimCheck, votes: Sequence[Vote]) -> str:
    """Format the measured ratios: all ratios of few programs, else the least and the greatest."""
    if not votes:
        return ""
    if len(votes) == 1:
        text = _ratios_of(check, votes[0])
    elif len(votes) <= _FEW:
        text = ", ".join(f"{vote.program} {_brief(check, vote)}" for vote in votes)
    else:
        ordered = sorted(votes, key=lambda vote: toward_claim(check, vote.change).value)
        least = ordered[0]
        greatest = ordered[-1]
        first = f"{_brief(check, least)} ({least.program})"
        last = f"{_brief(check, greatest)} ({greatest.program})"
        text = f"{first} to {last}"
    if check.expect == "better":
        text += _BETTER
    return text


def _ratios_of(
    check: ClaimCheck, vote: Vote, write: Callable[[Estimate], str] = with_interval
) -> str:
    if is_share(check):
        return with_interval(vote.own.inverse().times(100), "%")
    return " → ".join(write(dot.ratio) for dot in marks_of(check, vote))


def _brief(check: ClaimCheck, vote: Vote) -> str:
    return _ratios_of(check, vote, lambda ratio: plain(ratio.value))


def disagreement(check: ClaimCheck, votes: Sequence[Vote]) -> str:
    """Name the programs that do not confirm the claim; "" if all programs agree."""
    statuses = {vote.status for vote in votes}
    if len(statuses) < 2:
        return ""
    others = [vote for vote in votes if vote.status is not ClaimStatus.YES]
    return ", ".join(
        f"{vote.program}: {vote.status.value} ({_ratios_of(check, vote)})" for vote in others
    )


def sides_words(check: ClaimCheck, losses: Sequence[PlaceLoss], cast: Mapping[str, str]) -> str:
    """Name the platforms that were compared; empty if none were."""
    against = {loss.against for loss in losses}
    others = [cast[name] for name in check.against if name in against and name in cast]
    return f"{cast[check.platform]} against {listing(others)}" if against else ""


def where_words(votes: Sequence[Vote]) -> str:
    """Describe how many ratios were measured, and on how many ranks and nodes."""
    begins: list[PlaceLoss] = []
    losses: list[PlaceLoss] = []
    for vote in votes:
        begins += vote.first_losses
        losses += vote.losses
    groups = [group for group in (begins, losses) if group]
    text = " → ".join(dict.fromkeys(map(_ranks, groups)))
    if len(votes) == 1 and votes[0].of > 1:
        return f"{text}, the least clear of {votes[0].of}"
    if len(votes) > 1:
        return f"{text}, {count(len(votes), 'program')}"
    if len(losses) > 1:
        return f"{text}, mean of {count(len(losses), 'point')}"
    return text


def _ranks(losses: Sequence[PlaceLoss]) -> str:
    ranks = sorted({loss.place.ranks for loss in losses})
    span = str(ranks[0])
    if len(ranks) > 1:
        span = f"{ranks[0]} to {ranks[-1]}"
    text = f"{span} rank" if span == "1" else f"{span} ranks"
    nodes = {loss.place.ran_on for loss in losses} - {0}
    if len(nodes) != 1:
        return text
    return f"{text} on {count(nodes.pop(), 'node')}"
