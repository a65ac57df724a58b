"""Values that are written as YAML, for tests."""

from __future__ import annotations

from hypothesis import strategies as st

# Without the sign that the library alone takes for more than a text.
WORDS = st.text("abcxyz-.:/ 0123456789'\"#{}[]&*!|>%@,~", max_size=12)
PLAIN = st.recursive(
    WORDS | st.booleans() | st.none(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("abc-", min_size=1, max_size=4), inner, max_size=3)
    ),
)
