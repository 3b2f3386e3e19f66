#!/usr/bin/env bash
# A real control plane of OpenStack (scripts/cloud) on this machine: every fault that a cloud has,
# bareline killed at each step, and a study on real guests that ends with a comparison to bare metal.
# Arguments go to pytest. Needs root; installs the distribution's packages of OpenStack.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh cloud
export BARELINE_CLOUD=1
exec .venv/bin/python -m pytest tests/platforms/made/openstack --durations=10 "$@"
