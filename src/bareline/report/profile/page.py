"""The page of a profile: one self-contained HTML file that opens offline."""

from __future__ import annotations

import json

from bareline.profile.files import to_rows
from bareline.profile.model import Profile
from bareline.profile.summary import remarks
from bareline.report.page.drawing import draw_figure, make_download
from bareline.report.page.templates import render
from bareline.report.profile.figures import figures
from bareline.report.profile.tables import findings, subtitle
from bareline.vocabulary.texts import cleaned

#: Headings of the sections, in the order of the page.
_SECTIONS = {
    "time": "Time",
    "calls": "Calls",
    "sizes": "Message sizes",
    "matrix": "Communication matrix",
}


def render_profile_page(profile: Profile) -> str:
    """Give the page's HTML."""
    drawn = [draw_figure(figure) for figure in figures(profile)]
    sections = [
        (name, title, [one for one in drawn if one.figure.layer == name])
        for name, title in _SECTIONS.items()
    ]
    rows = json.dumps(to_rows(profile), ensure_ascii=False, allow_nan=False).encode()
    page = render(
        "profile.html.j2",
        ["page.js"],
        profile=profile,
        subtitle=subtitle(profile),
        findings=findings(profile),
        remarks=remarks(profile),
        sections=[section for section in sections if section[2]],
        download=make_download("profile.json", "every row", "application/json", rows),
    )
    return cleaned(page)
