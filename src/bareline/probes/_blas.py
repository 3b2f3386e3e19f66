"""Whose kernels a program's OpenBLAS ran: from the header of our own, from what others print.

OpenBLAS chooses its kernels when it is loaded, by the processor's model; one that is newer than
the library may get those of the oldest.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from bareline.vocabulary.instructions import BLAS_KERNELS
from bareline.vocabulary.model import Output, Scalar

#: Has OpenBLAS print its choice on standard error while it is loaded; nothing else changes.
TELL_KERNELS = ("OPENBLAS_VERBOSE", "2")
_PRINTED = re.compile(r"^Core: (\w+)$", re.MULTILINE)


def kernels_of_header(header: Mapping[str, Any]) -> dict[str, Scalar]:
    """Give the fact from the header of one of our programs, empty where it has none."""
    told = header.get("blas_kernels")
    return {BLAS_KERNELS: told} if isinstance(told, str) and told else {}


def kernels_printed(output: Output) -> dict[str, Scalar]:
    """Give the fact from a program that ran with `TELL_KERNELS`; processes may differ."""
    told = sorted(set(_PRINTED.findall(output.stderr)))
    return {BLAS_KERNELS: ", ".join(told)} if told else {}
