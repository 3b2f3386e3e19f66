"""Archives of images that strangers made: every shape is unpacked or refused, within a budget."""

from __future__ import annotations

import bz2
import contextlib
import errno
import gzip
import hashlib
import io
import json
import lzma
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest

from bareline.platforms.hosts.layers.container import budget as budgets
from bareline.platforms.hosts.layers.container.archive import (
    MOST_HEADER_BYTES,
    MOST_LAYERS,
    MOST_MEMBERS,
)
from bareline.platforms.hosts.layers.container.images import clean_images, unpacked
from bareline.platforms.hosts.layers.container.options import Container
from bareline.testing.bench import until
from bareline.testing.hostile import damaged, survives
from bareline.testing.messages import raises
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.message_codes import KEY_PREFIX

pytestmark = pytest.mark.skipif(shutil.which("umoci") is None, reason="no umoci here")

GIB = 1 << 30


def _tar(*entries):
    """Pack entries: (name, content), or tarfile's own with their content."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name, content in entries:
            entry = tarfile.TarInfo(name) if isinstance(name, str) else name
            if isinstance(name, str):
                entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def _digest(data):
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _name(data):
    return f"blobs/sha256/{hashlib.sha256(data).hexdigest()}"


class Image:
    """The members of an image in OCI's format, each of which a test may change."""

    def __init__(self, *layers):
        self.layers = layers or (_tar(("etc/a", b"low")),)
        self.manifest = {
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "layers": [
                {"mediaType": "x", "digest": _digest(layer), "size": len(layer)}
                for layer in self.layers
            ],
        }

    def index(self, manifest):
        return {
            "schemaVersion": 2,
            "manifests": [
                {
                    "mediaType": "application/vnd.oci.image.manifest.v1+json",
                    "digest": _digest(manifest),
                    "size": len(manifest),
                    "platform": {"architecture": "amd64", "os": "linux"},
                }
            ],
        }

    def members(self, manifest=None, index=None):
        manifest = json.dumps(self.manifest).encode() if manifest is None else manifest
        index = json.dumps(self.index(manifest)).encode() if index is None else index
        blobs = [(_name(layer), layer) for layer in self.layers]
        return [("index.json", index), (_name(manifest), manifest), *blobs]

    def write(self, path, **changed):
        path.write_bytes(_tar(*self.members(**changed)))
        return path


@pytest.fixture
def tries(tmp_path):
    """Unpack an archive's bytes; gives whether that succeeds, and sees that nothing is left."""
    images = tmp_path / "images"

    def unpack(data, description):
        path = tmp_path / "image.tar"
        path.write_bytes(data)
        is_read = survives(lambda: unpacked(path, images, GIB), description)
        left = [one.name for one in images.iterdir() if one.suffix != ".lock"]
        assert len(left) == is_read, f"{description}: {left}"
        shutil.rmtree(images)
        return is_read

    return unpack


# Shapes -------------------------------------------------------------------------------------------


@pytest.mark.timeout(300)
@pytest.mark.parametrize("part", ["index", "manifest"])
def test_every_damaged_description_is_read_or_refused(part, tries):
    image = Image()
    manifest = json.dumps(image.manifest).encode()
    document = image.index(manifest) if part == "index" else image.manifest
    outcomes = []
    for description, text in damaged(document):
        changed = {part: text.encode("utf-8")}
        outcomes.append(tries(_tar(*image.members(**changed)), f"{part}: {description}"))
    assert len(outcomes) > 300
    assert any(outcomes) and not all(outcomes)


@pytest.mark.timeout(300)
def test_every_damaged_description_of_docker_is_read_or_refused(tries):
    layer = _tar(("etc/a", b"low"))
    document = [{"Config": "c.json", "RepoTags": ["a:1"], "Layers": ["1/layer.tar"]}]
    for description, text in damaged(document):
        tries(_tar(("manifest.json", text.encode()), ("1/layer.tar", layer)), description)


@pytest.mark.timeout(300)
def test_an_archive_that_is_cut_or_has_flipped_bits_is_read_or_refused(tries):
    data = _tar(*Image().members())
    packed = gzip.compress(data)
    rng = random.Random(50)
    for number in range(60):
        tries(data[: rng.randrange(len(data))], f"cut {number}")
        tries(packed[: rng.randrange(len(packed))], f"packed and cut {number}")
    for number in range(200):
        spoiled = bytearray(data)
        for _ in range(rng.randrange(1, 6)):
            spoiled[rng.randrange(len(spoiled))] ^= 1 << rng.randrange(8)
        tries(bytes(spoiled), f"flipped {number}")


@pytest.mark.timeout(120)
def test_a_layer_that_is_cut_or_has_flipped_bits_is_read_or_refused(tries):
    plain = _tar(("etc/a", b"low" * 500), ("b", b""), ("etc/" + "n" * 180, b"x"))
    rng = random.Random(51)
    for pack in (bytes, gzip.compress, bz2.compress, lzma.compress):
        layer = pack(plain)
        for number in range(30):
            tries(_tar(*Image(layer[: rng.randrange(len(layer))]).members()), f"cut {number}")
            spoiled = bytearray(layer)
            spoiled[rng.randrange(len(spoiled))] ^= 1 << rng.randrange(8)
            tries(_tar(*Image(bytes(spoiled)).members()), f"{pack.__name__}: flipped {number}")


def _refused(path, most_bytes=GIB):
    began_s = time.process_time()
    with pytest.raises(PlatformError) as refusal:
        unpacked(path, path.parent / "images", most_bytes)
    assert time.process_time() - began_s < 20
    assert {one.suffix for one in (path.parent / "images").iterdir()} <= {".lock"}
    return str(refusal.value)


@pytest.mark.timeout(60)
def test_a_manifest_that_lists_itself_is_not_followed(tmp_path):
    """No content has its own digest: what a name claims is held against what it names."""
    digest = "ab" * 32
    manifest = json.dumps({"manifests": [{"digest": f"sha256:{digest}"}]}).encode()
    path = tmp_path / "image.tar"
    path.write_bytes(_tar(("index.json", manifest), (f"blobs/sha256/{digest}", manifest)))
    assert "differs from its digest" in _refused(path)


@pytest.mark.timeout(60)
def test_indexes_that_name_one_another_end(tmp_path):
    content = json.dumps(Image().manifest).encode()
    members = [(_name(content), content)]
    for _ in range(10):
        content = json.dumps({"manifests": [{"digest": _digest(content)}]}).encode()
        members.append((_name(content), content))
    path = tmp_path / "image.tar"
    path.write_bytes(_tar(("index.json", content), *members))
    assert "indexes refer to one another" in _refused(path)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"index": b"{}"}, "'index.json: layers': nothing is not a list"),
        ({"index": b"[]"}, "'index.json': a list is not a table"),
        ({"index": b'{"manifests": []}'}, "'index.json: manifests' is empty"),
        ({"index": b'{"manifests": {}}'}, "'index.json: manifests': a table is not a list"),
        ({"index": b'{"manifests": [3]}'}, r"'index.json: manifests.0': the number 3"),
        ({"index": b'{"manifests": [{}]}'}, r"manifests.0.digest': nothing is not a text"),
        ({"index": b'{"manifests": [{"digest": "sha256:../x"}]}'}, "is not a digest"),
        ({"index": b'{"manifests": [{"digest": "md5:00"}]}'}, "is not a digest"),
        ({"index": b"{"}, "index.json: line 1, column 2"),
        (
            {"index": b"[" * 99999},
            "index.json: line 1: nested more than 64 levels deep",
        ),
        ({"manifest": b'{"layers": []}'}, "it has no layers"),
        ({"manifest": b'{"layers": [{"digest": 5}]}'}, r"layers.0.digest': the number 5"),
        ({"manifest": b"\xff"}, "line 1: a character is not valid UTF-8"),
    ],
)
def test_what_is_wrong_is_named_by_member_and_key(change, reason, tmp_path):
    text = _refused(Image().write(tmp_path / "image.tar", **change))
    assert re.search(reason, text), text


def test_a_blob_with_other_content_is_refused(tmp_path):
    image = Image()
    members = image.members()
    path = tmp_path / "image.tar"
    path.write_bytes(_tar(*members[:-1], (members[-1][0], _tar(("etc/a", b"evil")))))
    assert "differs from its digest" in _refused(path)


def test_links_between_members_end(tmp_path):
    def link(name, target, kind):
        entry = tarfile.TarInfo(name)
        entry.type, entry.linkname = kind, target
        return entry, b""

    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE):
        path = tmp_path / "image.tar"
        path.write_bytes(_tar(link("index.json", "b", kind), link("b", "index.json", kind)))
        assert "it has no member index.json" in _refused(path)
    members = Image().members()
    path.write_bytes(_tar(("real", members[0][1]), link("index.json", "real", tarfile.SYMTYPE),
                          *members[1:]))  # fmt: skip
    assert unpacked(path, tmp_path / "images", GIB).exists()


# Bombs --------------------------------------------------------------------------------------------


def _old_sparse(size):
    """An entry of GNU tar's old format: no data, any size."""
    entry = tarfile.TarInfo("big")
    block = bytearray(entry.tobuf(tarfile.GNU_FORMAT))
    block[156:157] = b"S"
    block[386:398] = b"00000000000\0"
    block[398:410] = b"00000000000\0"
    block[483:495] = b"%011o\0" % size if size < 8**11 else b"\x80" + size.to_bytes(11, "big")
    block[148:156] = b"        "
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block) + bytes(1024)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("size", [2 * GIB, 64 * GIB, 1 << 60])
def test_a_sparse_entry_counts_with_the_size_that_it_declares(size, tmp_path):
    path = Image(_old_sparse(size)).write(tmp_path / "image.tar")
    assert "it unpacks to more than 1 GiB, which `unpack_gib`" in _refused(path)
    used = sum(one.stat().st_blocks * 512 for one in tmp_path.rglob("*") if one.is_file())
    assert used < 1 << 20


@pytest.fixture(scope="module")
def zeros():
    """A layer with one file of 400 MiB of zeros."""
    return _tar(("zeros", bytes(400 << 20)))


@pytest.mark.timeout(120)
@pytest.mark.parametrize("pack", ["xz", "gz", "bz2", "zst"])
@pytest.mark.parametrize("where", ["layer", "archive"])
def test_what_unpacks_to_a_multiple_of_itself_is_refused(pack, where, zeros, tmp_path):
    argv = {
        "xz": ["xz", "-0"],
        "gz": ["gzip", "-1"],
        "bz2": ["bzip2", "-1"],
        "zst": ["zstd", "-q", "-1"],
    }[pack]
    if shutil.which(argv[0]) is None:
        pytest.skip(f"no {argv[0]} here")

    def packed(data):
        return subprocess.run([*argv, "-c"], input=data, capture_output=True, check=True).stdout

    path = tmp_path / "image.tar"
    if where == "layer":
        Image(packed(zeros)).write(path)
    else:
        path.write_bytes(packed(zeros))
    assert path.stat().st_size < 2 << 20
    assert "unpacks to more than 200 times as many" in _refused(path)
    assert "`unpack_gib`" in _refused(path, 128 << 20)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.XGLTYPE])
def test_a_header_of_gigabytes_is_refused_before_it_is_read(kind, tmp_path):
    entry = tarfile.TarInfo("x")
    entry.type, entry.size = kind, 8 * GIB - 1
    path = tmp_path / "image.tar"
    block = entry.tobuf(tarfile.GNU_FORMAT)
    path.write_bytes(block)
    os.truncate(path, GIB // 2)
    assert "headers has" in _refused(path)
    Image(gzip.compress(block + bytes(1 << 20))).write(path)
    assert "headers has" in _refused(path)


def _pax(text):
    entry = tarfile.TarInfo("x")
    entry.type, entry.size = tarfile.XHDTYPE, len(text)
    return entry.tobuf(tarfile.USTAR_FORMAT) + text + bytes(-len(text) % 512)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "text",
    [
        b"1" * MOST_HEADER_BYTES,
        (b"1" * 299 + b"x") * 200,
        b"9 size=-5\n",
        b"22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n",
        b"30 GNU.sparse.numblocks=999999\n",
        b"0 a=b\n",
        b"99999999 a=b\n",
    ],
)
def test_headers_that_take_long_or_go_back_are_refused(text, tries):
    plain = tarfile.TarInfo("etc/a")
    block = plain.tobuf(tarfile.USTAR_FORMAT)
    tries(_tar(*Image(_pax(text) + block + bytes(1024)).members()), repr(text[:40]))
    tries(_pax(text) + block + bytes(1024), repr(text[:40]))


@pytest.mark.timeout(60)
def test_headers_before_headers_end(tries):
    entry = tarfile.TarInfo("x")
    entry.type, entry.size = tarfile.GNUTYPE_LONGNAME, 0
    chain = entry.tobuf(tarfile.GNU_FORMAT) * 5000
    assert not tries(chain, "a chain")
    assert not tries(_tar(*Image(chain).members()), "a chain in a layer")


@pytest.mark.timeout(60)
def test_a_negative_size_does_not_go_back_for_ever(tries):
    entry = tarfile.TarInfo("x")
    block = bytearray(entry.tobuf(tarfile.GNU_FORMAT))
    block[124:136] = b"\xff" * 10 + b"\xfe\x00"
    block[148:156] = b"        "
    block[148:156] = b"%06o\0 " % sum(block)
    assert not tries(bytes(block) * 3 + bytes(1024), "negative")
    assert not tries(_tar(*Image(bytes(block) * 3 + bytes(1024)).members()), "negative in a layer")


def test_members_layers_and_entries_are_counted(tmp_path, monkeypatch):
    path = tmp_path / "image.tar"
    path.write_bytes(_tar(*((f"m{n}", b"") for n in range(MOST_MEMBERS + 1))))
    assert "more than 10,000 members" in _refused(path)
    image = Image()
    image.manifest["layers"] *= MOST_LAYERS + 1
    image.write(path)
    assert "1,001 layers" in _refused(path)
    monkeypatch.setattr(budgets, "MOST_ENTRIES", 5)
    Image(_tar(*((f"m{n}", b"") for n in range(6)))).write(path)
    assert "more than 5 entries" in _refused(path)


def test_memory_that_a_header_of_xz_wants_is_bounded(tmp_path):
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 30}]
    packed = lzma.compress(_tar(("a", b"x")), filters=filters)
    assert "damaged (LZMAError: Memory usage limit" in _refused(
        Image(packed).write(tmp_path / "image.tar")
    )


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed_layers_and_archives_are_unpacked(pack, tmp_path):
    path = tmp_path / "image.tar"
    double = pack(_tar(("a", b"x" * 5000))[:3000]) + pack(_tar(("a", b"x" * 5000))[3000:])
    path.write_bytes(pack(_tar(*Image(double).members())))
    assert (unpacked(path, tmp_path / "images") / "a").read_bytes() == b"x" * 5000


def test_layers_in_zstd_are_unpacked(tmp_path):
    if shutil.which("zstd") is None:
        pytest.skip("no zstd here")
    layer = subprocess.run(["zstd", "-q", "-c"], input=_tar(("a", b"x")), capture_output=True,
                           check=True).stdout  # fmt: skip
    path = Image(layer).write(tmp_path / "image.tar")
    assert (unpacked(path, tmp_path / "images") / "a").read_bytes() == b"x"


def test_sparse_files_within_the_budget_are_unpacked(tmp_path):
    path = Image(_old_sparse(1 << 20)).write(tmp_path / "image.tar")
    assert (unpacked(path, tmp_path / "images") / "big").read_bytes() == bytes(1 << 20)


def test_an_archive_that_is_no_file_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / "fifo.tar")
    (tmp_path / "zero.tar").symlink_to("/dev/zero")
    for name in ("fifo.tar", "zero.tar", "none.tar"):
        with raises(PlatformError, "BL-PLATFORMS-528"):
            unpacked(tmp_path / name, tmp_path / "images")


def test_the_budget_is_a_setting_and_by_default_a_part_of_what_is_free(tmp_path):
    free_bytes = shutil.disk_usage(tmp_path).free
    assert budgets.default_bytes(tmp_path) == pytest.approx(free_bytes / 4, rel=0.2)
    container = Container(runtime="bwrap", image="/a.tar", unpack_gib=0.5)
    assert container.unpack_gib == 0.5
    for wrong, kind in (
        (0, "GREATER-THAN"),
        (-1, "GREATER-THAN"),
        (float("nan"), "FINITE-NUMBER"),
        (float("inf"), "FINITE-NUMBER"),
        ("much", "FLOAT-PARSING"),
        (1 << 21, "LESS-THAN-EQUAL"),
    ):
        with raises(ValueError, KEY_PREFIX + kind, "unpack_gib"):
            Container(runtime="bwrap", image="/a.tar", unpack_gib=wrong)


def test_a_full_disk_is_named_as_such(tmp_path, monkeypatch):
    path = Image(_tar(("a", os.urandom(1 << 20)))).write(tmp_path / "image.tar")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, hard))
    try:
        reason = _refused(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    assert os.strerror(errno.EFBIG) in reason


# Kills --------------------------------------------------------------------------------------------

_VICTIM = """
import sys
from pathlib import Path
from bareline.platforms.hosts.layers.container.images import unpacked
unpacked(Path(sys.argv[1]), Path(sys.argv[2]))
"""


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """An archive that takes a second to unpack."""
    content = random.Random(7).randbytes(1 << 20)
    layers = [_tar(*((f"layer{layer}/f{n}", content) for n in range(60))) for layer in range(2)]
    path = tmp_path_factory.mktemp("large") / "image.tar"
    path.write_bytes(gzip.compress(_tar(*Image(*layers).members()), 1))
    return path


def _killed(archive, images, after_s):
    """Kill an unpacking so long after its place appeared; whether something was left."""
    line = [sys.executable, "-c", _VICTIM, str(archive), str(images)]
    with subprocess.Popen(line) as process:
        until(lambda: list(images.glob("*.new*")) or process.poll() is not None)
        time.sleep(after_s)
        process.send_signal(signal.SIGKILL)
        process.wait()
    return bool(list(images.glob("*.new*")))


@pytest.mark.timeout(300)
def test_what_a_killed_unpacking_leaves_goes_with_the_next_try(large, tmp_path):
    images = tmp_path / "containers"
    images.mkdir()
    rng = random.Random(3)
    hits = sum(_killed(large, images, rng.uniform(0, 0.8)) for _ in range(6))
    assert hits >= 3
    root = unpacked(large, images)
    assert sorted(one.name for one in images.iterdir()) == [root.name, f"{root.name}.lock"]
    assert len(list(root.rglob("f*"))) == 120
    for name in (f"{root.name}.newabcdefgh", f"{root.name}.new"):  # of older versions, and late
        (images / name).mkdir()
    unpacked(large, images)
    assert sorted(one.name for one in images.iterdir()) == [root.name, f"{root.name}.lock"]


@pytest.mark.timeout(200)
def test_clean_removes_what_a_killed_unpacking_left_and_nothing_in_use(large, tmp_path):
    images = tmp_path / "containers"
    images.mkdir()
    while not _killed(large, images, 0.2):
        shutil.rmtree(images)
        images.mkdir()
    assert [one for one in clean_images(tmp_path) if "unfinished image" in one]
    assert [one.suffix for one in images.iterdir()] == [".lock"]
    assert clean_images(tmp_path) == []
    line = [sys.executable, "-c", _VICTIM, str(large), str(images)]
    with subprocess.Popen(line) as process:
        until(lambda: list(images.glob("*.new*")))
        assert clean_images(tmp_path) == []
        assert process.wait() == 0
    assert clean_images(tmp_path) == []


@pytest.mark.timeout(120)
def test_umoci_ends_with_the_bareline_that_started_it(large, tmp_path):
    images = tmp_path / "containers"
    images.mkdir()
    line = [sys.executable, "-c", _VICTIM, str(large), str(images)]

    def unpacking():
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                words = (folder / "cmdline").read_bytes()
                if b"umoci" in words and str(images).encode() in words:
                    return True
        return False

    with subprocess.Popen(line) as process:
        until(lambda: unpacking() or process.poll() is not None)
        if process.poll() is not None:
            pytest.skip("umoci was too fast to be seen")
        process.kill()
    until(lambda: not unpacking())
