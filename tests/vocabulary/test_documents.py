"""Documents of strangers: refused within bounds, soon, by line or key; what is left is clean."""

import ast
import re
import time
from dataclasses import replace
from pathlib import Path

import pytest

from bareline.platforms import site
from bareline.platforms.hosts.layers.container import archive, budget
from bareline.platforms.reached.ssh import options
from bareline.testing.messages import raises
from bareline.vocabulary.documents import (
    DESCRIPTION,
    OUTPUT,
    YAML,
    DocumentError,
    check_toml_keys,
    list_at,
    parse_json,
    parse_lines,
    parse_yaml,
    table_at,
    text_at,
)
from bareline.vocabulary.files import parse_toml

ROOT = Path(__file__).resolve().parents[2]


def _laughs(levels, width, form):
    lines = ["a0: &a0 {x: 1}"]
    for level in range(1, levels + 1):
        aliases = ", ".join([f"*a{level - 1}"] * width)
        lines.append(f"a{level}: &a{level} {form.format(aliases, level=level)}")
    return "\n".join(lines)


#: Texts with the code of their refusal, None for the words of PyYAML, and its values.
HARMFUL = {
    "alias-in-itself": ("&a {x: *a}", ("BL-VOCABULARY-941", "line 1, column 8")),
    "alias-in-itself-block": ("&a\nx: *a\n", ("BL-VOCABULARY-941", "line 2, column 4")),
    "list-in-itself": ("- &a [1, [*a]]", ("BL-VOCABULARY-941", "line 1, column 11")),
    "merge-keys": (
        _laughs(9, 9, "{{<<: [{0}], k{level}: 1}}"),
        ("BL-VOCABULARY-867", "line 6,", "200,000"),
    ),
    "aliases": (_laughs(9, 9, "[{0}]"), ("BL-VOCABULARY-867", "line 6,", "200,000")),
    "many-aliases": (
        "a: &a 1\nb: [" + "*a, " * 1001 + "]",
        ("BL-VOCABULARY-999", "line 2,", "1000"),
    ),
    "deep": ("[" * 100_000, ("BL-VOCABULARY-973", "line 1, column 65", "64")),
    "deep-block": ("".join(f"{' ' * n}a:\n" for n in range(500)), ("BL-VOCABULARY-973", "64")),
    "digits": ("a:\n  b: " + "9" * 4301, ("BL-VOCABULARY-191", "line 2, column 6", "100")),
    "hexadecimal": ("a: 0x" + "f" * 5000, ("BL-VOCABULARY-191", "100")),
    "binary": ("a: 0b" + "1" * 5000, ("BL-VOCABULARY-191", "100")),
    "decimals": ("a: 0." + "1" * 5000, ("BL-VOCABULARY-191", "100")),
    "text": ("a: " + "x" * (1 << 21), ("BL-VOCABULARY-868", "line 1,", "1,048,576")),
    "values": ("- a\n" * 300_000, ("BL-VOCABULARY-867", "line 2000", "200,000")),
    "size": ("#" * (5 << 20), ("BL-VOCABULARY-364", "4 MiB")),
    "python": (
        "a: !!python/object/apply:os.system [reboot]",
        ("BL-VOCABULARY-559", "line 1,", "os.system"),
    ),
    "own-tag": ("a: !vault x", ("BL-VOCABULARY-559", "!vault")),
    "set": ("!!set {a, b}", ("BL-VOCABULARY-559", "set")),
    "binary-tag": ("a: !!binary x", ("BL-VOCABULARY-559", "binary")),
    "list-as-key": ("? [a]\n: 1", ("BL-VOCABULARY-714", "line 1, column 3")),
    "merge-of-a-number": ("<<: 3", (None, "line 1,")),
    "control": ("a: \x07", (None,)),
    "nul": ("a: \0", (None,)),
    "two-documents": ("a: 1\n---\nb: 2", (None, "line 2,")),
    "no-anchor": ("a: *b", (None, "line 1,")),
    "bad-number": ("a: !!int x", ("BL-VOCABULARY-269",)),
}


@pytest.fixture(params=["C", "Python"])
def loader(request, monkeypatch):
    """Let PyYAML have its reader in C, or not."""
    yaml = pytest.importorskip("yaml")
    if request.param == "Python":
        monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    elif not hasattr(yaml, "CSafeLoader"):
        pytest.skip("PyYAML was built without libyaml")


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", HARMFUL)
def test_yaml_that_would_take_the_machine_is_refused_by_line(name, loader):
    text, (code, *values) = HARMFUL[name]
    began_s = time.process_time()
    with raises(DocumentError, code, *values):
        parse_yaml(text)
    assert time.process_time() - began_s < 25


def test_yaml_becomes_what_json_has(loader):
    text = (
        "b: &b {x: 1, 2: 1:30, day: 2026-01-01, =: y}\n"
        "c: {<<: *b, x: 2}\nyes: [~, true, 1.5, 0x10, '']\n"
    )
    assert parse_yaml(text) == {
        "b": {"x": 1, "2": "1:30", "day": "2026-01-01", "=": "y"},
        "c": {"x": 2, "2": "1:30", "day": "2026-01-01", "=": "y"},
        "yes": [None, True, 1.5, 16, ""],
    }
    assert parse_yaml("") is None


def test_what_a_terminal_obeys_is_replaced(loader):
    assert parse_yaml('"k\\x1b": "\\x9b31m"') == {"k\ufffd": "\ufffd31m"}
    assert parse_json('{"\\ud800": ["\\u001b[2J", "\\ud83d\\ude00"]}') == {
        "\ufffd": ["\ufffd[2J", "\U0001f600"]
    }
    assert parse_lines(b"a\x1bb\nc") == ["a\ufffdb", "c"]


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[" * 1_000_000, "BL-VOCABULARY-843"),
        ('\n{"a":' * 70, "BL-VOCABULARY-843"),
        ('"' + '\\"' * 8_000_000, "BL-VOCABULARY-514"),
        ("[" + "1," * 5_000_000 + "1]", "BL-VOCABULARY-406"),
        ("[" + "[]," * 400_000 + "1]", "BL-VOCABULARY-406"),
        ("[\n" + "1" * 5000 + "]", "BL-VOCABULARY-997"),
        ("[\n\n-0." + "1" * 5000 + "]", "BL-VOCABULARY-997"),
        ('{"a": 1, "a": 2}', "BL-VOCABULARY-858"),
        ('{"a": 1}'.encode("utf-16"), "BL-VOCABULARY-697"),
        (b'{"a":\n "\xff"}', "BL-VOCABULARY-697"),
        ("", "BL-VOCABULARY-654"),
        ('{"a":\n 1} x', "BL-VOCABULARY-654"),
        (" " * (17 << 20), "BL-VOCABULARY-364"),
    ],
)  # fmt: skip
def test_json_that_would_take_the_machine_is_refused_by_line(text, code):
    began_s = time.process_time()
    with raises(DocumentError, code):
        parse_json(text)
    assert time.process_time() - began_s < 10


def test_commas_and_brackets_within_texts_are_no_values():
    bounds = replace(DESCRIPTION, values=4, depth=1)
    assert parse_json('["[[[,,,,,,", "\\"]]{{,,,"]', bounds) == ["[[[,,,,,,", '"]]{{,,,']


@pytest.mark.timeout(60)
@pytest.mark.parametrize("text", ["a." * 8_000_000 + "a = 1", "[" + "a . " * 200_000 + "a]"])
def test_a_key_of_many_parts_is_refused_before_it_takes_hours(text):
    with raises(ValueError, "BL-VOCABULARY-622", "1", "100"):
        parse_toml(text)


@pytest.mark.parametrize(
    "text", ["a" * 1_000_000, 'x = "' + "a.b " * 200_000 + '"', "a." * 90 + "a = 1"]
)
def test_long_words_and_texts_are_no_such_keys(text):
    check_toml_keys(text)


def test_lines_are_bounded():
    bounds = replace(DESCRIPTION, values=3, text_chars=5)
    assert parse_lines(b"a\nb", bounds) == ["a", "b"]
    with raises(DocumentError, "BL-VOCABULARY-711", "3"):
        parse_lines(b"a\n" * 4, bounds)
    with raises(DocumentError, "BL-VOCABULARY-951", "2", "5"):
        parse_lines(b"a\nabcdef", bounds)


@pytest.mark.parametrize("value", [5, "text", [1], True, 1.5, 10**90])
def test_a_value_of_another_kind_is_named_with_its_key(value):
    with raises(DocumentError, "BL-VOCABULARY-338", "a.b"):
        table_at(value, "a.b")
    if not isinstance(value, list):
        with raises(DocumentError, "BL-VOCABULARY-783", "a.b"):
            list_at(value, "a.b")
    if not isinstance(value, str):
        with raises(DocumentError, "BL-VOCABULARY-148", "a.b"):
            text_at(value, "a.b")
    assert table_at(None, "a") == {}


#: Where else such a reader is called, and why what it reads needs no bounds or has its own.
ALLOWED = {
    "src/bareline/vocabulary/documents.py": "the reader itself",
    "src/bareline/vocabulary/files.py": "TOML, behind its bounds",
    "src/bareline/facts/arm.py": "a file of the package",
    "src/bareline/vocabulary/caveats.py": "a file of the package",
    "src/bareline/vocabulary/message_codes.py": "a file of an installed package",
    "src/bareline/published/catalogue.py": "a file of the package",
    "src/bareline/platforms/sim/compute.py": "files of the package and of the own cache",
    "src/bareline/platforms/sim/network.py": "a file of the package",
    "src/bareline/analysis/numbers/parameters.py": "a file of the package",
    "src/bareline/study/catalogue.py": "a file of the package",
    "src/bareline/session/spool.py": "an unnamed file that this process has just written",
    "src/bareline/session/variants.py": "a value of the own command line",
    "src/bareline/platforms/hosts/images/parts.py": "a file of the own cache",
    "src/bareline/platforms/made/vm/preflight.py": "a file of the own cache",
    "src/bareline/platforms/made/vm/leftovers.py": "a file of the own cache",
    "src/bareline/platforms/made/cloud/journal.py": "files of the own cache",
    "src/bareline/platforms/null.py": "what this process has just written",
    "src/bareline/vocabulary/model.py": "texts of parameters, from a run within its bounds",
    "src/bareline/store/header.py": "what this process has just written",
    "src/bareline/session/submission.py": "64 KiB, and each value is held against its kind",
    "src/bareline/session/judge.py": "what this process's own child prints",
    "src/bareline/probes/_native.py": "bareline's own programs; each line has a schema",
    "src/bareline/probes/null.py": "what this process's own child prints",
    "src/bareline/profile/files.py": "64 MiB; each line has a schema, with bounds of its own",
    "src/bareline/analysis/numbers/programs.py": "predictions, which the store reads in bounds",
    "src/bareline/testing/platforms.py": "a test's own program",
}
_CALLS = re.compile(
    r"\b(json\.loads?|json\.JSONDecoder|tomllib\.loads?|yaml\.\w*load\w*|yaml\.parse"
    r"|yaml\.compose\w*|ConfigParser|plistlib|pickle|marshal|xml\.etree)\b"
)


def _calls(path):
    """Give the readers that a module calls; what a docstring or comment says does not count."""
    tree = ast.parse(path.read_text())
    return {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)} | {
        name.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in node.names
    }


def test_one_reader_reads_what_strangers_wrote():
    sources = sorted((ROOT / "src").rglob("*.py"))
    sources += sorted((ROOT / "packages").glob("*/src/**/*.py"))
    found = {
        str(path.relative_to(ROOT))
        for path in sources
        if any(_CALLS.fullmatch(name) or _CALLS.match(f"{name}") for name in _calls(path))
    }
    assert found - set(ALLOWED) == set(), "read it with bareline.vocabulary.documents"
    assert set(ALLOWED) - found == set(), "the reason is out of date"


def _bounds_in_documentation(title):
    text = (ROOT / "docs" / "reference" / "trust.md").read_text()
    section = text.partition(f"## {title}\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.+?) \| ([\d,]+) \|", section, re.MULTILINE)
    return section, {name: int(number.replace(",", "")) for name, number in rows}


def test_bounds_are_those_of_the_documentation():
    section, rows = _bounds_in_documentation("Structured files")
    assert rows == {
        "size of a JSON or INI file, MiB": DESCRIPTION.size_bytes >> 20,
        "values in a JSON or INI file": DESCRIPTION.values,
        "size of a YAML file, MiB": YAML.size_bytes >> 20,
        "values in a YAML file": YAML.values,
        "levels of nesting": DESCRIPTION.depth,
        "digits of a number": DESCRIPTION.digits,
        "characters of a text": DESCRIPTION.text_chars,
        "aliases in a YAML file": YAML.aliases,
    }
    assert (YAML.depth, YAML.digits, YAML.text_chars) == (
        DESCRIPTION.depth,
        DESCRIPTION.digits,
        DESCRIPTION.text_chars,
    )
    assert f"{OUTPUT.size_bytes >> 20} MiB and {OUTPUT.values:,} values" in " ".join(
        section.split()
    )
    for number in (options.MOST_HOSTS, options.MOST_GROUPS, site.MOST_SYSTEMS):
        assert f"{number:,} " in section


def test_bounds_of_images_are_those_of_the_documentation():
    section, rows = _bounds_in_documentation("Images")
    least = f"{budget.RATIO_FROM_BYTES >> 20} MiB"
    ratio = f"size of all files divided by the archive's size, checked from {least} on"
    assert rows == {
        "entries (files, folders and links)": budget.MOST_ENTRIES,
        ratio: budget.MOST_RATIO,
        "members of the archive": archive.MOST_MEMBERS,
        "layers": archive.MOST_LAYERS,
        "bytes of an extended header": archive.MOST_HEADER_BYTES,
        "MiB of memory to unpack xz or zstd": archive.XZ_BYTES >> 20,
        "bytes of a name": archive.LONGEST_NAME,
        "characters of a path": archive.LONGEST_PATH,
    }
    assert budget.SHARE_OF_FREE == 4 and "a quarter of the free space" in section
