"""Every study that can be asked for by name."""

import pytest

from bareline.platforms.config import load_platforms
from bareline.study.catalogue import find_study, named_studies
from bareline.study.plan import choose
from bareline.testing.messages import raises
from bareline.testing.studies import StudyContract
from bareline.vocabulary.errors import StudyError


class TestStudies(StudyContract):
    @pytest.fixture(autouse=True, params=sorted(named_studies()))
    def _each(self, request):
        self.name = request.param


@pytest.mark.parametrize("name", sorted(named_studies()))
def test_its_own_platforms_are_compared_on_equal_layouts(name):
    """Ranks that share a node on the baseline and not elsewhere would compare with nothing."""
    study, known = find_study(name), load_platforms()
    scaled = [study.at_scale(scale) for scale in study.scales]
    for one in scaled if study.roles else [study, *scaled]:
        cast = one.with_roles((), ())
        layouts: dict[object, set[tuple[int, int]]] = {}
        choice = choose(cast, [known[platform] for platform in cast.platforms])
        for (_, case), cell in choice.cells.items():
            where = (cell.layout.nodes, cell.layout.ranks_per_node)
            layouts.setdefault(choice.cases[case], set()).add(where)
        assert layouts
        assert {case: found for case, found in layouts.items() if len(found) > 1} == {}


def test_a_name_that_is_none_names_the_closest():
    with raises(StudyError, "BL-STUDY-437", "quick"):
        find_study("quik")


def test_a_name_is_a_study_whatever_lies_beside_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nebula").mkdir()
    (tmp_path / "quick").write_text("no study\n")
    (tmp_path / "runs").mkdir()
    assert find_study("nebula").name == "nebula"
    assert find_study("quick").name == "quick"
    with raises(StudyError, "BL-STUDY-437", "runs"):
        find_study("runs")
