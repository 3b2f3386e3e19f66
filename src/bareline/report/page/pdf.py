"""The page as PDF, printed by the installed Chromium: fit to attach to a document."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from bareline.host.tools import find_browser, install_hint
from bareline.vocabulary.errors import StoreError

_LONGEST_S = 180


def print_page(html: str, path: Path) -> Path:
    """Print a page to a PDF file.

    Raises StoreError: no Chromium is installed, it fails, or the file cannot be written.
    """
    browser = find_browser()
    if browser is None:
        raise StoreError(
            "a PDF needs Chromium, which is not installed",
            where=str(path),
            hint=f"{install_hint('chromium')}; or open the HTML page and print it",
        )
    with tempfile.TemporaryDirectory(prefix="bareline-page-") as folder:
        page, printed = Path(folder) / "page.html", Path(folder) / "page.pdf"
        page.write_text(html, encoding="utf-8")
        command = [
            browser,
            "--headless",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            f"--user-data-dir={folder}/profile",
            "--no-pdf-header-footer",
            "--generate-pdf-document-outline",
            f"--print-to-pdf={printed}",
            page.as_uri(),
        ]
        if os.geteuid() == 0:
            # Chromium's sandbox refuses root; the page fetches nothing and runs its own script.
            command.insert(1, "--no-sandbox")
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=_LONGEST_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise StoreError(
                f"Chromium did not print the page: {error}", where=str(path)
            ) from error
        if not printed.exists():
            said = done.stderr.strip().splitlines()
            raise StoreError(
                f"Chromium did not print the page: {said[-1] if said else 'no output'}",
                where=str(path),
                hint="open the HTML page and print it",
            )
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(printed.read_bytes())
        except OSError as error:
            raise StoreError(
                f"cannot be written: {error.strerror}", where=str(path), hint="choose another --out"
            ) from error
    return path
