#!/usr/bin/env bash
# The tests: `test.sh quick` what `make test` runs, `test.sh rest` all others, `test.sh all` both,
# anything else goes to pytest as it is. What needs no real thing runs on every core at once; what
# starts MPI jobs, hosts, guests and simulations runs in lanes beside each other, because each of them
# waits half of the time. The lanes of guests and clusters go from the beginning: they wait most, for
# an image and for daemons. What belongs to one kind of machine stays in one lane, so that an image or
# a cluster is made once, and all lanes end at about the same time.
set -uo pipefail
cd "$(dirname "$0")/.."
pytest=".venv/bin/python -m pytest"
case ${1:-} in
quick | rest) pytest+=" --$1" ;;
all) ;;
*) exec $pytest "$@" ;;
esac
part=$1
real="mpi or netns or vm or slurm or openstack or sim or browser"
# The first two begin at once. Beside them there is one that takes all that is not named here.
lanes=("tests/platforms/vm" "tests/platforms/cluster" "tests/profile tests/platforms/sim tests/report")
[ "$part" != quick ] || lanes=("tests/platforms/cluster tests/platforms/launchers tests/profile")
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
    $pytest -q -m "$real" --durations=10 -o cache_dir=".pytest_cache/lane-$1" ${lanes[$1]} \
        >"$folder/$1" 2>&1 &
    running+=($!)
}

begin 0
[ "$part" = quick ] || begin 1
# Files in the order of tests/conftest.py, the slowest first, and not by their number of tests.
failed=()
$pytest -q -n auto --dist loadfile --no-loadscope-reorder -m "not ($real)" --durations=10 \
    -o cache_dir=.pytest_cache/lane-first || failed+=("$? first")
[ "$part" = quick ] || begin 2
others=($(printf -- '--ignore=%s ' ${lanes[@]}))
$pytest -q -m "$real" --durations=10 -o cache_dir=.pytest_cache/lane-rest "${others[@]}" ||
    failed+=("$? rest")
for lane in "${!running[@]}"; do
    wait "${running[lane]}" || failed+=("$? $lane")
    cat "$folder/$lane"
done
running=()
# Real daemons, guests and ranks that poll depend on who else wants the processors. What fails
# beside the other lanes has one more try alone, which says whether it was broken or only starved.
again=0
for lane in "${failed[@]}"; do
    case ${lane%% *} in
    1) ;;
    5) continue ;; # this part has no test in that lane
    *) # not failed tests, but a session that ended otherwise
        status=${lane%% *}
        continue
        ;;
    esac
    echo "once more, alone: what failed beside the other lanes" >&2
    cache=".pytest_cache/lane-${lane#* }"
    count=$(.venv/bin/python -c 'import json, sys; print(len(json.load(open(sys.argv[1]))))' \
        "$cache/v/cache/lastfailed")
    again=$((again + count))
    $pytest -o cache_dir="$cache" --last-failed --last-failed-no-failures none -v || status=$?
done
.venv/bin/python scripts/budgets.py "$BARELINE_TESTS_SPENT"
echo "second tries: $again"
if [ -n "${CI:-}" ] && [ "$again" -gt 2 ]; then
    echo "more than two tests needed a second try: they depend on the load, mend them" >&2
    status=1
fi
exit "$status"
