"""A damaged image in the cache is noticed and built again, once, and that is said."""

from __future__ import annotations

import contextlib
import json
import os
import uuid
from pathlib import Path
from types import SimpleNamespace

import pytest

from bareline.platforms.hosts.images import sources as sources_module
from bareline.platforms.hosts.images.parts import describe_parts, find_damage
from bareline.platforms.hosts.process import local_environment, spawn
from bareline.platforms.made.vm import image as image_module
from bareline.platforms.made.vm.image import built_image, image_folder
from bareline.testing.bench import until
from bareline.testing.messages import raises
from bareline.vocabulary.errors import PlatformError

PARTS = ("disk.raw", "vmlinux", "modules", "busybox")


def fill(folder):
    """Make the parts of a tiny image, its disk mostly a hole."""
    (folder / "modules" / "6.1.0").mkdir(parents=True)
    (folder / "modules" / "6.1.0" / "e1000.ko").write_bytes(b"module")
    (folder / "vmlinux").write_bytes(b"kernel" * 1000)
    (folder / "busybox").write_bytes(b"busybox")
    with (folder / "disk.raw").open("wb") as disk:
        disk.truncate(64 << 20)
        os.pwrite(disk.fileno(), b"root", 5 << 20)
        os.pwrite(disk.fileno(), b"end", (64 << 20) - 3)


def plant(folder):
    """Make a tiny image in place of what is there."""
    image_module.shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    fill(folder)
    record = {"packages": {"mpich": "4"}, "build_s": 1.5, "suite": "bookworm"}
    record["parts"] = describe_parts(folder, PARTS)
    (folder / "image.json").write_text(json.dumps(record))


@pytest.fixture
def cached(tmp_path, monkeypatch):
    """Give a cache with an image, and the list of how often one was built."""
    recipe = SimpleNamespace(digest="0123456789abcdef")
    builds = []

    def build(_recipe, folder):
        builds.append(folder)
        plant(folder)

    monkeypatch.setattr(image_module, "IMAGE_TOOLS", ())
    monkeypatch.setattr(image_module, "_recipe", lambda *_: recipe)
    monkeypatch.setattr(image_module, "_build", build)
    built_image(tmp_path)
    return SimpleNamespace(
        cache=tmp_path, folder=image_folder(tmp_path) / recipe.digest, builds=builds
    )


def flip(path, place):
    with path.open("r+b") as file:
        os.pwrite(file.fileno(), b"X", place)


DAMAGES = {
    "record cut": lambda folder: os.truncate(folder / "image.json", 20),
    "record of another kind": lambda folder: (folder / "image.json").write_text("[]"),
    "record with odd parts": lambda folder: (folder / "image.json").write_text(
        '{"packages": {}, "build_s": 1, "parts": {"disk.raw": 3}}'
    ),
    "record lost": lambda folder: (folder / "image.json").unlink(),
    "modules lost": lambda folder: image_module.shutil.rmtree(folder / "modules"),
    "module lost": lambda folder: (folder / "modules/6.1.0/e1000.ko").unlink(),
    "disk cut": lambda folder: os.truncate(folder / "disk.raw", 1 << 20),
    "disk flipped": lambda folder: flip(folder / "disk.raw", 5 << 20),
    "disk flipped in a hole": lambda folder: flip(folder / "disk.raw", 40 << 20),
    "kernel flipped": lambda folder: flip(folder / "vmlinux", 3),
    "kernel lost": lambda folder: (folder / "vmlinux").unlink(),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_image_is_built_again_and_that_is_said(cached, damage):
    damage(cached.folder)
    told = []
    image = built_image(cached.cache, told.append)
    assert len(cached.builds) == 2
    assert len(told) == 1
    assert image.kernel.read_bytes() == b"kernel" * 1000
    assert image.kernel_version == "6.1.0"
    built_image(cached.cache, told.append)
    assert (len(cached.builds), len(told)) == (2, 1)


def test_a_disk_that_damages_everything_is_named(cached, monkeypatch):
    monkeypatch.setattr(image_module, "_build", lambda *_: None)
    os.truncate(cached.folder / "vmlinux", 10)
    with raises(PlatformError, "BL-PLATFORMS-459", "vmlinux") as caught:
        built_image(cached.cache)
    assert caught.value.hint


def test_a_whole_image_is_read_once_only(cached, monkeypatch):
    parts = json.loads((cached.folder / "image.json").read_text())["parts"]
    assert find_damage(cached.folder, parts) == ""
    monkeypatch.setattr(
        "bareline.platforms.hosts.images.parts._content_hash",
        lambda path: pytest.fail(f"{path} is read"),
    )
    assert find_damage(cached.folder, parts) == ""


def test_each_list_of_further_packages_is_an_image_of_its_own(tmp_path, monkeypatch):
    built = []

    def build(recipe, folder):
        built.append((recipe.packages, folder))
        plant(folder)

    monkeypatch.setattr(image_module, "IMAGE_TOOLS", ())
    monkeypatch.setattr(image_module, "_build", build)
    for further in ((), ("lammps", "hello"), ("hello", "lammps", "hpcc"), ("hello",)):
        built_image(tmp_path, further=further)
    packages, folders = zip(*built, strict=True)
    more = [sorted(set(names) - set(packages[0])) for names in packages]
    assert more == [[], ["hello", "lammps"], ["hello"]]
    assert len(set(folders)) == 3


def test_what_a_killed_build_left_goes_with_the_next_one(tmp_path, monkeypatch):
    monkeypatch.setattr(sources_module, "_WORKPLACES", tmp_path)
    note = tmp_path / "image.workplace"
    left = tmp_path / "bareline-image-left"
    (left / "tmp" / "root").mkdir(parents=True)
    note.write_text(str(left))
    with sources_module.workplace(note) as place:
        assert not left.exists()
        assert note.read_text() == str(place) and (place / "out").is_dir()
    assert not place.exists() and not note.exists()


def test_a_note_of_another_folder_removes_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(sources_module, "_WORKPLACES", tmp_path / "work")
    (tmp_path / "work").mkdir()
    note, mine = tmp_path / "image.workplace", tmp_path / "bareline-image-mine"
    mine.mkdir()
    note.write_text(str(mine))
    with sources_module.workplace(note):
        pass
    assert mine.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="a process namespace needs root")
def test_all_that_a_build_starts_ends_with_it(tmp_path):
    """mmdebstrap's children have process groups of their own and went on for minutes."""
    token = f"bl-{uuid.uuid4().hex}"
    script = f"setsid sh -c 'sleep 300; : {token}' & sleep 300; : {token}"
    argv = sources_module._ending_with_us(["sh", "-c", script])
    with spawn(argv, env=local_environment()) as process:
        until(lambda: len(_with(token)) >= 2)
        # What the kernel does to it when bareline is killed.
        process.kill()
        until(lambda: not _with(token))


def _with(token):
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            command = (entry / "cmdline").read_bytes()
            if token.encode() in command and not command.startswith(b"unshare"):
                found.append(entry.name)
    return found


APT = """#!/bin/sh
case $1 in
update)
    echo try >>"$0.tries"
    [ "$(wc -l <"$0.tries")" -gt 2 ] && touch "$0.listed" && exit 0
    echo "E: $(cat "$0.says")" >&2
    exit 100 ;;
indextargets) [ ! -e "$0.listed" ] || echo "Packages|plain|deb file:/x plain main" ;;
esac
"""


@pytest.fixture
def apt(tmp_path, monkeypatch):
    """Plant an apt-get whose first two updates fail, with what it says."""
    program = tmp_path / "bin" / "apt-get"
    program.parent.mkdir()
    program.write_text(APT)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setattr(sources_module, "_APT_LOOK_S", 0.01)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    return program


def test_package_lists_that_another_apt_fetches_are_waited_for(apt):
    """Two barelines that begin at once on a machine without lists, or an automatic upgrade."""
    apt.with_name("apt-get.says").write_text("Could not get lock /var/lib/apt/lists/lock")
    assert sources_module.package_sources("plain") == "deb file:/x plain main\n"
    assert apt.with_name("apt-get.tries").read_text().count("try") == 3


def test_package_lists_that_cannot_be_fetched_fail_at_once(apt):
    apt.with_name("apt-get.says").write_text("Could not resolve the mirror")
    with raises(PlatformError, "BL-PLATFORMS-776"):
        sources_module.package_sources("plain")
    assert apt.with_name("apt-get.tries").read_text().count("try") == 1
