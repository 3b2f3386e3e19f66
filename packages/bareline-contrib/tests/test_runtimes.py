"""Enroot and Sarus: their command lines, and that platform files know them."""

from __future__ import annotations

import pytest
from bareline_contrib.runtimes import ENROOT, SARUS
from pydantic import ValidationError

from bareline.platforms.hosts.layers.container.options import Container
from bareline.platforms.hosts.layers.container.runtimes import Box, ImageKind, runtimes

BOX = Box("org/hpc:1", ImageKind.STORED, ("/tmp",), ("/cache",), "/runs/x", "bareline-1")
NAMES = "$(env | sed -n 's/^\\([A-Za-z_][A-Za-z0-9_]*\\)=.*/--env \\1/p')"


def test_a_rank_starts_in_a_container_of_its_own():
    line = SARUS.started(BOX)[2].splitlines()[-1]
    assert line.startswith(
        "exec sarus run --mount=type=bind,source=/cache,destination=/cache,readonly "
        "--mount=type=bind,source=/tmp,destination=/tmp org/hpc:1 sh -c "
    )
    line = ENROOT.started(BOX)[2].splitlines()[-1]
    assert line.startswith(
        f"exec enroot start {NAMES} --mount /cache:/cache:none:x-create=dir,bind,ro "
        "--mount /tmp:/tmp org/hpc:1 sh -c "
    )


def test_ranks_join_a_container_of_enroot_by_its_holder():
    argv = ENROOT.joined(BOX)
    assert f'exec enroot exec {NAMES} "$pid" sh -c ' in argv[2]
    assert 'read -r pid </runs/x/"$(uname -n)" || exit 125\n' in argv[2]
    assert "echo ready && exec cat >/dev/null" in ENROOT.holder(BOX)[2]
    assert not SARUS.joins


def test_the_package_brings_them():
    assert {"enroot", "sarus"} <= set(runtimes())
    assert Container(runtime="enroot", image="org/hpc:1", share="node").kind is ImageKind.STORED
    with pytest.raises(ValidationError, match='write share = "rank"'):
        Container(runtime="sarus", image="org/hpc:1", share="node")
