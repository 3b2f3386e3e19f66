"""The recipes of ``docs/how-to/applications.md``, run over outputs of the programs they are for.

The outputs are lines that the programs printed (``data/README.md`` says where they are from); what
is composed here, after the formats in the programs' sources, says so.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from bareline.study.reading import load_study
from bareline.study.study import Study
from bareline.testing.messages import raises
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Output, Scalar

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "how-to" / "applications.md"
OUTPUTS = Path(__file__).parent / "data" / "recipes"
#: What stands in each output: headline, other numbers, and the parameters of its case.
EXPECTED: dict[str, tuple[float, dict[str, float], dict[str, Scalar]]] = {
    "mitgcm": (
        9.2342770099639893,
        {"residual": 8.54408298464555e-14, "mean_level": -1.4436e-3},
        {},
    ),
    "milc": (24.17495, {"iterations": 796, "plaquette": 1.793290}, {}),
    "wrf": (2.62601, {"slowest": 0.34687, "steps_done": 8}, {"steps": 8}),
    "hpcg": (0.950083e9, {"variance": 0, "iterations": 50}, {}),
}


def recipes() -> dict[str, str]:
    """Return every table ``[app.NAME]`` of the page, by name.

    Sources of programs are no recipes.
    """
    blocks = re.findall(r"^```toml\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    found = {}
    for block in blocks:
        if re.search(r"^(from =|\[from\])", block, re.MULTILINE):
            continue
        (name,) = set(re.findall(r"^\[app\.(\w+)", block, re.MULTILINE))
        found[name] = block
    return found


def study(folder: Path, name: str) -> Study:
    """Load a recipe, as a user would who copies it into a file."""
    text = recipes()[name]
    if "[study]" not in text:
        text = f'[study]\nname = "x"\n{text}'
    if "[[measure]]" not in text:
        text += f'[[measure]]\nprobe = "app.{name}"\n'
    (folder / "case").mkdir()
    for file in ("case/data", "case/input", "app.trace"):
        (folder / file).write_text("text\n")
    (folder / "x.toml").write_text(text)
    return load_study(folder / "x.toml")


def captured(name: str) -> Output:
    """Return what a program printed and wrote."""
    texts = {file.name.removeprefix(f"{name}."): file for file in OUTPUTS.glob(f"{name}.*")}
    assert texts, f"nothing of {name} is there"
    files = {file: text.read_text() for file, text in texts.items()}
    said = files.pop("stdout", "")
    return Output(stdout=said, stderr="", exit_code=0, duration_s=99.0, files=files)


def read(folder: Path, name: str, output: Output) -> tuple[float, dict[str, float]]:
    """Return headline and other numbers, as the recipe reads them and holds them to be right."""
    written = study(folder, name)
    program, probe = written.programs[name], written.find_probe(f"app.{name}")
    samples = probe.read(probe.make_params(EXPECTED[name][2]), output).samples
    others = {key: value.read(key, output) for key, value in program.values.items()}
    return samples[0].value, others


def test_every_recipe_of_the_page_has_an_output() -> None:
    assert set(recipes()) == {*EXPECTED, "mine"}


def test_the_trace_of_the_page_is_a_study(tmp_path: Path) -> None:
    (measure,) = study(tmp_path, "mine").measures
    assert measure.probe == "app.mine"


@pytest.mark.parametrize("name", EXPECTED)
def test_a_recipe_reads_what_its_program_prints(tmp_path: Path, name: str) -> None:
    headline, others = read(tmp_path, name, captured(name))
    assert headline == pytest.approx(EXPECTED[name][0], rel=1e-12)
    assert others == pytest.approx(EXPECTED[name][1], rel=1e-4)


#: Composed after the formats of the programs' sources: what else they print in these places.
OTHERS = {
    "milc in double precision": (
        "milc", "stdout", r"^PLAQ:\t1.793290\t.*", "PLAQ:\t1.7932900000000001\t1.7842250000000000",
    ),
    "mitgcm of today": ("mitgcm", "STDOUT.0000", r"   cg2d_res = ", "cg2d_last_res ="),
    "wrf with adaptive steps": ("wrf", "rsl.out.0000", r"for main:", "for main (dt=180.00):"),
    "wrf with a nest": (
        "wrf", "rsl.out.0000", r"^(Timing for main: .*) on domain   1: .*$",
        r"\1 on domain   2:    0.10000 elapsed seconds\n\g<0>",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", OTHERS)
def test_other_forms_of_the_same_numbers(tmp_path: Path, kind: str) -> None:
    name, file, pattern, new = OTHERS[kind]
    output = changed(captured(name), file, pattern, new)
    headline, others = read(tmp_path, name, output)
    assert headline == pytest.approx(EXPECTED[name][0], rel=1e-12)
    assert others == pytest.approx(EXPECTED[name][1], rel=1e-4)


def changed(output: Output, file: str, pattern: str, new: str) -> Output:
    """Return an output with some of its lines in another form."""
    text = output.stdout if file == "stdout" else output.files[file]
    text, count = re.subn(pattern, new, text, flags=re.MULTILINE)
    assert count
    if file == "stdout":
        return replace(output, stdout=text)
    return replace(output, files={**output.files, file: text})


@pytest.mark.parametrize(
    ("name", "file", "pattern", "new", "code"),
    [
        ("mitgcm", "STDOUT.0000", "^PROGRAM MAIN.*", "", "BL-PROBES-345"),
        ("mitgcm", "STDOUT.0000", "cg2d_res = .*", "cg2d_res = 1.0E-03", "BL-PROBES-630"),
        ("mitgcm", "STDOUT.0000", "eta_mean .*", "eta_mean = NaN", "BL-PROBES-991"),
        ("milc", "stdout", "^RUNNING COMPLETED", "", "BL-PROBES-345"),
        ("milc", "stdout", "1.793290", "nan", "BL-PROBES-991"),
        ("wrf", "rsl.out.0000", ".*23:39:00.*\n", "", "BL-PROBES-630"),
        ("wrf", "rsl.out.0000", "SUCCESS", "FAILURE", "BL-PROBES-345"),
        ("hpcg", "hpcg.txt", "result is VALID with.*", "result is INVALID.", "BL-PROBES-722"),
    ],
)
def test_a_result_that_is_none_is_refused(
    tmp_path: Path, name: str, file: str, pattern: str, new: str, code: str
) -> None:
    with raises(ParseError, code):
        read(tmp_path, name, changed(captured(name), file, pattern, new))
