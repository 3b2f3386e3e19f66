"""The probe of a user's program: its start, its printed values, and checks of its result.

A table ``[app.NAME]`` of a study describes the program. No shell command is built from a
description.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, field, make_dataclass
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from bareline.probes._native import TELL_KERNELS, kernels_printed
from bareline.probes.app._expression import Condition
from bareline.probes.app.value import FigureOfMerit, Value, compiled
from bareline.probes.base import Probe, ProbeReading, declared
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Command, Layer, Layout, Metric, Output, Sample, Scalar
from bareline.vocabulary.platform import REPLAY
from bareline.vocabulary.units import listing

_Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,99}$")]
_SCRIPT_NAME = "bareline-start.sh"
_STEPS_NAME = "bareline-steps"
#: A shell command whose arguments are a folder of the node and a command to run in this folder.
_IN_FOLDER = 'cd -- "$0" && exec "$@"'
_PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)\}")
_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.,+-]*(/[A-Za-z0-9_.,+-]+)*")

#: A script that runs on every rank, in the working directory of its node. The first rank of a node
#: copies the case into this directory and runs the steps; all other ranks wait for this rank.
_SCRIPT = """\
case_folder=$1
shift
fail() {
    echo "bareline: $1" >&2
    : >bareline-failed
    exit 2
}
if mkdir bareline-first 2>/dev/null; then
    if [ -n "$case_folder" ]; then
        [ -d "$case_folder" ] || fail "there is no folder '$case_folder' on $(uname -n)"
        cp -R "$case_folder"/. . || fail "'$case_folder' cannot be copied on $(uname -n)"
    fi
    (
        set --
        while IFS= read -r line; do
            case $line in
                '<'*) flat=${line#<} ;;
                '>'*) path=${line#>} && mkdir -p "${path%/*}" && mv "$flat" "$path" || exit 1 ;;
                =*) set -- "$@" "${line#=}" ;;
                *)
                    "$@" >bareline-step.out 2>&1 </dev/null || {
                        tail -n 5 bareline-step.out >&2
                        exit 1
                    }
                    set --
                    ;;
            esac
        done <bareline-steps
    ) || fail "a step before the program failed on $(uname -n)"
    : >bareline-ready
else
    until [ -e bareline-ready ]; do
        [ ! -e bareline-failed ] || exit 2
        sleep 0.05
    done
fi
exec "$@"
"""


class Program(BaseModel):
    """The description of a program: how it is run, and how its output is read.

    - `trace`: a trace (``bareline profile --trace``) that simulated platforms replay instead of a
      command.
    - `title`: the name of the program's time, as the subject of a sentence.
    - `summary`: a line about the program for lists.
    - `source`: the origin of the program.
    - `command`: program and arguments. ``{NAME}`` is replaced by a parameter, ``{ranks}``,
      ``{nodes}`` and ``{threads}`` by the layout's numbers, ``{workdir}`` by the trial's working
      directory.
    - `mpi`: whether the platform's MPI starts a process per rank; otherwise one process runs on the
      first node.
    - `steps`: commands that run before the program, once on every node, for meshes or
      preprocessing. They are not timed.
    - `inputs`: texts of files in the working directory, by name of the file. A text may contain
      the placeholders of `command`.
    - `case_folder`: a folder on the nodes. Its files are copied into the working directory.
    - `folder`: absolute path of a folder on the nodes, in which the program runs instead of in the
      trial's working directory. bareline then sets only the environment variables `env`.
    - `files`: files of the working directory that are kept as outputs, in addition to the files of
      `metrics` and `values`.
    - `env`: environment variables.
    - `requires`: programs that must be on the path, in addition to the programs that `command` and
      `steps` start.
    - `params`: parameters of the probe and their defaults.
    - `min_ranks`: least number of ranks.
    - `complete`: regular expression that matches only a complete output. It is searched in the file
      of the main metric; without such a file, in the printed output.
    - `metrics`: metrics of a trial, the main metric first. By convention, the main metric is
      ``time``, the time of the main loop without start-up and files. bareline adds
      ``launch_time``, the time of the whole launch.
    - `values`: numbers in the output that are not metrics; only `verify` uses them.
    - `verify`: conditions on metrics, values and parameters, which a correct result satisfies.
    """

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)

    trace: str = ""
    title: str = ""
    summary: str = ""
    source: str = ""
    command: Annotated[list[str], Field(min_length=1)]
    mpi: bool = True
    steps: list[Annotated[list[str], Field(min_length=1)]] = []
    inputs: dict[str, str] = {}
    case_folder: str = ""
    folder: str = ""
    files: list[str] = []
    env: dict[str, str] = {}
    requires: list[str] = []
    params: dict[str, Scalar] = {}
    min_ranks: Annotated[int, Field(ge=1)] = 1
    complete: str = ""
    metrics: Annotated[dict[_Name, FigureOfMerit], Field(min_length=1)]
    values: dict[_Name, Value] = {}
    verify: Annotated[list[str], Field(min_length=1)]

    @model_validator(mode="before")
    @classmethod
    def _replays(cls, given: Any) -> Any:
        if not isinstance(given, dict) or not given.get("trace"):
            return given
        made: dict[str, Any] = {
            "command": [REPLAY, str(given["trace"])],
            "metrics": {"time": {"json_path": "time_s"}},
            "verify": ["time > 0"],
        }
        allowed = {"trace", "title", "summary", "source"}
        others = sorted(key for key in given if key not in allowed and not _same(given, made, key))
        if others:
            raise ValueError(
                f"with the key trace, these keys cannot be used: {listing(others)}; leave them out"
            )
        return {**given, **made}

    @field_validator("complete")
    @classmethod
    def _expression(cls, text: str) -> str:
        return compiled(text).pattern

    @model_validator(mode="after")
    def _fits_together(self) -> Program:
        names = {*self.metrics, *self.values}
        self._check_conditions(names)
        for words in (self.command, *self.steps):
            if any("\n" in word for word in words):
                raise ValueError(
                    "an argument of the command or of a step has a line break; remove the line"
                    " break"
                )
        self._check_folders()
        if "launch_time" in names:
            raise ValueError(
                "a metric or value cannot have the name launch_time, which bareline measures"
                " itself; choose another name"
            )
        return self

    def _check_conditions(self, names: set[str]) -> None:
        for text in self.verify:
            unknown = sorted(Condition(text).names - names - set(self.params))
            if unknown:
                raise ValueError(
                    f"verify = '{text}' uses {listing(unknown)}, which is not a metric, value or"
                    " parameter of this program"
                )

    def _check_folders(self) -> None:
        for name in self.inputs:
            if not _FILE.fullmatch(name) or ".." in name.split("/"):
                raise ValueError(f"'{name}' is not the name of a file in the working directory")
        if self.case_folder and not self.case_folder.startswith(("/", "{")):
            raise ValueError(f"case_folder = '{self.case_folder}' is not an absolute path")
        if self.folder and not self.folder.startswith("/"):
            raise ValueError(f"folder = '{self.folder}' is not an absolute path")
        if self.folder and (self._sources_of_files or self._files_read):
            raise ValueError(
                "`folder` cannot be used with `steps`, `inputs`, `case_folder` or `files`: these "
                "need a working directory of each launch"
            )

    @property
    def _sources_of_files(self) -> bool:
        return bool(self.steps or self.inputs or self.case_folder)

    @property
    def _files_read(self) -> list[str]:
        """Names of the files in the working directory that contain metrics or values."""
        sources = (*self.metrics.values(), *self.values.values())
        return list(
            dict.fromkeys([*self.files, *(source.file for source in sources if source.file)])
        )


def _same(given: dict[str, Any], made: dict[str, Any], key: str) -> bool:
    """Return whether a key has its default value, or the value that ``made`` gives it."""
    if key == "metrics":
        return set(given[key]) == {"time"}
    if key in made:
        return bool(given[key] == made[key])
    field = Program.model_fields.get(key)
    return field is not None and given[key] == field.get_default(call_default_factory=True)


class ProgramProbe(Probe[Any]):
    """The probe of a program that is run and read according to its description."""

    layer: ClassVar[Layer] = Layer.APP
    program: ClassVar[Program]

    def command(self, params: Any, layout: Layout) -> Command:
        program = self.program
        if program.trace:
            return Command(argv=tuple(program.command), mpi=True)
        if program.folder:
            return self._in_folder(layout, params)
        fillings = _known(params, layout)
        argv = _filled_words(program.command, fillings)
        steps = [_filled_words(step, fillings) for step in program.steps]
        inputs = {name: _filled(text, fillings) for name, text in program.inputs.items()}
        started = [words[0] for words in (argv, *steps) if "/" not in words[0]]
        # A platform writes all files into one folder; the script puts them into their folders.
        flat = {name: name.replace("/", "%") for name in inputs}
        lines = [f"<{flat[name]}\n>{name}\n" for name in inputs if "/" in name]
        for step in steps:
            lines += (f"={word}\n" for word in step)
            lines.append(".\n")
        inputs = {flat[name]: text for name, text in inputs.items()}
        inputs |= {_SCRIPT_NAME: _SCRIPT, _STEPS_NAME: "".join(lines)}
        env = {"OMP_NUM_THREADS": str(layout.threads_per_rank), **program.env}
        return Command(
            argv=(
                "sh",
                f"{{workdir}}/{_SCRIPT_NAME}",
                _filled(program.case_folder, fillings),
                *argv,
            ),
            mpi=program.mpi,
            env=tuple((name, _filled(text, fillings)) for name, text in env.items()),
            inputs=tuple(inputs.items()),
            outputs=tuple(program._files_read),
            requires=tuple(dict.fromkeys(["sh", *started, *program.requires])),
        )

    def _in_folder(self, layout: Layout, params: Any) -> Command:
        """Return the command of a program that runs in a folder of the node.

        The shell changes the directory and then becomes the program, so that no script adds to the
        measured time.
        """
        program = self.program
        fillings = _known(params, layout)
        argv = [_filled(word, fillings) for word in program.command]
        return Command(
            argv=("sh", "-c", _IN_FOLDER, program.folder, *argv),
            mpi=program.mpi,
            env=tuple((name, _filled(text, fillings)) for name, text in program.env.items()),
            requires=("sh", *program.requires),
        )

    def parse(self, params: Any, output: Output) -> ProbeReading:
        program = self.program
        source = next(iter(program.metrics.values())).file
        text = output.files.get(source, "") if source else output.stdout
        if program.complete and not re.search(program.complete, text, re.MULTILINE):
            raise ParseError(
                f"{source or 'the output'} is truncated, or the program did not finish:"
                " nothing in it matches the pattern of the key `complete`"
            )
        figures = {name: quantity.read(name, output) for name, quantity in program.metrics.items()}
        others = {name: quantity.read(name, output) for name, quantity in program.values.items()}
        numbers = {
            name: float(value)
            for name, value in asdict(params).items()
            if isinstance(value, int | float)
        }
        measured = {**numbers, **others, **figures}
        for text in program.verify:
            condition = Condition(text)
            if not condition.holds(measured):
                values = [f"{name} = {measured[name]:g}" for name in sorted(condition.names)]
                raise ParseError(f"the result is wrong: {text} is false ({listing(values)})")
        measurements = (Sample(name, value) for name, value in figures.items())
        facts = kernels_printed(output) if TELL_KERNELS in program.env.items() else {}
        return ProbeReading(
            samples=(*measurements, Sample("launch_time", output.duration_s)),
            facts=facts,
        )


def _known(params: Any, layout: Layout) -> dict[str, Scalar]:
    """Return the values of placeholders: the parameters, and the layout's ranks, nodes, threads."""
    shape = {"ranks": layout.ranks, "nodes": layout.nodes, "threads": layout.threads_per_rank}
    return {**asdict(params), **shape}


def _filled(text: str, fillings: Mapping[str, Scalar]) -> str:
    def filling(placeholder: re.Match[str]) -> str:
        return str(fillings.get(placeholder[1], placeholder[0]))

    return _PLACEHOLDER.sub(filling, text)


def _filled_words(words: Iterable[str], fillings: Mapping[str, Scalar]) -> list[str]:
    return [_filled(word, fillings) for word in words]


def program_probe(name: str, program: Program, about: str = "") -> Probe[Any]:
    """Return the probe of a program.

    - `about`: a text about the parameters.
    """
    fields = [
        (key, type(default), field(default=default)) for key, default in program.params.items()
    ]
    params = make_dataclass("ProgramParams", fields, frozen=True, slots=True)
    params.__doc__ = about
    metrics = {
        key: Metric(figure.unit, figure.better, figure.detail)
        for key, figure in program.metrics.items()
    }
    headline = next(iter(metrics))
    summary = f"{program.command[0]}, as the study describes it"
    if program.trace:
        summary = f"the trace {program.trace}, replayed by the simulator"
    return declared(
        ProgramProbe,
        name,
        title=program.title or f"the {headline.replace('_', ' ')} of {name}",
        summary=program.summary or summary,
        source=program.source,
        params=params,
        metrics={**metrics, "launch_time": Metric("s", "none", detail=True)},
        min_ranks=program.min_ranks,
        program=program,
    )
