#!/usr/bin/env bash
# Performance of bareline itself and of its benchmarks; prints, never fails on a figure.
#   make bench [BENCH="npb storage"]
set -euo pipefail
cd "$(dirname "$0")/.."
# npb_verify checks results and npb_instructions counts instructions, both for many minutes; they
# measure no time.
[ $# -gt 0 ] || set -- $(basename -s .py benchmarks/*.py | grep -vx 'npb_verify\|npb_instructions')
for name in "$@"; do
    printf '\n== %s\n' "$name"
    .venv/bin/python "benchmarks/$name.py" || printf '%s ended with %d\n' "$name" $?
done
