#!/usr/bin/env bash
# All tests. Without arguments in two halves: what needs no real thing on every core at once, then
# what starts MPI jobs, hosts, clusters and simulations, in lanes beside each other, because each of
# them waits half of the time. The lane of guests goes from the beginning: it waits most, first of all
# for its image. What belongs to one kind of machine stays in one lane, so that an image or a cluster
# is made once, and all lanes end at about the same time. With arguments, those tests as pytest
# chooses them.
set -uo pipefail
cd "$(dirname "$0")/.."
pytest=".venv/bin/python -m pytest"
[ $# -eq 0 ] || exec $pytest "$@"
real="mpi or netns or vm or slurm or openstack or sim or browser"
# The first one begins at once. Beside them there is one that takes all that is not named here.
lanes=(
    "tests/platforms/vm tests/report"
    "tests/platforms/cluster tests/platforms/sim tests/build tests/test_native.py"
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
# Files in the order of tests/conftest.py, the slowest first, and not by their number of tests.
failed=()
$pytest -n auto --dist loadfile --no-loadscope-reorder -m "not ($real)" --durations=10 \
    -o cache_dir=.pytest_cache/lane-first || failed+=("$? first")
begin 1
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
