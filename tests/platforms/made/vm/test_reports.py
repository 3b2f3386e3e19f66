"""What guests tell on their console, and the small texts that go back and forth."""

from __future__ import annotations

import itertools
import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bareline.platforms.hosts.layers.filesystem.mounted import ganesha_config
from bareline.platforms.made.vm.boot_source import counter_argument
from bareline.platforms.made.vm.filesystem import exported
from bareline.platforms.made.vm.guest import (
    last_words,
    make_guests,
    read_failure,
    read_ready,
    settings_files,
    wrong_size,
)
from bareline.platforms.made.vm.leftovers import SET_AND_SHOW, read_changes
from bareline.platforms.made.vm.options import Tuning, VmOptions
from bareline.platforms.made.vm.platform import upstream_version
from bareline.platforms.reached.remote.keys import Keys, known_hosts

KEYS = Keys("client key", "ssh-ed25519 AAAAclient bareline", "host key", "ssh-ed25519 AAAAhost b")
CONSOLE = (
    "[    0.0] Linux\r\nbareline-ready name=g1 cores=2 memory_kib=983732 mtu=9000 clock=tsc "
    "uptime_s=4.02 now_s=4.31\r\n"
)


def test_a_report_is_read_only_when_it_is_whole():
    report = read_ready(CONSOLE)
    assert report is not None
    assert (report["cores"], report["mtu"], report["clock"]) == ("2", "9000", "tsc")
    for end in (1, 2, 20):
        assert read_ready(CONSOLE[:-end]) is None


@pytest.mark.parametrize(
    ("options", "vcpus", "says"),
    [
        ({"nic": {"mtu": 9000}}, 2, ""),
        ({"nic": {"mtu": 9000}}, 4, "2 cores instead of 4"),
        ({"nic": {"mtu": 9000}, "memory": {"size_bytes": "4GiB"}}, 2, "960 MiB instead of 4096"),
        ({}, 2, "an MTU of 9000 instead of 1500"),
    ],
)
def test_a_guest_of_the_wrong_size_is_told_in_words(options, vcpus, says):
    report = read_ready(CONSOLE)
    assert report is not None
    assert says in wrong_size(report, VmOptions.model_validate(options), vcpus)
    assert bool(wrong_size(report, VmOptions.model_validate(options), vcpus)) == bool(says)


def test_failures_and_last_words_are_found():
    assert read_failure("x\r\nbareline-failed no disk /dev/vda\r\n") == "no disk /dev/vda"
    panic = "[ 10.7] Kernel panic - not syncing: VFS: Unable to mount root fs\r\n"
    assert read_failure(panic) == "its kernel gave up: VFS: Unable to mount root fs"
    assert read_failure(CONSOLE) == ""
    assert last_words("one\r\ntwo\r\n\r\n") == "two"
    assert last_words("") == "the console stayed empty"


def test_every_tenant_has_its_own_names_and_addresses():
    options = VmOptions.model_validate({"guests": 2, "neighbours": {"count": 2}})
    guests = make_guests(options, 2)
    assert [guest.name for guest in guests] == ["t1g1", "t1g2", "t2g1", "t2g2", "t3g1", "t3g2"]
    for what in ("address", "mac", "uuid", "name"):
        assert len({getattr(guest, what) for guest in guests}) == 6


def test_guests_pin_each_others_key_under_every_address():
    options = VmOptions(guests=2)
    guests = make_guests(options, 2)
    files = settings_files(options, guests[0], guests, KEYS)
    lines = files["known_hosts"].content.decode().splitlines()
    assert lines == [f"{guest.address} ssh-ed25519 AAAAhost" for guest in guests]
    assert files["client_key"].mode == files["host_key"].mode == 0o600
    assert known_hosts(KEYS, ["10.0.0.1"]) == "10.0.0.1 ssh-ed25519 AAAAhost\n"


@given(st.dictionaries(st.sampled_from(["net.core.a", "net.ipv4.b_c"]), st.just("4096 8 16")))
def test_the_nodes_settings_are_shell_words(sysctl):
    options = VmOptions.model_validate({"guest_tuning": {"sysctl": sysctl}})
    guests = make_guests(options, 1)
    text = settings_files(options, guests[0], guests, KEYS)["node"].content.decode()
    assert len(shlex.split(text)) == len(text.splitlines())


def test_settings_are_reported_before_and_after(tmp_path):
    (tmp_path / "net" / "core").mkdir(parents=True)
    (tmp_path / "net" / "core" / "rmem_max").write_text("212992\n")
    wanted = {"net.core.rmem_max": "67108864", "net.core.absent": "1"}
    line = SET_AND_SHOW.replace("/proc/sys", str(tmp_path))
    done = subprocess.run(
        ["sh", "-c", line, "sh", *itertools.chain(*wanted.items())],
        capture_output=True,
        text=True,
        check=True,
    )
    assert read_changes(done.stdout)["net.core.rmem_max"] == ("212992", "67108864")
    assert (tmp_path / "net" / "core" / "rmem_max").read_text() == "67108864\n"


def test_profiles_are_extended_and_overridden():
    tuning = Tuning(profile="10g", congestion="reno", sysctl={"net.core.netdev_max_backlog": "5"})
    settings = tuning.settings()
    assert settings["net.core.rmem_max"] == str(64 << 20)
    assert settings["net.ipv4.tcp_congestion_control"] == "reno"
    assert settings["net.core.netdev_max_backlog"] == "5"
    assert Tuning().settings() == {}


@pytest.mark.parametrize(
    ("cpuinfo", "expected"),
    [
        ("flags\t: fpu constant_tsc rep_good\nbogomips\t: 5192.24\n", ["tsc_early_khz=2596120"]),
        ("flags\t: fpu rep_good\nbogomips\t: 5192.24\n", []),
        ("Features : fp asimd\nBogoMIPS : 50.0\n", []),
    ],
)
def test_the_counters_rate_is_told_where_it_is_constant(cpuinfo, expected):
    assert counter_argument(cpuinfo) == expected


@pytest.mark.parametrize(
    ("package", "version"),
    [("4.1.4-3+b1", "4.1.4"), ("4.0.2-3+b1", "4.0.2"), ("1:5.0.7+ds-1", "5.0.7")],
)
def test_a_librarys_version_is_read_out_of_its_packages(package, version):
    assert upstream_version(package) == version


def test_only_shares_over_the_network_are_exported(tmp_path):
    shares = VmOptions.model_validate(
        {
            "shares": [
                {"source": "/a", "target": "/x"},
                {"source": "/b", "target": "/y", "kind": "nfs", "read_only": True},
            ]
        }
    ).shares
    text = ganesha_config(exported(shares), "10.94.7.1", str(tmp_path))
    assert text.count("EXPORT {") == 1
    assert "Path = /b;" in text
    assert "Pseudo = /share1;" in text
    assert "Access_Type = RO;" in text
