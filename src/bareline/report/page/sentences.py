"""Sentences of the verdict as the page sets them."""

from __future__ import annotations

from markupsafe import Markup, escape

from bareline.analysis.words.parts import Amount, Interval, Lead, Platform, Sentence

#: Longest platform name that a line never breaks.
_UNBROKEN = 24


def sentence_markup(sentence: Sentence) -> Markup:
    """Set a sentence: amounts in bold, intervals lighter, platform names unbroken.

    A long one is a list of its clauses.
    """
    if sentence.lead is None or not sentence.is_long:
        return _set(sentence)
    clauses = Markup("").join(
        Markup("<li>{}</li>").format(_set(clause)) for clause in sentence.clauses
    )
    return Markup('<span class="lead">{}</span><ul class="clauses">{}</ul>').format(
        sentence.lead.name, clauses
    )


def _set(sentence: Sentence) -> Markup:
    set_parts = []
    begun = False
    for part in sentence.parts:
        text = part.text if begun else part.text[:1].upper() + part.text[1:]
        match part:
            case Lead():
                set_parts.append(Markup('<span class="lead">{}</span>').format(part.name))
                continue
            case Amount():
                set_parts.append(Markup("<b>{}</b>").format(text))
            case Interval():
                set_parts.append(Markup('<span class="light">{}</span>').format(text))
            case Platform() if len(part.name) <= _UNBROKEN:
                set_parts.append(Markup('<span class="name">{}</span>').format(part.name))
            case _:
                set_parts.append(escape(text))
        begun = begun or bool(part.text)
    return Markup("").join(set_parts)
