"""Facts of Arm processors: cores by their part, width of vectors, clocks of the firmware."""

from __future__ import annotations

import pytest

from bareline.facts.arm import arm_cores, dmi_hz, tree_hz
from bareline.facts.gather import parse_node
from bareline.facts.processor import parse_processor
from bareline.vocabulary.facts import FACT_KEYS

_NEON = "fp asimd evtstrm aes"
_CPUINFO = """\
processor\t: 0
BogoMIPS\t: 2100.00
Features\t: {features}
CPU implementer\t: {implementer}
CPU architecture: 8
CPU variant\t: 0x1
CPU part\t: {part}
CPU revision\t: 1

"""
_LENGTH = "/proc/sys/abi/sve_default_vector_length"
_NOMINAL = "/sys/devices/system/cpu/cpu0/acpi_cppc/nominal_freq"
_DMI = """\
# dmidecode 3.4
Handle 0x0004, DMI type 4, 48 bytes
Processor Information
\tStatus: Unpopulated
\tCurrent Speed: Unknown

Handle 0x0005, DMI type 4, 48 bytes
Processor Information
\tManufacturer: {maker}
\tMax Speed: 3300 MHz
\tCurrent Speed: {speed}
\tStatus: Populated, Enabled
"""


def node(part="0xd0c", implementer="0x41", features=_NEON, length="", **sections):
    cpuinfo = _CPUINFO.format(features=features, implementer=implementer, part=part)
    files = f"{_LENGTH}:{length}\n" if length else ""
    return parse_processor({"cpuinfo": cpuinfo, "cpu": files, **sections})


@pytest.mark.parametrize(
    ("part", "implementer", "length", "name", "per_cycle", "isa"),
    [
        ("0xd0c", "0x41", "", "Neoverse-N1", 8, "NEON, 128 bits"),
        ("0xd40", "0x41", "32", "Neoverse-V1", 16, "SVE, 256 bits"),
        ("0xd49", "0x41", "16", "Neoverse-N2", 8, "SVE2, 128 bits"),
        ("0xd4f", "0x41", "16", "Neoverse-V2", 16, "SVE2, 128 bits"),
        ("0x001", "0x46", "64", "A64FX", 32, "SVE, 512 bits"),
        # Restricted to shorter vectors it does less, and how much less is not known.
        ("0x001", "0x46", "32", "A64FX", None, "SVE, 256 bits"),
        ("0xac3", "0xc0", "", "Ampere-1", 8, "NEON, 128 bits"),
    ],
)
def test_a_core_is_known_by_its_part(part, implementer, length, name, per_cycle, isa):
    sve2 = " sve2" if "SVE2" in isa else ""
    features = f"{_NEON} sve{sve2}" if length else _NEON
    tree = {"device-tree": "/proc/device-tree/cpus/cpu@0/clock-frequency: 119 53 148 0\n"}
    facts = node(part, implementer, features, length, **tree)
    assert (facts["cpu.model"], facts["cpu.isa"]) == (name, isa)
    assert facts.get("cpu.flops_per_cycle") == per_cycle
    assert (facts["cpu.base_hz"], facts["cpu.base_from"]) == (2e9, "device tree")
    peak = None if per_cycle is None else 2e9 * per_cycle
    assert facts.get("cpu.peak_flops_per_core") == peak


@pytest.mark.parametrize("length", ["", "0", "-16", "24", "512", "many", "1e9"])
def test_a_width_that_makes_no_sense_is_unknown(length):
    facts = node("0x001", "0x46", f"{_NEON} sve", length)
    assert facts["cpu.isa"] == "SVE, width unknown"
    assert "cpu.vector_bits" not in facts
    assert "cpu.flops_per_cycle" not in facts


def test_an_unknown_core_has_its_vectors_but_no_peak():
    facts = node("0xfff", "0x99", lscpu="Model name: Tomorrow-1\n", cpu=f"{_NOMINAL}:2600\n")
    assert facts["cpu.model"] == "Tomorrow-1"
    assert (facts["cpu.base_hz"], facts["cpu.base_from"]) == (2.6e9, "ACPI CPPC")
    assert facts["cpu.vector_bits"] == 128
    assert "cpu.peak_flops_per_core" not in facts


def test_without_a_declared_clock_it_is_unknown():
    facts = node()
    assert "cpu.base_hz" not in facts
    assert facts["cpu.base_from"] == "unknown"
    assert "cpu.peak_flops" not in facts


@pytest.mark.parametrize(
    ("maker", "speed", "base_hz"),
    [
        ("Ampere(R)", "3000 MHz", 3e9),
        ("Ampere(R)", "Unknown", None),
        ("Ampere(R)", "0 MHz", None),
        ("QEMU", "2000 MHz", None),  # a hypervisor's invention
    ],
)
def test_the_firmware_table_has_the_clock(maker, speed, base_hz):
    facts = node(**{"dmi-processor": _DMI.format(maker=maker, speed=speed)})
    assert facts.get("cpu.base_hz") == base_hz
    assert facts["cpu.base_from"] == ("DMI" if base_hz else "unknown")


def test_the_current_clock_is_that_of_cpufreq_where_cpuinfo_has_none():
    current = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq:1800000\n"
    assert node(cpu=current)["cpu.current_hz"] == 1.8e9


@pytest.mark.parametrize(
    ("octets", "clock_hz"),
    [
        ("0 0 0 0 119 53 148 0", 2e9),
        ("0 0 0 0", None),
        ("1 2 3", None),
        ("256 0 0 0", None),
        ("a b c d", None),
        ("", None),
    ],
)
def test_cells_of_the_device_tree(octets, clock_hz):
    assert tree_hz(octets) == clock_hz


def test_damaged_tables_are_no_clock():
    assert dmi_hz("", "Current Speed") is None
    assert dmi_hz("Processor Information\n\tCurrent Speed", "Current Speed") is None
    assert parse_node("\n\036cpuinfo\nCPU implementer\n\036device-tree\n/proc/x\n\036end\n") == {}


def test_each_core_says_where_its_figure_is_from():
    for key, core in arm_cores().items():
        assert len(key.split()) == 2 and core.source and core.why
        assert core.flops_per_cycle in (8, 16, 32)
    assert "cpu.vector_bits" in FACT_KEYS
