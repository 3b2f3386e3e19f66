"""The site's pages of interfaces: everything that a plug-in may write or call, with its words."""

import inspect
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts" / "site"))
import interfaces
from interfaces import INTERFACES, interface_pages, members, prose, signature

PAGES = dict(interface_pages())


@pytest.mark.parametrize("interface", INTERFACES, ids=lambda one: one.name)
def test_everything_has_its_words_and_its_page(interface):
    text = PAGES[f"reference/interfaces/{interface.name}.md"]
    assert interface.name in PAGES["reference/interfaces/README.md"]
    for thing in interface.things:
        assert f"## {thing.__name__}" in text and prose(thing).strip(), thing
        for name, member in members(thing) if inspect.isclass(thing) else ():
            if not name.startswith("test_"):
                assert f"### {thing.__name__}.{name}" in text
                assert prose(interfaces._function(member)).strip(), f"{thing.__name__}.{name}"


def test_what_must_be_written_is_marked():
    text = PAGES["reference/interfaces/platform.md"]
    at = text.index("### Nodes.mpi_argv")
    assert "*must be written*" in text[at : at + 60]
    assert "def mpi_argv(\n    self,\n    argv: Sequence[str],\n" in text
    assert (
        "- nothing that belongs together is left out" in PAGES["reference/interfaces/contracts.md"]
    )


def test_sections_and_signatures_are_written_out():
    def asked(one: int, *, other: str = "x") -> None:
        """Do.

        Thus::

            asked(1)

        Parameters
        ----------
        one, other
            What both
            are.
        """

    assert signature(asked, "asked") == "def asked(one: int, *, other: str = 'x') -> None"
    told = prose(asked)
    assert "Thus:\n\n```python\nasked(1)\n```" in told
    assert "**Parameters**\n\n- `one, other`: What both are." in told
