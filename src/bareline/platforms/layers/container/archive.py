"""Archives of images, in the formats of OCI and Docker, unpacked to a root folder."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import tarfile
from pathlib import Path
from typing import Any

from bareline.host.locks import file_lock
from bareline.vocabulary.errors import PlatformError

#: A file of a layer whose name begins like this removes another one, or all that were there.
_GONE, _ALL_GONE = ".wh.", ".wh..wh..opq"
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_CHUNK = 1 << 20
#: An image's own description of its layers takes some KiB.
_MOST_BYTES = 16 << 20


def unpacked(archive: Path, folder: Path) -> Path:
    """Give the root folder of an archive, unpacked once for each content.

    Parameters
    ----------
    folder
        Where unpacked images are.

    Raises
    ------
    PlatformError
        It cannot be read, or holds what must not be unpacked.
    """
    try:
        digest = _digest(archive)
    except OSError as error:
        raise PlatformError(
            f"cannot be read: {error.strerror}",
            where=str(archive),
            hint="save one with `podman save` or `docker save`",
        ) from error
    root = folder / digest[:16]
    folder.mkdir(parents=True, exist_ok=True)
    with file_lock(root.with_suffix(".lock")):
        if not root.exists():
            making = root.with_suffix(".new")
            shutil.rmtree(making, ignore_errors=True)
            making.mkdir()
            try:
                _unpack(archive, making)
            except (tarfile.TarError, OSError, ValueError, KeyError, EOFError) as error:
                shutil.rmtree(making, ignore_errors=True)
                raise PlatformError(
                    f"is no archive of an image: {error}",
                    where=str(archive),
                    hint="save one with `podman save` or `docker save`",
                ) from error
            making.rename(root)
    return root


def _digest(path: Path) -> str:
    sum256 = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            sum256.update(chunk)
    return sum256.hexdigest()


def _unpack(archive: Path, root: Path) -> None:
    with tarfile.open(archive) as outer:
        for name in _layers(outer):
            packed = outer.extractfile(_member(outer, name))
            with tarfile.open(fileobj=packed, mode="r|*") as layer:
                apply_layer(layer, root)
    if not any(root.iterdir()):
        raise ValueError("it has no files")


def _member(outer: tarfile.TarFile, name: str) -> tarfile.TarInfo:
    found = next((one for one in outer if one.name.removeprefix("./") == name), None)
    if found is None or not (found.isfile() or found.islnk()):
        raise ValueError(f"it lacks {name}")
    return found


def _read(outer: tarfile.TarFile, name: str) -> Any:
    file = outer.extractfile(_member(outer, name))
    assert file is not None
    with file:
        return json.loads(file.read(_MOST_BYTES))


def _layers(outer: tarfile.TarFile) -> list[str]:
    """Name the layers, the lowest first, in whichever of the two formats."""
    names = {one.name.removeprefix("./") for one in outer}
    if "index.json" in names:
        manifest = _read(outer, "index.json")
        while "manifests" in manifest:  # one for each architecture, perhaps on a second floor
            manifest = _read(outer, _blob(_ours(manifest["manifests"])["digest"]))
        return [_blob(layer["digest"]) for layer in manifest["layers"]]
    if "manifest.json" in names:
        return [str(name) for name in _read(outer, "manifest.json")[0]["Layers"]]
    raise ValueError("it has neither index.json (OCI) nor manifest.json (Docker)")


def _ours(manifests: list[dict[str, Any]]) -> dict[str, Any]:
    """Choose what is for this machine's processor; the first where none says for which it is."""
    machine = platform.machine()
    names = {machine, _ARCHITECTURES.get(machine, machine)}
    said = [one for one in manifests if one.get("platform", {}).get("architecture") in names]
    return (said or manifests)[0]


def _blob(digest: str) -> str:
    algorithm, _, value = digest.partition(":")
    if not (algorithm.isalnum() and value.isalnum()):
        raise ValueError(f"'{digest[:80]}' is no digest")
    return f"blobs/{algorithm}/{value}"


def apply_layer(layer: tarfile.TarFile, root: Path) -> None:
    """Lay one layer over what is there; nothing reaches beyond the root.

    Devices are left out: containers see the node's own. The filter of the standard library refuses
    paths that lead outside, through links, too.
    """
    for entry in layer:
        place = root / entry.name.lstrip("/")
        if place == root:
            continue
        _inside(place.parent, root)
        if entry.islnk():
            _inside(root / entry.linkname, root)
        if place.name == _ALL_GONE:
            for one in list(place.parent.iterdir()) if place.parent.is_dir() else ():
                _remove(one)
        elif place.name.startswith(_GONE):
            _remove(place.with_name(place.name.removeprefix(_GONE)))
        elif not entry.isdev():
            if place.is_symlink() or (place.exists() and entry.isdir() != place.is_dir()):
                _remove(place)
            layer.extract(entry, root, filter="tar", numeric_owner=True)
            if entry.isdir():
                # One that nobody may write to takes no places for the node's folders.
                place.chmod(entry.mode & 0o777 | 0o700)


def _inside(folder: Path, root: Path) -> None:
    if ".." in folder.parts:
        raise ValueError(f"{folder} goes up")
    real, base = os.path.realpath(folder), os.path.realpath(root)
    if os.path.commonpath((real, base)) != base:
        raise ValueError(f"{folder} leads out of it")


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
