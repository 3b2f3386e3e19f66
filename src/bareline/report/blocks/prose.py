"""Words and figures of a report, and what orders its blocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from bareline.analysis.words.parts import Sentence
from bareline.report.blocks.table import Table

#: Text, or a sentence whose amounts, intervals and platforms a writer sets apart. Text between
#: backticks is code.
Words = str | Sentence


@dataclass(frozen=True, slots=True)
class Prose:
    """Sentences: one paragraph each, or a list of them."""

    sentences: tuple[Words, ...]
    kind: Literal["paragraphs", "list", "headline"] = "paragraphs"


@dataclass(frozen=True, slots=True)
class Note:
    """What must be known of a block beside it, in lighter ink."""

    text: Words


@dataclass(frozen=True, slots=True)
class Folded:
    """Blocks that open on demand where a writer can fold, under their own line."""

    summary: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """Blocks under a heading that the contents list, or under a lower one within a section.

    One of a `probe` is chosen by its layer's strip; the `first` is shown at first.
    """

    title: str
    blocks: tuple[Block, ...]
    anchor: str = ""
    probe: str = ""
    first: bool = False


Block: TypeAlias = "Table | Prose | Note | Folded | Section | Figure"


if TYPE_CHECKING:
    import altair as alt

    Chart = alt.Chart | alt.LayerChart | alt.FacetChart | alt.VConcatChart | alt.ConcatChart


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure or table of the page.

    - `id`: unique on the page; also the name of the figure's files.
    - `probe`, `layer`: where it belongs; empty for the whole page.
    - `panels`: the drawing, in pieces that the page may put beside each other; none for a table.
    - `names`: what tells the panels apart, e.g. ``16 nodes, 128 ranks``; none where there is one.
    - `large`: the panel that is drawn large at first, by its place; the others stand small beside
      it, and the reader chooses. All are of one size without it.
    - `narrow`: the drawing for screens of less than 40 em; `panels` serve both without it.
    - `folded`: whether its table is folded away even though nothing is drawn.
    - `text_summary`: what the figure shows, for whoever cannot see it.
    - `caveats`: what must be known of the values, in words: stands under the drawing where it is a
      file of its own. On the page the table says it.
    - `sources`: of the published figures that are drawn: where each stands in the page's list, and
      the publication with the place in it.
    - `data`: the numbers in base units, as its CSV file holds them; without them, what the table
      shows.
    """

    id: str
    title: str
    caption: str = ""
    probe: str = ""
    layer: str = ""
    panels: tuple[Chart, ...] = ()
    names: tuple[str, ...] = ()
    large: int | None = None
    narrow: tuple[Chart, ...] = ()
    wide: bool = False
    folded: bool = False
    text_summary: str = ""
    caveats: tuple[str, ...] = ()
    sources: tuple[tuple[str, str], ...] = ()
    data_table: Table | None = None
    data: tuple[Mapping[str, str | int | float | bool | None], ...] = ()

    @property
    def chart(self) -> Chart | None:
        """The whole drawing as one specification with its title, two panels to a row."""
        if not self.panels:
            return None
        title = f"{self.probe}: {self.title}" if self.probe else self.title
        import altair as alt

        return alt.concat(*self.panels, columns=2, spacing=24).properties(
            title=alt.Title(title, fontSize=13, offset=14)
        )
