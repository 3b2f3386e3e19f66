"""Every study that can be asked for by name."""

import pytest

from bareline.study.catalogue import find_study, named_studies
from bareline.testing.studies import StudyContract
from bareline.vocabulary.errors import StudyError


class TestStudies(StudyContract):
    @pytest.fixture(autouse=True, params=sorted(named_studies()))
    def _each(self, request):
        self.name = request.param


def test_a_name_that_is_none_names_the_closest():
    with pytest.raises(StudyError, match="did you mean 'quick'"):
        find_study("quik")
