"""The page of a profile: one self-contained HTML file that opens offline."""

from __future__ import annotations

import json

from markupsafe import Markup

from bareline import __version__
from bareline.profile.files import to_rows
from bareline.profile.model import Profile
from bareline.profile.summary import remarks
from bareline.report.figures.theme import css_variables
from bareline.report.page.drawing import draw_figure, make_download
from bareline.report.page.templates import content_policy, read_asset, template_environment
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
    light, dark = css_variables()
    style = read_asset("page.css").replace("/*light*/", light).replace("/*dark*/", dark)
    script = read_asset("page.js")
    sections = [
        (name, title, [one for one in drawn if one.figure.layer == name])
        for name, title in _SECTIONS.items()
    ]
    rows = json.dumps(to_rows(profile), ensure_ascii=False, allow_nan=False).encode()
    page = (
        template_environment()
        .get_template("profile.html.j2")
        .render(
            profile=profile,
            subtitle=subtitle(profile),
            findings=findings(profile),
            remarks=remarks(profile),
            sections=[section for section in sections if section[2]],
            download=make_download("profile.json", "every row", "application/json", rows),
            style=Markup(style),
            script=Markup(script),
            policy=content_policy(style, script),
            version=__version__,
        )
    )
    return cleaned(page)
