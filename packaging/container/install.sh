#!/bin/sh
# Installs bareline into a Debian image: what it measures with, the wheel, and its own programs
# built against the image's MPI. Used by the Dockerfile and by the Apptainer definition.
#
#   install.sh WHEEL [openmpi|mpich]
set -eu
wheel=$1
mpi=${2:-openmpi}

export DEBIAN_FRONTEND=noninteractive
apt-get update
apt-get install --yes --no-install-recommends \
    python3 python3-venv cmake ninja-build gcc gfortran libc6-dev \
    libopenblas-dev libfftw3-dev "libscalapack-$mpi-dev" \
    "lib$mpi-dev" "$([ "$mpi" = mpich ] && echo mpich || echo openmpi-bin)" \
    openssh-client iproute2 numactl hwloc nuttcp iperf3 fio
rm -rf /var/lib/apt/lists/*

python3 -m venv /opt/bareline
/opt/bareline/bin/pip install --no-cache-dir "$wheel"
ln -sf /opt/bareline/bin/bareline /usr/local/bin/bareline

# One cache for every user of the image: its programs are there, nobody builds them again.
BARELINE_CACHE=/opt/bareline/cache bareline build
chmod -R a+rX /opt/bareline
