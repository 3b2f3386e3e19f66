#!/usr/bin/env bash
# Performance of bareline itself and of its benchmarks; prints, never fails on a figure.
set -euo pipefail
cd "$(dirname "$0")/.."
for program in benchmarks/*.py; do
    # Checks results for half an hour, measures nothing.
    [ "$program" = benchmarks/npb_verify.py ] && continue
    printf '\n== %s\n' "$program"
    .venv/bin/python "$program"
done
