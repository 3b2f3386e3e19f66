"""What the probes of ``nodebench``, our program for one node, have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import ClassVar, TypeVar

from bareline.probes._native import Report, kernels_of_header, native, options, read_report
from bareline.probes.base import Probe
from bareline.vocabulary.model import Command, Layout, Output, Sample, Scalar

P = TypeVar("P")


class Nodebench(Probe[P]):
    """A benchmark of nodebench, which is called as the probe is behind its layer.

    - `options`: parameters that are the program's options, in their order. The layout's threads
      stand behind ``mode``: one thread leaves the number to the mode.
    - `repeated`: parameters that the header of the output has to repeat.
    """

    options: ClassVar[tuple[str, ...]] = ()
    repeated: ClassVar[tuple[str, ...]] = ()

    def words(self, params: P) -> Iterable[str]:
        """Name the parameters that are options, where that depends on them."""
        return self.options

    def command(self, params: P, layout: Layout) -> Command:
        threads = layout.threads_per_rank
        words: list[str] = []
        for name in self.words(params):
            words += options(params, name)
            words += ("--threads", str(threads)) if name == "mode" and threads > 1 else ()
        return native("nodebench", self.benchmark, *words)

    @property
    def benchmark(self) -> str:
        """Its name in the program."""
        return self.name.partition(".")[2]

    def parse(self, params: P, output: Output) -> Iterable[Sample]:
        report = read_report(output, "nodebench", self.benchmark)
        report.check(params, *self.repeated)
        return self.samples(params, report)

    @abstractmethod
    def samples(self, params: P, report: Report) -> Iterable[Sample]:
        """Turn a complete output that is of these parameters into samples."""

    def facts(self, params: P, output: Output) -> Mapping[str, Scalar]:
        """Give the kernels of the BLAS, where the benchmark calls one."""
        return kernels_of_header(read_report(output, "nodebench", self.benchmark).header)
