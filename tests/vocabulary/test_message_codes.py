"""Codes of messages: found at the place that raised or made an error."""

from __future__ import annotations

import ast
import pickle
import textwrap

import pytest

from bareline.platforms.config import platforms_from_toml
from bareline.platforms.reached.slurm import commands
from bareline.study.study import study_from_toml
from bareline.testing.messages import raises
from bareline.vocabulary import message_codes
from bareline.vocabulary.errors import BarelineError, PlatformError, StudyError, UsageError
from bareline.vocabulary.message_codes import code_of, message_key, read_messages
from bareline.vocabulary.message_sites import error_classes, has_words, read_sites
from bareline.vocabulary.source_place import CODES_FILE

MEASURE = {"probe": "null"}
CLASSES = ("BarelineError", "StudyError", "UsageError")


def sites_of(source):
    return read_sites(ast.parse(textwrap.dedent(source)), CLASSES)


def texts_of(source):
    return [site.text for site in sites_of(source)]


def checked(**changed):
    return study_from_toml({"study": {"name": "s"}, "measure": [MEASURE], **changed}, where="s")


def test_a_site_has_the_words_with_placeholders():
    (site,) = sites_of("""
        def read(self, path):
            raise StudyError(f"{path.name}: 'a' is not {count(1, 2)}", hint=f"remove {path}")
    """)
    assert site.text == "{name}: 'a' is not {count}"
    assert (site.hint, site.function, site.maker) == ("remove {path}", "read", "StudyError")


@pytest.mark.parametrize(
    ("source", "texts"),
    [
        ('raise StudyError("1" if x else "two words")', ["two words"]),
        ('raise StudyError("one way" if x else "another")', ["one way / another"]),
        ('why = f"no {x}"\nraise StudyError(why)', ["no {x}"]),
        ('def f():\n    why = "in f"\n    raise StudyError(why)\nwhy = "outside"', ["in f"]),
        ('raise StudyError("several " + f"parts {x}")', ["several parts {x}"]),
        ('raise StudyError("two\\n  lines")', ["two lines"]),
        ('raise StudyError("a {brace} of JSON")', ["a {{brace}} of JSON"]),
        ("raise StudyError(str(error))", ["{error}"]),
        ('raise _refused(path, "the file is cut off")', ["the file is cut off"]),
        ("raise unwritable(error, path)", []),
        ('raise AssertionError("a fault of ours")', []),
        ('return UsageError("not raised here")', ["not raised here"]),
        ('print_error("a warning")', ["a warning"]),
        ('ended.require_success("it failed")', ["it failed"]),
        ('kind = StudyError if x else UsageError\nreturn kind("either class")', ["either class"]),
        ('kind = StudyError if x else len\nreturn kind("no error")', []),
        ("print_error(str(error))", []),
        ('raise StudyError("plain") from UsageError("cause")', ["plain"]),
        ("why = why\nraise StudyError(why)", ["{why}"]),
        ('raise StudyError("x y", hint=did_you_mean(a, b, "see c"))', ["x y"]),
    ],
)
def test_words(source, texts):
    assert texts_of(source) == texts


def test_a_suggestion_has_both_forms():
    (site,) = sites_of('raise StudyError("x y", hint=did_you_mean(a, b, "see c"))')
    assert site.hint == "did you mean '{name}'? / see c"


def test_classes_that_extend_one_of_ours_are_found_in_any_order():
    tree = ast.parse("class C(B): ...\nclass B(A): ...\nclass D: ...")
    assert error_classes([tree], {"A"}) == {"A", "B", "C"}


def test_names_of_placeholders_are_no_part_of_a_message():
    assert message_key("no {name} here", "a.b") == message_key("no {what} here", "c.d")
    assert message_key("{name}", "a.b") != message_key("{name}", "c.d")
    assert not has_words("{name}: {value}")


def test_an_error_of_a_value_has_the_code_of_its_check():
    with raises(StudyError, "BL-KEY-EXTRA-FORBIDDEN", "'bad'"):
        checked(study={"name": "s", "bad": 1})
    with raises(StudyError, "BL-KEY-INT-PARSING", "'launches'"):
        checked(study={"name": "s", "launches": "x"})
    with raises(StudyError, "BL-VOCABULARY-612", "[8, 10, 12]"):
        checked(study={"name": "s", "looks": [3, 2]})
    with raises(StudyError, "BL-STUDY-306"):
        study_from_toml({"study": {"name": "s"}}, where="s")
    with raises(BarelineError, "BL-PLATFORMS-613", "'odd'"):
        platforms_from_toml({"platform": {"a": {"type": "null", "odd": 1}}}, where="p")


def test_a_name_in_a_value_that_looks_like_code_changes_nothing():
    for name in ("{brace}", "a\nb", "\x1b[31m", "\udcff", "x" * 9999, "é" * 50):
        with raises(StudyError, "BL-PROBES-832"):
            checked(measure=[{"probe": name}])


def test_an_error_that_was_made_and_not_raised_has_its_code(tmp_path):
    from bareline.cli.output import unwritable

    error = unwritable(PermissionError(13, "Permission denied"), tmp_path)
    assert error.__traceback__ is None and code_of(error) is not None
    with raises(UsageError, code_of(error)):
        raise error


def test_an_error_that_passes_on_another_one_has_its_code():
    with pytest.raises(StudyError) as first:
        checked(measure=[{"probe": "nul"}])
    outer = BarelineError(str(first.value))
    outer.__cause__ = first.value
    assert code_of(outer) == code_of(first.value) == "BL-PROBES-832"
    outer.__cause__ = outer
    assert code_of(outer) is None, "a circle of causes ends"
    silent = BarelineError("other words")
    silent.__cause__ = first.value
    assert code_of(silent) is None


def test_other_packages_have_codes_of_their_own_or_none(tmp_path, monkeypatch):
    package = tmp_path / "strange_package"
    package.mkdir()
    (package / "__init__.py").write_text(
        "from bareline.vocabulary.errors import ProbeError\n"
        "def fail(name):\n    raise ProbeError(f'{name} is strange')\n"
    )
    (package / CODES_FILE).write_text(
        'retired = ["SP-1"]\n[SP-2]\nby = "ProbeError"\ntext = "{x} is strange"\nplace = "fail"\n'
    )
    monkeypatch.syspath_prepend(tmp_path)
    import strange_package

    with raises(BarelineError, "SP-2", "this"):
        strange_package.fail("this")
    monkeypatch.setattr(message_codes, "_messages", lambda _package: {})
    with pytest.raises(BarelineError) as caught:
        strange_package.fail("this")
    assert code_of(caught.value) is None


def test_source_that_changed_or_is_gone_gives_no_code(tmp_path):
    for text in ("def f(:\n", "", "\0", "raise\n" * 9):
        file = tmp_path / f"{len(text)}.py"
        code = compile('raise StudyError("x y")', str(file), "exec")
        file.write_text(text)
        with pytest.raises(StudyError) as caught:
            exec(code, {"StudyError": StudyError, "__name__": "bareline.study.f"})
        assert code_of(caught.value) is None


def test_a_source_that_could_not_be_read_once_is_read_for_the_next_error(monkeypatch):
    """As while a process works for another user, who may not read bareline's files."""
    with pytest.raises(PlatformError) as caught:
        commands.run_checked("false")
    with monkeypatch.context() as patched:
        patched.setattr(message_codes.linecache, "getlines", lambda file: [])
        assert code_of(caught.value) is None
    assert code_of(caught.value) == "BL-PLATFORMS-172"


def test_errors_can_be_copied_to_another_process():
    error = pickle.loads(pickle.dumps(StudyError("x y", where="f", hint="do")))
    assert str(error) == "f: x y; do"


def test_a_file_of_codes_is_read_without_retired_ones(tmp_path):
    file = tmp_path / CODES_FILE
    file.write_text('retired = ["A-1"]\n[A-2]\nby = "X"\ntext = "t t"\nplace = "p"\n')
    assert [message.code for message in read_messages(file)] == ["A-2"]


def test_an_error_of_a_program_has_the_code_of_its_caller():
    with raises(PlatformError, "BL-PLATFORMS-172", "`false` failed: exit code 1"):
        commands.run_checked("false")
