"""Every kind of exhibit against the contract."""

import pytest

from bareline.report.exhibits.base import load_exhibits
from bareline.testing.exhibits import ExhibitContract, planted_document  # noqa: F401 - a fixture


class TestExhibits(ExhibitContract):
    @pytest.fixture(autouse=True, params=sorted(load_exhibits()))
    def _each(self, request):
        self.exhibit = load_exhibits()[request.param]
