"""`scripts/messages.py`: codes stay with their messages."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bareline.vocabulary.message_codes import Message

SCRIPTS = Path(__file__).parents[1] / "scripts"


@pytest.fixture(scope="module")
def script():
    sys.path.insert(0, str(SCRIPTS))
    try:
        import messages
    finally:
        sys.path.remove(str(SCRIPTS))
    return messages


@pytest.fixture
def renew(script):
    """Give codes to messages of packages: (old codes, texts by place for each package)."""

    def go(old, **made):
        current = {}
        for package, texts in made.items():
            messages = [Message("", "StudyError", text, "", place) for place, text in texts]
            current[package] = {each.key: script.Made(each, ("f:1",)) for each in messages}
        return script.renewed({name: old.get(name, script.Codes(name)) for name in made}, current)

    return go


def by_text(codes):
    return {message.text: message.code for message in codes.messages}


def test_a_code_stays_when_words_change_or_move(renew):
    first = renew({}, study=[("m.f", "no platform '{name}'"), ("m.g", "the file is empty")])
    before = by_text(first["study"])
    reworded = renew(
        first, study=[("m.f", "unknown platform: '{name}'"), ("m.h", "the file is empty")]
    )
    after = by_text(reworded["study"])
    assert after["unknown platform: '{name}'"] == before["no platform '{name}'"]
    assert after["the file is empty"] == before["the file is empty"]
    moved = renew(
        reworded, study=[("m.h", "the file is empty")], store=[("s.f", "unknown platform: '{x}'")]
    )
    assert by_text(moved["store"])["unknown platform: '{x}'"] == before["no platform '{name}'"]


def test_a_retired_code_is_not_given_again(renew):
    first = renew({}, study=[("m.f", "the file is empty")])
    (code,) = by_text(first["study"]).values()
    none = renew(first, study=[])
    assert none["study"].retired == {code}
    again = renew(none, study=[("m.f", "the file is empty")])
    assert by_text(again["study"])["the file is empty"] != code


def test_a_number_that_a_merge_left_twice_is_given_to_one_message(renew, script):
    first = renew({}, study=[("m.f", "the file is empty")])
    (message,) = first["study"].messages
    first["study"].messages.append(replace(message, text="another thing entirely", place="n.g"))
    second = renew(first, study=[("m.f", "the file is empty"), ("n.g", "another thing entirely")])
    codes = by_text(second["study"])
    assert codes["the file is empty"] == message.code
    assert len(set(codes.values())) == 2


def test_codes_are_written_and_read_again(renew, script, tmp_path, monkeypatch):
    odd = 'a "quoted" \\ back\x1bslash {x} é'
    codes = renew({}, study=[("m.f", odd), ("m.g", "{error}")])["study"]
    codes.retired.add("BL-STUDY-100")
    monkeypatch.setattr(script, "SOURCE", tmp_path)
    codes.file.parent.mkdir()
    codes.file.write_text(script.codes_text(codes), encoding="utf-8")
    again = script.read_codes("study")
    assert (again.messages, again.retired) == (codes.messages, codes.retired)


def test_a_table_shows_any_text_as_code(script):
    assert script._code("a | `b`\n\x1b") == "`` a \\| `b`\\n\\x1b ``"


def test_codes_differ(script):
    codes = [
        message.code
        for package in script.packages()
        for message in script.read_codes(package).messages
    ]
    assert len(codes) == len(set(codes))


def test_a_code_is_found_in_the_source(script, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["messages.py", "BL-STUDY-247"])
    assert script.main() == 0
    assert "src/bareline/study/study.py:" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["messages.py", "BL-NO-1"])
    assert script.main() == 1
