#!/usr/bin/env bash
# Set up what measuring needs: packages, virtual environment, native programs. Idempotent: a second
# call does nothing but look. Says what it installs, and without root what it could not install.
# `setup.sh quick` adds what `make test` needs, `setup.sh tests` what all tests, style and types need:
# their packages, every MPI library and the simulator. `setup.sh demo` leaves out what `make demo` does without: of the platforms' packages it
# installs those of guests, and these only where they would not be emulated. `setup.sh cloud` only
# installs the packages of a control plane of OpenStack, which take two minutes. `setup.sh python` only
# makes the Python environment of `tests`: with it `make quick` begins at once.
set -euo pipefail
cd "$(dirname "$0")/.."
aim=${1:-} # empty, demo, quick, tests, python or cloud

say() { printf 'setup: %s\n' "$*" >&2; }

packages() { # Debian packages that the table of programs marks so in "set-up", for a purpose, or not
    awk -F'|' -v want="$1" -v for_what="${2:-.}" -v not_for="${3:-^$}" \
        '!/^#/ { mark = $4; gsub(/ /, "", mark)
                 if (mark == want && $7 ~ for_what && $7 !~ not_for) print $2 }' \
        src/bareline/host/programs.txt | tr -s ' ' '\n' | sed '/^$/d' | sort -u
}

missing_of() { # those of the given packages that are not installed
    local package
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' ||
            echo "$package"
    done
}

optional_packages() {
    case $aim in
    tests) packages optional ;;
    quick) packages optional . 'vm|slurm|sim$|report|benchmarks|filesystem$|applications|Arm$' | grep -v 'mpich\|chromium' ;;
    cloud) packages cloud ;;
    demo) ! scripts/kvm.sh >/dev/null || packages optional '^ platforms? .*vm' ;;
    *) packages optional . '^ (tests|benchmarks)' ;;
    esac
}

install_packages() {
    if ! command -v apt-get >/dev/null; then
        say "no apt-get here: using what is installed (\`bareline doctor\` says what is missing)"
        return
    fi
    local needed optional
    mapfile -t needed < <(missing_of $(packages needed))
    mapfile -t optional < <(missing_of $(optional_packages))
    [ $((${#needed[@]} + ${#optional[@]})) -gt 0 ] || return 0
    if [ "$(id -u)" -ne 0 ]; then
        say "not root, so not installed: ${needed[*]} ${optional[*]}"
        say "to get them: sudo apt-get install ${needed[*]} ${optional[*]}"
        return
    fi
    say "installing packages: ${needed[*]} ${optional[*]}"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -q >&2
    if [ ${#needed[@]} -gt 0 ]; then
        apt-get install -y -q --no-install-recommends "${needed[@]}" >&2
    fi
    # One that this release lacks must not keep the others away.
    if [ ${#optional[@]} -gt 0 ] &&
        ! apt-get install -y -q --no-install-recommends "${optional[@]}" >&2; then
        local package
        for package in "${optional[@]}"; do
            apt-get install -y -q --no-install-recommends "$package" >&2 ||
                say "could not install $package; what needs it will be skipped"
        done
    fi
}

find_python() {
    local name
    for name in python3 python3.13 python3.12 python3.11; do
        if command -v "$name" >/dev/null &&
            "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11, 2))' 2>/dev/null; then
            echo "$name"
            return
        fi
    done
    say "Python 3.11.2 or newer is needed and not on the path"
    exit 1
}

make_environment() {
    local stamp=.venv/.stamp libvirt='' want pinned=(-r scripts/requirements.txt)
    if [ "$aim" = quick ]; then
        stamp+=-quick
        pinned+=(-r scripts/requirements-tests.txt)
    elif [ "$aim" = tests ]; then
        stamp+=-tests
        pinned+=(-r scripts/requirements-tests.txt -r scripts/requirements-checks.txt
            -r scripts/requirements-clouds.txt)
    fi
    if pkg-config --exists libvirt 2>/dev/null; then libvirt=yes; fi
    # With libvirt installed since then there is more to do.
    want=$(echo "$libvirt" | cat - pyproject.toml scripts/requirements*.txt scripts/setup.sh | sha256sum)
    if [ -x .venv/bin/bareline ] && grep -qsx "$want" .venv/.stamp-tests "$stamp"; then
        return
    fi
    local python
    python=$(find_python)
    [ -x .venv/bin/python ] || {
        say "making .venv with $($python --version)"
        "$python" -m venv .venv
    }
    say "installing Python packages into .venv"
    .venv/bin/python -m pip install -q --disable-pip-version-check "${pinned[@]}" >&2
    .venv/bin/python -m pip install -q --disable-pip-version-check --no-deps -e . >&2
    if [ -n "$libvirt" ] && [ "$aim" != quick ]; then
        .venv/bin/python -m pip install -q --disable-pip-version-check \
            -r scripts/requirements-vm.txt >&2 ||
            say "libvirt's Python binding does not build here: virtual machines will be skipped"
    elif [ "$aim" != demo ] && [ "$aim" != quick ]; then
        say "libvirt-dev is not installed: virtual machines will be skipped"
    fi
    echo "$want" >"$stamp"
}

build_programs() {
    local flavour built=0
    for flavour in "$@"; do
        if command -v "mpicc.$flavour" >/dev/null; then
            .venv/bin/python -m bareline build --mpi "$flavour" >&2 && built=1
        fi
    done
    [ "$built" = 1 ] || .venv/bin/python -m bareline build >&2 ||
        say "the native programs could not be built: \`bareline doctor\` says what is missing"
}

build_simulated() { # every simulated platform runs the same programs
    if command -v smpicc >/dev/null; then
        .venv/bin/python -m bareline build --on sim-10g >&2 ||
            say "the programs could not be built for the simulator: \`bareline doctor\` says why"
    fi
}

if [ "$aim" = python ]; then
    aim=tests
    make_environment
    exit 0
fi
install_packages
[ "$aim" != cloud ] || exit 0 # after `setup.sh tests`
make_environment
if [ "$aim" = tests ]; then
    build_programs openmpi mpich
    build_simulated
else
    build_programs openmpi
fi
[ "$SECONDS" -lt 5 ] || say "ready after $SECONDS s"
