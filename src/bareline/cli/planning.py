"""The plan of a study on platforms, for `run`, `submit` and `ab`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bareline.cli.options import RunOptions
from bareline.cli.output import print_error
from bareline.vocabulary.errors import UsageError

if TYPE_CHECKING:
    from bareline.platforms.reached.slurm.options import SlurmOptions
    from bareline.report.blocks import Block
    from bareline.session.answers import Answers
    from bareline.session.begin import PlannedTrial
    from bareline.session.submission import SubmissionRequest
    from bareline.store.run import Run
    from bareline.study.study import Study
    from bareline.vocabulary.limits import Limits
    from bareline.vocabulary.platform import PlatformSpec


def limits_of(max_core_hours: float | None, not_between: str | None) -> Limits:
    """Return the limits that the options ``--max-core-hours`` and ``--not-between`` set.

    Raises UsageError: the hours in `not_between` are not valid.
    """
    from bareline.vocabulary.limits import Limits, parse_hours

    parse_hours(not_between or "")
    return Limits(max_core_hours=max_core_hours, not_between=not_between)


@dataclass(frozen=True, slots=True)
class Planned:
    """A study ready for measurement: its platforms, its roles and its control are chosen.

    - `control`: the name under which the baseline is measured a second time; "" if it is not.
    - `largest`: options of the Slurm platform that requests most nodes.
    - `notes`: lines about the plan that the user needs before the measurement.
    """

    options: RunOptions
    study: Study
    platforms: list[PlatformSpec]
    baseline: str
    control: str
    largest: SlurmOptions | None
    notes: tuple[str, ...] = ()

    def tell(self) -> Planned:
        """Print the notes, and return the plan."""
        for note in self.notes:
            print_error(note)
        return self

    @property
    def folder(self) -> Path:
        """Path of the run directory, which need not exist yet."""
        from bareline.session.begin import default_folder

        return self.options.out or default_folder(self.study)

    def rows(self) -> list[PlannedTrial]:
        """Return the planned trials in order."""
        from bareline.session.begin import plan_rows

        return plan_rows(self.study, self.platforms, self.options.seed, control=self.control)

    def blocks(self, rows: list[PlannedTrial]) -> Iterator[Block]:
        """Yield the plan as blocks for people."""
        from bareline.platforms.base import exact_among
        from bareline.report.terminal.runs import plan_blocks
        from bareline.session.looks import look_lines, planned_looks
        from bareline.session.meter import outlook, outlook_lines
        from bareline.session.outlook import wall_time, wall_time_line
        from bareline.study.plan import make_plan

        study = self.study
        specs = self.platforms
        plan = make_plan(study, specs)
        costs = outlook(study, specs, plan)
        looks = look_lines(study, planned_looks(study, plan))
        exact = exact_among(specs)
        cost_lines = [
            *looks,
            *study.source_lines(),
            wall_time_line(wall_time(study, plan, exact)),
            *outlook_lines(costs, study.max_core_hours),
        ]
        answers_and_names = self.answers()
        if answers_and_names:
            answers, names = answers_and_names
            cost_lines += answers.lines(names)
        return plan_blocks(
            rows,
            scale=study.scale,
            changes=study.scale_changes,
            exact=exact,
            control=self.control,
            baseline=self.baseline,
            costs=cost_lines,
        )

    def answers(self) -> tuple[Answers, str] | None:
        """Return the claims that the run can judge; None for a study without a publication."""
        from bareline.study.catalogue import find_study

        if not self.study.publications:
            return None
        whole = find_study(self.options.study)
        return look_ahead(whole, self.study, self.platforms, self.baseline)

    def time_line(self) -> str:
        """Return a line with the expected duration of the run."""
        from bareline.platforms.base import exact_among
        from bareline.session.outlook import wall_time, wall_time_line
        from bareline.study.plan import make_plan

        plan = make_plan(self.study, self.platforms)
        return wall_time_line(wall_time(self.study, plan, exact_among(self.platforms)))

    def look_at_nodes(self, order: SubmissionRequest) -> None:
        """Check that a job could run on the nodes of a Slurm cluster; print remarks.

        The nodes of other batch systems are not checked.
        """
        from bareline.session.allocations import platforms_to_build
        from bareline.session.node_needs import see_to_nodes
        from bareline.study.plan import make_plan

        if order.system != "slurm":
            return
        plan = make_plan(self.study, self.platforms)
        cores = max((trial.layout.cores_per_node for trial in plan if trial.layout), default=1)
        builds = bool(platforms_to_build(self.study, plan))
        for remark in see_to_nodes(order.request, self.largest, cores, builds=builds):
            print_error(remark)

    def make(self) -> Run:
        """Make the run directory, and return the run."""
        from bareline.session.begin import create_run

        if self.study.scale_changes:
            print_error(
                f"the study runs at the scale {self.study.scale}, which changes its measures;"
                " --dry-run lists the changes"
            )
        return create_run(
            self.study,
            self.platforms,
            self.folder,
            baseline=self.baseline,
            control=self.control,
            seed=self.options.seed,
        )


def look_ahead(
    whole: Study, study: Study, platforms: list[PlatformSpec], baseline: str
) -> tuple[Answers, str] | None:
    """Return the claims that a study with its platforms can judge; None without a publication.

    - `whole`: the study at its own scale, before platforms were chosen for its roles.
    """
    from bareline.report.content.answers import claimed_metrics, judged_claims, names_of
    from bareline.session.answers import Foresight

    metrics = claimed_metrics(study.publications)
    if not metrics:
        return None
    answers = Foresight(whole, judged_claims, metrics).answers(study, platforms, baseline)
    return (answers, names_of(study.publications)) if answers.of else None


def planned_of(options: RunOptions, *, in_a_job: bool = False) -> Planned:
    """Return the study of the command line, ready for measurement."""
    from bareline.session.submission import inheriting

    study, specs, lacking = _chosen(options)
    specs, largest = inheriting(specs) if in_a_job else (specs, None)
    for line in lacking:
        print_error(line)
    return plan_on(options, study, specs, largest).tell()


def plan_on(
    options: RunOptions,
    study: Study,
    specs: list[PlatformSpec],
    largest: SlurmOptions | None = None,
) -> Planned:
    """Return a study ready for measurement on platforms; `Planned.tell` prints its notes."""
    from bareline.session import begin
    from bareline.session.variants import with_control, with_variants
    from bareline.study.plan import choose, left_out_lines, unlike

    built = with_variants(study, specs, options.build_a or [], options.build_b or [])
    base = begin.choose_baseline(built.study, built.platforms, options.baseline)
    names = [spec.name for spec in built.platforms]
    built.study.check_question(names, where="the question")
    asking = begin.without_emulated(built.study, built.platforms, base)
    added = with_control(asking, built.platforms, base, options.control)
    left_out = left_out_lines(choose(added.study, added.platforms).left_out)
    notes = (
        *filter(None, [built.note, added.note]),
        *(f"left out on {line}" for line in left_out),
        *unlike(added.study, added.platforms, base),
    )
    return Planned(options, added.study, added.platforms, base, added.name, largest, notes)


def _chosen(options: RunOptions) -> tuple[Study, list[PlatformSpec], list[str]]:
    """Return the study, its platforms, and lines about the parts of it that cannot be measured."""
    from bareline.platforms.config import choose_platforms
    from bareline.session import begin
    from bareline.study.catalogue import find_study

    study = find_study(options.study)
    on = options.on or []
    if options.scale is not None:
        study = study.at_scale(options.scale)
    if options.sizes_of is not None:
        study = _at_sizes_of(study, options.sizes_of)
    if options.launches is not None:
        study = study.with_launches(options.launches)
    if options.question is not None:
        study = study.asking(options.question)
    limits = limits_of(options.max_core_hours, options.not_between)
    study = study.model_copy(update=limits.model_dump(exclude_none=True))
    study, lacking = begin.cast_study(
        study, options.as_ or [], on, options.platforms, anyway=options.anyway or options.dry_run
    )
    names = study.platforms if study.roles else on or study.platforms
    if not names:
        raise UsageError("no platform is given", hint="add --on P; `bareline platforms` lists them")
    return study, choose_platforms(names, options.platforms), lacking


def _at_sizes_of(study: Study, path: Path) -> Study:
    """Return a study with the mean message sizes of a profiled program, and print these sizes."""
    from bareline.predict.curves.mean_sizes import mean_sizes, sweep_sizes
    from bareline.probes.mpi._mpibench import MOST_SIZES
    from bareline.profile.files import read_profile
    from bareline.study.message_sizes import with_message_sizes
    from bareline.vocabulary.units import format_size, listing

    means = mean_sizes(read_profile(path))
    if not means:
        raise UsageError(
            "the program sends no message whose size could be measured",
            where=str(path),
            hint="leave --sizes-of out; the study has sizes of its own",
        )
    sizes = sweep_sizes(means, MOST_SIZES)
    calls = [f"{mean.call} {format_size(mean.rounded_bytes)}" for mean in means]
    print_error(f"the mean message sizes in {path.name} are {listing(calls)}")
    sized = with_message_sizes(study, sizes)
    for line in sized.lines():
        print_error(line)
    return sized.study
