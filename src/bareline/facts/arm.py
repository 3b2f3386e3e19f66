"""Facts of Arm processors: names, operations per cycle, vectors, and clock frequencies."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bareline.facts.sections import Found, integer

#: Widths of SVE vectors: multiples of 128 bits up to 2048.
_MOST_VECTOR_BYTES = 256
_VECTOR_UNIT_BYTES = 16
_NEON_BITS = 128


@dataclass(frozen=True, slots=True)
class ArmCore:
    """A row of ``arm_cores.toml``.

    - `needs_bits`: the smallest vector width for which `flops_per_cycle` is valid.
    """

    name: str
    flops_per_cycle: int
    why: str
    source: str
    needs_bits: int = 0


@cache
def arm_cores() -> Mapping[str, ArmCore]:
    """Return the known cores; the key is "IMPLEMENTER PART", in the form of /proc/cpuinfo."""
    text = Path(__file__).with_name("arm_cores.toml").read_text(encoding="utf-8")
    return {key: ArmCore(**row) for key, row in tomllib.loads(text).items()}


def find_core(first: Mapping[str, str]) -> ArmCore | None:
    """Return the Arm core that a block of /proc/cpuinfo describes; None if it is not known."""
    words = (first.get("CPU implementer", ""), first.get("CPU part", ""))
    return arm_cores().get(" ".join(words).lower())


def vector_bits(sets: Found, default_length: str | None) -> int | None:
    """Return the width of an Arm core's vectors in bits; None if it is unknown.

    - `sets`: the facts of instruction sets.
    - `default_length`: the size of an SVE vector in bytes, from
      /proc/sys/abi/sve_default_vector_length.
    """
    if not sets.get("cpu.flags.sve"):
        return _NEON_BITS if sets.get("cpu.flags.neon") else None
    size_bytes = integer(default_length)
    if size_bytes is None or not 0 < size_bytes <= _MOST_VECTOR_BYTES:
        return None
    return None if size_bytes % _VECTOR_UNIT_BYTES else 8 * size_bytes


def tree_hz(octets: str) -> float | None:
    """Return a clock frequency of the device tree in Hz; None if the boot loader wrote 0.

    - `octets`: one or two big-endian cells, as ``od -t u1`` prints them.
    """
    numbers = [integer(word) for word in octets.split()]
    if len(numbers) not in (4, 8):
        return None
    value = 0
    for number in numbers:
        if number is None or number > 255:
            return None
        value = value << 8 | number
    return float(value) or None


def dmi_hz(text: str, title: str) -> float | None:
    """Return a clock frequency of the first populated processor in Hz, or None.

    The table of a hypervisor is not read, because its numbers are invented.

    - `text`: the output of ``dmidecode -t 4``.
    - `title`: ``Current Speed`` or ``Max Speed``.
    """
    for block in text.split("\n\n"):
        rows = _dmi_rows(block)
        if "Processor Information" not in block or "Unpopulated" in rows.get("Status", ""):
            continue
        if rows.get("Manufacturer", "").lower() in ("qemu", "kvm", "bochs", "red hat"):
            return None
        words = rows.get(title, "").split()
        if len(words) == 2 and words[1] == "MHz":
            mhz = integer(words[0])
            return 1e6 * mhz if mhz else None
    return None


def _dmi_rows(block: str) -> dict[str, str]:
    rows = {}
    for line in block.splitlines():
        name, colon, value = line.partition(":")
        if colon:
            rows[name.strip()] = value.strip()
    return rows
