"""Every importer against the contract, with outputs of more than one version of its program."""

from pathlib import Path

import pytest

from bareline.formats.importer import load_importers
from bareline.testing.importers import ImporterContract

DATA = Path(__file__).parent / "data"
#: Outputs all of whose trials were measured.
CAPTURED = {
    "fio": ("fio.randrw.out",),
    "hpcc": ("hpcc.two-ranks.out", "hpcc.two-orders.out"),
    "hpl": ("ib-vs-roce/ib/hpl.Hpl_single.out",),
    "imb": ("ib-vs-roce/ib/imb.IMB_PingPong.out", "composed/imb.v4_binary_megabytes.out"),
    "iperf3": ("iperf3.tcp.out", "iperf3.udp.out"),
    "nuttcp": ("nuttcp.tcp.out", "nuttcp.udp-fparse.out"),
    "osu": ("ib-vs-roce/ib/omb.Osu_latency.out", "composed/osu.v7_allreduce_validation.out"),
    "perftest": ("composed/perftest.write_bw.out", "composed/perftest.write_lat.out"),
}
EACH = [(name, file) for name, files in CAPTURED.items() for file in files]


class TestImporters(ImporterContract):
    @pytest.fixture(autouse=True, params=EACH, ids=lambda each: each[1])
    def _each(self, request):
        name, file = request.param
        self.importer = load_importers()[name]
        self.captured = DATA / file


def test_every_importer_has_an_output():
    assert set(CAPTURED) == set(load_importers())
