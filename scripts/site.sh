#!/usr/bin/env bash
# Build the documentation's site into build/site, or into the given folder. What builds it is installed
# into .venv the first time; the build itself needs no network. A link that leads nowhere is an error
# (not with --quiet, which hides warnings from --strict, too).
set -euo pipefail
cd "$(dirname "$0")/.."
.venv/bin/python -c 'import material' 2>/dev/null ||
    .venv/bin/python -m pip install -q --disable-pip-version-check -r scripts/requirements-docs.txt >&2
NO_MKDOCS_2_WARNING=1 .venv/bin/python -m mkdocs build --strict --site-dir "${1:-build/site}"
echo "site: ${1:-build/site}/index.html" >&2
