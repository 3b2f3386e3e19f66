"""Acceptances of changes: none is lost where the file cannot be written."""

import json
import resource
from contextlib import contextmanager

import pytest

from bareline.store.accepted import ACCEPTED_FILE, accept, read_accepted
from bareline.testing.messages import raises
from bareline.vocabulary.errors import StoreError


@contextmanager
def files_of_at_most(size):
    """Let no file grow beyond a size: the disk is full after the part that fits."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("fitting", [0, 1, 20])
def test_a_full_disk_loses_no_acceptance(tmp_path, fitting):
    first, second = tmp_path / "n01", tmp_path / "n02"
    accept(first, "wanted")
    file = tmp_path / ACCEPTED_FILE
    whole = file.read_bytes()
    with files_of_at_most(len(whole) + fitting), raises(StoreError, "BL-STORE-804") as refused:
        accept(second, "wanted as well")
    assert "--accept" in refused.value.hint and "--out" not in refused.value.hint
    assert file.read_bytes().startswith(whole)
    assert read_accepted([first, second]).keys() == {first}
    accept(second, "wanted as well")
    assert read_accepted([first, second]).keys() == {first, second}
    assert all(json.loads(line) for line in file.read_text().splitlines())
