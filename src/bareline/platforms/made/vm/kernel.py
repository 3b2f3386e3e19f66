"""A guest's kernel: the kernel itself, the load order of its modules, the initial file system.

Kernels accept several concatenated archives, so a guest's own archive is appended to the common
archive of all guests.

References
----------
Linux kernel documentation, "initramfs buffer format".
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import stat
import subprocess
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from bareline.vocabulary.errors import PlatformError

_ELF = b"\x7fELF"


def _by_program(program: str) -> Callable[[bytes], bytes]:
    def unpack(data: bytes) -> bytes:
        # The kernel is followed by other code, at which the program rightly complains.
        ended = subprocess.run([program, "-dc"], input=data, capture_output=True, check=False)
        return ended.stdout

    return unpack


#: Unpackers of a kernel, by the first bytes of packed data: only the first stream is unpacked.
_PACKINGS: tuple[tuple[bytes, Callable[[bytes], bytes]], ...] = (
    (b"\xfd7zXZ\x00", lambda data: lzma.LZMADecompressor().decompress(data)),
    (b"\x28\xb5\x2f\xfd", _by_program("zstd")),
    (b"\x1f\x8b\x08", lambda data: zlib.decompressobj(wbits=31).decompress(data)),
    (b"BZh", lambda data: bz2.BZ2Decompressor().decompress(data)),
    (b"\x02\x21\x4c\x18", _by_program("lz4")),
)


def unpack_kernel(packed: bytes) -> bytes:
    """Return the ELF kernel in a ``bzImage``; an emulated guest would need seconds to unpack it."""
    if packed.startswith(_ELF):
        return packed
    for magic, unpack in _PACKINGS:
        for match in re.finditer(re.escape(magic), packed):
            try:
                unpacked = unpack(packed[match.start() :])
            except (lzma.LZMAError, zlib.error, OSError, ValueError):
                continue
            if unpacked.startswith(_ELF):
                return unpacked
    raise PlatformError(
        "the guest's kernel cannot be unpacked", hint="install `xz-utils`, `zstd` and `lz4`"
    )


def module_name(path: str) -> str:
    """Return the name of the module in a file: ``8139too`` for ``kernel/net/8139too.ko.xz``."""
    return path.rpartition("/")[2].partition(".ko")[0].replace("-", "_")


def load_order(folder: Path, wanted: Iterable[str]) -> list[Path]:
    """Return the files of modules and of their dependencies, in the order of loading.

    - `folder`: ``lib/modules/VERSION``; modules built into the kernel have no file in the folder.
    """
    modules: dict[str, tuple[Path, list[str]]] = {}
    for line in (folder / "modules.dep").read_text(encoding="ascii").splitlines():
        path, _, needed = line.partition(":")
        modules[module_name(path)] = folder / path, [module_name(other) for other in needed.split()]
    builtin = (folder / "modules.builtin").read_text(encoding="ascii").splitlines()
    seen = set(map(module_name, builtin))
    order = []

    def visit(name: str) -> None:
        if name in seen:
            return
        seen.add(name)
        if name not in modules:
            raise PlatformError(
                f"the guest's kernel {folder.name} has no module '{name}'",
                hint="choose another NIC model or disk bus",
            )
        file, needed = modules[name]
        # modules.dep names the nearest dependency first; the farthest must load first.
        for other in reversed(needed):
            visit(other)
        order.append(file)

    for name in wanted:
        visit(name.replace("-", "_"))
    return order


def read_module(path: Path) -> bytes:
    """Return the decompressed content of a module's file."""
    unpack = {".xz": lzma.decompress, ".gz": gzip.decompress, ".zst": _by_program("zstd")}
    return unpack.get(path.suffix, bytes)(path.read_bytes())


@dataclass(frozen=True, slots=True)
class File:
    """A file's content and permissions."""

    content: bytes
    mode: int = 0o644


def archive(files: Mapping[str, File], folders: tuple[str, ...] = ()) -> bytes:
    """Return a packed archive of files and empty folders, with their parent folders.

    The files are named by paths without a leading slash.
    """
    made = dict.fromkeys(name for folder in folders for name in (*_parents(folder), folder))
    made |= dict.fromkeys(parent for name in files for parent in _parents(name))
    entries = [(name, stat.S_IFDIR | 0o755, b"") for name in made]
    entries += [(name, stat.S_IFREG | file.mode, file.content) for name, file in files.items()]
    parts = [_entry(number, *entry) for number, entry in enumerate(entries, 1)]
    return b"".join([*parts, _entry(0, "TRAILER!!!", 0, b"")])


def _parents(name: str) -> Iterator[str]:
    yield from map(str, reversed(PurePosixPath(name).parents[:-1]))


def _entry(number: int, name: str, mode: int, content: bytes) -> bytes:
    encoded = name.encode() + b"\0"
    links = 2 if stat.S_ISDIR(mode) else 1
    # inode, mode, uid, gid, links, mtime, size, device (major, minor), special device (major,
    # minor), length of the name, checksum
    fields = (number, mode, 0, 0, links, 0, len(content), 0, 0, 0, 0, len(encoded), 0)
    header = b"070701" + b"".join(b"%08X" % field for field in fields)
    return _padded(header + encoded) + _padded(content)


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)
