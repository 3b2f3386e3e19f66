#!/usr/bin/env bash
# usage: scripts/wheel_alone.sh
#
# Measure with the wheel by itself. Wheel and source distribution are built from this clone, and the
# source distribution has to build the same wheel. The wheel is installed into an empty environment.
# Then doctor, two short studies, their comparison and their page, in a mount namespace in which the
# folder of the clone is empty, with a cache folder of its own: the native programs are built from the
# sources that the wheel brings. Needs root, and `make setup-quick` before.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'wheel: %s\n' "$*" >&2; }
die() {
    say "$*"
    exit 1
}

[ "$(id -u)" -eq 0 ] || die "only root can hide the clone: sudo $0"
.venv/bin/python -c 'import hatchling' 2>/dev/null || die "hatchling is missing: make setup-quick"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
say "building wheel and source distribution"
.venv/bin/python -m hatchling build -d "$work/dist" >/dev/null
mkdir "$work/source"
tar -xzf "$work"/dist/*.tar.gz -C "$work/source" --strip-components=1
(cd "$work/source" && "$OLDPWD/.venv/bin/python" -m hatchling build -t wheel -d "$work/again" >/dev/null)
cmp "$work"/dist/*.whl "$work"/again/*.whl || die "the source distribution builds another wheel"

say "installing the wheel into an empty environment"
python3 -m venv "$work/empty"
"$work/empty/bin/pip" install -q --disable-pip-version-check -c scripts/requirements.txt "$work"/dist/*.whl

without_clone() { # in the namespaces: CLONE WORK
    set -euo pipefail
    mount -t tmpfs tmpfs "$1"
    mkdir "$2/home" "$2/user"
    cd "$2/user"
    export HOME=$2/home PATH=$2/empty/bin:$PATH
    unset BARELINE_CACHE
    measure() { # NAME OPTIONS...: a study with few launches, its comparison and its page
        local name=$1
        shift
        bareline run quick --launches 6 --no-control --out "$name" "$@"
        bareline compare "$name"
        test -s "$(bareline report "$name" | tail -n 1)"
    }
    bareline --version
    bareline doctor
    measure alone --scale one-node
    measure hosts --on bare-pair --on net-10g
}
unshare --mount --propagation private \
    bash -c "$(declare -f without_clone); without_clone \"\$@\"" without_clone "$PWD" "$work" ||
    die "the wheel by itself does not do what a clone does"
say "the wheel by itself measured, compared and reported, in $SECONDS s"
