"""Each format on good outputs: cases, units and values as they stand in the files."""

import re
from pathlib import Path

import pytest

from bareline.formats.files import read_text
from bareline.testing.messages import raises
from bareline.vocabulary.errors import ImportRefused
from bareline.vocabulary.model import Failed, Measured

DATA = Path(__file__).parent / "data"


def read(name):
    """Give the trials of a captured or composed output, which are all measured."""
    trials = [found.imported for found in read_text((DATA / name).read_text(), Path(name))]
    assert trials
    for trial in trials:
        assert isinstance(trial.outcome, Measured), trial.outcome
    return trials


def values(trial, **point):
    """Give the metrics of a trial at one point."""
    return {
        sample.metric: pytest.approx(sample.value, rel=1e-12)
        for sample in trial.outcome.samples
        if dict(sample.point) == point
    }


# OSU ---------------------------------------------------------------------------------------------


def test_osu_7_with_validation():
    (trial,) = read("composed/osu.v7_allreduce_validation.out")
    assert trial.probe == "osu.allreduce"
    assert trial.params == {"datatype": "MPI_INT"}
    assert trial.ranks == 0
    assert values(trial, size_bytes=1 << 20) == {"latency": 247.54e-6}


def test_osu_tail_latencies():
    (trial,) = read("composed/osu.v7_latency_tail.out")
    assert next(iter(trial.metrics)) == "latency"
    assert trial.params == {}  # MPI_CHAR is what 5.x uses without saying so
    assert values(trial, size_bytes=1) == {
        "latency": 1.37e-6, "latency_p50": 1.34e-6, "latency_p90": 1.64e-6, "latency_p99": 2.60e-6,
    }  # fmt: skip


def test_osu_full_output():
    (trial,) = read("composed/osu.v5_bcast_full.out")
    assert values(trial, size_bytes=8192) == {
        "latency": 2.96e-6, "latency_min": 2.51e-6, "latency_max": 3.65e-6,
    }  # fmt: skip
    assert [name for name, metric in trial.metrics.items() if not metric.detail] == ["latency"]


def test_osu_overlap():
    (trial,) = read("composed/osu.v7_iallreduce.out")
    assert trial.probe == "osu.iallreduce"
    found = values(trial, size_bytes=4)
    assert found["latency"] == 2.19e-6  # pure communication
    assert found["overall"] == 3.29e-6
    assert 0 < found["overlap"].expected < 100


def test_osu_without_sizes():
    (barrier,) = read("composed/osu.v5_barrier.out")
    assert values(barrier) == {"latency": 4.82e-6}
    (init,) = read("composed/osu.v5_init.out")
    assert init.ranks == 4
    assert values(init) == {"time": 0.187, "time_min": 0.181, "time_max": 0.193}


def test_osu_5_3_prints_titles_of_columns_without_a_mark_and_osu_init_without_a_title():
    (barrier,) = read("composed/osu.v53_ibarrier.out")
    assert (barrier.probe, values(barrier)["latency"]) == ("osu.ibarrier", 2.19e-6)
    (init,) = read("composed/osu.v53_init.out")
    assert (init.probe, init.ranks) == ("osu.init", 4)
    assert values(init) == {"time": 0.530, "time_min": 0.505, "time_max": 0.612}


@pytest.mark.parametrize(
    ("title", "program"),
    [
        ("OSU MPI Non-blocking All-to-All Personalized ExchangeLatency Test v7.4", "ialltoall"),
        ("OSU MPI Non-blocking All-to-All Latency Test v5.3", "ialltoall"),
        ("OSU MPI All-to-Allw Personalized Exchange Latency Test v7.4", "alltoallw"),
        ("OSU MPI Neighborhood All-to-Allv Latency Test v7.4", "neighbor_alltoallv"),
        ("OSU MPI Non-blocking Neighborhood Allgather Latency Test v7.4", "ineighbor_allgather"),
        ("OSU MPI-CUDA Allgather Persistent Latency Test v7.4", "allgather_persistent"),
        ("OSU MPI Non-blocking Reduce_scatter_block Latency Test v7.4", "ireduce_scatter_block"),
        ("OSU MPI_Fetch_and_op latency Test v7.4", "fop_latency"),
        ("OSU MPI_Get_accumulate latency Test v7.4", "get_acc_latency"),
    ],
)
def test_osu_probes_are_called_as_the_programs(title, program):
    text = f"# {title}\n# Size          Latency (us)\n1                       1.37\n"
    (found,) = read_text(text, Path("titled"))
    assert found.imported.probe == f"osu.{program}"


def test_osu_persistent_point_to_point():
    text = (
        "# OSU MPI Latency Test Persistent v7.4\n# Size          Latency (us)\n1            1.37\n"
    )
    (found,) = read_text(text, Path("titled"))
    assert (found.imported.probe, found.imported.ranks) == ("osu.latency_persistent", 2)


@pytest.mark.parametrize("name", ["omb.Osu_latency", "imb.IMB_PingPong"])
def test_points_that_all_numbers_lost_are_noticed(name):
    lines = [
        re.sub(r"\b0\.(?=\d)|\.", "", line) if line.lstrip()[:1].isdigit() else line
        for line in (DATA / f"ib-vs-roce/ib/{name}.out").read_text().splitlines()
    ]
    for found in read_text("\n".join(lines) + "\n", Path("pointless")):
        assert isinstance(found.imported.outcome, Failed)


def test_osu_settings_make_cases():
    (put,) = read("composed/osu.v7_put_latency.out")
    assert put.probe == "osu.put_latency"
    assert put.params == {
        "window_creation": "MPI_Win_allocate", "synchronization": "MPI_Win_flush",
    }  # fmt: skip
    (gpu,) = read("composed/osu.v7_cuda_bw.out")
    assert gpu.params == {"accelerator": "cuda", "buffers": "D-H"}
    assert next(iter(gpu.metrics)) == "bandwidth"
    chars, integers = read("composed/osu.v7_two_datatypes.out")
    assert (chars.params, integers.params) == ({}, {"datatype": "MPI_INT"})


def test_osu_pairs_and_window():
    (trial,) = read("ib-vs-roce/ib/omb.Osu_mbw_mr_16.out")
    assert (trial.ranks, trial.params) == (16, {"window": 64})
    assert values(trial, size_bytes=1) == {"bandwidth": 50.68e6, "message_rate": 50676756.16}


def test_osu_says_where_it_ends_early():
    text = (DATA / "ib-vs-roce/ib/omb.Osu_latency.out").read_text()
    short = text[: text.index("131072")]
    (found,) = read_text(short, Path("short"))
    caveats = {caveat for sample in found.imported.outcome.samples for caveat in sample.caveats}
    assert caveats == {"the output ends at 64 KiB instead of 4 MiB: so asked, or truncated"}


# IMB ---------------------------------------------------------------------------------------------


def test_imb_megabytes_of_either_kind():
    (old,) = read("composed/imb.v4_binary_megabytes.out")
    found = values(old, size_bytes=1 << 22)
    # The bandwidth is the size over the time, whatever a Mbyte was.
    assert found["bandwidth"].expected == pytest.approx((1 << 22) / found["latency"].expected, 1e-4)
    (new,) = read("ib-vs-roce/ib/imb.IMB_PingPong.out")
    assert values(new, size_bytes=1 << 22) == {"latency": 352.68e-6, "bandwidth": 11892.60e6}


def test_imb_no_bandwidth_of_nothing():
    (trial,) = read("ib-vs-roce/ib/imb.IMB_PingPong.out")
    assert values(trial, size_bytes=0) == {"latency": 1.03e-6}


def test_imb_p2p_restates_bandwidth_by_its_rate_of_messages():
    ping_pong, ping_ping = read("composed/imb.v2021_p2p.out")
    for trial, benchmark in ((ping_pong, "imb.pingpong"), (ping_ping, "imb.pingping")):
        # Not a repetition of IMB-MPI1's benchmark of the same name.
        assert (trial.probe, trial.ranks, trial.params) == (benchmark, 4, {"part": "p2p"})
        found = values(trial, size_bytes=256)
        rate = 256 * found["message_rate"].expected
        assert found["bandwidth"].expected == pytest.approx(rate, rel=1e-3)
    assert values(ping_pong, size_bytes=0)["latency"] == 1.31e-6


def test_imb_p2p_rates_that_contradict_each_other_are_left_out():
    text = (DATA / "composed/imb.v2021_p2p.out").read_text()
    (row,) = re.findall(r"^ +256 +20 +1\.34 +([\d.]+)", text.partition("PingPing\n# #")[0], re.M)
    spoilt = text.replace(row, f"{float(row) * 2:.2f}", 1)
    trials = [found.imported for found in read_text(spoilt, Path("imb"))]
    assert len(trials[0].left_out) == 1
    assert not any(sample.point["size_bytes"] == 256 for sample in trials[0].samples)


def test_imb_sections_are_trials():
    trials = read("composed/imb.v2021_several.out")
    assert [(trial.probe, trial.ranks, dict(trial.params)) for trial in trials] == [
        ("imb.sendrecv.subset", 2, {"world_ranks": 4}), ("imb.sendrecv", 4, {}),
        ("imb.exchange.subset", 2, {"world_ranks": 4}), ("imb.exchange", 4, {}),
        ("imb.allreduce.subset", 2, {"world_ranks": 4}), ("imb.allreduce", 4, {}),
        ("imb.barrier", 4, {}),
    ]  # fmt: skip
    assert values(trials[-1]) == {
        "latency": 2.38e-6, "latency_min": 2.31e-6, "latency_max": 2.44e-6,
    }  # fmt: skip
    # Sendrecv counts what a process sends and receives.
    found = values(trials[1], size_bytes=1 << 22)
    expected = 2 * (1 << 22) / found["latency_max"].expected
    assert found["bandwidth"].expected == pytest.approx(expected, rel=1e-4)


def test_imb_groups():
    (trial,) = read("composed/imb.v2019_groups.out")
    assert (trial.ranks, trial.params) == (4, {"groups": 2})
    assert values(trial, size_bytes=0, group=1) == {"latency": 1.41e-6}


def test_imb_overlap():
    (trial,) = read("composed/imb.v2018_nbc.out")
    assert trial.probe == "imb.ibcast"
    assert list(trial.metrics) == ["latency", "overall", "compute", "overlap"]


def test_imb_out_of_memory_is_a_caveat():
    (trial,) = read("composed/imb.v2019_memory.out")
    assert all(sample.caveats == ("cut",) for sample in trial.outcome.samples)


def test_imb_options_that_change_what_is_measured_make_cases():
    (rotating,) = read("imb.v2021_options.out")
    options = {"root_shift": "on", "sync": "off", "off_cache": "-1"}
    assert (rotating.probe, rotating.params) == ("imb.bcast", options)
    text = (DATA / "imb.v2021_options.out").read_text()
    plain = text.replace("-root_shift on -sync off -off_cache -1", "-root_shift 0 -sync yes")
    (found,) = read_text(plain, Path("plain"))
    assert found.imported.params == {}  # what IMB does anyway


def test_imb_options_concern_some_benchmarks_only():
    trials = _changed(
        "spoiled/imb.v2021_four-ranks.out", ("-iter 50", "-root_shift on -sync off -iter 50")
    )
    said = {
        trial.probe: {k: v for k, v in trial.params.items() if k != "world_ranks"}
        for trial in trials
    }
    assert said == {
        "imb.bcast": {"root_shift": "on", "sync": "off"},
        "imb.bcast.subset": {"root_shift": "on", "sync": "off"},
        "imb.allreduce": {"sync": "off"},
        "imb.allreduce.subset": {"sync": "off"},
        "imb.sendrecv": {}, "imb.sendrecv.subset": {}, "imb.barrier": {}, "imb.barrier.subset": {},
    }  # fmt: skip


def test_imb_before_2017_did_not_synchronise():
    (old,) = _changed(
        "imb.v2021_options.out",
        ("Benchmarks 2021.11", "Benchmarks 4.1 Update 1"),
        (" -root_shift on -sync off -off_cache -1", ""),
    )
    assert old.params == {"root_shift": "on", "sync": "off"}


def test_imb_without_sections_has_failed():
    text = (DATA / "imb.v2021_options.out").read_text()
    head, _, rest = text.partition(
        "#----------------------------------------------------------------\n# Benchmarking"
    )
    whole = head + rest[rest.index("\n\n\n# All processes") :]
    assert "Benchmarking" not in whole
    (found,) = read_text(whole, Path("empty"))
    assert isinstance(found.imported.outcome, Failed)
    assert (
        found.imported.outcome.reason == "Bcast was requested, but the output has no section of it"
    )
    with raises(ImportRefused, "BL-FORMATS-617"):
        read_text(whole.replace("# Bcast\n", ""), Path("nameless"))


# HPL and HPCC ------------------------------------------------------------------------------------


def test_hpl():
    (trial,) = read("ib-vs-roce/ib/hpl.Hpl_single.out")
    assert trial.params == {"variant": "WR11C2R4", "n": 115584, "nb": 192, "p": 4, "q": 8}
    assert (trial.ranks, values(trial)) == (32, {"rate": 832.95e9, "time": 1235.92})


def test_hpcc():
    trials = {trial.probe: trial for trial in read("hpcc.two-ranks.out")}
    assert sorted(trials) == [
        "hpcc.dgemm", "hpcc.fft", "hpcc.hpl", "hpcc.mpifft", "hpcc.mpirandomaccess",
        "hpcc.pingpong", "hpcc.ptrans", "hpcc.randomaccess", "hpcc.ring", "hpcc.stream",
    ]  # fmt: skip
    assert {trial.ranks for trial in trials.values()} == {2}
    assert values(trials["hpcc.hpl"]) == {"rate": 0.0298457e12, "time": 0.00143761}
    assert values(trials["hpcc.ring"]) == {
        "latency": 0.0977273e-6, "latency_natural": 0.0977041e-6,
        "bandwidth": 8.8323e9, "bandwidth_natural": 11.8394e9,
    }  # fmt: skip
    assert values(trials["hpcc.stream"])["triad"] == 78.6898e9
    assert trials["hpcc.stream"].layer == "memory"


def test_hpcc_with_several_orders_keeps_every_system():
    hpl = [trial for trial in read("hpcc.two-orders.out") if trial.probe == "hpcc.hpl"]
    assert [(trial.params["n"], trial.ranks) for trial in hpl] == [(400, 2), (200, 2)]
    assert [values(trial)["rate"] for trial in hpl] == [0.0309328e12, 8.027e9]
    assert hpl[0].params.keys() == hpl[1].params.keys()
    assert hpl[1].caveats == ()


def test_a_row_of_hpcc_is_no_other_system_where_the_summary_lost_which_it_sums_up():
    whole = (DATA / "hpcc.two-ranks.out").read_text()
    cut = re.sub(r"HPL_(?:Tflops|time|N)=.*\n", "", whole)
    found = [found.imported for found in read_text(cut, Path("cut"))]
    (hpl,) = [trial for trial in found if trial.probe == "hpcc.hpl"]
    assert isinstance(hpl.outcome, Failed)


# When it was -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "started"),
    [
        ("imb.v2021_options.out", "2026-11-22T12:11:39+00:00"),
        ("hpcc.two-ranks.out", "2026-11-21T22:14:59+00:00"),
        ("iperf3.tcp.out", "2026-11-21T22:14:16+00:00"),
    ],
)
def test_dates_inside_outputs(name, started):
    found = read_text((DATA / name).read_text(), Path(name))[0]
    told = found.importer.started(found.launch)
    assert (told.isoformat() if told else None) == started


# Network -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "probe", "expected"),
    [
        (
            "nuttcp.tcp.out",
            "nuttcp.tcp",
            {
                "rate": 7366.1590e6, "cpu_sender": 4, "cpu_receiver": 29, "retransmissions": 0,
                "rtt": 0.16e-3,
            },
        ),
        (
            "nuttcp.tcp-fparse.out",
            "nuttcp.tcp",
            {
                "rate": 4855.5546e6, "cpu_sender": 2, "cpu_receiver": 18, "retransmissions": 0,
                "rtt": 0.10e-3,
            },
        ),
        (
            "nuttcp.tcp-interval.out",  # the intervals are not the result
            "nuttcp.tcp",
            {
                "rate": 7342.1241e6, "cpu_sender": 12, "cpu_receiver": 11, "retransmissions": 0,
                "rtt": 0.16e-3,
            },
        ),
        (
            "nuttcp.tcp-streams.out",  # several streams tell no retransmissions
            "nuttcp.tcp",
            {"rate": 5102.8552e6, "cpu_sender": 3, "cpu_receiver": 20, "rtt": 0.09e-3},
        ),
        (
            "nuttcp.udp.out",
            "nuttcp.udp",
            {"rate": 99.4569e6, "cpu_sender": 20, "cpu_receiver": 0, "loss": 0.52},
        ),
        (
            "nuttcp.udp-fparse.out",
            "nuttcp.udp",
            {"rate": 73.6215e6, "cpu_sender": 22, "cpu_receiver": 0, "loss": 24.96680},
        ),
        (
            "iperf3.tcp.out",
            "iperf3.tcp",
            {
                "rate": 5530858643.159775, "retransmissions": 8,
                "cpu_sender": 11.5274230337891, "cpu_receiver": 11.299248906336294,
            },
        ),
        (
            "iperf3.udp.out",
            "iperf3.udp",
            {
                "rate": 96584739.56843677, "loss": 0.802139037433155,
                "jitter": 0.00744703631091907e-3,
                "cpu_sender": 2.221649492244965, "cpu_receiver": 0.6173611918005615,
            },
        ),
    ],
)  # fmt: skip
def test_transfers(name, probe, expected):
    (trial,) = read(name)
    assert trial.probe == probe
    assert values(trial) == expected


def test_iperf3_streams_and_direction():
    (several,) = read("iperf3.p3.out")
    assert several.params == {"streams": 3, "duration_s": 2}
    (reverse,) = read("iperf3.reverse.out")
    # The other end sends: its processor time is the sender's.
    assert values(reverse)["cpu_sender"] == 5.4687846542827145


def test_several_transfers_of_one_file_are_trials():
    text = (DATA / "nuttcp.tcp.out").read_text() + (DATA / "nuttcp.tcp-fparse.out").read_text()
    rates = [found.imported.outcome.samples[0].value for found in read_text(text, Path("both"))]
    assert rates == pytest.approx([7366.1590e6, 4855.5546e6])
    text = "".join((DATA / f"iperf3.{name}.out").read_text() for name in ("tcp", "reverse"))
    assert len(read_text(text, Path("both"))) == 2


def test_perftest_megabytes_are_binary():
    (trial,) = read("composed/perftest.write_bw.out")
    assert (trial.probe, trial.params) == ("perftest.ib_write_bw", {"connection": "RC"})
    found = values(trial, size_bytes=1 << 23)
    rate = found["message_rate"].expected
    assert found["bandwidth"].expected == pytest.approx(rate * (1 << 23), rel=1e-3)
    (warned,) = read("composed/perftest.write_bw_warnings.out")
    assert [s.value for s in warned.outcome.samples] == [s.value for s in trial.outcome.samples]


def test_perftest_gigabits_without_a_peak():
    (trial,) = read("composed/perftest.send_bw_gbits.out")
    assert trial.params == {"connection": "RC", "direction": "both"}
    # A peak of 0.00 is not a valid measurement.
    found = values(trial, size_bytes=65536)
    assert found == {"bandwidth": 196e9 / 8, "message_rate": 373840}


def test_perftest_latency():
    (trial,) = read("composed/perftest.write_lat.out")
    assert next(iter(trial.metrics)) == "latency"
    assert values(trial, size_bytes=2)["latency"] == 0.93e-6


# Storage -----------------------------------------------------------------------------------------


def test_fio_reads_and_writes_are_cases():
    reading, writing = read("fio.randrw.out")
    assert (reading.probe, writing.probe) == ("fio.read", "fio.write")
    assert reading.params == {"job": "t", "rw": "randrw", "rwmixread": 70, "bs": 4096} | {
        "runtime": 2, "size": 8 << 20,
    }  # fmt: skip
    assert values(reading) == {
        "bandwidth": 29058529, "operations": 7094.367589,
        "latency": 120.920809666e-6, "latency_max": 142.885265e-3,
    }  # fmt: skip
    assert reading.caveats == ("page-cache",)  # no direct=1


# Failed outputs of benchmarks --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "code", "value"),
    [
        ("spoiled/osu.v7_allreduce_wrong.out", "BL-FORMATS-559", "DATA VALIDATION ERROR"),
        ("spoiled/iperf3.refused.out", "BL-FORMATS-267", "Connection refused"),
        ("spoiled/iperf3.bidir.out", "BL-FORMATS-922", "--bidir"),
    ],
)
def test_failed_outputs_give_their_reason(name, code, value):
    (found,) = read_text((DATA / name).read_text(), Path(name))
    assert isinstance(found.imported.outcome, Failed)
    assert found.imported.outcome.code == code and value in found.imported.outcome.reason


def _changed(name, *changes):
    text = (DATA / name).read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return [found.imported for found in read_text(text, Path(name))]


@pytest.mark.parametrize(
    ("name", "old", "new", "code"),
    [
        ("ib-vs-roce/ib/hpl.Hpl_single.out", "PASSED", "FAILED", "BL-FORMATS-756"),
        ("ib-vs-roce/ib/hpl.Hpl_single.out", "8.3295e+02", "8.3295e+01", "BL-FORMATS-411"),
        ("ib-vs-roce/ib/hpl.Hpl_single.out", " 4     8 ", " 8     4 ", "BL-FORMATS-147"),
        ("ib-vs-roce/ib/omb.Osu_latency.out", "Latency (us)", "Latency (ms)", "BL-FORMATS-558"),
        (
            "ib-vs-roce/ib/imb.IMB_PingPong.out",
            "      4194304           10",
            "#",
            "BL-FORMATS-404",
        ),
        ("hpcc.two-ranks.out", "HPL_time=0.00143761", "HPL_time=0.00943761", "BL-FORMATS-703"),
        ("nuttcp.tcp.out", "7366.1590", "736.6159", "BL-FORMATS-192"),
        ("nuttcp.udp.out", " 8 /", " 80 /", "BL-FORMATS-687"),
        ("iperf3.tcp.out", '"bytes":	2081816576', '"bytes":	208181657', "BL-FORMATS-897"),
        ("fio.randrw.out", '"bw_bytes" : 29058529', '"bw_bytes" : 2905852', "BL-FORMATS-897"),
        ("fio.randrw.out", '"error" : 0', '"error" : 5', "BL-FORMATS-611"),
    ],
)
def test_contradictions_fail_the_trial(name, old, new, code):
    trials = _changed(name, (old, new))
    codes = {trial.outcome.code for trial in trials if isinstance(trial.outcome, Failed)}
    assert codes == {code}


@pytest.mark.parametrize(
    ("name", "old", "new", "line"),
    [
        ("ib-vs-roce/ib/omb.Osu_latency.out", "11.25", "1.25", 20),
        ("ib-vs-roce/ib/omb.Osu_latency.out", " 11.25", "11.250", 20),
        ("ib-vs-roce/ib/omb.Osu_mbw_mr_16.out", "885.53 ", " 85.53 ", 8),
        ("ib-vs-roce/ib/imb.IMB_PingPong.out", "1821.46", "1281.46", 49),
        ("composed/osu.v7_iallreduce.out", "3.29", "9.29", 7),
        ("composed/imb.v2018_nbc.out", "         2.60", "         1.60", 35),
        ("composed/perftest.write_lat.out", "0.93   ", "9.93   ", 18),
    ],
)
def test_contradictions_of_a_row_are_named_with_its_line(name, old, new, line):
    trials = _changed(name, (old, new))
    assert not any(isinstance(trial.outcome, Failed) for trial in trials)
    (first, *_) = [each.reason for trial in trials for each in trial.left_out if each.lost]
    assert re.match(rf"line {line}\b", first)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# ( 14 additional processes waiting in MPI_Barrier)\n", ""),
        ("# #processes = 8 \n", "# #processes = 4 \n"),
        ("# Biband\n", "# Uniband\n"),
    ],
)
def test_imb_sections_must_fit_together(old, new):
    # A section whose head lost a line would give its numbers to another case.
    trials = _changed("ib-vs-roce/ib/imb.IMB_Biband_0_25.out", (old, new))
    assert {trial.outcome.code for trial in trials} == {"BL-FORMATS-933"}


def test_perftest_bandwidth_that_prints_as_zero_comes_from_the_message_rate():
    """Real: a slow fabric, where two decimals of MiB/s leave nothing of small messages."""
    (trial,) = read("../../probes/data/net.ib_write_bw.good.out")
    rates = {
        sample.point["size_bytes"]: sample.value
        for sample in trial.outcome.samples
        if sample.metric == "bandwidth"
    }
    assert rates[2] == pytest.approx(0.000790e6 * 2)
    assert rates[8 << 20] == pytest.approx(7.38 * (1 << 20))
    assert all(sample.value > 0 for sample in trial.outcome.samples)


# STREAM and sockperf ------------------------------------------------------------------------------


def test_stream_gives_four_rates():
    (trial,) = read("composed/stream.v5_threads.out")
    assert (trial.probe, trial.ranks, trial.threads) == ("stream", 1, 8)
    assert trial.params == {"elements": 64000000}
    assert next(iter(trial.metrics)) == "triad"
    expected = {"copy": 41872.3e6, "scale": 41210.8e6, "add": 45033.9e6, "triad": 45187.6e6}
    assert values(trial) == {name: pytest.approx(rate) for name, rate in expected.items()}


def test_stream_over_mpi_counts_the_ranks_and_all_their_arrays():
    text = (DATA / "composed" / "stream.v5_threads.out").read_text()
    text = text.replace("Array size = ", "Total Aggregate Array size = ").replace(
        "Each kernel", " Data is distributed across 4 MPI ranks\nEach kernel"
    )
    (found,) = read_text(text, Path("stream"))
    assert found.imported.ranks == 4
    assert isinstance(found.imported.outcome, Measured)


@pytest.mark.parametrize(
    ("name", "code", "value"),
    [
        ("stream.v5_wrong", "BL-FORMATS-605", "Failed Validation on array a"),
        ("stream.v5_torn", "BL-FORMATS-382", ""),
        ("sockperf.v3_torn", "BL-FORMATS-292", ""),
        ("sockperf.v3_no_server", "BL-FORMATS-595", "Can`t connect socket"),
    ],
)
def test_spoiled_stream_and_sockperf_fail_with_a_reason(name, code, value):
    text = (DATA / "spoiled" / f"{name}.out").read_text()
    (found,) = read_text(text, Path(name))
    assert isinstance(found.imported.outcome, Failed)
    assert found.imported.outcome.code == code and value in found.imported.outcome.reason


def test_sockperf_ping_pong():
    (trial,) = read("composed/sockperf.v3_ping_pong.out")
    assert (trial.probe, trial.params) == ("sockperf.ping_pong", {"protocol": "tcp"})
    assert trial.caveats == ("the output does not give the size of the messages",)
    assert values(trial) == {
        "latency": 15.664e-6, "latency_max": 214.808e-6, "latency_p99_9": 33.071e-6,
        "latency_p99": 21.644e-6, "latency_p90": 17.310e-6, "latency_p75": 16.002e-6,
        "latency_p50": 15.391e-6, "latency_min": 12.977e-6,
    }  # fmt: skip


def test_sockperf_halves_a_round_trip_and_names_lost_messages():
    text = (DATA / "composed" / "sockperf.v3_ping_pong.out").read_text()
    text = text.replace("Summary: Latency is", "Summary: Round trip is")
    text = text.replace("dropped messages = 0", "dropped messages = 3")
    (found,) = read_text(text, Path("sockperf"))
    assert values(found.imported)["latency"] == 7.832e-6
    assert "messages: 3 lost, 0 doubled, 0 out of order" in found.imported.caveats


def test_sockperf_throughput():
    (trial,) = read("composed/sockperf.v3_throughput.out")
    assert trial.probe == "sockperf.throughput"
    assert trial.params == {"protocol": "tcp", "message_bytes": 1024}
    assert values(trial) == {"bandwidth": 513.618 * 8 * 2**20, "message_rate": 525945}


# NPB ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "probe", "problem_class", "ranks", "threads", "rate", "time_s"),
    [
        ("v2_mpi_lu", "lu", "A", 4, 1, 1500.04e6, 79.52),
        ("v2_serial_mg", "mg", "S", 1, 1, 391.37e6, 0.02),
        ("v3_mpi_cg", "cg", "A", 8, 1, 5763.84e6, 0.26),
        ("v3_mpi_is", "is", "B", 16, 1, 645.28e6, 0.52),
        ("v3_omp_ft", "ft", "A", 1, 8, 7282.16e6, 0.98),
        ("v3_serial_ep", "ep", "S", 1, 1, 18.41e6, 1.82),
        ("v3_zones_bt", "bt_mz", "A", 4, 4, 9610.88e6, 9.35),
    ],
)
def test_npb_of_every_kind(name, probe, problem_class, ranks, threads, rate, time_s):
    (trial,) = read(f"composed/npb.{name}.out")
    assert (trial.probe, trial.layer) == (f"npb.reference.{probe}", "npb")
    assert (trial.params, trial.ranks, trial.threads) == ({"class": problem_class}, ranks, threads)
    assert next(iter(trial.metrics)) == "rate"
    assert values(trial) == {"rate": rate, "time": time_s}


def npb_with(old, new):
    text = (DATA / "composed" / "npb.v3_mpi_cg.out").read_text()
    assert old in text
    (found,) = read_text(text.replace(old, new), Path("npb"))
    return found.imported


def test_npb_that_was_too_fast_for_its_clock_keeps_its_rate():
    trial = npb_with("    0.26", "    0.00")
    assert values(trial) == {"rate": 5763.84e6}
    assert [each.lost for each in trial.left_out] == [False]


def test_npb_on_fewer_processes_than_were_started_is_another_case():
    trial = npb_with("Total processes =                        8", "Total processes = 9")
    assert (trial.ranks, trial.params) == (8, {"class": "A", "started_ranks": 9})


def test_npb_that_writes_is_another_case():
    trial = npb_with(" Benchmark completed ", " BTIO -- FULL MPI-IO  write interval:   5")
    assert trial.params == {"class": "A", "io": "full"}


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("                  720.48", "                  702.48", "BL-FORMATS-738"),
        ("Mop/s/process", "Mop/s/proxess", "BL-FORMATS-818"),
        ("                        A", "                       A1", "BL-FORMATS-823"),
        ("CG Benchmark Completed", "DT Benchmark Completed", "BL-FORMATS-413"),
        ("                 5763.84", "                    0.00", "BL-FORMATS-712"),
        ("                 5763.84", "            ************", "BL-FORMATS-648"),
        ("npb@nas.nasa.gov", "npb", "BL-FORMATS-235"),
        ("Active processes=                        8", "Active processes= 0", "BL-FORMATS-466"),
    ],
)
def test_doubtful_npb_summaries_fail_with_a_reason(old, new, code):
    trial = npb_with(old, new)
    assert isinstance(trial.outcome, Failed)
    assert trial.outcome.code == code


def test_npb_without_processes_is_serial_only_by_its_title():
    text = (DATA / "composed" / "npb.v3_serial_ep.out").read_text()
    (found,) = read_text(text.replace("(NPB3.4-SER)", "3.4"), Path("npb"))
    assert found.imported.outcome.code == "BL-FORMATS-470"


@pytest.mark.parametrize(
    ("name", "probe", "code", "value"),
    [
        ("npb.v3_wrong", "npb.reference.cg", "BL-FORMATS-899", ""),
        ("npb.v3_torn", "npb.reference.cg", "BL-FORMATS-235", ""),
        ("npb.v3_killed", "npb.reference.cg", "BL-FORMATS-919", "slurmstepd: error: *** JOB 4711"),
    ],
)
def test_spoiled_npb_fails_with_a_reason(name, probe, code, value):
    text = (DATA / "spoiled" / f"{name}.out").read_text()
    (found,) = read_text(text, Path(name))
    assert found.imported.probe == probe
    assert isinstance(found.imported.outcome, Failed)
    assert found.imported.outcome.code == code and value in found.imported.outcome.reason


def test_an_npb_summary_that_lost_its_processes_is_of_no_other_case():
    text = (DATA / "composed" / "npb.v3_zones_bt.out").read_text()
    (found,) = read_text(text.replace("Total processes", "Total procxsses"), Path("npb"))
    assert found.imported.outcome.code == "BL-FORMATS-470"


def test_npb_launches_of_one_log_are_apart():
    names = ("v2_mpi_lu", "v3_mpi_cg", "v3_omp_ft", "v3_serial_ep", "v3_mpi_cg")
    texts = [(DATA / "composed" / f"npb.{name}.out").read_text() for name in names]
    found = read_text("".join(texts), Path("log"))
    assert [each.imported.probe.rpartition(".")[2] for each in found] == [
        "lu", "cg", "ft", "ep", "cg",
    ]  # fmt: skip
    assert all(isinstance(each.imported.outcome, Measured) for each in found)


def test_an_npb_summary_with_a_long_line_is_read_at_once():
    trial = npb_with(" Compile options:", " " * 1_000_000 + "x")
    assert isinstance(trial.outcome, Measured)


# IPM ----------------------------------------------------------------------------------------------


def test_ipm_gives_the_time_and_the_share_of_mpi():
    (trial,) = read("composed/ipm.v2_full.out")
    assert (trial.probe, trial.layer, trial.ranks) == ("ipm.program", "app", 8)
    assert trial.params == {"command": "heat3d -n 512", "nodes": 2}
    assert next(iter(trial.metrics)) == "time"
    assert values(trial) == {
        "time": 85.36, "time_mean": 85.32, "mpi_time": 13.67, "mpi_time_max": 16.03,
        "mpi_share": 100 * 109.34 / 682.59, "memory": 4.24 * 2**30,
    }  # fmt: skip
    assert values(trial, call="MPI_Allreduce") == {"call_time": 40.55 / 8}


def test_ipm_gives_each_region_a_case():
    whole, solver, rest = read("composed/ipm.v2_regions.out")
    assert "region" not in whole.params
    assert (solver.params["region"], rest.params["region"]) == ("solver", "ipm_noregion")
    assert {each.threads for each in (whole, solver, rest)} == {6}
    assert values(whole)["io_time_max"] == 0.41
    assert (values(whole)["time"], values(solver)["time"]) == (21.11, 15.25)


def test_an_ipm_region_that_is_displaced_takes_no_other_figures():
    text = (DATA / "composed" / "ipm.v2_regions.out").read_text()
    line = "# region    :'solver'\n"
    text = text.replace(line, "").replace("# OMP       :", f"{line}# OMP       :", 1)
    outcomes = [each.imported.outcome for each in read_text(text, Path("ipm"))]
    assert [isinstance(outcome, Failed) for outcome in outcomes] == [True, True, False]
    assert outcomes[0].code == "BL-FORMATS-797"


def ipm_with(old, new):
    text = (DATA / "composed" / "ipm.v2_full.out").read_text()
    assert old in text
    (found,) = read_text(text.replace(old, new), Path("ipm"))
    return found.imported


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("wallclock : 85.36", "wallclock : 85.63", "BL-FORMATS-141"),
        ("%comm     : 16.02", "%comm     : 61.02", "BL-FORMATS-168"),
        ("8 on 2 nodes", "7 on 2 nodes", "BL-FORMATS-669"),
        ("     682.59        85.32", "     682.59        58.32", "BL-FORMATS-860"),
        ("     682.59        85.32", "     ******        85.32", "BL-FORMATS-890"),
        ("# command   :", "# comand    :", "BL-FORMATS-109"),
        ("#" * 67, "#", "BL-FORMATS-941"),
    ],
)
def test_doubtful_ipm_banners_fail_with_a_reason(old, new, code):
    trial = ipm_with(old, new)
    assert isinstance(trial.outcome, Failed)
    assert trial.outcome.code == code


def test_a_damaged_row_of_an_ipm_banner_costs_itself():
    text = (DATA / "spoiled" / "ipm.v2_row.out").read_text()
    (found,) = read_text(text, Path("ipm"))
    assert any(str(lost).startswith("line 21: MPI_Waitall: ") for lost in found.left_out)
    assert values(found.imported, call="MPI_Isend") == {"call_time": 5.21 / 8}
    assert not values(found.imported, call="MPI_Waitall")


def test_a_torn_ipm_banner_fails():
    text = (DATA / "spoiled" / "ipm.v2_torn.out").read_text()
    (found,) = read_text(text, Path("ipm"))
    assert found.imported.outcome.code == "BL-FORMATS-941"


# mpiP ---------------------------------------------------------------------------------------------


def test_mpip_gives_times_and_those_of_functions():
    (trial,) = read("composed/mpip.v3_callsites.out")
    assert (trial.probe, trial.layer, trial.ranks) == ("mpip.program", "app", 4)
    assert trial.params == {"command": "heat3d -n 512", "nodes": 2}
    assert next(iter(trial.metrics)) == "time"
    assert values(trial) == {
        "time": 34.5, "mpi_time": 6.67, "mpi_time_max": 7.07, "mpi_share": 19.33,
    }  # fmt: skip
    # Two sites: 2000 calls of 3.08 ms and 40 of 0.413 ms.
    assert values(trial, call="Allreduce") == {
        "call_time": pytest.approx((2000 * 3.08 + 40 * 0.413) / 4e3)
    }


def test_mpip_without_callsites_keeps_its_times():
    (trial,) = read("composed/mpip.v2_concise.out")
    assert set(trial.metrics) == {"time", "mpi_time", "mpi_time_max", "mpi_share"}
    assert [each.lost for each in trial.left_out] == [False]


def test_mpip_reads_numbers_with_exponents():
    (trial,) = read("composed/mpip.v3_large.out")
    assert values(trial)["time"] == 2.02e4


def mpip_with(old, new):
    text = (DATA / "composed" / "mpip.v3_callsites.out").read_text()
    assert old in text
    (found,) = read_text(text.replace(old, new), Path("mpip"))
    return found.imported


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("   1       34.5", "   1       43.5", "BL-FORMATS-729"),
        ("   *        138", "   *        183", "BL-FORMATS-729"),
        ("   1       34.5", "   2       34.5", "BL-FORMATS-453"),
        ("@ Command", "@ Comand", "BL-FORMATS-889"),
        (": 3 node2", ": 4 node2", "BL-FORMATS-529"),
        ("   0       34.5", "   0          0", "BL-FORMATS-870"),
        ("End of Report", "End of Rep", "BL-FORMATS-229"),
        ("@--- Callsites: 4", "@--- MPI Time (seconds)", "BL-FORMATS-551"),
    ],
)
def test_doubtful_mpip_reports_fail_with_a_reason(old, new, code):
    trial = mpip_with(old, new)
    assert isinstance(trial.outcome, Failed)
    assert trial.outcome.code == code


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("Callsites: 4", "Callsites: 5", ""),
        ("Bcast                4    *      8", "Bcast                4    *      7", "site 4"),
        ("Bcast                4    0", "Reduce               4    0", "site 4"),
        ("Bcast                4    0", "Bcast                4    O", "line 70"),
    ],
)
def test_doubtful_mpip_callsites_cost_the_times_of_calls_alone(old, new, place):
    trial = mpip_with(old, new)
    assert values(trial)["time"] == 34.5
    assert not values(trial, call="Bcast")
    assert place in trial.left_out[0].reason


def test_an_empty_section_of_mpip_costs_the_times_of_calls_alone():
    text = (DATA / "composed" / "mpip.v3_callsites.out").read_text()
    begin = text.index("\n", text.index("@--- Callsite Time")) + 1
    (found,) = read_text(text[:begin] + text[text.index("@--- End of Report") :], Path("empty"))
    assert values(found.imported)["time"] == 34.5
    assert found.imported.left_out


def test_spoiled_mpip_reports():
    (torn,) = read_text((DATA / "spoiled" / "mpip.v3_torn.out").read_text(), Path("torn"))
    assert torn.imported.outcome.code == "BL-FORMATS-229"
    (lost,) = read_text((DATA / "spoiled" / "mpip.v3_site_lost.out").read_text(), Path("lost"))
    assert lost.imported.left_out


# IMB-IO -------------------------------------------------------------------------------------------


def test_imb_io_is_of_storage_and_has_a_case_for_each_mode():
    trials = read("composed/imb.v2021_io.out")
    assert {trial.layer for trial in trials} == {"io"}
    writes = [trial for trial in trials if trial.probe == "imb.p_write_shared"]
    assert [trial.params["mode"] for trial in writes] == ["aggregate", "non-aggregate"]
    assert {trial.ranks for trial in writes} == {4}
    last = values(writes[1], size_bytes=1 << 24)
    # One process's bytes, whatever the number of processes.
    assert last["bandwidth"] == pytest.approx((1 << 24) / last["latency_max"].expected, rel=1e-4)
    (reading,) = (trial for trial in trials if trial.probe == "imb.c_iread_indv")
    assert values(reading, size_bytes=1 << 24)["overlap"] == 66.3
    (opening,) = (trial for trial in trials if trial.probe == "imb.open_close")
    assert values(opening)["latency"] == 189.3e-6


def test_imb_io_that_ends_before_its_largest_portion_is_truncated():
    text = (DATA / "composed" / "imb.v2021_io.out").read_text()
    lines = [line for line in text.splitlines(keepends=True) if "16777216 " not in line[:22]]
    found = read_text("".join(lines), Path("io"))
    failed = [each for each in found if isinstance(each.imported.outcome, Failed)]
    assert len(failed) == len(found) - 3  # Open_Close has no sizes.


def test_imb_io_rates_are_of_one_process():
    text = (DATA / "composed" / "imb.v2021_io.out").read_text()
    begin = text.rindex("# Benchmarking P_Read_Shared")
    end = text.index("# Benchmarking C_IRead_Indv")
    lines = []
    for line in text[begin:end].splitlines(keepends=True):
        rate = line[-13:].strip()
        is_row = len(line.split()) == 6 and line.split()[0].isdigit()
        lines.append(f"{line[:-13]}{2 * float(rate):12.2f}\n" if is_row else line)
    found = read_text(text[:begin] + "".join(lines) + text[end:], Path("io"))
    (trial,) = (each.imported for each in found if each.imported.probe == "imb.p_read_shared")
    assert trial.outcome.code == "BL-FORMATS-584"
