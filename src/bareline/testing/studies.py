"""The contract of every study of the catalogue."""

from __future__ import annotations

from fnmatch import fnmatchcase

from bareline.report.exhibits.base import load_exhibits
from bareline.study.catalogue import find_study
from bareline.study.study import study_from_toml


class StudyContract:
    """Tests of the study whose name is the attribute `name`."""

    name: str

    def test_it_is_found_by_its_name_and_says_what_it_asks(self) -> None:
        study = find_study(self.name)
        assert study.name == self.name
        assert study.title and study.description

    def test_a_run_directory_holds_it_whole(self) -> None:
        study = find_study(self.name)
        assert study_from_toml(study.to_toml(), where="run") == study

    def test_its_exhibits_show_what_it_measures(self) -> None:
        study = find_study(self.name)
        probes = {measure.probe for measure in study.measures}
        for exhibit in study.exhibits:
            assert exhibit.kind in load_exhibits()
            if exhibit.probe is not None and not exhibit.awaits:
                matching = [name for name in probes if fnmatchcase(name, exhibit.probe)]
                assert matching, f"'{exhibit.title}' shows {exhibit.probe}, which nothing measures"

    def test_it_is_possible_at_every_scale(self) -> None:
        study = find_study(self.name)
        for scale in study.scales:
            assert list(study.at_scale(scale).cases())
