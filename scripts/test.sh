#!/usr/bin/env bash
# The tests: `test.sh quick` what `make test` runs, `test.sh rest` all others, `test.sh all` both,
# anything else goes to pytest as it is. What needs no real thing runs on every core at once; what
# starts MPI jobs, hosts, guests and simulations runs in lanes beside each other, because each of them
# waits half of the time. The lanes of guests and clusters go from the beginning: they wait most, for
# an image and for daemons. What belongs to one kind of machine stays in one lane, so that an image or
# a cluster is made once, and all lanes end at about the same time. A test that fails has failed: there
# is no second try. scripts/test_summary.py says at the end what was skipped, what failed and what
# used more than its budget; BARELINE_TESTS_SKIPPED names a file that gets the record of each test
# (tests/common/record.py).
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
lanes=("tests/platforms/made/vm" "tests/platforms/reached" "tests/profile tests/platforms/sim tests/report")
[ "$part" != quick ] || lanes=("tests/platforms/reached tests/platforms/hosts/launchers tests/profile")
# Each test that starts a command would compile all of bareline again.
unset PYTHONDONTWRITEBYTECODE
folder=$(mktemp -d)
export BARELINE_TESTS_RECORD=$folder/record
: >"$BARELINE_TESTS_RECORD"
running=()
end() {
    [ ${#running[@]} -eq 0 ] || kill "${running[@]}" 2>/dev/null
    rm -rf "$folder"
}
trap end EXIT
trap 'exit 130' INT TERM
pytest+=" -q -r fE"
caches=.pytest_cache/lane

begin() { # the tests of a lane, by its number
    $pytest -o cache_dir="$caches-$1" -m "$real" ${lanes[$1]} >"$folder/$1" 2>&1 &
    running+=($!)
}

begin 0
[ "$part" = quick ] || begin 1
ended=()
# Files in the order of tests/conftest.py, the slowest first, and not by their number of tests.
$pytest -o cache_dir="$caches-first" -n auto --dist loadfile --no-loadscope-reorder -m "not ($real)"
ended+=("first=$?")
[ "$part" = quick ] || begin 2
others=($(printf -- '--ignore=%s ' ${lanes[@]}))
$pytest -o cache_dir="$caches-others" -m "$real" "${others[@]}"
ended+=("others=$?")
for lane in "${!running[@]}"; do
    wait "${running[lane]}"
    ended+=("$lane=$?")
    cat "$folder/$lane"
done
running=()
[ -z "${BARELINE_TESTS_SKIPPED:-}" ] || cat "$BARELINE_TESTS_RECORD" >>"$BARELINE_TESTS_SKIPPED"
.venv/bin/python scripts/test_summary.py "$part" "$BARELINE_TESTS_RECORD" "$SECONDS" "${ended[@]}"
