"""What the timed part of our NAS Parallel Benchmarks executes, instruction by instruction.

    python benchmarks/npb_instructions.py [--class-name W] [--kernels ep is ...]

Valgrind's callgrind runs the generic build (SSE2) on one rank; every executed instruction is looked
up in the disassembly. The table shows floating-point operations for each operation that NPB counts,
the share of conversions between integers and reals, the share of what libraries copy and clear
(memcpy, memset, gfortran's packing of arrays), and the functions that take most.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bareline.build.native import build_native
from bareline.host.cache import cache_folder
from bareline.platforms.hosts.launchers.installation import find_mpi

KERNELS = ("ep", "is", "cg", "mg", "ft", "bt", "sp", "lu")
TIMED = ("__bl_timing_MOD_timing_begin", "__bl_timing_MOD_timing_end")
_ARITHMETIC = re.compile(r"(?:add|sub|mul|div|sqrt|max|min)([ps])d")
_CONVERSION = re.compile(r"cvt\w+")
_COPY = re.compile(r"mem(cpy|move|set)|gfortran_internal_(un)?pack")
_NAMED = re.compile(r"\((\d+)\)(?: (.*))?")
_COST = re.compile(r"(0x[0-9a-f]+|[+-]\d+|\*) \S+ (\d+)")


@dataclass(frozen=True, slots=True)
class Executed:
    """Executions of one instruction."""

    program: str
    function: str
    address: int
    times: int


def executed(profile: Path) -> Iterator[Executed]:
    """Read callgrind's file: own costs only, not those of what is called."""
    names: dict[str, dict[str, str]] = {"ob": {}, "fn": {}}
    now = {"ob": "", "fn": ""}
    address, of_call = 0, False
    for line in profile.read_text().splitlines():
        key, _, rest = line.partition("=")
        if key in ("ob", "fn", "cob", "cfn"):
            match = _NAMED.fullmatch(rest)
            if match is None:
                continue
            table = names[key[-2:]]
            if match[2]:
                table[match[1]] = match[2]
            if key in now:
                now[key] = table.get(match[1], "")
        elif key == "calls":
            of_call = True
        elif cost := _COST.fullmatch(line):
            place = cost[1]
            if place != "*":
                address = int(place, 16) if place.startswith("0x") else address + int(place)
            if not of_call:
                yield Executed(now["ob"], now["fn"], address, int(cost[2]))
            of_call = False


def disassembly(program: Path) -> dict[int, str]:
    """Return the name of the instruction at each address."""
    line = ["objdump", "--disassemble", "--no-show-raw-insn", str(program)]
    text = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    found = re.findall(r"^ *([0-9a-f]+):\t(\S+)", text, re.MULTILINE)
    return {int(address, 16): name for address, name in found}


def row(kernel: str, program: Path, class_name: str, folder: Path) -> str:
    """Run one benchmark and describe it."""
    out = folder / kernel
    line = ["valgrind", "--tool=callgrind", "--dump-instr=yes", f"--callgrind-out-file={out}"]
    line += [f"--dump-before={name}" for name in TIMED]
    done = subprocess.run(
        [*line, str(program), class_name], capture_output=True, text=True, check=True
    )
    operations = json.loads(done.stdout.splitlines()[1])["operations"]
    # Dumps are numbered: set-up and warm-up, the timed part, the rest.
    instructions = disassembly(program)
    total = flops = conversions = copies = 0
    functions: Counter[str] = Counter()
    for item in executed(out.with_name(f"{kernel}.2")):
        total += item.times
        functions[item.function.rpartition("_MOD_")[2]] += item.times
        copies += item.times * bool(_COPY.search(item.function))
        if Path(item.program).name != program.name:
            continue
        name = instructions.get(item.address, "")
        if match := _ARITHMETIC.fullmatch(name):
            flops += item.times * (2 if match[1] == "p" else 1)
        conversions += item.times * bool(_CONVERSION.match(name))
    top = ", ".join(f"`{name}` {count / total:.0%}" for name, count in functions.most_common(4))
    return (
        f"| {kernel.upper()} | {flops / operations:.2f} | {conversions / total:.2%} "
        f"| {copies / total:.2%} | {top} |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--class-name", default="W")
    parser.add_argument("--kernels", nargs="+", default=list(KERNELS), choices=KERNELS)
    options = parser.parse_args()
    if shutil.which("valgrind") is None:
        sys.exit("valgrind is not installed; install it with `apt-get install valgrind`")
    build = build_native(find_mpi("auto"), cache_folder())
    programs = build.path / "libexec" / "bareline" / "kernels" / "generic"
    print("| | operations done to counted | conversions | copies, clearing | functions |")
    print("|---|---:|---:|---:|---|")
    with tempfile.TemporaryDirectory() as folder:
        for kernel in options.kernels:
            program = programs / f"npb_{kernel}"
            print(row(kernel, program, options.class_name, Path(folder)), flush=True)


if __name__ == "__main__":
    main()
