"""Facts of the processor: peak rate, caches, quota."""

from __future__ import annotations

import pytest

from bareline.facts.processor import parse_processor


def processor(model: str, vendor: str, family: int, number: int, flags: str) -> dict[str, object]:
    text = (
        f"processor\t: 0\nvendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: {number}\n"
        f"model name\t: {model}\nphysical id\t: 0\ncore id\t\t: 0\nflags\t\t: {flags}\n"
        "bogomips\t: 4800.00\n"
    )
    return dict(parse_processor({"cpuinfo": text}))


@pytest.mark.parametrize(
    ("chip", "peak"),
    [
        (("Xeon E5520 @ 2.27GHz", "GenuineIntel", 6, 26, "sse2 sse4_2"), 9.08e9),
        (("Xeon E5-2650 0 @ 2.00GHz", "GenuineIntel", 6, 45, "sse2 avx"), 16e9),
        (("Xeon E5-2680 v3 @ 2.50GHz", "GenuineIntel", 6, 63, "sse2 avx avx2 fma"), 40e9),
        # The guest of a Haswell whose CPU model hides AVX reaches an SSE peak only.
        (("Xeon E5-2680 v3 @ 2.50GHz", "GenuineIntel", 6, 63, "sse2 hypervisor"), 10e9),
        (("Xeon Gold 6148 CPU @ 2.40GHz", "GenuineIntel", 6, 85, "sse2 fma avx2 avx512f"), 76.8e9),
        # One or two AVX-512 units: the name does not say.
        (("Xeon Silver 4114 CPU @ 2.20GHz", "GenuineIntel", 6, 85, "sse2 fma avx2 avx512f"), None),
        (("EPYC 7742", "AuthenticAMD", 23, 49, "sse2 avx avx2 fma constant_tsc"), 38.4e9),
        (("EPYC 7601", "AuthenticAMD", 23, 1, "sse2 avx avx2 fma constant_tsc"), 19.2e9),
        (("EPYC 9654", "AuthenticAMD", 25, 17, "sse2 avx2 fma avx512f constant_tsc"), 38.4e9),
        # Without a steady counter nobody knows the nominal frequency.
        (("EPYC 7742", "AuthenticAMD", 23, 49, "sse2 avx avx2 fma"), None),
        (("QEMU TCG CPU version 2.5+", "AuthenticAMD", 23, 49, "sse2 avx2 fma constant_tsc"), None),
    ],
)
def test_peak_rate(chip: tuple[str, str, int, int, str], peak: float | None) -> None:
    facts = processor(*chip)
    assert facts.get("cpu.peak_flops_per_core") == (None if peak is None else pytest.approx(peak))


@pytest.mark.parametrize(
    ("line", "size"),
    [("L2 cache: 2 MiB (2 instances)", 1 << 20), ("L2 cache:   256K", 256 << 10)],
)
def test_caches_from_lscpu(line: str, size: int) -> None:
    assert parse_processor({"lscpu": line})["cpu.l2_bytes"] == size


def test_quota_and_pinning() -> None:
    facts = parse_processor({"allowed": "Cpus_allowed_list:\t0-3,8\n150000 100000\n"})
    assert facts == {"cpu.allowed": 5, "cpu.quota_cores": 1.5}
