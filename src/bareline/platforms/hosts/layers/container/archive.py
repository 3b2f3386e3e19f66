"""Archives of container images in the formats of OCI and Docker, read within a size budget.

An untrusted archive is checked before umoci reads it: the descriptions must match their digests,
and each layer is rewritten with only the entries that a container needs. Every entry is counted
before it is written. No name in an archive becomes a path of this machine.

References
----------
Open Container Initiative, "Image Format Specification" 1.1; Docker, "Image Specification v1.2".
"""

from __future__ import annotations

import bz2
import copy
import gzip
import hashlib
import io
import lzma
import os
import platform
import re
import shutil
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any, BinaryIO, cast

from bareline.host.tools import install_hint
from bareline.platforms.hosts.layers.container.budget import UnpackingBudget
from bareline.platforms.hosts.process import spawn
from bareline.vocabulary.documents import DESCRIPTION, list_at, parse_json, table_at, text_at

#: Names of processors in images, by Python's names.
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
LONGEST_NAME = 255
LONGEST_PATH = 4000
#: Extended headers have paths and attributes; `tarfile` would read gigabytes of them.
MOST_HEADER_BYTES = 64 << 10
#: `tarfile` before 3.11.10 searches a header for digits in a time that grows with their square.
_MANY_DIGITS = re.compile(rb"\d{300}")
#: Limit for an archive, whose oldest format has three members for each layer.
MOST_MEMBERS = 10_000
MOST_LAYERS = 1000
#: An index names the index of an architecture, which names a manifest.
_MOST_INDEXES = 4
_MOST_LINKS = 8
#: xz takes as much memory as its header requests; `xz -9` requests 65 MiB.
XZ_BYTES = 256 << 20
_CHUNK_BYTES = 1 << 20
_DIGESTS = {"sha256": 64, "sha512": 128}


class ArchiveError(ValueError):
    """Raised if an archive does not contain a valid image; `str` gives the reason."""


# Compression --------------------------------------------------------------------------------------


class _XzReader(io.RawIOBase):
    """A reader of xz files in bounded memory; `lzma.open` allocates all that a header requests."""

    def __init__(self, packed: BinaryIO) -> None:
        self._packed = packed
        self._stream = self._begin()

    def _begin(self) -> lzma.LZMADecompressor:
        return lzma.LZMADecompressor(memlimit=XZ_BYTES)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        size = len(buffer)
        data = b""
        while not data:
            packed = b""
            if self._stream.eof:
                packed = self._stream.unused_data.lstrip(b"\0") or self._packed.read(_CHUNK_BYTES)
                if not packed.strip(b"\0"):
                    return 0
                self._stream = self._begin()
            elif self._stream.needs_input:
                packed = self._packed.read(_CHUNK_BYTES)
                if not packed:
                    raise EOFError("the compressed data is truncated")
            data = self._stream.decompress(packed, size)
        buffer[: len(data)] = data
        return len(data)


@contextmanager
def plain(packed: BinaryIO, place: Path) -> Iterator[BinaryIO]:
    """Yield a file's content; decompress it if its first bytes show gzip, bzip2, xz or zstd.

    - `place`: a folder for the decompressed file, if a separate program decompresses it.

    Raises ArchiveError: the file is compressed with zstd, which is not installed here.
    """
    begin = packed.read(6)
    packed.seek(0)
    if begin.startswith(b"\x1f\x8b"):
        with gzip.GzipFile(fileobj=packed, mode="rb") as file:
            yield cast(BinaryIO, file)
    elif begin.startswith(b"BZh"):
        with bz2.BZ2File(packed) as file:
            yield cast(BinaryIO, file)
    elif begin == b"\xfd7zXZ\0":
        with io.BufferedReader(_XzReader(packed)) as file:
            yield cast(BinaryIO, file)
    elif begin.startswith(b"\x28\xb5\x2f\xfd"):
        with _zstd(packed, place / "packed.zst") as file:
            yield file
    else:
        yield packed


@contextmanager
def _zstd(packed: BinaryIO, copied: Path) -> Iterator[BinaryIO]:
    if shutil.which("zstd") is None:
        raise ArchiveError(f"it needs zstd, which is not installed; {install_hint('zstd')}")
    with copied.open("wb") as file:
        shutil.copyfileobj(packed, file)
    argv = [
        "zstd",
        "--decompress",
        "--stdout",
        "--quiet",
        f"--memory={XZ_BYTES >> 20}MiB",
        str(copied),
    ]
    try:
        with spawn(argv) as process:
            assert process.stdout is not None
            yield cast(BinaryIO, process.stdout)
    finally:
        copied.unlink()


# Tar ----------------------------------------------------------------------------------------------


class _Entry(tarfile.TarInfo):
    """A tar entry that refuses a negative size, because `tarfile` would read it again forever."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> _Entry:
        entry = super().frombuf(buf, encoding, errors)
        if entry.size < 0:
            raise ArchiveError("one of its entries has a negative size")
        if entry.type in _EXTENSIONS and entry.size > MOST_HEADER_BYTES:
            raise ArchiveError(f"one of its headers has {entry.size:,} bytes, which is too many")
        return entry


#: Headers are read in whole blocks.
_BLOCK_BYTES = 512

_EXTENSIONS = (
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)


class _Forward:
    """A stream that `tarfile` reads as a file: it moves forward, and at most one byte back.

    Bytes that are read outside of `content` are headers, whose length is limited for each entry.
    """

    def __init__(self, file: BinaryIO, budget: UnpackingBudget) -> None:
        self._file = file
        self._budget = budget
        self._at = 0
        self._last = b""
        self._repeats = False
        self._header_bytes: int | None = 0

    def tell(self) -> int:
        return self._at - self._repeats

    def seek(self, position: int, whence: int = io.SEEK_SET) -> int:
        if whence != io.SEEK_SET or position < self._at - 1:
            raise ArchiveError("two of its entries overlap")
        self._repeats = position == self._at - 1
        while self._at < position:
            data = self._file.read(min(_CHUNK_BYTES, position - self._at))
            if not data:
                raise ArchiveError("it is truncated")
            self._advance(data)
        return position

    def read(self, size: int = -1) -> bytes:
        if size < 0:
            raise ArchiveError("one of its headers has no length")
        repeated = self._last if self._repeats and size else b""
        if size:
            self._repeats = False
        # Checked before reading, as Python 3.11.2 reads a header of any declared length at once.
        if self._header_bytes is not None and size > MOST_HEADER_BYTES + _BLOCK_BYTES:
            raise ArchiveError(f"one of its headers has {size:,} bytes, which is too many")
        data = self._read_whole(size - len(repeated))
        if self._header_bytes is not None:
            self._count_header(data)
        self._advance(data)
        return repeated + data

    def _read_whole(self, size: int) -> bytes:
        """Read all of the requested bytes: a single read of a pipe may return fewer."""
        parts = []
        while size > 0:
            part = self._file.read(min(size, _CHUNK_BYTES))
            if not part:
                break
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _advance(self, data: bytes) -> None:
        self._at += len(data)
        self._last = data[-1:] or self._last

    def _count_header(self, data: bytes) -> None:
        assert self._header_bytes is not None
        self._header_bytes += len(data)
        self._budget.take_bytes(len(data))
        if self._header_bytes > 2 * MOST_HEADER_BYTES:
            raise ArchiveError(f"an entry has more than {self._header_bytes:,} bytes of headers")
        if _MANY_DIGITS.search(data):
            raise ArchiveError("one of its headers contains a number with hundreds of digits")

    def begin_header(self) -> None:
        """Count the bytes that are read from now on as the headers of one entry."""
        self._header_bytes = 0

    @contextmanager
    def content(self) -> Iterator[None]:
        """Return a context in which the bytes that are read count as the content of a file."""
        self._header_bytes = None
        try:
            yield
        finally:
            self._header_bytes = 0


def _entries(tar: tarfile.TarFile, forward: _Forward) -> Iterator[tarfile.TarInfo]:
    """Yield the entries of a layer one after the other, without keeping them in memory."""
    while True:
        forward.begin_header()
        entry = tar.next()
        if entry is None:
            return
        if entry.size < 0:
            raise ArchiveError("one of its entries has a negative size")
        yield entry
        # `tarfile` keeps all entries, and a million entries would take a gigabyte.
        vars(tar)["members"].clear()


def harmless(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Return an entry of a layer with the rights that a container needs; None for a device.

    The returned entry has no set-user bits, attributes or owner; only this user may write to it.

    Raises ArchiveError: the entry would make umoci 0.4.7 remove a folder outside of the entry's own
    folder, or the entry's name is too long.
    """
    parts = entry.name.split("/")
    if any(part in (".wh.", ".wh..", ".wh...") for part in parts):
        raise ArchiveError(f"its deletion mark {entry.name[-80:]} names no file")
    longest = max(len(os.fsencode(part)) for part in parts)
    if longest > LONGEST_NAME or len(entry.name) > LONGEST_PATH:
        raise ArchiveError(f"the path of its entry {entry.name[:80]}... is too long")
    if entry.isdev():
        return None
    # The node's folders cannot be mounted below a folder without write permission.
    mode = entry.mode & 0o755 | (0o700 if entry.isdir() else 0)
    # Not `TarInfo.replace`, which stock Debian 12 lacks: its Python is 3.11.2.
    entry_copy = copy.copy(entry)
    entry_copy.type = tarfile.REGTYPE if entry.isreg() else entry.type
    entry_copy.mode = mode
    entry_copy.uid = 0
    entry_copy.gid = 0
    entry_copy.uname = ""
    entry_copy.gname = ""
    entry_copy.pax_headers = {}
    return entry_copy


_KINDS = (
    tarfile.TarInfo.isreg,
    tarfile.TarInfo.isdir,
    tarfile.TarInfo.issym,
    tarfile.TarInfo.islnk,
    tarfile.TarInfo.isdev,
)


def repack(packed: BinaryIO, target: Path, budget: UnpackingBudget) -> None:
    """Rewrite a layer without compression, with its harmless entries only.

    Raises
    ------
    ArchiveError, OverBudget, tarfile.TarError, OSError, EOFError, lzma.LZMAError, zlib.error
        The layer is damaged, exceeds its budget, or cannot be written.
    """
    with plain(packed, target.parent) as file, tarfile.open(target, "w") as out:
        forward = _Forward(file, budget)
        tar = tarfile.TarFile(fileobj=cast(IO[bytes], forward), mode="r", tarinfo=_Entry)
        with closing(tar):
            for entry in _entries(tar, forward):
                if not any(is_kind(entry) for is_kind in _KINDS):
                    raise ArchiveError(f"its entry {entry.name[-80:]} has an unsupported type")
                safe_entry = harmless(entry)
                if safe_entry is None:
                    continue
                budget.take_entry(entry.size if entry.isreg() else 0)
                with forward.content():
                    out.addfile(safe_entry, tar.extractfile(entry) if entry.isreg() else None)


# The image ----------------------------------------------------------------------------------------


@dataclass(slots=True)
class ImageArchive:
    """The members of an image archive, by name; `file` is open and not compressed."""

    file: BinaryIO
    members: Mapping[str, tarfile.TarInfo]

    @classmethod
    def read(cls, file: BinaryIO, budget: UnpackingBudget) -> ImageArchive:
        """Return the archive in a file, or raise ArchiveError for members of impossible sizes."""
        size_bytes = file.seek(0, os.SEEK_END)
        file.seek(0)
        forward = _Forward(file, UnpackingBudget(budget.most_bytes, size_bytes))
        members: dict[str, tarfile.TarInfo] = {}
        with closing(
            tarfile.TarFile(fileobj=cast(IO[bytes], forward), mode="r", tarinfo=_Entry)
        ) as tar:
            for number, entry in enumerate(_entries(tar, forward)):
                if number >= MOST_MEMBERS:
                    raise ArchiveError(f"it has more than {MOST_MEMBERS:,} members")
                if entry.issparse():
                    raise ArchiveError(f"its member {entry.name[:80]} is a sparse file")
                members.setdefault(entry.name.removeprefix("./"), entry)
        return cls(file, members)

    def layers(self) -> list[str]:
        """Return the names of the layers of an OCI or Docker archive; the lowest layer is first."""
        if "index.json" in self.members:
            names = self._oci_layers()
        elif "manifest.json" in self.members:
            names = self._docker_layers()
        else:
            raise ArchiveError("it has neither index.json (OCI) nor manifest.json (Docker)")
        if len(names) > MOST_LAYERS:
            raise ArchiveError(
                f"it has {len(names):,} layers, and at most {MOST_LAYERS:,} are read"
            )
        if not names:
            raise ArchiveError("it has no layers")
        return names

    def _oci_layers(self) -> list[str]:
        name = "index.json"
        content = self._described(name)
        for _ in range(_MOST_INDEXES):
            if "manifests" not in content:
                layers = list_at(content.get("layers"), f"{name}: layers")
                return [
                    _blob(layer, f"{name}: layers.{index}") for index, layer in enumerate(layers)
                ]
            manifests = list_at(content["manifests"], f"{name}: manifests")
            name = _blob(*_ours(manifests, f"{name}: manifests"))
            content = self._described(name)
        raise ArchiveError(f"more than {_MOST_INDEXES} of its indexes refer to one another")

    def _docker_layers(self) -> list[str]:
        name = "manifest.json"
        images = list_at(self._described_value(name), name)
        if not images:
            raise ArchiveError(f"its '{name}' names no image")
        layers = list_at(table_at(images[0], f"{name}: 0").get("Layers"), f"{name}: 0.Layers")
        return [text_at(layer, f"{name}: 0.Layers.{index}") for index, layer in enumerate(layers)]

    def _described(self, name: str) -> Mapping[str, Any]:
        return table_at(self._described_value(name), name)

    def _described_value(self, name: str) -> Any:
        entry = self._member(name)
        if entry.size > DESCRIPTION.size_bytes:
            raise ArchiveError(f"its member {name} has {entry.size:,} bytes, which is too many")
        with self.opened(name) as file:
            data = file.read()
        try:
            return parse_json(data)
        except ValueError as error:
            raise ArchiveError(f"{name}: {error}") from error

    def _member(self, name: str) -> tarfile.TarInfo:
        """Return the regular file that has a name, or to which a link of this name leads."""
        target = name
        for _ in range(_MOST_LINKS):
            entry = self.members.get(target)
            if entry is None:
                break
            if entry.isreg():
                return entry
            if entry.islnk():
                target = entry.linkname.removeprefix("./")
            elif entry.issym():
                target = os.path.normpath(PurePosixPath(target).parent / entry.linkname)
            else:
                break
        raise ArchiveError(f"it has no member {name[:120]}")

    @contextmanager
    def opened(self, name: str) -> Iterator[BinaryIO]:
        """Check a member against the digest in its name, and yield its content.

        Raises ArchiveError: the member is truncated, or differs from its digest.
        """
        entry = self._member(name)
        part = _Part(self.file, entry.offset_data, entry.size)
        self._check_digest(name, part)
        part.seek(0)
        with io.BufferedReader(part, _CHUNK_BYTES) as file:
            yield cast(BinaryIO, file)

    def _check_digest(self, name: str, part: _Part) -> None:
        algorithm, digest = _digest_in(name)
        checksum = hashlib.new(algorithm or "sha256")
        size = 0
        while data := part.read(_CHUNK_BYTES):
            checksum.update(data)
            size += len(data)
        if size != part.size:
            raise ArchiveError(f"its member {name[:120]} is truncated")
        if digest and checksum.hexdigest() != digest:
            raise ArchiveError(f"its member {name[:120]} differs from its digest")


class _Part(io.RawIOBase):
    """A part of a file as a stream; several such parts can be read one after the other."""

    def __init__(self, file: BinaryIO, offset: int, size: int) -> None:
        self._file = file
        self._offset = offset
        self._at = 0
        self.size = size

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, position: int, whence: int = io.SEEK_SET) -> int:
        begin = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self.size}[whence]
        self._at = max(0, begin + position)
        return self._at

    def readinto(self, buffer: Any) -> int:
        size = min(len(buffer), max(0, self.size - self._at))
        self._file.seek(self._offset + self._at)
        data = self._file.read(size)
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


def _ours(manifests: list[Any], place: str) -> tuple[Any, str]:
    """Return the manifest for this machine's processor, or else the first, with its JSON key."""
    machine = platform.machine()
    names = {machine, ARCHITECTURES.get(machine, machine)}
    if not manifests:
        raise ArchiveError(f"its list '{place}' is empty")
    for index, manifest in enumerate(manifests):
        key = f"{place}.{index}"
        described = table_at(table_at(manifest, key).get("platform"), f"{key}.platform")
        architecture = described.get("architecture")
        if isinstance(architecture, str) and architecture in names:
            return manifest, key
    return manifests[0], f"{place}.0"


def _blob(described: Any, place: str) -> str:
    """Return the name of the archive member that a description identifies by its digest."""
    digest = text_at(table_at(described, place).get("digest"), f"{place}.digest")
    algorithm, _, value = digest.partition(":")
    if _DIGESTS.get(algorithm) != len(value) or not re.fullmatch(r"[0-9a-f]+", value):
        raise ArchiveError(f"'{place}.digest': '{digest[:80]}' is not a digest")
    return f"blobs/{algorithm}/{value}"


def _digest_in(name: str) -> tuple[str, str]:
    """Return algorithm and digest in the name of a blob; ("", "") if the member is not a blob."""
    match = re.fullmatch(r"blobs/(sha256|sha512)/([0-9a-f]+)", name)
    return (match[1], match[2]) if match else ("", "")
