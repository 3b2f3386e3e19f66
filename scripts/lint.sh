#!/usr/bin/env bash
# Style, types, imports, and the native programs with warnings as errors.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=.venv/bin
$bin/ruff check src tests benchmarks scripts
$bin/ruff format --check src tests benchmarks scripts
$bin/mypy
$bin/lint-imports
if command -v clang-format >/dev/null; then
    git ls-files 'native/*.c' 'native/*.h' | xargs -r clang-format --dry-run --Werror
else
    echo "lint: clang-format is not installed, the C code's style is not checked" >&2
fi
git ls-files 'native/*.f90' | while read -r file; do
    $bin/fprettify --config-file native/.fprettify.rc --diff "$file"
done | { ! grep -q . || { echo "lint: fprettify would change Fortran files" >&2; exit 1; }; }
cmake -S . -B build/strict -G Ninja -DCMAKE_BUILD_TYPE=Release -DBARELINE_STRICT=ON >/dev/null
cmake --build build/strict
