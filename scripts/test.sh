#!/usr/bin/env bash
# All tests. Without arguments in two halves: what needs no real thing on every core at once, then
# what starts MPI jobs, hosts and simulations, in lanes beside each other, because each of them waits
# half of the time. The lanes of guests and clusters go from the beginning: they wait most, for an
# image and for daemons. What belongs to one kind of machine stays in one lane, so that an image or a
# cluster is made once, and all lanes end at about the same time. With arguments, those tests as
# pytest chooses them.
set -uo pipefail
cd "$(dirname "$0")/.."
pytest=".venv/bin/python -m pytest"
[ $# -eq 0 ] || exec $pytest "$@"
real="mpi or netns or vm or slurm or openstack or sim or browser"
# The first two begin at once. Beside them there is one that takes all that is not named here.
lanes=(
    "tests/platforms/vm"
    "tests/platforms/cluster"
    "tests/profile tests/platforms/sim tests/report"
)
status=0
folder=$(mktemp -d)
export BARELINE_TESTS_SPENT=$folder/spent
running=()
end() {
    [ ${#running[@]} -eq 0 ] || kill "${running[@]}" 2>/dev/null
    rm -rf "$folder"
}
trap end EXIT
trap 'exit 130' INT TERM

begin() { # the tests of a lane, by its number
    $pytest -m "$real" --durations=10 -o cache_dir=".pytest_cache/lane-$1" ${lanes[$1]} \
        >"$folder/$1" 2>&1 &
    running+=($!)
}

begin 0
begin 1
# Files in the order of tests/conftest.py, the slowest first, and not by their number of tests.
failed=()
$pytest -n auto --dist loadfile --no-loadscope-reorder -m "not ($real)" --durations=10 \
    -o cache_dir=.pytest_cache/lane-first || failed+=("$? first")
begin 2
others=($(printf -- '--ignore=%s ' ${lanes[@]}))
$pytest -m "$real" --durations=10 -o cache_dir=.pytest_cache/lane-rest "${others[@]}" ||
    failed+=("$? rest")
for lane in "${!lanes[@]}"; do
    wait "${running[lane]}" || failed+=("$? $lane")
    cat "$folder/$lane"
done
running=()
# Real daemons, guests and ranks that poll depend on who else wants the processors. What fails
# beside the other lanes has one more try alone, which says whether it was broken or only starved.
for lane in "${failed[@]}"; do
    if [ "${lane%% *}" != 1 ]; then # not failed tests, but a session that ended otherwise
        status=${lane%% *}
        continue
    fi
    echo "once more, alone: what failed beside the other lanes" >&2
    $pytest -o cache_dir=".pytest_cache/lane-${lane#* }" --last-failed \
        --last-failed-no-failures none -v || status=$?
done
.venv/bin/python scripts/budgets.py "$BARELINE_TESTS_SPENT"
exit "$status"
