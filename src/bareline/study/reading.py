"""Read a study file with the input files of its programs, and describe its JSON Schema."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bareline.study.problems import TABLES
from bareline.study.study import ProbeDefaults, Study, study_from_toml
from bareline.vocabulary.errors import StudyError
from bareline.vocabulary.files import NotRegular, read_bounded, read_toml, step_to_read

#: Input files of programs go into every run directory.
_LARGEST_INPUT_BYTES = 1 << 20
#: Keys of run directories only.
_OF_RUNS = ("scale", "scale_changes", "emulated")


def load_study(path: Path, defaults: ProbeDefaults | None = None) -> Study:
    """Read and check a study file.

    - `defaults`: the defaults of a run's probes; without it the defaults of the present probes.

    Raises StudyError: the file is missing, not TOML, or not a possible study; the error names file,
        key and next step.
    """
    try:
        content = read_toml(path)
    except OSError as error:
        hint = step_to_read(error, "`bareline studies` lists the built-in ones")
        raise StudyError(
            f"the study file cannot be read: {error.strerror}", where=str(path), hint=hint
        ) from error
    except ValueError as error:
        raise StudyError(f"the study file is not valid TOML: {error}", where=str(path)) from error
    return study_from_toml(_with_inputs(content, path), where=str(path), defaults=defaults)


def _with_inputs(content: dict[str, Any], path: Path) -> dict[str, Any]:
    """Replace the names of input files by their texts, which a run directory stores."""
    programs = content.get("app")
    if not isinstance(programs, dict):
        return content
    for name, program in programs.items():
        if isinstance(program, dict):
            _read_inputs(program, path, name)
    return content


def _read_inputs(program: dict[str, Any], study: Path, name: str) -> None:
    """Write the path of a program's trace and the texts of its input files into its table."""
    trace = program.get("trace")
    if isinstance(trace, str):
        program["trace"] = str(_trace_file(study.parent / trace, study, name))
    inputs = program.get("inputs")
    if not isinstance(inputs, dict):
        return
    for target, source in inputs.items():
        if isinstance(source, dict) and set(source) == {"file"}:
            file = study.parent / str(source["file"])
            inputs[target] = _input_text(file, study, name)


def _trace_file(file: Path, study: Path, name: str) -> Path:
    """Return the path of a trace; a run directory stores the path, because a trace may be large."""
    if not file.is_file():
        raise StudyError(
            f"the trace '{file}' does not exist",
            where=f"{study}, [app.{name}], trace",
            hint="make one with `bareline profile --trace -o FILE -- mpirun ...`",
        )
    return file.resolve()


def _input_text(file: Path, study: Path, name: str) -> str:
    where = f"{study}, [app.{name}], inputs"
    elsewhere = (
        "only text files are sent to the nodes: copy the file into a folder that the nodes can "
        "read, and set case_folder to this folder"
    )
    try:
        return read_bounded(file, _LARGEST_INPUT_BYTES).decode()
    except UnicodeDecodeError as error:
        raise StudyError(f"'{file}' is not a text file", where=where, hint=elsewhere) from error
    except NotRegular as error:
        why = f"'{file}' cannot be read: {error.strerror}"
        raise StudyError(why, where=where, hint=elsewhere) from error
    except (OSError, ValueError) as error:  # a null character is a ValueError
        why = f"'{file}' cannot be read: {getattr(error, 'strerror', None) or error}"
        hint = step_to_read(error, "bareline looks for the file in the folder of the study")
        raise StudyError(why, where=where, hint=hint) from error


def study_schema() -> dict[str, Any]:
    """Return the JSON Schema of a file that `load_study` reads."""
    whole = Study.model_json_schema()
    keys = whole["properties"]
    definitions = whole.pop("$defs")
    # The validator that makes a source of a text is not a property: both forms are named here.
    definitions["Source"] = {"anyOf": [{"type": "string"}, definitions["Source"]]}
    definitions["Program"]["properties"]["from"] = {"$ref": "#/$defs/Source"}
    tables = {table: keys.pop(name) for table, (name, _) in TABLES.items()}
    head = {name: about for name, about in keys.items() if name not in _OF_RUNS}
    study = {"type": "object", "properties": head, "required": ["name"]}
    return {
        "title": "study",
        "type": "object",
        "properties": {"study": {**study, "additionalProperties": False}, **tables},
        "required": ["study", "measure"],
        "additionalProperties": False,
        "$defs": definitions,
    }
