"""Every writer goes through `bareline.vocabulary.files.replacing`: the source has no other way.

A new writer that opens a file itself would follow a link, hang on a pipe, or leave half a file.
"""

import ast
import re
from pathlib import Path

import pytest

from bareline.vocabulary import files

PACKAGE = Path(files.__file__).resolve().parents[1]

#: Where files are written or moved in another way, and why that is right; no other place may.
ELSEWHERE = {
    "vocabulary/files.py": "the one way itself",
    "session/profiling.py": "renames what the ranks of a launch wrote; a rename follows no link",
    "session/preloading.py": "a copy of a file of programs, in a private folder",
    "store/files.py": "appends to a run's events; refuses links and what is no file",
    "store/run.py": "appends to a run's records; refuses links and what is no file",
    "platforms/made/cloud/journal.py": "appends to a journal in the private cache",
    "host/locks.py": "locks and leases, which nobody reads for their content",
    "build/cache.py": "locks a record that stays as it is",
    "build/native.py": "a log that compilers write to; renames a folder that it made",
    "cli/main.py": "/dev/null in the place of a stdout that is closed",
    "cli/template.py": "renames a folder that it made",
    "doctor/isolation.py": "asks /dev/kvm for its version",
    "platforms/hosts/layers/container/archive.py": "layers of an image, in a folder of images.py",
    "platforms/hosts/layers/container/images.py": "unpacks into its folder, and renames it",
    "platforms/localhost/netns/links.py": "a setting of the kernel, below /proc",
    "platforms/reached/remote/native.py": "an archive in memory",
    "platforms/made/vm/fleet.py": "a copy of a disk of gigabytes, in a private folder",
    "platforms/made/vm/guest.py": "a log that ssh writes to, in a private folder",
    "platforms/made/vm/hypervisor.py": "a log that libvirt writes to, in a private folder",
    "platforms/made/vm/image.py": "kernel modules and folders, moved within the private cache",
    "platforms/made/vm/leftovers.py": "settings of the kernel, below /sys",
    "platforms/made/vm/states.py": "copies of disks of gigabytes, in a private folder",
}
#: Methods and functions that write, move or copy files, whoever has them.
_WRITERS = {
    "copy2", "copyfile", "copyfileobj", "copytree", "extractall", "hardlink_to", "mkfifo",
    "mkstemp", "savefig", "sink_csv", "sink_ipc", "sink_ndjson", "sink_parquet", "symlink_to",
    "touch", "truncate", "write_avro", "write_bytes", "write_csv", "write_excel", "write_ipc",
    "write_json", "write_ndjson", "write_parquet", "write_text",
}  # fmt: skip
_OF_MODULES = {
    "os": {"link", "mkfifo", "mknod", "rename", "replace", "symlink", "truncate"},
    "shutil": {"copy", "move"},
    "tempfile": {"NamedTemporaryFile"},
    "tarfile": {"TarFile"},
}
_WRITING_FLAGS = {"O_APPEND", "O_CREAT", "O_RDWR", "O_TRUNC", "O_WRONLY"}
#: What is renamed or replaced there is a column, a verdict or an instance of a cloud.
_NO_FILES = {("rename", "names"), ("replace", "_MIRRORED"), ("replace", "lost")}
_OPENERS = {"bz2.open", "gzip.open", "io.open", "lzma.open", "os.fdopen", "tarfile.open"}
#: To a stream that is given; such a stream is made by `replacing`.
_TO_STREAMS = {"report/content/exporting.py", "report/content/spreadsheets.py"}


def _writes(call):
    """Name the way in which a call writes a file; None where it writes none."""
    function = call.func
    name = getattr(function, "attr", getattr(function, "id", ""))
    owner = getattr(getattr(function, "value", None), "id", "")
    if name in _WRITERS or name in _OF_MODULES.get(owner, ()):
        return name
    if name in {"rename", "replace"} and _moves_a_file(call, name):
        return name
    if name == "open" and owner == "os":
        flags = {getattr(node, "attr", getattr(node, "id", "")) for node in ast.walk(call)}
        return "os.open" if flags & _WRITING_FLAGS else None
    if name in {"open", "fdopen"} and any(map(_is_writing_mode, _strings(call))):
        return name
    return None


def _moves_a_file(call, name):
    """Whether it is `Path.rename(target)`: texts have two values replaced, frames take tables."""
    if len(call.args) != 1 or call.keywords or isinstance(call.args[0], ast.Dict | ast.DictComp):
        return False
    target = ast.unparse(call.args[0])
    return isinstance(call.func, ast.Attribute) and (name, target) not in _NO_FILES


def _strings(call):
    # The first argument of `open` is a path, of `Path.open` a mode.
    first = isinstance(call.func, ast.Name) or ast.unparse(call.func) in _OPENERS
    values = [*call.args[first:], *(word.value for word in call.keywords if word.arg == "mode")]
    return [value.value for value in values if isinstance(value, ast.Constant)]


def _is_writing_mode(value):
    return (
        isinstance(value, str)
        and re.fullmatch(r"[rwaxbt+|:*]*", value)
        and set(value) & set("wax+")
    )


def writers(source):
    """List the lines of a source on which a file is written, and how."""
    calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    return [(call.lineno, how) for call in calls if (how := _writes(call))]


def _sources():
    return {
        path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(PACKAGE.rglob("*.py"))
        if "_sample" not in path.parts
    }


def test_no_other_place_writes_files():
    found = {name: writers(text) for name, text in _sources().items()}
    odd = {name: lines for name, lines in found.items() if lines and name not in ELSEWHERE}
    for name in _TO_STREAMS:
        odd[name] = [line for line in odd.get(name, []) if not line[1].startswith("write_")]
    assert {name: lines for name, lines in odd.items() if lines} == {}
    unused = {name for name in ELSEWHERE if not found.get(name)}
    assert unused == set(), "these write no file by themselves any more"


@pytest.mark.parametrize(
    "line",
    [
        'open("x", "w")',
        'open("x", mode="ab")',
        'Path("x").open("x")',
        'p.open("r+b")',
        'Path("x").write_text("")',
        "p.write_bytes(b'')",
        "p.touch()",
        "part.replace(place)",
        "part.rename(place)",
        "os.replace(a, b)",
        "os.open(p, os.O_RDWR | os.O_CREAT)",
        "os.fdopen(f, 'w')",
        "frame.write_parquet(p)",
        "frame.lazy().sink_csv(p)",
        "shutil.copy(a, b)",
        "shutil.move(a, b)",
        'tarfile.open("x", "w")',
        'gzip.open("x", "wb")',
        "os.mkfifo(p)",
    ],
)
def test_the_search_finds_each_way_to_write(line):
    assert writers(line)


@pytest.mark.parametrize(
    "line",
    ['open("x")', 'Path("x").open("rb")', 'text.replace("a", "b")', "replace(spec, name=1)",
     "os.open(p, os.O_RDONLY)", "frame.rename({})", 'Run.open(path)', 'tarfile.open(a, "r|*")'],
)  # fmt: skip
def test_the_search_takes_nothing_else_for_one(line):
    assert writers(line) == []


#: Calls of the native programs that make or open a file, up to the end of the statement.
_NATIVE = re.compile(
    r"\b(?:f|fd)?open(?:at|64)?\([^;]*;|\bofstream\b[^;]*;|\bbl_kernel_open(?:_at)?\([^;]*;"
)
#: A mode of fopen that writes, and makes no new file.
_MODE = re.compile(r'"[rwa][^"]*"')


def _bad_native(text: str) -> list[str]:
    """List the statements of a C or C++ source that would write through a link."""
    bad = []
    for match in _NATIVE.finditer(text):
        call = " ".join(match[0].split())
        makes = "O_CREAT" in call and not re.search(r"O_EXCL|O_NOFOLLOW", call)
        named = call.startswith("fopen(") and any(
            mode.strip('"')[0] != "r" and "x" not in mode for mode in _MODE.findall(call)
        )
        if makes or named or call.startswith("ofstream"):
            bad.append(call)
    return bad


def test_no_native_program_writes_through_a_link():
    native = PACKAGE.parents[1] / "native"
    sources = [
        path
        for path in sorted(native.rglob("*"))
        if path.suffix in (".c", ".h", ".cpp", ".hpp") and "tests" not in path.parts
    ]
    assert len(sources) > 100
    bad = {
        str(path.relative_to(native)): calls
        for path in sources
        if (calls := _bad_native(path.read_text(encoding="utf-8")))
    }
    assert bad == {}


@pytest.mark.parametrize(
    "line",
    [
        'FILE *file = fopen(path, "we");',
        'file = fopen(path, "a");',
        "open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);",
        "bl_kernel_open(path,\n    O_RDWR | O_CREAT, 0644);",
        "std::ofstream file(path);",
    ],
)
def test_a_native_writer_of_its_own_is_found(line):
    assert _bad_native(line)
