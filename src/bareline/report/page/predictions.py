"""Predictions as files of figures: predicted against measured, and a loss as a waterfall."""

from __future__ import annotations

from pathlib import Path

from bareline.predict.shares import Loss
from bareline.predict.validation import Validation
from bareline.report.figures.figure import Chart
from bareline.report.figures.obstacles import refuse_undrawn
from bareline.report.figures.predictions import predicted_chart, waterfall_chart
from bareline.report.figures.svg import draw, for_file, to_png
from bareline.report.figures.theme import looks
from bareline.vocabulary.errors import StoreError


def write_validation(done: Validation, folder: Path) -> list[Path]:
    """Draw each model's predictions against what was measured, as SVG and PNG.

    Raises ReportError: nothing can be drawn here.
    Raises StoreError: a file cannot be written.
    """
    shown = looks(sorted({trial.platform for trial in done.trials}))
    charts = {
        f"predicted-{score.model}": predicted_chart(
            [trial for trial in done.trials if trial.model == score.model], shown
        )
        for score in done.scores
    }
    return _write(charts, folder)


def write_loss(loss: Loss, folder: Path) -> list[Path]:
    """Draw a loss as a waterfall, as SVG and PNG.

    Raises ReportError: nothing can be drawn here.
    Raises StoreError: a file cannot be written.
    """
    shown = looks([loss.base, loss.platform])
    return _write({f"loss-{loss.platform}": waterfall_chart(loss, shown)}, folder)


def _write(charts: dict[str, Chart], folder: Path) -> list[Path]:
    refuse_undrawn()
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, chart in charts.items():
            drawing = for_file(draw(chart), ())
            for suffix, content in (("svg", drawing.encode()), ("png", to_png(drawing))):
                file = folder / f"{name}.{suffix}"
                file.write_bytes(content)
                written.append(file)
    except OSError as error:
        raise StoreError(
            f"cannot be written: {error.strerror}", where=str(folder), hint="name another folder"
        ) from error
    return written
