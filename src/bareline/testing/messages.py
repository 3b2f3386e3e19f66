"""Tests of messages by their codes, so that the wording can change."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from bareline.vocabulary.message_codes import code_of


@contextmanager
def raises(
    error_class: type[BaseException], code: str | None, *values: str
) -> Iterator[pytest.ExceptionInfo[BaseException]]:
    """Check that a block raises an error with a code, as `pytest.raises` checks its class.

    - `code`: the code of the message; None for an error whose text comes from another program.
    - `values`: names, numbers or paths of the test that the message must contain.

    Examples
    --------
    >>> with raises(StudyError, "BL-STUDY-247", "tiny"):
    ...     study.at_scale("tiny")
    """
    with pytest.raises(error_class) as caught:
        yield caught
    raised = code_of(caught.value)
    text = str(caught.value)
    assert raised == code, f"the error has the code {raised}: {text}"
    missing = [value for value in values if value not in text]
    assert not missing, f"{', '.join(missing)} is missing in: {text}"
