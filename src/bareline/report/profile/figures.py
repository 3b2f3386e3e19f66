"""The figures of a profile's page."""

from __future__ import annotations

from bareline.profile.model import Profile
from bareline.report.blocks.figure import Figure
from bareline.report.profile.calls import calls_figure, size_figures
from bareline.report.profile.matrix import matrix_figure
from bareline.report.profile.times import rank_table_figure, ranks_figure, split_figure


def figures(profile: Profile) -> list[Figure]:
    """Draw everything that the profile holds."""
    drawn = [
        split_figure(profile),
        ranks_figure(profile),
        rank_table_figure(profile),
        calls_figure(profile),
    ]
    drawn += size_figures(profile)
    if not profile.send_table.is_empty():
        drawn.append(matrix_figure(profile))
    return drawn
