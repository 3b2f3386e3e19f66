#!/usr/bin/env bash
# One whole story: measure two hosts behind links of 10 and 1 Gb/s, and virtual machines where the
# processor really runs them; profile an ocean model, predict what it takes behind the slowest link,
# hold that against what it took there, say where the loss comes from. What it prints begins with the
# answer, and ends with the page and what to type next.
set -euo pipefail
cd "$(dirname "$0")/.."
bareline=.venv/bin/bareline

note() { printf 'demo: %s\n' "$*" >&2; }
chapter() { printf '\n%s\n' "== $* =="; }

tell() { # what a command prints, or in a line why it could not
    local said
    if said=$("$@" 2>&1); then
        printf '%s\n' "$said"
    else
        note "${said##*$'\n'}"
        return 1
    fi
}

obstacle() { # why a platform cannot be used here, with the remedy; nothing where it can
    $bareline platforms --json | .venv/bin/python -c '
import json, sys
row = next(row for row in json.load(sys.stdin) if row["platform"] == sys.argv[1])
if not row["available"]:
    print("; ".join(filter(None, [row["reason"], row["hint"]])))' "$1"
}

emulated() { # why guests would be emulated here; nothing where one was seen to boot with KVM
    scripts/kvm.sh || return 0
    .venv/bin/python -c '
from bareline.host.cache import cache_folder
from bareline.platforms.made.vm.preflight import kvm_verdict
from bareline.platforms.made.vm.image import built_image
from bareline.vocabulary.errors import BarelineError
import sys
try:
    image = built_image(cache_folder(), lambda text: print(f"demo: {text}", file=sys.stderr))
    print(kvm_verdict(cache_folder(), image).reason)
except BarelineError as error:
    print(error.what)'
}

hosts=$(obstacle net-1g)
if [ -z "$hosts" ]; then
    base=bare-pair to=net-1g platforms=(bare-pair net-10g net-1g)
else
    note "two hosts cannot be made ($hosts)"
    note "so one node stands for them: shared memory against TCP over loopback"
    base=bare to=bare-tcp platforms=(bare bare-tcp)
fi
guests=$(emulated)
[ -n "$guests" ] || [ -n "$hosts" ] || platforms+=(vm-virtio)

# What is worth measuring next, of what works here.
if [ -z "$guests" ]; then
    further="$bareline run nebula --scale small"
elif [ -z "$hosts" ]; then
    further="$bareline run quick"
else
    further="$bareline run quick --scale one-node"
fi

note "measuring ${platforms[*]}"
on=()
for platform in "${platforms[@]}"; do on+=(--on "$platform"); done
status=0
run=$($bareline run demo "${on[@]}" --baseline "$base" | tail -n 1) || status=$?
# 3: some trials failed; the rest is worth a page that says so.
[ "$status" = 0 ] || [ "$status" = 3 ] || exit "$status"

onward="$bareline predict app.ocean --from $run --what-if bandwidth=x2"
forecast=$(tell $bareline forecast --from "$run" --on "$base" --to "$to" -- app.ocean) || {
    note "so there is no prediction this time: it needs a machine that other programs leave alone"
    onward="make demo          # again, when nothing else runs"
}
# The page draws predictions for all platforms.
$bareline predict --validate "$run" >/dev/null 2>&1 || true
loss=$(tell $bareline explain "$run" --app app.ocean --platform "$to") || true
page=$($bareline report "$run" | tail -n 1)
# The answer first; what it rests on follows.
$bareline compare "$run" | sed -n '1,/^$/p'
if [ -n "$forecast" ]; then
    printf 'An ocean model, profiled on %s:\n%s\n' "$base" "$forecast"
fi
if [ -n "$loss" ]; then
    chapter "Where its loss on $to comes from"
    printf '%s\n' "$loss"
fi
chapter "What next"
if [ -n "$guests" ]; then
    echo "Virtual machines would be emulated here: $guests."
    echo "To compare their networks anyway: make setup && $bareline run ladder-net"
fi
cat <<END

The page:     $(realpath "$page")
The results:  $run
Go on:        $bareline compare $run
              $onward
              $further
END
