#!/usr/bin/env bash
# Measure the built-in study `quick` on this machine and in virtual machines on it with two kinds
# of network, print the verdict and write the page.
set -euo pipefail
cd "$(dirname "$0")/.."
bareline=.venv/bin/bareline

available() { # whether a platform can be used here
    $bareline platforms --json | .venv/bin/python -c '
import json, sys
rows = {row["platform"]: row for row in json.load(sys.stdin)}
row = rows[sys.argv[1]]
if not row["available"]:
    print("demo: %s is not available: %s; %s" % (sys.argv[1], row["reason"], row["hint"]), file=sys.stderr)
sys.exit(not row["available"])' "$1"
}

if available vm-virtio; then
    platforms="--on bare-pair --on vm-e1000 --on vm-virtio"
elif available net-10g; then
    echo "demo: comparing network namespaces behind shaped links instead" >&2
    platforms="--on bare-pair --on net-10g --on net-1g"
else
    echo "demo: comparing shared memory with TCP over loopback instead, which needs no privilege" >&2
    platforms="--on bare --on bare-tcp"
fi

status=0
# shellcheck disable=SC2086
run=$($bareline run quick $platforms | tail -n 1) || status=$?
# 3: some trials failed; the rest is worth a page that says so.
[ "$status" = 0 ] || [ "$status" = 3 ] || exit "$status"
$bareline compare "$run"
page=$($bareline report "$run" | tail -n 1)
printf '\nThe page:     %s\nThe results:  %s\nNext:         %s\n' \
    "$(realpath "$page")" "$run" "$bareline show $run"
