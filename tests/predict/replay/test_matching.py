"""Whatever is asked for, the oldest that fits comes: held against a search through a list."""

from hypothesis import given
from hypothesis import strategies as st

from bareline.profile.records import ANYBODY

from .stepping import ANY_TAG, Pending, every_name

RANKS, TAGS = st.integers(0, 3), st.integers(0, 3)
SENT = st.tuples(st.just("send"), RANKS, TAGS)
ASKED = st.tuples(st.just("ask"), RANKS | st.just(ANYBODY), TAGS | st.just(ANY_TAG))


@given(st.lists(SENT | ASKED, max_size=60))
def test_messages_and_receives_meet_as_in_a_search(calls):
    sent, asked = Pending(), Pending()
    messages, receives = [], []
    for number, (what, source, tag) in enumerate(calls):
        if what == "send":
            fits = [r for r in receives if r[1] in (ANYBODY, source) and r[2] in (ANY_TAG, tag)]
            found = asked.take(every_name(source, tag))
            assert found == (fits[0][0] if fits else None)
            if fits:
                receives.remove(fits[0])
            else:
                messages.append((number, source, tag))
                sent.add(number, every_name(source, tag))
        else:
            fits = [m for m in messages if source in (ANYBODY, m[1]) and tag in (ANY_TAG, m[2])]
            found = sent.take(((source, tag),))
            assert found == (fits[0][0] if fits else None)
            if fits:
                messages.remove(fits[0])
            else:
                receives.append((number, source, tag))
                asked.add(number, ((source, tag),))
