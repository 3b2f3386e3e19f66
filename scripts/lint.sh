#!/usr/bin/env bash
# Style, types, imports, packages; then the native programs with warnings as errors, which takes minutes:
# `--no-build` leaves that out.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=.venv/bin
$bin/ruff check src packages tests benchmarks scripts
$bin/ruff format --check src packages tests benchmarks scripts
$bin/mypy
$bin/lint-imports ${CI:+--no-cache} 
# In continuous integration nobody commits what has fallen.
$bin/python scripts/packages.py --hold $([ -n "${CI:-}" ] || echo --lower)
# Limits for the whole, which only fall: `--lower` of these two writes them.
$bin/python scripts/density.py
# A merge of two changes of the command line or of studies leaves files that fit neither.
$bin/python scripts/shell_files.py --check
$bin/python scripts/prose.py
# A new message has no code, and other words leave the list of messages old: `--write` mends both.
$bin/python scripts/messages.py
if command -v clang-format >/dev/null; then
    git ls-files 'native/*.c' 'native/*.h' | xargs -r clang-format --dry-run --Werror
else
    echo "lint: clang-format is not installed, the C code's style is not checked" >&2
fi
changes=$(git ls-files 'native/*.f90' | xargs -r $bin/fprettify --config-file native/.fprettify.rc --diff)
[ -z "$changes" ] || { echo "lint: fprettify would change Fortran files:" "$changes" >&2; exit 1; }
[ "${1:-}" != --no-build ] || exit 0
cmake -S . -B build/strict -G Ninja -DCMAKE_BUILD_TYPE=Release -DBARELINE_STRICT=ON >/dev/null
cmake --build build/strict
