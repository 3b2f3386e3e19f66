#!/usr/bin/env bash
# All tests. Without arguments in two halves: what needs no real thing on every core at once, then
# what starts MPI jobs, hosts, guests, clusters and browsers. The second half goes in two lanes,
# because it waits more than it computes: guests and simulations in one, what starts MPI jobs on this
# machine in the other. With arguments, those tests as pytest chooses them.
set -uo pipefail
cd "$(dirname "$0")/.."
pytest=".venv/bin/python -m pytest"
[ $# -eq 0 ] || exec $pytest "$@"
real="mpi or netns or vm or slurm or openstack or sim or browser"
own_lane="tests/platforms/vm tests/platforms/sim"
status=0
$pytest -n auto --dist loadfile -m "not ($real)" --durations=10 || status=$?
log=$(mktemp)
trap 'rm -f "$log"' EXIT
$pytest -m "$real" --durations=10 $own_lane >"$log" 2>&1 &
lane=$!
$pytest -m "$real" --durations=10 $(printf -- '--ignore=%s ' $own_lane) || status=$?
wait "$lane" || status=$?
cat "$log"
exit "$status"
